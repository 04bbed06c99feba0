"""The derivative of the exact motion of a free body, for every body and every time.

In the time t the body turns by Q, and m becomes m' = Q* m Q.  With dφ = 2 vec(Q* dQ), the inverse
moments a1, a2, a3, w = I⁻¹ m and w' = I⁻¹ m',

    dφ = B dm + w' dt + C (da1, da2, da3),    dm' = Q* dm Q + m' x dφ                  (1)

The rates of change of φ and of the energy, which is conserved, give the part of dφ along m', and
the change of m' the rest, so that the phase need not be differentiated: for constant t

    m'·dφ = t w·dm + Σ (t mi² + ∫ mi² dt) dai / 2                                      (2)
    G² dφ = (m'·dφ) m' + (dm' - Q* dm Q) x m'                                          (3)

m' is (2) of ``free_flow``, whose notation this is.  With |m| = 1 and m'˙ = (k1 m2' m3', ...), the
rate of m', it depends on m, s, c1 and c3, where

    a = k1 k3 m2² - k2 k3 m1²,    b = k1 k3 m2² - k1 k2 m3²                            (4)
    ds = -s' (Wa da + Wb db)/2,    Wa = ∫ s²/c3² dt,    Wb = ∫ s²/c1² dt               (5)

the last because t = ∫ ds/s'.  For a short time Wa and Wb are power series (``short_tangent``).

After a longer time cn may be zero, and its integral infinite.  Let c3 be cn, that is a >= b (else
the first and the third axis are exchanged), and W = Wb, whose integrand is positive.  In place of
the other integral we have the change of the unit of time:

    d(s, cn, dn) = ρ (t d(s, cn, dn)/dt - (s, 0, 0)) - γ (W d(s, cn, dn)/dt + (0, 0, s²/dn))/2
    ρ = da/2a,    γ = db - 2 b ρ = -d(a - b) + 2 (a - b) ρ                             (6)

y = s/dn obeys an equation like that of s, y'² = (1 - (a-b) y²)(1 + b y²).  For every such function
f, the integral of f² from t to t + u exceeds that from 0 to u by f(t) f(u) f(t + u).  Therefore, in
repeated doubling, with capitals at twice the time,

    W -> 2 W + y² Y,    Z -> 2 Z + s² S,    Z = ∫ s² dt                                (7)
    ∫ m2² dt = (k1 m2² - k2 m1²)(k3 m2² - k2 m3²) Z + s m2 m2'                         (8)

and the integrals of m1² and m3² follow, since all mi²/ki change at the same rate.

Near the separatrix W is as large as 1/(a-b), and the terms of (6) cancel once the body has turned
over.  There, for a - b < a/2, we take two coordinates on the sphere |m| = 1: b, which is conserved,
and the longitude about axis 1, which is as early or late as the integral C of y² *along the path*
tells.  With h = D2/I2 = k3 m1² - k1 m3², β = k3 m2² - k2 m3² and dm normal to m

    dm' = (τ + Θ ζ·dm) m'˙ - (ζ·dm/β) (-(m2'² + m3'²)/m1', m2', m3')                   (9)
    τ = (m2 dm3 - m3 dm2)/(m1 β),    Θ = (t - k1 k2 C)/(k1 m2² - k2 m1²)
    ζ = (m1 (k3 (m2² + m3²) + k1 m3²), -h m2, -m3 (k1 (m1² + m2²) + k3 m1²))
    C = 2 (W + r² y y'/((a-b) b r² y² - k2 β)),    y' = cn/dn²                        (10)

where, in (10) alone, W, y and y' are those of half the time, and r = m2/m1 then.  All these terms
are positive, except for y' after a time that is long anyway.  For dm = m the right-hand side is
m' + t m'˙.  The two terms of m1' and m3' are divided by their difference if they cancel, as

    (m1 dn)² - (k1 s m2 m3 cn)² = d ((k1/k3) (m3 cn)² - (a-b)/(k2 k3))
    (m3 cn)² - (k3 s m1 m2 dn)² = d ((k3/k1) (m1 dn)² + (a-b)/(k1 k2))                (11)

No ki is zero here, and since Euler's equations keep their form if the mi are multiplied by numbers,

    ∂m'/∂k1 = (X2 + X3)/(2 k1),    and so on,    Xi = mi ∂m'/∂mi - mi' ei             (12)

On the middle axis itself m1 and m3 grow as exp(√a t).

Error: about eps (1 + |m| |t| / I_min), relative to the largest derivative, plus the effect of one
ulp of the input near the separatrix.  A derivative that has grown by exp(340) grows no more.
"""

