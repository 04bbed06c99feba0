"""The exact motion of a free body in closed form, for every body and every time.

With axis 2 the one of the middle moment (any order of the other two), G = |m|, and the differences
D1 = G² - 2 T I1, D2 = G² - 2 T I2, D3 = 2 T I3 - G² from the squares of m, not from the energy T,

    D1 = m2² (I2-I1)/I2 + m3² (I3-I1)/I3,    D3 = m1² (I3-I1)/I1 + m2² (I3-I2)/I2
    D2 = m3² (I3-I2)/I3 - m1² (I2-I1)/I1                                               (1)

let s(t) be odd with s'² = (1 - a s²)(1 - b s²), a = D3 (I2-I1)/(I1 I2 I3),
b = D1 (I3-I2)/(I1 I2 I3): sn(λt)/λ in either family of polhodes, tanh on the separatrix, sine for a
symmetric body.  With c3² = 1 - a s², c1² = 1 - b s², k1 = 1/I3 - 1/I2, k2 = 1/I1 - 1/I3,
k3 = 1/I2 - 1/I1, the addition theorem is

    m1' = (m1 c1 + k1 s m2 m3 c3) / d,    m2' = (m2 c1 c3 + k2 s m3 m1) / d
    m3' = (m3 c3 + k3 s m1 m2 c1) / d,    d = 1 - k1 k3 s² m2²                         (2)

The attitude needs one integral.  With n = D1 D3 / (I1 I3 G²) and e = D2 / (I2 G),

    ψ(t) = t G/I2 - e ∫ dt / (1 - n s²)                                                (3)

Let |m| = 1 from here, m2 >= 0 and m2' > -1/2 (ensured by a half turn about axis 1, before or
after), x = m1 c1 and y = m3 c3.  The body rotates by A(m) B A(m')*, A(m) the shortest rotation from
axis 2 to m, B a rotation about axis 2 by ψ + arg(m3 + i m1) - arg(y + i x) + δ, where, with
ε = e s m2,

    tan δ = ε u / ((1 + m2') (1 - n s²) (m1² + m3²) + m2' ε²)
    u = m1'² + m3'² + k2 s m2 m1' m3' = (x² + y² - k2 s m2 x y) / d                    (4)

For a short time the integral and τ = s² are power series, and nothing needs a branch
(``short_flow``).  The series are evaluated at half the time and doubled, that is, (2) and (4) with
both times equal, where ψ becomes 2 ψ - Ω:

    s = τ'/w,    c1 = (1 - 2bτ + abτ²)/w,    c3 = (1 - 2aτ + abτ²)/w,    w = 1 - abτ²
    tan Ω = e n τ τ' / (w - nτ (3 - 2(a+b)τ + abτ²))                                   (5)

A longer time takes repeated doubling, which doubles the error of the phase each time, in proportion
to the time itself.  Every sum is written so that it does not cancel near the separatrix, where cn,
the one of c1 and c3 that may vanish, and dn, the other, both become small:

    1 - a b s⁴ = cn² + A s² dn²,    1 - n s² = cn² + g s²,    |a - b| = |k2 D2 / I2|    (6)

with A the larger of a and b, and g = A - n >= 0.  Only D2 must cancel, on whose logarithm the
motion near the separatrix depends: it is computed with twice the digits.

With p = 1 + m2, p' = 1 + m2' and B along the quaternion (c, 0, z, 0), A(m) B A(m')* is along

    w = c (p p' + X) - z Y,           v2 = z (p p' - X) - c Y
    v1 = c V + z (p' m1 + p m1'),     v3 = c U + z (p' m3 + p m3')                     (7)

where X = m1 m1' + m3 m3', and Y = m3 m1' - m1 m3', V = p' m3 - p m3', U = p m1' - p' m1, which are
small for short times, follow from (2) without cancellation:

    d Y = s m2 (k1 m3 y - k3 m1 x) + m1 m3 (c1 - c3)
    d V = s (k2 m1 m3² - k3 m2 p x) + m3 (d - c3) + m2 y (c1 - 1)
    d U = s (k1 m2 p y - k2 m3 m1²) - m1 (d - c1) - m2 x (c3 - 1)                      (8)

No family, separatrix or symmetry is a special case, and no elliptic integral, inverse function or
period is needed.  Error: about 2 eps (1 + |m| |t| / I_min), plus the effect of one ulp of the input
near the separatrix.  Units do not matter, as long as rates are between 1e-150 and 1e150.
"""

