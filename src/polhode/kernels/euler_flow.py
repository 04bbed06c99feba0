"""Euler's equations solved by Jacobi's elliptic functions: the momentum of any free body.

With axis 2 the one of the middle moment (``free_flow``), Euler's equations are

    m1' = k1 m2 m3,  m2' = k2 m3 m1,  m3' = k3 m1 m2,    k1 = 1/I3 - 1/I2 and so on    (1)

where k2 has one sign and k1, k3 the other.  Of the axes 1 and 3 let d be the one that m circles,
|k_c| m_d² >= |k_d| m_c², and c the other.  Then

    m_c = C cn u,    m2 = S sn u,    m_d = D dn u,    u = λ t + u0                     (2)
    C² = m_c² + |k_c/k2| m2²,    S² = |k2/k_c| C²,    D² = m_d² + |k_d/k2| m2²         (3)
    λ = k2 C D/S,    1 - k² = (|k_c| m_d² - |k_d| m_c²)/(|k_c| D²)                     (4)

(Celledoni & Säfström 2006, (12) and (13), for any order of the moments.)  C, S and D take the signs
of m_c, m2 and m_d at t = 0, so that u0 = F(φ) lies in the first quarter period:

    tan φ = √|k_c/k2| |m2/m_c|                                                         (5)

On the separatrix 1 - k² is 0; for a symmetric body it is 1, and (2) are sine and cosine.  Where m
is constant (a sphere, a rod, a rotation about the middle axis) it is D alone, and λ is 0.

Rounding changes |m| by an ulp or so, always in the same direction for the same body.  So the
initial length is restored, and only drifts as a random walk where one orbit follows another.
"""

from math import inf, sqrt

from polhode.compiler.machine import fma
from polhode.kernels.elliptic import integral, sn_cn_dn
from polhode.kernels.free_flow import as_before, middle_axis, middle_second
from polhode.kernels.vector import add_scaled, dot, multiply


def with_sign(size, x):
    """Return the number ``size`` >= 0 with the sign of x."""
    return size if x >= 0.0 else -size


def squared(m, size):
    """Return |m/size|².  (Multiplying by 1/size would be biased if size is a component of m.)"""
    m = m[0] / size, m[1] / size, m[2] / size
    return dot(m, m)


def orbit(m, moments, inverse):
    """Return ((C, S, D), (λ, u0, 1 - k²), length) of (2) for the momentum m at t = 0.

    C, S and D are vectors; ``length`` is a size, and |m|² in units of it.
    """
    middle = middle_axis(moments)
    i1, i2, i3 = middle_second(moments, middle)
    a1, a2, a3 = middle_second(inverse, middle)
    m1, m2, m3 = middle_second(m, middle)
    none = (0.0, 0.0, 0.0)
    size = max(abs(m1), abs(m2), abs(m3))
    if size == 0.0:
        return (none, none, m), (0.0, 0.0, 1.0), (1.0, 1.0)
    length = size, squared(m, size)
    constant = (none, none, m), (0.0, 0.0, 1.0), length
    m1, m2, m3 = m1 / size, m2 / size, m3 / size
    k2, way = abs(i3 - i1) * (a1 * a3), with_sign(1.0, i3 - i1)
    r1, r3 = abs(i3 - i2) * a3, abs(i2 - i1) * a1  # |k1/a2| and |k3/a2|
    gap = fma(r3 * m1, m1, -(r1 * m3 * m3))
    third = gap >= 0.0  # c is 3
    rc, rd, mc, md = (r3, r1, m3, m1) if third else (r1, r3, m1, m3)
    kc, kd = rc * a2, rd * a2  # (1)
    if (kc == 0.0) | (k2 == 0.0):
        return constant
    pc, pd = kc / k2, kd / k2
    dd = fma(pd * m2, m2, md * md)  # (3)
    if dd == 0.0:
        return constant
    d, complement = sqrt(dd), abs(gap) / (rc * dd)  # (4)
    root = sqrt(pc)
    x, y = abs(mc), root * abs(m2)
    largest = max(x, y)
    x, y = (x / largest, y / largest) if largest > 0.0 else (1.0, 0.0)  # squares may underflow
    c = sqrt(fma(x, x, y * y))
    u0 = integral(0.0, y / c, x / c, complement)  # (5)
    if u0 == inf:
        return constant
    c = c * largest
    c, s, d = with_sign(c, mc), with_sign(c / root, m2), with_sign(d, md)
    rate = way * sqrt(k2 * kc) * d * size  # (4)
    rate = rate if (mc >= 0.0) == (m2 >= 0.0) else -rate
    c, s, d = c * size, s * size, d * size
    along_c, along_d = ((0.0, 0.0, c), (d, 0.0, 0.0)) if third else ((c, 0.0, 0.0), (0.0, 0.0, d))
    along_c, along_d = as_before(along_c, middle), as_before(along_d, middle)
    along_s = as_before((0.0, s, 0.0), middle)
    return (along_c, along_s, along_d), (rate, u0, complement), length


def momentum(t, orbit):
    """Return the momentum after the time t."""
    (c, s, d), (rate, u0, complement), (size, square) = orbit
    sn, cn, dn = sn_cn_dn(fma(rate, t, u0), complement)
    m = add_scaled(add_scaled(multiply(cn, c), sn, s), dn, d)  # (2)
    return add_scaled(m, 0.5 * (square - squared(m, size)) / square, m)