from collections.abc import Callable
from math import sqrt

from polhode.compiler.machine import fma
from polhode.kernels.free_flow import MOST, invariants, of_usual_size
from polhode.kernels.short_flow import as_before, middle_axis, middle_second, short
from polhode.kernels.short_tangent import (
    axes_as_before,
    diagonal,
    difference,
    functions_and_integrals,
    of_moments,
    prepared,
    quick_tangent,
    quick_tangent_of_moments,
    rate_of,
    rotation_change,
    short_momentum,
    short_momentum_of_moments,
    short_tangent,
    short_tangent_of_moments,
    turns,
)
from polhode.kernels.vector import add, add_scaled, dot, multiply

SEPARATE = 1e-148  # (a - b)/a: a motion nearer to the separatrix is taken to be on it
LATEST = 340.0  # √a t on the separatrix: derivatives, which grow as its exponential, stay finite
NEAREST = 1e-70  # of m1 to the middle axis, |m| = 1: a motion nearer to it is taken to be on it


# ---- s, cn, dn and the integrals
def doubled(s, cn, curve):
    """Return (s, cn) at twice the time, and (s², s²/dn²)."""
    big, modulus, complement = curve
    ss, c = s * s, cn * cn
    d = fma(modulus, c, complement)
    f = 1.0 / fma(big * ss, d, c)
    s = 2.0 * (s * cn) * (sqrt(d) * f)
    cn = fma(modulus, c * c, complement * fma(2.0, c, -1.0)) * f
    f = fma(-0.5, fma(big * s, s, cn * cn), 1.5)
    s, cn = s * f, cn * f
    return s, cn, (ss, ss / d)


def functions_of_time(t, a, b, gap):
    """Return (s, cn, dn, W, Z) at half the time, and at the time; a >= b, and c3 is cn."""
    if gap < SEPARATE * a:
        t = max(-LATEST, min(LATEST, t * sqrt(a))) / sqrt(a)
    doublings = 0
    while (a * (t * t) > short() * short()) & (doublings < MOST):
        t, doublings = 0.5 * t, doublings + 1
    (s, less1, less3), _, (_, w, z) = functions_and_integrals(t, a, b)
    w, z = w * t, z * t
    f, cn, dn = 1.0 / a, 1.0 + less3, 1.0 + less1
    modulus, complement = b * f, gap * f
    curve = a, modulus, complement
    for _ in range(doublings - 1):
        s, cn, (ss, yy) = doubled(s, cn, curve)
        dn = sqrt(fma(modulus, cn * cn, complement))
        w, z = fma(yy, s / dn, 2.0 * w), fma(ss, s, 2.0 * z)  # (7)
    half = s, cn, dn, w, z
    s, cn, (ss, yy) = doubled(s, cn, curve)
    dn = sqrt(fma(modulus, cn * cn, complement))
    return half, (s, cn, dn, fma(yy, s / dn, 2.0 * w), fma(ss, s, 2.0 * z))


# ---- the momentum, |m| = 1, far from the separatrix
def parts_of_change(m, k, functions):
    """Return 1/d, m', and what ρ and γ of (6) do to m' at constant time."""
    (m1, m2, m3), (k1, k2, k3), (s, cn, dn, _, _) = m, k, functions
    lost = ((k2 * k3) * s) * s
    f = 1.0 / fma(cn, cn, -(lost * m1) * m1)
    cross = (k1 * s) * cn * (m2 * m3), (k2 * s) * (m3 * m1), (k3 * s) * dn * (m1 * m2)
    n = multiply(f, (fma(m1, dn, cross[0]), fma(m2, cn * dn, cross[1]), fma(m3, cn, cross[2])))
    by_size = multiply(-f, add_scaled(cross, 2.0 * (lost * m1) * m1, n))
    by_shape = multiply(-0.5 * f * (s * s / dn), (m1, m2 * cn, (k3 * s) * (m1 * m2)))
    return f, n, by_size, by_shape


