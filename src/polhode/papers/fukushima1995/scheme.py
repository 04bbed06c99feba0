"""Measurements of section 2 of Fukushima (1995): the variables, (1) and (2)."""

import numpy as np

from polhode.formulations.fukushima import enter, leave
from polhode.papers.fukushima1995 import by_hand
from polhode.papers.fukushima1995.by_hand import Array, r1, r2, r3
from polhode.papers.fukushima1995.laboratory import Laboratory
from polhode.papers.rotations import matrix, quaternion
from polhode.papers.verdicts import Measured, below, judge, largest

COUNT, EXACT = 300, 1e-13
ONES = 1.0, 1.0, 1.0


def q12(_: Laboratory) -> Measured:
    pairs = np.random.default_rng(12).uniform(-0.7, 0.7, size=(COUNT, 2))
    off = by_hand.worst(lambda x, y: by_hand.q12(x, y) - by_hand.q12_rotations(x, y), pairs)
    return below(EXACT, f"{COUNT} pairs: differ by {{:.1g}}", off)


def orientation(_: Laboratory) -> Measured:
    cases = by_hand.states(COUNT, upward=True)
    off = by_hand.worst(lambda r, m, *_: by_hand.orientation(by_hand.variables(r, m)) - r, cases)
    text = "states, f being the angle between the two planes: E is wrong by {:.1g}"
    return below(EXACT, f"{COUNT} {text}", off)


def five_rotations(_: Laboratory) -> Measured:
    def off(r: Array, m: Array, *_: Array) -> Array:
        whole, x, y, a, b, f = by_hand.variables(r, m)
        (u, v), (p, q) = (x / whole, y / whole), (a / whole, b / whole)
        lift, tilt = np.arctan2(v, np.sqrt(1 - u * u - v * v)), np.arcsin(u)
        low, lean = np.arctan2(q, np.sqrt(1 - p * p - q * q)), np.arcsin(p)
        return r1(lift) @ r2(-tilt) @ r3(-f) @ r2(lean) @ r1(-low) - r

    found = by_hand.worst(off, by_hand.states(COUNT, upward=True))
    return below(EXACT, "their product is E to {:.1g}", found)


def conservation(_: Laboratory) -> Measured:
    off = by_hand.worst(
        lambda *case: (by_hand.printed_rates(*case) - by_hand.definition_rates(*case))[:5],
        by_hand.states(COUNT, upward=True),
    )
    text = f"{COUNT} bodies with torques of order 1: L' = N in inertial, L' = L × ω + N in body"
    return f"{text} axes, and L' = N·L/L: rates of the variables to {off:.1g}", judge(off < EXACT)


def angle_rate(_: Laboratory) -> Measured:
    cases = by_hand.states(COUNT, upward=True)

    def off(r, m, moments, torque, sign=1.0):
        right = by_hand.definition_rates(r, m, moments, torque)[5]
        return abs(by_hand.printed_angle_rate(r, m, moments, torque, sign) - right)

    printed = [off(*case) for case in cases]
    right = max(off(*case, sign=-1.0) for case in cases)
    free = max(off(*case[:3], by_hand.ORIGIN) for case in cases)
    text = (
        f"{COUNT} bodies with torques of order 1: as printed wrong by {np.median(printed):.2f}"
        f" (median) to {max(printed):.1f}, with the opposite signs by {right:.1g}, without torque"
        f" by {free:.1g}"
    )
    return text, judge(max(printed) < EXACT, max(right, free) < EXACT)


def roots(_: Laboratory) -> Measured:
    body = ONES, ONES, (1.0, 0.0, 0.0, 0.0), 1.0, 1.0
    wrong, upward, ours = 0, 0, 0.0
    for r, m, _moments, _torque in by_hand.states(COUNT, upward=False):
        upward += bool(min(m[2], (r @ m)[2]) > 0)
        wrong += largest(by_hand.orientation(by_hand.variables(r, m)) - r) > 1e-6
        back, momentum = leave(0.0, enter(0.0, quaternion(r), tuple(m.tolist()), body), body)
        ours = max(ours, largest(matrix(back) - r), largest(momentum - m))
    text = (
        f"of {COUNT} random states both components are positive in {upward}, and E of (1) is wrong"
        f" in {wrong}, the others; with labels all are right to {ours:.1g}"
    )
    return text, judge(wrong == 0, wrong == COUNT - upward and ours < EXACT)