from math import sqrt

from polhode.compiler.machine import fma
from polhode.kernels.quaternion import product1, turned_back_change
from polhode.kernels.short_flow import (
    HIGH,
    LOW,
    as_before,
    middle_axis,
    middle_second,
    quick_drift,
    scaled,
    short,
    short_series,
    short_turn,
)
from polhode.kernels.trig import sincos1
from polhode.kernels.vector import dot, multiply

LEAST = 1e-75  # of cn: exactly on the separatrix it would underflow, and its square before it
FAR = 2.0**100  # by powers of this
TINY = 1e-30  # squares of larger numbers do not underflow, nor do products of a few
MOST = 1100  # doublings: floats have fewer powers of two


# ---- sums of two floats, for twice the digits
def relative_difference(x, y, inverse):
    """Return (x - y) / x as a sum of two floats."""
    high = x - y
    back = high - x
    low = (x - (high - back)) - (y + back)
    ratio = high * inverse
    return ratio, (fma(-ratio, x, high) + low) * inverse


def times_square(x, factor):
    """Return x² times a sum of two floats, as a sum of two floats."""
    high, low = factor
    square = x * x
    p = square * high
    return p, fma(square, high, -p) + fma(square, low, fma(x, x, -square) * high)


# ---- plane vectors whose length does not matter
def raised(x, y):
    """Return (x, y), scaled up if its square would underflow; (1, 0) for (0, 0)."""
    largest = max(abs(x), abs(y))
    if largest < TINY:
        return (x / largest, y / largest) if largest > 0.0 else (1.0, 0.0)
    return x, y


def half_angle(x, y):
    """Return a vector along half the angle of (x, y), which is in (-pi, pi]."""
    big = sqrt(fma(x, x, y * y)) + abs(x)
    return (big, y) if x >= 0.0 else (abs(y), big if y >= 0.0 else -big)


# ---- s, c1, c3 and the phase
def doubled(doublings, s, cn, phase, curve):
    """Double the time repeatedly, (2) and (4) with both times equal; return (s, cn, dn, phase)."""
    big, small, gap, n, g, e = curve
    f = 1.0 / big
    modulus, complement, ratio, rest = small * f, gap * f, n * f, g * f
    lost, (x, y) = ratio * complement, phase
    f = 1.0 / sqrt(fma(x, x, y * y))
    cosine, sine = x * f, y * f
    for _ in range(doublings):
        ss, c = s * s, cn * cn
        d, x = fma(modulus, c, complement), big * ss
        f = 1.0 / fma(x, d, c)  # (6)
        u = fma(c * c, rest + fma(ratio * modulus, c, lost), x * fma(rest, c + d, -(lost * c))) * f
        s = 2.0 * (s * cn) * (sqrt(d) * f)
        cn = fma(modulus, c * c, complement * fma(2.0, c, -1.0)) * f
        f = fma(-0.5, fma(big * s, s, cn * cn), 1.5)  # back to A s² + cn² = 1
        s, cn = s * f, cn * f
        cn = cn if abs(cn) > LEAST else LEAST
        u, v = raised(u, (e * s) * (n * ss))
        f = 1.0 / sqrt(fma(u, u, v * v))
        u, v = u * f, v * f
        x, y = fma(cosine, cosine, -(sine * sine)), 2.0 * cosine * sine
        x, y = fma(x, u, y * v), fma(y, u, -(x * v))
        f = fma(-0.5, fma(x, x, y * y), 1.5)
        cosine, sine = x * f, y * f
    return s, cn, sqrt(fma(modulus, cn * cn, complement)), (cosine, sine)


