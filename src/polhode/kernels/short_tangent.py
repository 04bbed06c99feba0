"""The derivative of the exact motion of a free body for a short time, without branches.

The notation is that of ``free_tangent``, but any axis may be that of the middle moment: for a time
so short that √|a| t and √|b| t are at most 0.24, c1, c3 and d are near 1 anyway, and

    Wa = ∫ τ/(1 - aτ) dt,    Wb = ∫ τ/(1 - bτ) dt,    Z = ∫ τ dt,    τ = s²             (1)

are power series.  As in ``short_flow`` they are evaluated at half the time and doubled: with
capitals at twice the time

    Wa -> 2 Wa + s² S/(c3² C3),    Wb -> 2 Wb + s² S/(c1² C1),    Z -> 2 Z + s² S       (2)

m' changes with m at constant s, c1 and c3, and besides by

    m'˙ dT - (∂m'/∂c3) (s²/c3) da/2 - (∂m'/∂c1) (s²/c1) db/2,    dT = -(Wa da + Wb db)/2  (3)

Differences from the identity are written as such: errors are eps times t/I, not eps.
"""

from math import nan

from polhode.compiler.machine import blend, fma, mask
from polhode.kernels.short_flow import (
    HIGH,
    LOW,
    as_before,
    middle_axis,
    middle_second,
    short,
    short_powers,
)
from polhode.kernels.vector import add, add_scaled, cross, multiply, subtract

STILL = 1e-17  # radians: a body that turns by less has the derivative t/I, to rounding


# ---- s, c1, c3 and the integrals
def series_over(n, powers):
    """Return ∫ τ dt/(1 - nτ) at time 1."""
    t2, t3, t4, t5, t6, t7, _ = powers
    f2 = n + t2
    f3 = fma(n, f2 + t2, t3)
    f4 = fma(n, f3 + fma(t2, f2, t3), t4)
    f5 = fma(n, f4 + fma(t2, f3, fma(t3, f2, t4)), t5)
    f6 = fma(n, f5 + fma(t2, f4, fma(t3, f3, fma(t4, f2, t5))), t6)
    f7 = fma(n, f6 + fma(t2, f5, fma(t3, f4, fma(t4, f3, fma(t5, f2, t6)))), t7)
    return integral_of((f2, f3, f4, f5, f6, f7))


def integral_of(powers):
    """Return the integral of t² + f2 t⁴ + ... to time 1."""
    f2, f3, f4, f5, f6, f7 = powers
    low = fma(f4, 1.0 / 9.0, fma(f3, 1.0 / 7.0, fma(f2, 1.0 / 5.0, 1.0 / 3.0)))
    return fma(f7, 1.0 / 15.0, fma(f6, 1.0 / 13.0, fma(f5, 1.0 / 11.0, low)))


def functions_and_integrals(t, a, b):
    """Return (s, c1 - 1, c3 - 1), (s/c1, s/c3), (Wa, Wb, Z)/t for a short time."""
    z = 0.25 * (t * t)
    a, b = a * z, b * z
    t2, t3, t4, t5, t6, t7, t8 = powers = short_powers(a, b)
    low = fma(5.0, t5, fma(4.0, t4, fma(3.0, t3, 2.0 * t2)))
    slope = fma(8.0, t8, fma(7.0, t7, fma(6.0, t6, low)))
    change = t2 + t3 + t4 + t5 + t6 + t7 + t8
    wa, wb = series_over(a, powers), series_over(b, powers)
    wz = integral_of((t2, t3, t4, t5, t6, t7))
    a, b = fma(a, change, a), fma(b, change, b)  # times τ
    rest1, rest3, ab, x = 1.0 - b, 1.0 - a, a * b, fma(t, slope, t)
    u1, u3 = fma(-2.0, b, 1.0 + ab), fma(-2.0, a, 1.0 + ab)
    f, f1, f3 = 1.0 / (1.0 - ab), 1.0 / (rest1 * u1), 1.0 / (rest3 * u3)
    s, less = x * f, -2.0 * f
    less1, less3 = less * (b * rest3), less * (a * rest1)
    grown = 1.0 + fma(change, slope, change + slope)
    wa, wb = z * fma(grown, f3, wa), z * fma(grown, f1, wb)  # (2)
    wz = z * fma(grown, f, wz)
    return (s, less1, less3), (x * (rest1 * f1), x * (rest3 * f3)), (wa, wb, wz)


# ---- the momentum
def rate_of(k, m):
    """Return the rate of change of the momentum."""
    return k[0] * (m[1] * m[2]), k[1] * (m[2] * m[0]), k[2] * (m[0] * m[1])


