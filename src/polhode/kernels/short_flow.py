"""The exact motion of a free body for a short time, without branches.

The solution of ``free_flow``, with its notation and |m| = 1, for times so short that √A t <= 0.24,
A the larger of a and b, and that the body turns by less than two radians.  Then c1, c3, d and
1 - n s² are near 1, no sum in them cancels, and there is no need to tell the families of polhodes
apart, or to know D2 to more digits: a long motion near the separatrix depends on its logarithm, a
short one does not.  With

    N = d m',    K = N x m,    X = m1 N1 + m3 N3,    P = 1 + |m2|,    P' = d ± N2
    K1 = s (k2 m3² m1 - k3 m2² x) + m2 y (c1 - 1)
    K2 = s m2 (k3 m1 x - k1 m3 y) + m1 m3 (c3 - c1)
    K3 = s (k1 m2² y - k2 m1² m3) - m2 x (c3 - 1)                                      (1)

where ± is the sign of m2, the rotations that take m' to m are products of the shortest one and of
one about m.  That of the body is along

    w = C (d + m·N),    v = C K + S (d m + N)                                          (2)
    C + i S = (P P' + X ∓ i K2) exp(i (ψ + β + δ) / 2)                                 (3)

β = arg(m3 + i m1) - arg(y + i x) changes its sign with m2, and δ is (4) of ``free_flow`` for |m2|
and ± m2'.  β, δ and Ω are so small that their sum, the angle of a product of complex numbers, is
halved in the right half-plane.
"""

from math import nan, sqrt

from polhode.compiler.machine import blend, fma, mask
from polhode.kernels.quaternion import turned_back_change
from polhode.kernels.trig import half_angle
from polhode.kernels.vector import multiply

LOW, HIGH = 1e-200, 1e200  # of |m|²
FARTHEST = 1.7  # radians, the angle t G/I2; that of the rest is 0.3 at most
TINY = 1e-280  # of a square that may underflow


def short():
    """Return the largest angle √A t of the series (replaced by less for other number types)."""
    return 0.24


# ---- the middle axis
def middle_axis(moments):
    """Return masks: whether the first, and whether the third axis has the middle moment."""
    i1, i2, i3 = moments
    first, second = (i2 - i1) * (i3 - i1) <= 0.0, (i1 - i2) * (i3 - i2) <= 0.0
    return mask(first & (not second)), mask(not (first | second))


def middle_second(v, middle):
    """Return v with its axes permuted cyclically, so that the middle one is the second."""
    (a, b, c), (first, third) = v, middle
    return blend(first, (c, a, b), blend(third, (b, c, a), v))


def as_before(v, middle):
    """Undo ``middle_second``."""
    (a, b, c), (first, third) = v, middle
    return blend(first, (b, c, a), blend(third, (c, a, b), v))


# ---- s, c1, c3 and the phase
def short_powers(a, b):
    """Return the coefficients of t⁴ ... t¹⁶ in τ = t² + ..."""
    p, q = a + b, a * b
    t2 = p * (-1.0 / 3.0)
    t3 = fma(p * (-4.0 / 30.0), t2, q * (6.0 / 30.0))
    t4 = fma(p * (-4.0 / 56.0), t3, q * (12.0 / 56.0) * t2)
    t5 = fma(p * (-4.0 / 90.0), t4, q * (6.0 / 90.0) * fma(2.0, t3, t2 * t2))
    t6 = fma(p * (-4.0 / 132.0), t5, q * (12.0 / 132.0) * fma(t2, t3, t4))
    t7 = fma(p * (-4.0 / 182.0), t6, q * (6.0 / 182.0) * fma(2.0, fma(t2, t4, t5), t3 * t3))
    t8 = fma(p * (-4.0 / 240.0), t7, q * (12.0 / 240.0) * (fma(t2, t5, t3 * t4) + t6))
    return t2, t3, t4, t5, t6, t7, t8