def functions_of_time(t, size, rate, curve):
    """Return (G s, c1, c3, (c1 - 1, c3 - 1, c3 - c1), 1 - n s², phase along (cos ψ, sin ψ))."""
    a, b, gap, n, g, e = curve
    third = gap >= 0.0  # c3 is cn
    big, small = (a, b) if third else (b, a)
    doublings = 0
    while (big * (t * t) > short() * short()) & (doublings < MOST):
        t, doublings = 0.5 * t, doublings + 1
    z = 0.25 * (t * t)
    a, b, nz = a * z, b * z, n * z
    change, slope, integral = short_series(a, b, nz)
    sine, cosine1 = sincos1(t * fma(-e, integral, rate - e))  # (3)
    a, b, nz = fma(a, change, a), fma(b, change, b), fma(nz, change, nz)  # times τ
    w, s = fma(-a, b, 1.0), fma(t, slope, t)
    u, v = fma(-nz, fma(a, b, fma(-2.0, a + b, 3.0)), w), (e * s) * nz  # (5)
    f = 1.0 / w
    less1, less3 = -2.0 * b * (1.0 - a) * f, -2.0 * a * (1.0 - b) * f
    s, c1, c3, apart = s * f, 1.0 + less1, 1.0 + less3, less3 - less1
    x, y = fma(cosine1, u, u), fma(cosine1, v, v)
    phase = fma(sine, v, x), fma(sine, u, -y)
    cn = c3 if third else c1
    if doublings > 0:
        s, cn, dn, phase = doubled(doublings, s, cn, phase, (big, small, abs(gap), n, g, e))
        c1, c3 = (dn, cn) if third else (cn, dn)
        less1, less3, apart = c1 - 1.0, c3 - 1.0, c3 - c1
    return s * size, c1, c3, (less1, less3, apart), fma(g, s * s, cn * cn), phase


# ---- the motion
def added(m, k, e, third, functions):
    """Return (w, v1, v2, v3), m' for |m| = 1: the rotation, not normalised, and new momentum."""
    (m1, m2, m3), (k1, k2, k3) = m, k
    s, c1, c3, (less1, less3, apart), left, (cosine, sine) = functions
    up = 1.0 if m2 >= 0.0 else -1.0  # a half turn before
    m2, m3 = up * m2, up * m3
    q1, q3 = m1 * m1, m3 * m3
    q = -(k2 * s) * s * (k3 * q1 if third else k1 * q3)
    f = 1.0 / (fma(c3, c3, q) if third else fma(c1, c1, q))  # 1/d
    n2 = fma(k2 * s, m3 * m1, m2 * (c1 * c3)) * f
    turned = n2 < -0.5  # a half turn after
    if turned:
        s, c3, n2, cosine, sine = -s, -c3, -n2, -cosine, -sine
        less3, apart = c3 - 1.0, c3 - c1
    x, y = m1 * c1, m3 * c3
    n1, n3 = fma(k1 * s, m2 * y, x) * f, fma(k3 * s, m2 * x, y) * f  # (2)

    r, early = fma(n1, n1, n3 * n3), fma(x, x, y * y) * f
    u = fma(k2 * s, m2 * (n1 * n3), r)  # (4), in the form that cancels less
    u = fma(-(k2 * s), m2 * (x * y) * f, early) if early < r else u
    p, p_end, e = 1.0 + m2, 1.0 + n2, e * (s * m2)
    u, v = raised(fma((q1 + q3) * left, p_end, n2 * (e * e)), e * u)
    u, v = fma(cosine, u, -(sine * v)), fma(sine, u, cosine * v)
    b, z = raised(fma(m3, y, m1 * x), m1 * m3 * apart)
    c, z = half_angle(fma(b, u, -(z * v)), fma(b, v, z * u))

    q = fma(c3, less3, q) if third else fma(c1, less1, q)
    d1, d3 = (q + apart, q) if third else (q, q - apart)  # d - c1, d - c3
    u = fma(s, fma(k1 * m2 * p, y, -(k2 * q1 * m3)), -fma(m1, d1, m2 * x * less3)) * f  # (8)
    v = fma(s, fma(k2 * q3, m1, -(k3 * m2 * p * x)), fma(m3, d3, m2 * y * less1)) * f
    y = fma(s * m2, fma(k1 * m3, y, -(k3 * m1 * x)), -(m1 * m3 * apart)) * f
    x = fma(m1, n1, m3 * n3)
    w, v2 = fma(c, fma(p, p_end, x), -(z * y)), fma(z, fma(p, p_end, -x), -(c * y))  # (7)
    v1, v3 = fma(c, v, z * fma(p_end, m1, p * n1)), fma(c, u, z * fma(p, n3, p_end * m3))
    if turned:
        w, v1, v2, v3, n2, n3 = -v1, w, v3, -v2, -n2, -n3
    return (w, v1, up * v2, up * v3), (n1, up * n2, up * n3)


