"""The exact motion of a free body, in closed form, for every body and every time.

In units in which |m| = 1, with axis 2 that of the middle moment (any order of the other two), and
D1 = 1 - 2 T I1, D2 = 1 - 2 T I2, D3 = 2 T I3 - 1 from the squares of m, not from the energy T,

    D1 = m2² (I2-I1)/I2 + m3² (I3-I1)/I3,    D3 = m1² (I3-I1)/I1 + m2² (I3-I2)/I2
    D2 = m3² (I3-I2)/I3 - m1² (I2-I1)/I1                                               (1)

let s(t) be odd with s'² = (1 - a s²)(1 - b s²), a = D3 (I2-I1)/(I1 I2 I3),
b = D1 (I3-I2)/(I1 I2 I3): sn(λt)/λ in either family of polhodes, tanh on the separatrix, sine for a
symmetric body.  With c3² = 1 - a s², c1² = 1 - b s², k1 = 1/I3 - 1/I2, k2 = 1/I1 - 1/I3,
k3 = 1/I2 - 1/I1, the addition theorem is

    m1' = (m1 c1 + k1 s m2 m3 c3) / d,    m2' = (m2 c1 c3 + k2 s m3 m1) / d
    m3' = (m3 c3 + k3 s m1 m2 c1) / d,    d = 1 - k1 k3 s² m2²                         (2)

The plane of m and axis 2 turns about m by ψ(t) - Ω, with n = D1 D3 / (I1 I3) and

    ψ(t) = t/I2 - D2/I2 ∫ dt / (1 - n s²)                                              (3)
    tan Ω = (D2/I2) s m2 m2' / u,    u = m1'² + m3'² + k2 s m2 m1' m3'
                                     u = (x² + y² - k2 s m2 x y) / d                   (4)

where x = m1 c1 and y = m3 c3, and that is the attitude.  s² and the integral are power series for a
short time.  A longer time is doubled: (2) and (4) with both times equal, which magnifies the error
of the phase by two each time, as the length of the time itself does.  Every sum is written so that
it does not cancel near the separatrix, where cn, the one of c1 and c3 that may vanish, and dn, the
other, both become small:

    1 - a b s⁴ = cn² + A s² dn²,    1 - n s² = cn² + g s²,    |a - b| = |k2 D2 / I2|    (5)

with A the larger of a and b.  No family, separatrix or symmetry is a special case; there is no
elliptic integral, no inverse function and no period.  Error: about 2 eps (1 + |m| |t| / I_min), and
what one ulp of the input does near the separatrix.
"""

from math import sqrt

from polhode._compile import fma
from polhode.kernels.quaternion import product, product1
from polhode.kernels.trig import sincos1
from polhode.kernels.vector import dot

LEAST = 1e-75  # of cn: on the separatrix itself it would fall to nothing, and its square before it


def short():
    """The largest angle, rate of m times time, of the series (other numbers may bind less)."""
    return 0.4


def middle_axis(moments):
    """0, 1 or 2: the axis of the middle moment."""
    i1, i2, i3 = moments
    if (i1 - i2) * (i3 - i2) <= 0.0:
        return 1
    return 0 if (i2 - i1) * (i3 - i1) <= 0.0 else 2


def middle_second(v, middle):
    """v with its axes renamed in a cycle, so that the middle one is the second."""
    a, b, c = v
    if middle == 1:
        return a, b, c
    return (c, a, b) if middle == 0 else (b, c, a)


def as_before(v, middle):
    """The inverse of ``middle_second``."""
    a, b, c = v
    if middle == 1:
        return a, b, c
    return (b, c, a) if middle == 0 else (c, a, b)


def unit(x, y):
    """(x, y) / |(x, y)|, scaled first: squares may underflow."""
    largest = max(abs(x), abs(y))
    x, y = x / largest, y / largest
    f = 1.0 / sqrt(fma(x, x, y * y))
    return x * f, y * f


def half_angle(direction):
    """(cos x/2, sin x/2) of x in (-pi, pi], from its cosine and sine."""
    c, s = direction
    big = sqrt(0.5 * (1.0 + abs(c)))
    small = 0.5 * abs(s) / big
    cosine, sine = (big, small) if c >= 0.0 else (small, big)
    return cosine, sine if s >= 0.0 else -sine