def short_series(a, b, n):
    """Return (τ - 1, τ'/2 - 1, ∫ dt/(1 - n τ) - 1) at time 1, by their series for short times."""
    t2, t3, t4, t5, t6, t7, t8 = short_powers(a, b)
    f1 = n
    f2 = n * (f1 + t2)
    f3 = n * (f2 + fma(t2, f1, t3))
    f4 = n * (f3 + fma(t2, f2, fma(t3, f1, t4)))
    f5 = n * (f4 + fma(t2, f3, fma(t3, f2, fma(t4, f1, t5))))
    f6 = n * (f5 + fma(t2, f4, fma(t3, f3, fma(t4, f2, fma(t5, f1, t6)))))
    f7 = n * (f6 + fma(t2, f5, fma(t3, f4, fma(t4, f3, fma(t5, f2, fma(t6, f1, t7))))))
    low = fma(5.0, t5, fma(4.0, t4, fma(3.0, t3, 2.0 * t2)))
    slope = fma(8.0, t8, fma(7.0, t7, fma(6.0, t6, low)))
    low = fma(f4, 1.0 / 9.0, fma(f3, 1.0 / 7.0, fma(f2, 1.0 / 5.0, f1 * (1.0 / 3.0))))
    integral = fma(f7, 1.0 / 15.0, fma(f6, 1.0 / 13.0, fma(f5, 1.0 / 11.0, low)))
    return t2 + t3 + t4 + t5 + t6 + t7 + t8, slope, integral


# ---- the motion
def scaled(t, m, moments, inverse):
    """Return (whether the time is short, what ``short_turn`` takes); a body may be at rest."""
    middle = middle_axis(moments)
    i1, i2, i3 = middle_second(moments, middle)
    a1, a2, a3 = middle_second(inverse, middle)
    m1, m2, m3 = middle_second(m, middle)
    q1, q2, q3 = m1 * m1, m2 * m2, m3 * m3
    square, rests = (q1 + q3) + q2, (m1 == 0.0) & (m2 == 0.0) & (m3 == 0.0)
    size, over2 = sqrt(square), 1.0 / blend(mask(square > LOW), square, 1.0)
    over = size * over2

    whole = i3 - i1
    x1, x3, y1, y3 = (i2 - i1) * a1, (i3 - i2) * a3, whole * a1, whole * a3
    d1, d3 = fma(q2, (i2 - i1) * a2, q3 * y3), fma(q1, y1, q2 * ((i3 - i2) * a2))
    k1, k2, k3 = -(x3 * a2), y1 * a3, -(x1 * a2)
    a, b, n = -(d3 * (k3 * a3)), -(d1 * (k1 * a1)), (d1 * a1) * (d3 * a3 * over2)
    e, rate = fma(q3, x3, -(q1 * x1)) * (a2 * over), size * a2
    is_short = (max(a, b) * (t * t) <= short() * short()) & (abs(t * rate) < FARTHEST)
    is_short = is_short & (((square > LOW) & (square < HIGH)) | rests)
    m1, m2, m3 = over * m1, blend(mask(rests), 1.0, over * m2), over * m3
    squares = q1 * over2, q2 * over2, q3 * over2
    curve = a, b, n, e, rate
    return is_short, (t, (m1, m2, m3), squares, (size, over), (k1, k2, k3), curve, middle)


def functions_of_time(t, curve):
    """Return (s, c1 - 1, c3 - 1, 1 - n s², an angle, a vector): the phase is the sum of these."""
    a, b, n, e, rate = curve
    z = 0.25 * (t * t)
    a, b, nz = a * z, b * z, n * z
    change, slope, integral = short_series(a, b, nz)
    angle = t * fma(-e, integral, rate - e)
    a, b, nz = fma(a, change, a), fma(b, change, b), fma(nz, change, nz)  # times τ
    w, s = fma(-a, b, 1.0), fma(t, slope, t)
    u, v = fma(-nz, fma(a, b, fma(-2.0, a + b, 3.0)), w), (e * s) * nz
    f = 1.0 / w
    s, less = s * f, -2.0 * f
    less1, less3 = (less * b) * (1.0 - a), (less * a) * (1.0 - b)
    return s, less1, less3, fma(-n * s, s, 1.0), angle, (u, -v)