def of_usual_size(t, m):
    """Return (unit, t, m): the same motion with m times ``unit``, whose square does not underflow.

    m is not zero.
    """
    m1, m2, m3 = m
    square, unit = fma(m1, m1, fma(m2, m2, m3 * m3)), 1.0
    if not ((square > LOW) & (square < HIGH)):
        largest = max(abs(m1), abs(m2), abs(m3))
        while largest * unit > FAR:
            unit = unit / FAR
        while largest * unit < 1.0 / FAR:
            unit = unit * FAR
        t, m1, m2, m3 = t / unit, m1 * unit, m2 * unit, m3 * unit
    return unit, t, (m1, m2, m3)


def invariants(m, moments, inverse):
    """Return (G, 1/G, 1/G²), (k1, k2, k3), (a, b, a - b), e, (D1/I1, D3/I3)."""
    (m1, m2, m3), (i1, i2, i3), (a1, a2, a3) = m, moments, inverse
    square = fma(m1, m1, fma(m2, m2, m3 * m3))
    size, over2 = sqrt(square), 1.0 / square
    over = size * over2

    q1, q2, q3 = m1 * m1, m2 * m2, m3 * m3
    d1 = fma(q2, (i2 - i1) * a2, q3 * ((i3 - i1) * a3))  # (1)
    d3 = fma(q1, (i3 - i1) * a1, q2 * ((i3 - i2) * a2))
    p, p_low = times_square(m3, relative_difference(i3, i2, a3))
    q, q_low = times_square(m1, relative_difference(i1, i2, a1))
    e = ((p + q) + (p_low + q_low)) * (a2 * over)
    k1, k2, k3 = -((i3 - i2) * (a2 * a3)), (i3 - i1) * (a1 * a3), -((i2 - i1) * (a1 * a2))
    curve = -(d3 * (k3 * a3)), -(d1 * (k1 * a1)), -(k2 * (e * size))
    return (size, over, over2), (k1, k2, k3), curve, e, (d1 * a1, d3 * a3)


def long_turn(t, m, moments, inverse):
    """Return ``free_turn`` for any time."""
    if max(abs(m[0]), abs(m[1]), abs(m[2])) == 0.0:
        return (0.0, (0.0, 0.0, 0.0)), m
    middle = middle_axis(moments)
    unit, t, (m1, m2, m3) = of_usual_size(t, middle_second(m, middle))
    moments, inverse = middle_second(moments, middle), middle_second(inverse, middle)
    (size, over, over2), k, (a, b, gap), e, (d1, d3) = invariants((m1, m2, m3), moments, inverse)
    third = gap >= 0.0
    n, g = d1 * (d3 * over2), (-d3 if third else d1) * (e * over)
    functions = functions_of_time(t, size, size * inverse[1], (a, b, gap, n, g, e))
    m = m1 * over, m2 * over, m3 * over
    turn, m = added(m, k, e * over, third, functions)

    w, v1, v2, v3 = turn
    square = fma(v1, v1, fma(v2, v2, v3 * v3))
    norm = sqrt(fma(w, w, square))
    c1 = -square / (norm * (norm + abs(w)))  # a unit quaternion to rounding of its increment
    f = (1.0 if w >= 0.0 else -1.0) / norm
    v = as_before((f * v1, f * v2, f * v3), middle)
    return (c1, v), as_before(multiply(size / unit / sqrt(dot(m, m)), m), middle)


def free_turn(t, m, moments, inverse):
    """Return (c1, v), m: the rotation (1 + c1, v) of the body in the time t, and the new momentum.

    Of the two quaternions it is the one with 1 + c1 >= 0.
    """
    is_short, given = scaled(t, m, moments, inverse)
    if is_short:
        return short_turn(given)
    return long_turn(t, m, moments, inverse)


def free_drift(t, m, moments, inverse):
    """Return (c1, v) and the change of m by that rotation, for a step of a splitting."""
    (c1, v), _ = free_turn(t, m, moments, inverse)
    return (c1, v), turned_back_change(c1, v, m)


def free_flow(t, q, m, moments, inverse):
    """Return (q, m) after the time t; of q and -q, the one nearer to the initial q."""
    (c1, v), m = free_turn(t, m, moments, inverse)
    return product1(q, c1, v), m


SHORT = {free_drift: quick_drift}