def changed(column, t, w, rate, by_size, by_shape, size, shape):
    """Add the effect of (ρ, γ) = (size, shape) on m'."""
    column = add_scaled(column, fma(t, size, -0.5 * (w * shape)), rate)
    return add_scaled(add_scaled(column, size, by_size), shape, by_shape)


def far_momentum(t, m, k, curve, functions):
    """Return dm'/dm by columns, far from the separatrix."""
    (m1, m2, m3), (k1, k2, k3), (a, _, gap, _) = m, k, curve
    s, cn, dn, w, _ = functions
    f, n, by_size, by_shape = parts_of_change(m, k, functions)
    rate, p1 = rate_of(k, n), k2 * k3
    x1, x2 = -(p1 * m1) / a, (k3 * k1) * m2 / a
    y1, y2, y3 = 2.0 * fma(gap, x1, p1 * m1), 2.0 * gap * x2, -2.0 * (k1 * k2) * m3
    s1, s2, s3 = f * (k1 * s) * cn, f * (k2 * s), f * (k3 * s) * dn
    first = add_scaled((f * dn, s2 * m3, s3 * m2), 2.0 * (f * p1) * (s * s) * m1, n)
    second, third = (s1 * m3, f * (cn * dn), s3 * m1), (s1 * m2, s2 * m1, f * cn)
    return (
        changed(first, t, w, rate, by_size, by_shape, x1, y1),
        changed(second, t, w, rate, by_size, by_shape, x2, y2),
        changed(third, t, w, rate, by_size, by_shape, 0.0, y3),
    )


def far_momentum_of_moments(t, m, k, curve, functions):
    """Return dm'/dk by columns, far from the separatrix."""
    (m1, m2, m3), (k1, k2, k3), (a, _, gap, h) = m, k, curve
    s, cn, dn, w, _ = functions
    q1, q2, q3 = m1 * m1, m2 * m2, m3 * m3
    f, n, by_size, by_shape = parts_of_change(m, k, functions)
    rate, g, half = rate_of(k, n), f * s, 0.5 / a
    x1, x2, x3 = half * (k3 * q2), -half * (k3 * q1), half * fma(k1, q2, -(k2 * q1))
    y1, y2, y3 = 2.0 * gap * x1 - k2 * q3, fma(2.0 * gap, x2, h), fma(2.0 * gap, x3, k2 * q1)
    lost, zero = (g * s) * q1, 0.0 * s
    first = g * cn * (m2 * m3), zero, zero
    second = add_scaled((zero, g * (m3 * m1), zero), lost * k3, n)
    third = add_scaled((zero, zero, g * dn * (m1 * m2)), lost * k2, n)
    return (
        changed(first, t, w, rate, by_size, by_shape, x1, y1),
        changed(second, t, w, rate, by_size, by_shape, x2, y2),
        changed(third, t, w, rate, by_size, by_shape, x3, y3),
    )


# ---- near it
def divided_sum(x, y, d, ratio, z, rest):
    """Return (x + y)/d, where (x + y)(x - y) = d (ratio z² + rest), without cancellation."""
    if (x >= 0.0) == (y >= 0.0):
        return (x + y) / d
    f = 1.0 / (x - y)
    return fma(ratio * z, z * f, rest * f)


def momentum_at(m, k, gap, functions):
    """Return m', no matter how small m1' and m3' are."""
    (m1, m2, m3), (k1, k2, k3), (s, cn, dn, _, _) = m, k, functions
    p1, x, y = k2 * k3, m1 * dn, m3 * cn
    d = fma(cn, cn, -((p1 * s) * s) * (m1 * m1))
    n1 = divided_sum(x, (k1 * s) * cn * (m2 * m3), d, k1 / k3, y, -gap / p1)  # (11)
    n3 = divided_sum(y, (k3 * s) * dn * (m1 * m2), d, k3 / k1, x, gap / (k1 * k2))
    return n1, fma(m2, cn * dn, (k2 * s) * (m3 * m1)) / d, n3