def sincos1_of_half(a):
    """Return (sin(a/2), cos(a/2) - 1) for |a| <= pi."""
    z = a * a
    p, c1 = half_angle(z)
    return 0.5 * fma(a * z, p, a), c1


def times(u, v):
    """Return the product of two complex numbers."""
    return fma(u[0], v[0], -(u[1] * v[1])), fma(u[0], v[1], u[1] * v[0])


def short_turn(given):
    """Return (c1, v), m as ``free_flow.free_turn`` for a short time."""
    t, (m1, m2, m3), (q1, q2, q3), (size, over), (k1, k2, k3), curve, middle = given
    s, less1, less3, left, angle, omega = functions_of_time(t, curve)
    s, e = s * size, curve[3] * over
    c1, c3, k1, k2, k3 = 1.0 + less1, 1.0 + less3, k1 * s, k2 * s, k3 * s
    x, y, d = m1 * c1, m3 * c3, fma(-(k1 * k3), q2, 1.0)
    m2x, m2y, k2m2 = m2 * x, m2 * y, k2 * m2
    n1, n2, n3 = fma(k1, m2y, x), fma(m2, c1 * c3, k2 * (m1 * m3)), fma(k3, m2x, y)
    beta = (m1 * m3) * (less3 - less1)
    l1 = fma(k2 * q3, m1, fma(-(k3 * q2), x, m2y * less1))  # (1)
    l2 = fma(m2, fma(k3 * m1, x, -((k1 * m3) * y)), beta)
    l3 = fma(k1 * q2, y, -fma(k2 * q1, m3, m2x * less3))

    late, early = fma(n1, n1, n3 * n3), fma(x, x, y * y) * d
    u = fma(k2m2, n1 * n3, late)  # in the form that cancels less
    u = blend(mask(early < late), fma(-(k2m2 * d), x * y, early), u)
    up = blend(mask(m2 >= 0.0), 1.0, -1.0)
    end, epsilon = fma(up, n2, d), (e * s) * abs(m2)
    u, v = d * fma((q1 + q3) * left, end, (up * n2) * (epsilon * epsilon)), epsilon * u
    u, v = times(times((fma(m3, y, m1 * x), up * beta), (u, v)), omega)
    square = fma(u, u, v * v)
    off = mask(square > TINY)  # the middle axis, where there is no such angle
    u, v = blend(off, sqrt(square) + u, 1.0), blend(off, v, 0.0)
    sine, cosine1 = sincos1_of_half(angle)
    u, v = fma(cosine1, u, fma(-sine, v, u)), fma(cosine1, v, fma(sine, u, v))
    x = fma(m1, n1, m3 * n3)
    c, z = times((u, v), (fma(1.0 + abs(m2), end, x), -(up * l2)))  # (3)

    w = c * (fma(m2, n2, x) + d)  # (2)
    v1, v2 = fma(c, l1, z * fma(d, m1, n1)), fma(c, l2, z * fma(d, m2, n2))
    v3 = fma(c, l3, z * fma(d, m3, n3))
    square = fma(v1, v1, fma(v2, v2, v3 * v3))
    norm = sqrt(fma(w, w, square))
    f = 1.0 / (norm * (norm + w))
    c1, f = -(square * f), (norm + w) * f  # a unit quaternion to rounding of its increment
    size = size / sqrt(fma(n1, n1, fma(n2, n2, n3 * n3)))
    v = as_before((f * v1, f * v2, f * v3), middle)
    return (c1, v), as_before(multiply(size, (n1, n2, n3)), middle)


def quick_drift(t, m, moments, inverse):
    """Return ``free_flow.free_drift`` for a short time, NaN for a longer one."""
    is_short, given = scaled(t, m, moments, inverse)
    t = blend(mask(is_short), t, nan)
    (c1, v), _ = short_turn((t, given[1], given[2], given[3], given[4], given[5], given[6]))
    return (c1, v), turned_back_change(c1, v, m)
