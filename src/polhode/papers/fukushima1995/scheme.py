"""Measurements of section 2 of Fukushima (1995): the variables, (1) and (2)."""

import numpy as np

from polhode.formulations.fukushima import enter, leave
from polhode.papers.fukushima1995 import by_hand
from polhode.papers.fukushima1995.by_hand import Array, r1, r2, r3
from polhode.papers.fukushima1995.laboratory import Laboratory
from polhode.papers.rotations import matrix, quaternion
from polhode.papers.verdicts import Measured, below, holds_if, largest

COUNT, EXACT = 300, 1e-13


def q12(_: Laboratory) -> Measured:
    pairs = np.random.default_rng(12).uniform(-0.7, 0.7, size=(COUNT, 2))
    off = by_hand.worst(lambda x, y: by_hand.q12(x, y) - by_hand.q12_rotations(x, y), pairs)
    return below(EXACT, off)


def orientation(_: Laboratory) -> Measured:
    cases = by_hand.states(COUNT, upward=True)
    off = by_hand.worst(lambda r, m, *_: by_hand.orientation(by_hand.variables(r, m)) - r, cases)
    return below(EXACT, off)


def five_rotations(_: Laboratory) -> Measured:
    def off(r: Array, m: Array, *_: Array) -> Array:
        whole, x, y, a, b, f = by_hand.variables(r, m)
        (u, v), (p, q) = (x / whole, y / whole), (a / whole, b / whole)
        lift, tilt = np.arctan2(v, np.sqrt(1 - u * u - v * v)), np.arcsin(u)
        low, lean = np.arctan2(q, np.sqrt(1 - p * p - q * q)), np.arcsin(p)
        return r1(lift) @ r2(-tilt) @ r3(-f) @ r2(lean) @ r1(-low) - r

    found = by_hand.worst(off, by_hand.states(COUNT, upward=True))
    return below(EXACT, found)


def conservation(_: Laboratory) -> Measured:
    off = by_hand.worst(
        lambda *case: by_hand.printed_rates(*case) - by_hand.definition_rates(*case)[:5],
        by_hand.states(COUNT, upward=True),
    )
    return below(EXACT, off)


def angle_rate(_: Laboratory) -> Measured:
    cases = by_hand.states(COUNT, upward=True)

    def off(r, m, moments, torque, sign=1.0):
        right = by_hand.definition_rates(r, m, moments, torque)[5]
        return abs(by_hand.printed_angle_rate(r, m, moments, torque, sign) - right)

    printed = [off(*case) for case in cases]
    right = max(off(*case, sign=-1.0) for case in cases)
    free = max(off(*case[:3], by_hand.ORIGIN) for case in cases)
    shown = np.median(printed), max(printed), right, free
    return holds_if(max(printed) < EXACT, *shown, corrected=max(right, free) < EXACT)


def roots(_: Laboratory) -> Measured:
    ones = 1.0, 1.0, 1.0
    body = ones, ones, (1.0, 0.0, 0.0, 0.0), 1.0, 1.0
    wrong, upward, ours = 0, 0, 0.0
    for r, m, _moments, _torque in by_hand.states(COUNT, upward=False):
        upward += bool(min(m[2], (r @ m)[2]) > 0)
        wrong += largest(by_hand.orientation(by_hand.variables(r, m)) - r) > 1e-6
        back, momentum = leave(0.0, enter(0.0, quaternion(r), tuple(m.tolist()), body), body)
        ours = max(ours, largest(matrix(back) - r), largest(momentum - m))
    labelled = wrong == COUNT - upward and ours < EXACT
    return holds_if(wrong == 0, upward, wrong, ours, corrected=labelled)