def short_flow(h, a, b, n):
    """(s² / h² - 1, ∫ dt/(1 - n s²) / h - 1) for a short time h: nine terms of their series."""
    z = h * h
    p, q, n = -4.0 * ((a + b) * z), 6.0 * ((a * b) * (z * z)), n * z
    t2 = p * (1.0 / 12.0)
    t3 = fma(p, t2, q) * (1.0 / 30.0)
    t4 = fma(p, t3, q * (2.0 * t2)) * (1.0 / 56.0)
    t5 = fma(p, t4, q * fma(2.0, t3, t2 * t2)) * (1.0 / 90.0)
    t6 = fma(p, t5, 2.0 * q * fma(t2, t3, t4)) * (1.0 / 132.0)
    t7 = fma(p, t6, q * fma(2.0, fma(t2, t4, t5), t3 * t3)) * (1.0 / 182.0)
    t8 = fma(p, t7, 2.0 * q * (t6 + fma(t2, t5, t3 * t4))) * (1.0 / 240.0)
    t9 = fma(p, t8, q * fma(2.0, t7 + fma(t2, t6, t3 * t5), t4 * t4)) * (1.0 / 306.0)
    f1 = n
    f2 = n * (t2 + f1)
    f3 = n * (t3 + fma(t2, f1, f2))
    f4 = n * (t4 + fma(t3, f1, fma(t2, f2, f3)))
    f5 = n * (t5 + fma(t4, f1, fma(t3, f2, fma(t2, f3, f4))))
    f6 = n * (t6 + fma(t5, f1, fma(t4, f2, fma(t3, f3, fma(t2, f4, f5)))))
    f7 = n * (t7 + fma(t6, f1, fma(t5, f2, fma(t4, f3, fma(t3, f4, fma(t2, f5, f6))))))
    f8 = n * (t8 + fma(t7, f1, fma(t6, f2, fma(t5, f3, fma(t4, f4, fma(t3, f5, t2 * f6 + f7))))))
    square = t2 + (t3 + (t4 + (t5 + (t6 + (t7 + (t8 + t9))))))
    high = f4 / 9.0 + (f5 / 11.0 + (f6 / 13.0 + (f7 / 15.0 + f8 / 17.0)))
    return square, f1 / 3.0 + (f2 / 5.0 + (f3 / 7.0 + high))