def near_momentum(t, m, k, curve, half, functions):
    """Return dm'/dm by columns, and m', near the separatrix."""
    (m1, m2, m3), (k1, k2, k3), (_, b, gap, h) = m, k, curve
    q1, q2, q3 = m1 * m1, m2 * m2, m3 * m3
    n = n1, n2, n3 = momentum_at(m, k, gap, functions)
    h1, h2, _ = momentum_at(m, k, gap, half)
    s, cn, dn, w, _ = half
    y, r, x, f = s / dn, h2 / h1, m3 / m1, n3 / n1
    over3, over1 = fma(k1, q2, -(k2 * q1)), fma(k3, q2, -(k2 * q3))
    path = y * (cn / dn / dn) / fma(gap * b * (r * y), r * y, -(k2 * over1))  # (10)
    path = 2.0 * fma((r * m1) * (r * n1), path, w * m1 * n1)
    late = fma(t, m1 * n1, -(k1 * k2) * path) / over3  # times m1 m1', as the next are by one
    z1, z2, z3 = fma(k3, q2 + q3, k1 * q3), -h * (m2 / m1), -x * fma(k1, q1 + q2, k3 * q1)
    rate, g = (k1 * n2 * f, k2 * n3, k3 * n2), n1 / over1
    slope = multiply(-m1 / over1, (-fma(n2, n2, n3 * n3) / n1, n2, n3))
    steady = add_scaled(n, t, rate_of(k, n))
    return (  # (9)
        add_scaled(add_scaled(multiply(m1, steady), late * z1, rate), z1, slope),
        add_scaled(add_scaled(multiply(m2, steady), fma(late, z2, -g * x), rate), z2, slope),
        add_scaled(add_scaled(multiply(m3, steady), fma(late, z3, g * m2 / m1), rate), z3, slope),
    ), n


def near_momentum_of_moments(m, k, columns, n):
    """Return dm'/dk by columns, from dm'/dm, where no k is zero."""
    (a, b, c), (n1, n2, n3) = columns, n
    a1, a2, a3 = multiply(m[0], a)
    b1, b2, b3 = multiply(m[1], b)
    c1, c2, c3 = multiply(m[2], c)
    a, b, c = (a1 - n1, a2, a3), (b1, b2 - n2, b3), (c1, c2, c3 - n3)
    return (  # (12)
        multiply(0.5 / k[0], add(b, c)),
        multiply(0.5 / k[1], add(c, a)),
        multiply(0.5 / k[2], add(a, b)),
    )


def middle_momentum(m2, k, functions):
    """Return dm'/dm by columns, on the middle axis."""
    s, cn, _, _, _ = functions
    f = 1.0 / cn
    zero, s = 0.0 * s, f * (s * m2)
    return (f, zero, k[2] * s), (zero, 1.0 + zero, zero), (k[0] * s, zero, f)


def swapped(third, v):
    """Exchange the first and the third axis if c1 is cn."""
    return v if third else (v[2], v[1], v[0])


def axes_swapped(third, columns):
    a, b, c = columns
    return swapped(third, (swapped(third, a), swapped(third, b), swapped(third, c)))


def larger_first(m, k, curve):
    """Return (m, k, curve) such that c3 is cn, and whether it was."""
    a, b, gap, h = curve
    third = gap >= 0.0
    curve = (a, b, gap, h) if third else (b, a, -gap, -h)
    return swapped(third, m), swapped(third, k), curve, third


def long_momentum(t, m, n, k, curve):
    """Return d(m' - m)/dm by columns."""
    m, k, curve, third = larger_first(m, k, curve)
    a, b, gap, _ = curve
    if a * (t * t) <= short() * short():
        return axes_swapped(third, short_momentum(t, m, swapped(third, n), k))
    half, functions = functions_of_time(t, a, b, gap)
    if gap >= 0.5 * a:
        columns = far_momentum(t, m, k, curve, functions)
    elif abs(m[0]) > NEAREST:
        columns, _ = near_momentum(t, m, k, curve, half, functions)
    else:
        columns = middle_momentum(m[1], k, functions)
    return axes_swapped(third, diagonal((-1.0, -1.0, -1.0), columns))


