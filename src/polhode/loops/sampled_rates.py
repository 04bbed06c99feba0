"""The loop of ``integrate_samples`` along a table of samples.

In interval k, from t_k to t_(k+1), the rate is a polynomial through samples at ``size`` times
around it, in Newton's form

    P(t) = c₀ + (t - e₀)(c₁ + (t - e₁)(c₂ + …)),    c_j = f[e₀, …, e_j]                (1)

with divided differences over the actual times, whatever their spacing.  The points e₀ = t_k,
e₁ = t_(k+1), t_(k-1), t_(k+2), … alternate outwards; where the table ends, they continue on the
other side, so that the first and the last intervals have one-sided polynomials of the same order.

Rates: f are the samples, and the rate is P, of degree size - 1.  Increments: f is the integral of
the rate, whose first differences are the increments, and the rate is P', of degree size - 2; the
increment of the interval itself is then reproduced exactly, so the order is the same.
"""

from collections.abc import Callable
from functools import cache

from polhode.compiler.machine import CompiledOrPlain, put
from polhode.compiler.tree import bind
from polhode.kernels.magnus import (
    INNER8,
    NODES4,
    NODES6,
    OUTER8,
    magnus2,
    magnus4,
    magnus6,
    magnus8,
)
from polhode.kernels.quaternion import product1
from polhode.kernels.so3 import exp1
from polhode.kernels.vector import add_scaled, subtract

MOST_POINTS = 8


# ---- what differs between rates and increments: two stubs, and their replacements
def fill(times, samples, first, size, table):
    """Stub: fill in the first rows of divided differences; return their level, 0 or 1."""
    return 0


def at(x, size, form):
    """Stub: return the rate at the time x after t_k."""
    return 0.0, 0.0, 0.0


def fill_rates(times, samples, first, size, table):
    for i in range(size):
        put(table, i, (samples[first + i, 0], samples[first + i, 1], samples[first + i, 2]))
    return 0


def fill_increments(times, samples, first, size, table):
    for i in range(size - 1):
        k = first + i
        r = 1.0 / (times[k + 1] - times[k])
        put(table, i, (r * samples[k, 0], r * samples[k, 1], r * samples[k, 2]))
    return 1


def row(form, j):
    return form[j, 0], form[j, 1], form[j, 2]


def value_at(x, size, form):
    """Return P(x) by Horner's rule."""
    value = row(form, size - 1)
    for j in range(size - 2, -1, -1):
        value = add_scaled(row(form, j), x - form[j, 3], value)
    return value


def slope_at(x, size, form):
    """Return P'(x)."""
    value, slope = row(form, size - 1), (0.0, 0.0, 0.0)
    for j in range(size - 2, -1, -1):
        slope = add_scaled(value, x - form[j, 3], slope)
        value = add_scaled(row(form, j), x - form[j, 3], value)
    return slope


# ---- one interval
def newton(times, samples, k, size, table, form):
    """Put the rows (c_j, e_j - t_k) of (1) for interval k into ``form``; ``table`` is scratch."""
    n = len(times)
    first = min(max(k + 1 - size // 2, 0), n - size)
    low, high = k, k + 1
    level = fill(times, samples, first, size, table)
    for j in range(size):
        new = k if j == 0 else k + 1
        if j > 1:
            leftwards = low > first and (j % 2 == 0 or high == first + size - 1)
            low, high = (low - 1, high) if leftwards else (low, high + 1)
            new = low if leftwards else high
        if j > level:
            for i in range(size - j):
                r = 1.0 / (times[first + i + j] - times[first + i])
                a, b = row(table, i), row(table, i + 1)
                d = subtract(b, a)
                put(table, i, (r * d[0], r * d[1], r * d[2]))
        c = row(table, low - first) if j >= level else (0.0, 0.0, 0.0)
        put(form, j, (c, times[new] - times[k]))


def turn(h, order, form):
    """Return the rotation vector over an interval of length h, from rates at its Gauss nodes."""
    mid = 0.5 * h
    if order == 2:
        return magnus2(h, at(mid, 2, form))
    if order == 4:
        x = NODES4 * h
        return magnus4(h, at(mid - x, 4, form), at(mid + x, 4, form))
    if order == 6:
        x = NODES6 * h
        return magnus6(h, at(mid - x, 6, form), at(mid, 6, form), at(mid + x, 6, form))
    x, y = OUTER8 * h, INNER8 * h
    w1, w2 = at(mid - x, 8, form), at(mid - y, 8, form)
    return magnus8(h, w1, w2, at(mid + y, 8, form), at(mid + x, 8, form))


def turned(q, psi):
    c1, v = exp1(psi)
    return product1(q, c1, v)


def apart(q, p):
    """Return the squared chord between two quaternions."""
    total = 0.0
    for i in range(4):
        total += (q[i] - p[i]) * (q[i] - p[i])
    return total


def along(times, samples, order, others, other, alike, q, table, form, out):
    """Fill rows (attitude, body rate, squared chord to the attitude of order ``other``).

    ``samples`` are used for the attitude, ``others`` for the one that it is compared with; if they
    are ``alike``, both polynomials use the same points.
    """
    p, h, size = q, 0.0, max(order, other) if alike else order
    for k in range(len(times) - 1):
        h = times[k + 1] - times[k]
        if not alike:
            newton(times, others, k, other, table, form)
            psi = turn(h, other, form)
        newton(times, samples, k, size, table, form)
        if alike:
            psi = turn(h, other, form)
        put(out, k, (q, at(0.0, order, form), apart(q, p)))
        q, p = turned(q, turn(h, order, form)), turned(p, psi)
    put(out, len(times) - 1, (q, at(h, order, form), apart(q, p)))


# ---- binding
PIECES: dict[str, dict[Callable, Callable]] = {
    "rate": {fill: fill_rates, at: value_at},
    "increment": {fill: fill_increments, at: slope_at},
}


def plain_loop(kind: str) -> Callable:
    """Return ``along`` for "rate" or "increment", in plain Python."""
    return bind(along, PIECES[kind])


@cache
def loop(kind: str) -> CompiledOrPlain:
    """Return ``along`` for "rate" or "increment", compiled."""
    return CompiledOrPlain(plain_loop(kind), f"the loop along {kind}s")
