"""The derivatives of free motions on dual numbers, as closed as the motions: see ``free_tangent``.

The rotation Q, as (c1, v) of the quaternion (1 + c1, v), changes by dQ = Q dφ/2.
"""

from collections.abc import Callable

from polhode.compiler.dual import chained, differentiated, stripped, with_values
from polhode.kernels.free_flow import free_drift, free_turn
from polhode.kernels.free_tangent import (
    free_tangent,
    free_tangent_of_moments,
    quick_tangent,
    quick_tangent_of_moments,
)
from polhode.kernels.short_flow import quick_drift
from polhode.kernels.short_tangent import diagonal
from polhode.kernels.symmetric_flow import SYMMETRIC_DRIFTS
from polhode.kernels.symmetric_tangent import SYMMETRIC_TANGENTS
from polhode.kernels.vector import add, cross, scale

NONE = 0.0, 0.0, 0.0


def turning(turn, p):
    """Return (c1, v) with the derivatives of a rotation that turns by the dual numbers p."""
    c1, (v1, v2, v3) = turn
    w, x, y, z = 0.5 * (1.0 + c1), 0.5 * v1, 0.5 * v2, 0.5 * v3
    return chained(c1, (-x, -y, -z), p), (
        chained(v1, (w, -z, y), p),
        chained(v2, (z, w, -x), p),
        chained(v3, (-y, x, w), p),
    )


def by_momentum_and_time(values, columns, rate, m, t):
    """Return functions of m and t with these slopes."""
    (a1, a2, a3), (b1, b2, b3), (c1, c2, c3) = columns
    xs = m[0], m[1], m[2], t
    return (
        chained(values[0], (a1, b1, c1, rate[0]), xs),
        chained(values[1], (a2, b2, c2, rate[1]), xs),
        chained(values[2], (a3, b3, c3, rate[2]), xs),
    )


def by_moments(columns, inverse):
    """Return functions of the inverse moments with these slopes; their values are zero."""
    (a1, a2, a3), (b1, b2, b3), (c1, c2, c3) = columns
    return (
        chained(0.0, (a1, b1, c1), inverse),
        chained(0.0, (a2, b2, c2), inverse),
        chained(0.0, (a3, b3, c3), inverse),
    )


def followed(arguments, turn, n, values, tangent, of_moments):
    """Return (turn, values) with derivatives; n is the new momentum, as ``values`` but for m."""
    t, m, _, inverse = arguments
    t0, m0, moments0, inverse0 = stripped(arguments)
    dphi, change = tangent(t0, m0, moments0, inverse0, turn, n)
    w = scale(inverse0, n)
    p = by_momentum_and_time(NONE, dphi, w, m, t)
    new = by_momentum_and_time(values, change, cross(n, w), m, t)
    if differentiated(inverse):
        dphi, change = of_moments(t0, m0, moments0, inverse0, n)
        p = add(p, by_moments(dphi, inverse))
        new = with_values(add(new, by_moments(change, inverse)), values)
    return turning(turn, p), new


def of_drift(drift: Callable, tangent: Callable, of_moments: Callable) -> Callable:
    """Return the rule for a drift of a splitting."""

    def drifted(t, m, moments, inverse):
        arguments = t, m, moments, inverse
        t0, m0, moments0, inverse0 = stripped(arguments)
        turn, change = drift(t0, m0, moments0, inverse0)
        return followed(arguments, turn, add(m0, change), change, tangent, of_moments)

    return drifted


def whole_tangent(t, m, moments, inverse, turn, new_m):
    """Return (dφ/dm, dm'/dm) by columns."""
    dphi, change = free_tangent(t, m, moments, inverse, turn, new_m)
    return dphi, diagonal((1.0, 1.0, 1.0), change)


def turned(t, m, moments, inverse):
    """Return ``free_turn`` of dual numbers."""
    arguments = t, m, moments, inverse
    t0, m0, moments0, inverse0 = stripped(arguments)
    turn, n = free_turn(t0, m0, moments0, inverse0)
    return followed(arguments, turn, n, n, whole_tangent, free_tangent_of_moments)


FREE_RULES: dict[Callable, Callable] = {
    free_turn: turned,
    free_drift: of_drift(free_drift, free_tangent, free_tangent_of_moments),
    quick_drift: of_drift(quick_drift, quick_tangent, quick_tangent_of_moments),
} | {
    drift: of_drift(drift, tangent, free_tangent_of_moments)
    for drift, tangent in zip(SYMMETRIC_DRIFTS, SYMMETRIC_TANGENTS, strict=True)
}