def long_momentum_of_moments(t, m, n, k, curve):
    """Return dm'/dk by columns, and the integral of m2²."""
    m, k, curve, third = larger_first(m, k, curve)
    n, (a, b, gap, _) = swapped(third, n), curve
    if a * (t * t) <= short() * short():
        columns, square2 = short_momentum_of_moments(t, m, n, k)
        return axes_swapped(third, columns), square2
    half, functions = functions_of_time(t, a, b, gap)
    if gap >= 0.5 * a:
        columns = far_momentum_of_moments(t, m, k, curve, functions)
    elif abs(m[0]) > NEAREST:
        columns, new = near_momentum(t, m, k, curve, half, functions)
        columns = near_momentum_of_moments(m, k, columns, new)
    else:
        zero = 0.0 * a
        columns = (zero, zero, zero), (zero, zero, zero), (zero, zero, zero)
    s, _, _, _, z = functions
    (m1, m2, m3), (k1, k2, k3) = m, k
    x, y = fma(k1, m2 * m2, -(k2 * m1) * m1), fma(k3, m2 * m2, -(k2 * m3) * m3)
    return axes_swapped(third, columns), fma(x * y, z, s * (m2 * n[1]))  # (8)


# ---- the tangent
def of_unit_momentum(t, m, moments, inverse, middle):
    """Return 1/|m|, and (t, m, k, curve) in units in which |m| = 1, the middle axis second."""
    unit, t, m = of_usual_size(t, middle_second(m, middle))
    moments, inverse = middle_second(moments, middle), middle_second(inverse, middle)
    (size, over, over2), k, (a, b, gap), e, _ = invariants(m, moments, inverse)
    curve = a * over2, b * over2, gap * over2, e * over
    return over * unit, (t * size, multiply(over, m), k, curve)


def long_tangent(t, m, moments, inverse, turn, new_m):
    """Return ``free_tangent`` for any time."""
    middle = middle_axis(moments)
    over, (t, m, k, curve) = of_unit_momentum(t, m, moments, inverse, middle)
    n = middle_second(multiply(over, new_m), middle)
    change = axes_as_before(long_momentum(t, m, n, k, curve), middle)
    m, n = as_before(m, middle), as_before(n, middle)
    along = (t * inverse[0]) * m[0], (t * inverse[1]) * m[1], (t * inverse[2]) * m[2]
    over2, back = over / dot(n, n), rotation_change(turn[0], turn[1])
    return turns(over2, along, n, difference(change, back)), change


def long_tangent_of_moments(t, m, moments, inverse, new_m):
    """Return ``free_tangent_of_moments`` for any time."""
    middle = middle_axis(moments)
    over, (t, m, k, curve) = of_unit_momentum(t, m, moments, inverse, middle)
    n = middle_second(multiply(over, new_m), middle)
    columns, square2 = long_momentum_of_moments(t, m, n, k, curve)
    dphi, (a, b, c) = of_moments(t, 1.0 / dot(n, n), m, n, k, columns, square2)
    size = 1.0 / over
    found = multiply(size, a), multiply(size, b), multiply(size, c)
    return axes_as_before(dphi, middle), axes_as_before(found, middle)


def free_tangent(t, m, moments, inverse, turn, new_m):
    """Return (dφ/dm, d(m' - m)/dm) by columns, of what ``free_turn`` returned, (turn, new_m)."""
    is_short, given = prepared(t, m, moments, inverse)
    if is_short:
        return short_tangent(given, turn, new_m)
    return long_tangent(t, m, moments, inverse, turn, new_m)


def free_tangent_of_moments(t, m, moments, inverse, new_m):
    """Return (dφ/da, dm'/da) by columns, for the inverse moments a."""
    is_short, given = prepared(t, m, moments, inverse)
    if is_short:
        return short_tangent_of_moments(given, moments, new_m)
    return long_tangent_of_moments(t, m, moments, inverse, new_m)


SHORT: dict[Callable, Callable] = {
    free_tangent: quick_tangent,
    free_tangent_of_moments: quick_tangent_of_moments,
}