def free_turn(t, m, moments, inverse):
    """(c1, v), m: the turn (1 + c1, v) of the body in the time t, the shorter way; m after it."""
    middle = middle_axis(moments)
    i1, i2, i3 = middle_second(moments, middle)
    a1, a2, a3 = middle_second(inverse, middle)
    m1, m2, m3 = middle_second(m, middle)
    largest = max(abs(m1), abs(m2), abs(m3))
    if largest == 0.0:
        return (0.0, (0.0, 0.0, 0.0)), m
    m1, m2, m3 = m1 / largest, m2 / largest, m3 / largest
    size = sqrt(fma(m1, m1, fma(m2, m2, m3 * m3)))
    m1, m2, m3 = m1 / size, m2 / size, m3 / size
    size = size * largest
    h = t * size
    q1, q2, q3 = m1 * m1, m2 * m2, m3 * m3
    d1 = fma(q2, (i2 - i1) * a2, q3 * ((i3 - i1) * a3))  # (1)
    d3 = fma(q1, (i3 - i1) * a1, q2 * ((i3 - i2) * a2))
    d2 = fma(q3, (i3 - i2) * a3, -(q1 * ((i2 - i1) * a1)))
    k1, k2, k3 = -((i3 - i2) * (a2 * a3)), (i3 - i1) * (a1 * a3), -((i2 - i1) * (a1 * a2))
    e = d2 * a2
    a, b, n = -(d3 * (k3 * a3)), -(d1 * (k1 * a1)), (d1 * d3) * (a1 * a3)
    gap = -(k2 * e)  # a - b
    third = gap >= 0.0  # c3 is cn
    big, small, g = (a, b, -(e * (d3 * a3))) if third else (b, a, e * (d1 * a1))
    moves = big > 0.0
    modulus, complement = (small / big, abs(gap) / big) if moves else (0.0, 1.0)
    ratio, rest = (n / big, g / big) if moves else (0.0, 1.0)
    lost = ratio * complement

    angle, doublings = abs(h) * max(abs(k1), abs(k2), abs(k3)), 0
    while angle > short():
        angle, h, doublings = 0.5 * angle, 0.5 * h, doublings + 1
    square, integral = short_flow(h, a, b, n)
    s, ss = h * sqrt(1.0 + square), fma(h * h, square, h * h)
    cn, dn = sqrt(fma(-big, ss, 1.0)), sqrt(fma(-small, ss, 1.0))
    sine, cosine1 = sincos1(h * fma(-e, integral, a2 - e))  # (3)
    cosine = 1.0 + cosine1
    for _ in range(doublings):
        c, d, x = cn * cn, dn * dn, big * ss
        f = 1.0 / fma(x, d, c)  # (5)
        double = 2.0 * s * (cn * dn) * f
        u = fma(c * c, rest + fma(ratio * modulus, c, lost), x * fma(rest, c + d, -(lost * c))) * f
        cn = fma(modulus, c * c, -(complement * fma(-2.0, c, 1.0))) * f
        f = 1.0 / sqrt(fma(big * double, double, cn * cn))
        s, cn = double * f, cn * f
        cn = cn if abs(cn) > LEAST else LEAST
        dn = sqrt(fma(modulus, cn * cn, complement))
        v, ss = (e * n) * (ss * s), s * s
        u = 1.0 if (u == 0.0) & (v == 0.0) else u
        x, y = fma(cosine, cosine, -(sine * sine)), 2.0 * cosine * sine
        cosine, sine = unit(fma(x, u, y * v), fma(y, u, -(x * v)))

    c3, c1 = (cn, dn) if third else (dn, cn)
    d = 1.0 / fma(cn, cn, -(k2 * k3) * (q1 * ss) if third else -(k1 * k2) * (q3 * ss))
    x, y = m1 * c1, m3 * c3
    n1 = fma(k1 * s, (m2 * m3) * c3, x) * d  # (2)
    n2 = fma(k2 * s, m3 * m1, m2 * (c1 * c3)) * d
    n3 = fma(k3 * s, (m1 * m2) * c1, y) * d
    f = 1.0 / sqrt(fma(n1, n1, fma(n2, n2, n3 * n3)))
    n1, n2, n3 = n1 * f, n2 * f, n3 * f
    r, r_end, early = fma(m1, m1, m3 * m3), fma(n1, n1, n3 * n3), fma(x, x, y * y) * d
    u = fma(k2 * s, m2 * (n1 * n3), r_end)  # (4), in the form that cancels less
    u = fma(-(k2 * s), m2 * (x * y) * d, early) if early < r_end else u
    v = e * (s * (m2 * n2))
    u = 1.0 if (u == 0.0) & (v == 0.0) else u
    cosine, sine = unit(fma(cosine, u, sine * v), fma(sine, u, -(cosine * v)))

    # m = Ry(x) Rx(-y) e_3: the body turns by Ry(x) Rx(-y) Rz(ψ - Ω) Rx(y') Ry(-x')
    r, r_end = sqrt(r), sqrt(r_end)
    tilted = (r > 0.0) & (r_end > 0.0)
    cx, sx = (m3 / r, m1 / r) if tilted else (1.0, 0.0)
    x, y = (fma(m3, n3, m1 * n1), fma(n1, m3, -(n3 * m1))) if tilted else (1.0, 0.0)
    cy, sy = half_angle(unit(x, y))
    cz, sz = half_angle((cosine, sine))
    c, c_end = sqrt(0.5 * (1.0 + r)), sqrt(0.5 * (1.0 + r_end))
    p = product((c, -0.5 * m2 / c, 0.0, 0.0), (cz, 0.0, 0.0, sz))
    p = product(product(p, (c_end, 0.5 * n2 / c_end, 0.0, 0.0)), (cy, 0.0, -sy, 0.0))
    v1, v3 = fma(cx, p[1], sx * p[3]), fma(cx, p[3], -(sx * p[1]))
    f = 1.0 if p[0] >= 0.0 else -1.0
    v = as_before((f * v1, f * p[2], f * v3), middle)
    # a unit quaternion to rounding of its increment: from v where that is the smaller part
    square = dot(v, v)
    c1 = -square / (1.0 + sqrt(1.0 - square)) if square < 0.5 else abs(p[0]) - 1.0
    return (c1, v), as_before((size * n1, size * n2, size * n3), middle)


def free_flow(t, q, m, moments, inverse):
    """(q, m) after the time t; of q and -q the one nearer to where it was."""
    (c1, v), m = free_turn(t, m, moments, inverse)
    return product1(q, c1, v), m