def short_momentum(t, m, n, k):
    """Return d(m' - m)/dm by columns; n is m'."""
    (m1, m2, m3), (k1, k2, k3) = m, k
    r1, r2, r3 = (k2 * k3) * m1, (k3 * k1) * m2, (k1 * k2) * m3
    x = r2 * m2
    a, b = fma(-r1, m1, x), fma(-r3, m3, x)
    (s, less1, less3), (y1, y3), (wa, wb, _) = functions_and_integrals(t, a, b)
    c1, c3, lost = 1.0 + less1, 1.0 + less3, x * (s * s)
    f = 1.0 / (1.0 - lost)
    g, s1, s3 = s * f, k1 * s, k3 * s
    e1, e2, e3 = (s1 * c3) * f, (k2 * s) * f, (s3 * c1) * f
    by1 = multiply(g * y1, (m1, m2 * c3, s3 * (m1 * m2)))
    by3 = multiply(g * y3, (s1 * (m2 * m3), m2 * c1, m3))
    rate = multiply(t, rate_of(k, n))
    d1, d3 = (less1 + lost) * f, (less3 + lost) * f
    d2 = fma(less1, less3, less1 + less3 + lost) * f
    first = add_scaled((d1, e2 * m3, e3 * m2), wa * r1, rate)  # (3)
    second = add_scaled((e1 * m3, d2, e3 * m1), -((wa + wb) * r2), rate)
    third = add_scaled((e1 * m2, e2 * m1, d3), wb * r3, rate)
    second = add_scaled(second, -r2, add(by1, by3))
    return (
        add_scaled(first, r1, by3),
        add_scaled(second, 2.0 * (s * g) * r2, n),
        add_scaled(third, r3, by1),
    )


def short_momentum_of_moments(t, m, n, k):
    """Return dm'/dk by columns, and the integral of m2²."""
    (m1, m2, m3), (k1, k2, k3) = m, k
    q1, q2, q3 = m1 * m1, m2 * m2, m3 * m3
    over3, over1 = fma(k1, q2, -(k2 * q1)), fma(k3, q2, -(k2 * q3))
    a, b = k3 * over3, k1 * over1
    (s, less1, less3), (y1, y3), (wa, wb, z) = functions_and_integrals(t, a, b)
    c1, c3 = 1.0 + less1, 1.0 + less3
    f = 1.0 / fma(-(k3 * k1) * (s * s), q2, 1.0)
    g = s * f
    by1 = multiply(g * y1, (m1, m2 * c3, (k3 * s) * (m1 * m2)))
    by3 = multiply(g * y3, ((k1 * s) * (m2 * m3), m2 * c1, m3))
    rate, over = multiply(t, rate_of(k, n)), (s * g) * q2
    a1, a2, a3 = -0.5 * (k3 * q2), 0.5 * (k3 * q1), -0.5 * over3
    b1, b2, b3 = -0.5 * over1, 0.5 * (k1 * q3), -0.5 * (k1 * q2)
    zero, e = 0.0 * s, (g * (c3 * (m2 * m3)), g * (m3 * m1), g * (c1 * (m1 * m2)))
    first = add_scaled((e[0], zero, zero), fma(wa, a1, wb * b1), rate)
    second = add_scaled((zero, e[1], zero), fma(wa, a2, wb * b2), rate)
    third = add_scaled((zero, zero, e[2]), fma(wa, a3, wb * b3), rate)
    columns = (
        add_scaled(add_scaled(add_scaled(first, a1, by3), b1, by1), over * k3, n),
        add_scaled(add_scaled(second, a2, by3), b2, by1),
        add_scaled(add_scaled(add_scaled(third, a3, by3), b3, by1), over * k1, n),
    )
    return columns, fma(t * (over3 * z), over1, s * (m2 * n[1]))


# ---- the rotation
def rotation_change(c1, v):
    """Return the matrix of ``turned_back_change`` by columns."""
    v1, v2, v3 = v
    w = 2.0 * (1.0 + c1)
    x1, x2, x3 = 2.0 * v1, 2.0 * v2, 2.0 * v3
    y1, y2, y3 = w * v1, w * v2, w * v3
    q1, q2, q3 = x1 * v1, x2 * v2, x3 * v3
    p12, p23, p31 = x1 * v2, x2 * v3, x3 * v1
    return (
        (-(q2 + q3), p12 - y3, p31 + y2),
        (p12 + y3, -(q3 + q1), p23 - y1),
        (p31 - y2, p23 + y1, -(q1 + q2)),
    )


