"""Derivatives of free motions at many digits, for comparison with the closed form."""

from functools import cache
from math import sqrt

import mpmath as mp
import numpy as np

from polhode.compiler.machine import compiled
from polhode.compiler.tree import bind
from polhode.kernels import free_flow, free_tangent
from polhode.kernels.short_flow import sincos1_of_half
from polhode.kernels.trig import sincos1
from support.exact_motion import EPS, REGIMES, exact_sincos1, exact_sincos1_of_half
from support.precise import hamilton

DIGITS, STEP = 130, 50  # of numbers, and of the step of differences
BOUND = 10  # times eps (1 + G|t|/I_min + K)
SMALL = 1e25  # growth up to which the step of differences is short enough
NAMES = "dφ/dm", "d(m' - m)/dm", "dφ/da", "dm'/da"


@cache
def on_mp(function):
    """A kernel on mpmath numbers, its series so short that rounded coefficients do not matter."""
    numbers = {sincos1: exact_sincos1, sincos1_of_half: exact_sincos1_of_half}
    numbers |= {sqrt: mp.sqrt, free_flow.short: lambda: mp.mpf(10) ** -15}
    return bind(function, numbers)


def precise_turn(t, m, inverse):
    """The quaternion of the turn, and the new momentum."""
    moments = tuple(1 / a if a else mp.mpf(0) for a in inverse)
    (c1, v), n = on_mp(free_flow.free_turn)(t, tuple(m), moments, tuple(inverse))
    return (1 + c1, *v), n


def differences(t, m, moments):
    """The four matrices ``NAMES``, by differences of the motion at many digits."""
    t, m = mp.mpf(t), [mp.mpf(x) for x in m]
    inverse = [1 / mp.mpf(i) if i else mp.mpf(0) for i in moments]
    (w, *v), _ = precise_turn(t, m, inverse)
    back = (w, *(-x for x in v))
    sizes = [mp.norm(m) or mp.mpf(1)] * 3 + [max(inverse)] * 3
    found = mp.zeros(6, 6)
    for j, size in enumerate(sizes):
        step = size * mp.mpf(10) ** -STEP
        ends = []
        for sign in (1, -1):
            numbers = [*m, *inverse]
            numbers[j] += sign * step
            q, n = precise_turn(t, numbers[:3], numbers[3:])
            turn = hamilton(back, q)
            sign = 1 if turn[0] > 0 else -1
            ends.append([*(2 * sign * x for x in turn[1:]), *n])
        for i, (a, b) in enumerate(zip(*ends, strict=True)):
            found[i, j] = (a - b) / (2 * step) - (i == j + 3)
    return found[:3, :3], found[3:, :3], found[:3, 3:], found[3:, 3:]


def matrix(columns):
    return mp.matrix([[mp.mpf(x) for x in column] for column in columns]).T


def errors(found, right, m):
    """Relative errors; of the last matrix relative to that of dφ times |m|, which it belongs to."""
    sizes = list(map(mp.norm, right))
    sizes[1] = max(sizes[1], mp.mpf(10) ** -30)  # of a sphere it is zero
    if len(sizes) == 4:
        sizes[3] = max(sizes[3], sizes[2] * mp.norm(mp.matrix(m)))
    gaps = (mp.norm(a - b) for a, b in zip(found, right, strict=True))
    return [gap / size if size else gap for gap, size in zip(gaps, sizes, strict=True)]


def conditioning(t, m, moments, right):
    """K: what one ulp of the input does to the exact derivatives, relative to them."""
    worst = [mp.mpf(0)] * len(right)
    for i in range(3):
        for given in (m, moments):
            changed = list(given)
            changed[i] = float(np.nextafter(changed[i], np.inf))
            other = differences(t, *((changed, moments) if given is m else (m, changed)))
            worst = list(map(max, worst, errors(other[: len(right)], right, m)))
    return worst


def whole_tangent(t, m, moments, inverse):
    turn, n = free_flow.free_turn(t, m, moments, inverse)
    dphi, change = free_tangent.free_tangent(t, m, moments, inverse, turn, n)
    return dphi, change, *free_tangent.free_tangent_of_moments(t, m, moments, inverse, n)


@cache
def machine():
    return compiled(whole_tangent)


def ratios(t, m, moments):
    """Errors of the four matrices in units of eps (1 + G|t|/I_min + K)."""
    inverse = tuple(1.0 / i if i else 0.0 for i in moments)
    found = machine()(t, m, moments, inverse)
    assert np.isfinite(found).all(), (t, m, moments)
    with mp.workdps(DIGITS):
        right = differences(t, m, moments)
        if not all(moments):  # a rod: nothing turns about its axis, and it has no derivative by a
            right, found = right[:2], found[:2]
        found = [matrix(columns) for columns in found]
        worst = errors(found, right, m)
        scale = EPS * (1 + float(np.linalg.norm(m)) * abs(t) * max(inverse))
        if max(worst) < BOUND * scale or not any(m):
            return [float(x / scale) for x in worst]
        added = conditioning(t, m, moments, right)
        return [float(x / (scale + k)) for x, k in zip(worst, added, strict=True)]


def worst_ratios(regime, count, seed=0, farthest=5.0):
    """The largest errors of random bodies of a regime."""
    rng = np.random.default_rng([sorted(REGIMES).index(regime), seed])
    found = []
    while len(found) < count:
        inertia = rng.uniform(1, 1.9, 3) * 10.0 ** rng.integers(-3, 4)
        inertia, m = REGIMES[regime](rng, inertia, rng.normal(size=3) * 10.0 ** rng.integers(-3, 4))
        size, least = float(np.linalg.norm(m)), inertia[inertia > 0].min()
        nearest = -9 if rng.random() < 0.3 else -2
        turns = 10.0 ** rng.uniform(nearest, farthest) * rng.choice([-1, 1])
        t = float(turns * least / size) if size else float(turns)
        m, moments = tuple(m.tolist()), tuple(inertia.tolist())
        if growth(t, m, moments) < SMALL:
            found.append((*ratios(t, m, moments), 0.0, 0.0)[:4])
    return np.max(found, axis=0)


def growth(t, m, moments):
    """How much a motion exactly about the middle axis amplifies; 1 of every other one."""
    if np.count_nonzero(m) != 1 or not all(moments):
        return 1.0
    i = int(np.flatnonzero(m)[0])
    a, b, c = (1.0 / moments[k % 3] for k in (i, i + 1, i + 2))
    square = (b - a) * (a - c) * m[i] ** 2
    return float(np.exp(min(np.sqrt(square) * abs(t), 600.0))) if square > 0.0 else 1.0
