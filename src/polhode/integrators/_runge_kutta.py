"""Explicit Runge-Kutta methods with an error estimate, for any tableau.

    k_i = f(t + c_i h, y + h Σ_j a_ij k_j),    y' = y + h Σ_i b_i k_i                  (1)

The rounding error of the sum y + h Σ b k is carried and added to the next (Kahan).  If the last
stage is the slope at the end of the step (first same as last), it is carried too.

Stages are unrolled by closures.  The components of y are in SIMD vectors (``combined``), while the
slope gets single numbers; for many bodies, a vector holds the same component of some.
"""

from collections.abc import Callable, Sequence
from math import sqrt
from typing import Any

from polhode.compiler.machine import blend, combined, mask
from polhode.contracts import size, slope
from polhode.kernels.powers import power
from polhode.tableaus.runge_kutta import Tableau

SAFETY, SMALLEST, LARGEST = 0.9, 0.2, 6.0  # of the factor to the next step
GUESS = 0.01  # the first step, relative to the time scale of change
FROM_REST = 1e12  # a y that changes by this factor over the span started at 0,
CRUMB = 1e-6  # and reaches its scale within this fraction of the span


# ---- sums
def picked(places: Sequence[int]) -> Callable:
    """Make ks -> (ks[places[0]], ks[places[1]], …)."""
    *_, last = places
    if len(places) == 1:
        return lambda ks: (ks[last],)
    *_, second, last = places
    if len(places) == 2:
        return lambda ks: (ks[second], ks[last])
    *_, first, second, last = places
    if len(places) == 3:
        return lambda ks: (ks[first], ks[second], ks[last])
    before = picked(places[:-3])
    return lambda ks: (*before(ks), ks[first], ks[second], ks[last])


def combination(weights: Sequence) -> Callable:
    """Make ks -> Σ weights[j] ks[j], without zero weights."""
    places = [j for j, weight in enumerate(weights) if weight != 0]
    chosen, used = picked(places), tuple(weights[j] for j in places)
    return lambda ks: combined(used, chosen(ks))


def moved(y, h, d):
    """Return y + h d."""
    return combined((1.0, h), (y, d))


def accumulated(y, low, h, d):
    """Return (y + low + h d, its rounding error): compensated summation."""
    change = combined((1.0, h), (low, d))
    new = combined((1.0, 1.0), (y, change))
    return new, combined((1.0, -1.0), (change, combined((1.0, -1.0), (new, y))))


def nothing(y):
    """Return zeros like y."""
    return combined((0.0,), (y,))


def gragg(n, t, h, y, f, body, params):
    """Return the change of y after n substeps of Gragg's midpoint rule; f is its slope at t."""
    part = h / n
    before, d = nothing(y), combined((part,), (f,))
    for m in range(1, n):
        rate = slope(t + m * part, combined((1.0, 1.0), (y, d)), body, params)
        before, d = d, combined((1.0, part + part), (before, rate))
    return d


# ---- stages
def stages_of(a: Sequence, c: Sequence) -> Callable:
    """Make (t, h, y, k1, body, params) -> (k1, k2, …) of (1)."""

    def first(t, h, y, k1, body, params):
        return (k1,)

    def following(before, row, node):
        total = combination(row)

        def stages(t, h, y, k1, body, params):
            ks = before(t, h, y, k1, body, params)
            return (*ks, slope(t + node * h, moved(y, h, total(ks)), body, params))

        return stages

    stages = first
    for k in range(1, len(c)):
        stages = following(stages, a[k][:k], c[k])
    return stages


# ---- the size of the next step
def next_factor(error, exponent):
    """Return the factor from this step to the next, from the error relative to the tolerance."""
    bounded = max(1e-100, min(1e100, error))  # 1e100 for NaN
    return min(LARGEST, max(SMALLEST, SAFETY * power(bounded, exponent)))


def first_guess(order: int) -> Callable:
    """Choose the first step from slope and curvature (Hairer, Nørsett, Wanner I, II.4)."""
    exponent = 1.0 / (order + 1)

    def first_step(t, span, state, carry, body, params, tolerances):
        y = state
        k = slope(t, y, body, params)
        scale = size(y, y, y, body, tolerances)
        rate = size(k, y, y, body, tolerances)
        from_rest = mask(rate * abs(span) > FROM_REST * scale)  # a part of y starts at 0
        near = blend(from_rest, moved(y, CRUMB * span, k), y)
        rate = size(k, y, near, body, tolerances)
        small = mask((scale < 1e-5) | (rate < 1e-5))
        h = blend(small, 1e-6, GUESS * scale / (rate + 1e-300))
        h = min(h, abs(span))
        h = h if span > 0.0 else -h
        ahead = moved(y, h, k)
        change = combined((1.0, -1.0), (slope(t + h, ahead, body, params), k))
        bend = size(change, y, near, body, tolerances) / (abs(h) + 1e-300)  # the span may be empty
        worst = min(max(rate, bend), 1e300)  # NaN stays
        long = power(GUESS / max(worst, 1e-15), exponent)
        step = blend(mask(worst <= 1e-15), max(1e-6, abs(h) * 1e-3), long)
        step = min(100.0 * abs(h), step)
        step = min(step, abs(span))
        return (step if span > 0.0 else -step), 2

    return first_step


# ---- whole methods
def explicit(
    tableau: Tableau, estimate: Callable, falls: int, number: Callable[[Any], Any] = float
) -> dict[str, Any]:
    """Make start, trial and first_step of a tableau.

    ``estimate(ks)`` returns d, or several; the ``size`` of h d falls as h to the power ``falls``.
    """
    a, b, c = tableau.converted(number)
    same = tableau.first_same_as_last
    exponent = -1.0 / falls
    stages, total, count = stages_of(a, c), combination(b), len(c)

    def start(t, h, y, body, params):
        return (nothing(y),)

    def trial(t, h, state, carry, body, params, tolerances):
        ks = stages(t, h, state, slope(t, state, body, params), body, params)
        new, low = accumulated(state, carry[0], h, total(ks))
        error = estimate(h, ks, state, new, body, tolerances)
        return new, (low,), error, next_factor(error, exponent), count

    def start_same(t, h, y, body, params):
        return nothing(y), slope(t, y, body, params)

    def trial_same(t, h, state, carry, body, params, tolerances):
        ks = stages(t, h, state, carry[1], body, params)
        new, low = accumulated(state, carry[0], h, total(ks))
        error = estimate(h, ks, state, new, body, tolerances)
        return new, (low, ks[count - 1]), error, next_factor(error, exponent), count - 1

    return {
        "start": start_same if same else start,
        "trial": trial_same if same else trial,
        "trial_in_lanes": trial_same if same else trial,
        "first_step": first_guess(tableau.order - 1),
        "evaluations_at_start": int(same),
    }


def difference(weights: Sequence) -> Callable:
    """Make the error estimate h Σ weights[j] k_j."""
    total = combination(weights)

    def estimate(h, ks, y, new, body, tolerances):
        return abs(h) * size(total(ks), y, new, body, tolerances)

    return estimate


def of_two(weights5: Sequence, weights3: Sequence) -> Callable:
    """Make the error estimate of DOP853: orders 5 and 3, combined to fall as h to the 8."""
    five, three = combination(weights5), combination(weights3)

    def estimate(h, ks, y, new, body, tolerances):
        e5 = size(five(ks), y, new, body, tolerances)
        e3 = size(three(ks), y, new, body, tolerances)
        e5, e3 = e5 * e5, e3 * e3
        return abs(h) * e5 / sqrt(e5 + 0.01 * e3 + 1e-300)

    return estimate