def turns(over2, along, n, columns):
    """Return x by columns, where n·x = ``along`` and n x x = ``columns``; ``over2`` is 1/|n|²."""
    n = multiply(over2, n)
    a, b, c = columns
    return (
        add_scaled(cross(a, n), along[0], n),
        add_scaled(cross(b, n), along[1], n),
        add_scaled(cross(c, n), along[2], n),
    )


def difference(a, b):
    """Return the difference of two matrices."""
    return subtract(a[0], b[0]), subtract(a[1], b[1]), subtract(a[2], b[2])


def diagonal(d, columns):
    """Return a matrix with d added to its diagonal."""
    (a1, a2, a3), (b1, b2, b3), (c1, c2, c3) = columns
    return (a1 + d[0], a2, a3), (b1, b2 + d[1], b3), (c1, c2, c3 + d[2])


def of_moments(t, over2, m, n, k, columns, square2):
    """Return (dφ, dm') by the inverse moments, from dm'/dk and the integral of m2²."""
    (x, y, z), (q1, q2, q3) = columns, (m[0] * m[0], m[1] * m[1], m[2] * m[2])
    found = subtract(y, z), subtract(z, x), subtract(x, y)
    part = fma(-t, q2, square2) / blend(mask(k[1] == 0.0), 1.0, k[1])
    along = 0.5 * fma(t, q2, square2)
    along = fma(t, q1, 0.5 * (k[0] * part)), along, fma(t, q3, 0.5 * (k[2] * part))
    return turns(over2, along, n, found), found


# ---- the tangent
def prepared(t, m, moments, inverse):
    """Return (whether the time is short, what ``short_tangent`` takes); a body may be at rest."""
    (i1, i2, i3), (a1, a2, a3), (m1, m2, m3) = moments, inverse, m
    k1, k2, k3 = ((i2 - i3) * a2) * a3, ((i3 - i1) * a3) * a1, ((i1 - i2) * a1) * a2
    q1, q2, q3 = m1 * m1, m2 * m2, m3 * m3
    square, x = (q1 + q3) + q2, (k3 * k1) * q2
    largest = max(abs(fma(-(k2 * k3), q1, x)), abs(fma(-(k1 * k2), q3, x)))
    still = abs(t) * (max(abs(m1), abs(m2), abs(m3)) * max(a1, a2, a3)) < STILL
    usual = (square > LOW) & (square < HIGH)
    is_short = (largest * (t * t) <= short() * short()) & (usual | still)
    over2 = blend(mask(usual), 1.0 / blend(mask(usual), square, 1.0), 0.0)
    return is_short, (t, m, inverse, (k1, k2, k3), over2, blend(mask(usual), 0.0, t))


def short_tangent(given, turn, new_m):
    """Return (dφ/dm, d(m' - m)/dm) by columns, as ``free_tangent``, for a short time."""
    t, m, inverse, k, over2, rest = given
    change = short_momentum(t, m, new_m, k)
    along = (t * inverse[0]) * m[0], (t * inverse[1]) * m[1], (t * inverse[2]) * m[2]
    dphi = turns(over2, along, new_m, difference(change, rotation_change(turn[0], turn[1])))
    return diagonal(multiply(rest, inverse), dphi), change


def short_tangent_of_moments(given, moments, new_m):
    """Return (dφ/da, dm'/da) by columns, as ``free_tangent_of_moments``, for a short time."""
    t, m, _, k, over2, rest = given
    middle = middle_axis(moments)
    m, n, k = middle_second(m, middle), middle_second(new_m, middle), middle_second(k, middle)
    columns, square2 = short_momentum_of_moments(t, m, n, k)
    dphi, found = of_moments(t, over2, m, n, k, columns, square2)
    dphi = diagonal(multiply(rest, m), dphi)
    return axes_as_before(dphi, middle), axes_as_before(found, middle)


def axes_as_before(columns, middle):
    """Undo ``middle_second`` in a matrix."""
    a, b, c = columns
    return as_before((as_before(a, middle), as_before(b, middle), as_before(c, middle)), middle)


def quick_tangent(t, m, moments, inverse, turn, new_m):
    """Return ``free_tangent`` for a short time, NaN for a longer one."""
    is_short, (t, m, inverse, k, over2, rest) = prepared(t, m, moments, inverse)
    t = blend(mask(is_short), t, nan)
    return short_tangent((t, m, inverse, k, over2, rest), turn, new_m)


def quick_tangent_of_moments(t, m, moments, inverse, new_m):
    """Return ``free_tangent_of_moments`` for a short time, NaN for a longer one."""
    is_short, (t, m, inverse, k, over2, rest) = prepared(t, m, moments, inverse)
    t = blend(mask(is_short), t, nan)
    return short_tangent_of_moments((t, m, inverse, k, over2, rest), moments, new_m)
