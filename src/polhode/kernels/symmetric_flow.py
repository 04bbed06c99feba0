"""The exact motion of a free body with two equal moments, by sines and cosines.

With axis 3 that of symmetry, I1 = I2, the momentum turns about it and the body about both:

    q' = q exp(psi) exp(k e_3),    m' = exp(-k e_3) m
    psi = t m / I1,    k = t m3 (1/I3 - 1/I1)                                          (1)

(psi and k e_3 are rotation vectors.)  With the quaternions (c, f psi) and (d, 0, 0, s) of the two
turns their product is

    (c d - f psi3 s, f (psi1 d + psi2 s), f (psi2 d - psi1 s), f psi3 d + c s)         (2)

The same as ``free_flow`` for such a body, at a third of its cost.  Turns by less than HALF_TURN,
that is small steps, need no root, no division and no reduction of angles.
"""

from math import sqrt

from polhode._compile import fma
from polhode.kernels.trig import double_angle, half_angle, sincos1
from polhode.kernels.vector import dot, multiply

HALF_TURN = 3.1  # radians, somewhat less than pi


def sinc1(z):
    """(sin(n/2) / n, cos(n/2) - 1) from z = n²."""
    if z < HALF_TURN * HALF_TURN:
        p, c1 = half_angle(z)
        return fma(0.5 * z, p, 0.5), c1
    n = sqrt(z)
    s, c1 = sincos1(0.5 * n)
    return s / n, c1


def half1(k):
    """(sin(k/2), cos(k/2) - 1)."""
    if abs(k) < HALF_TURN:
        f, c1 = sinc1(k * k)
        return f * k, c1
    return sincos1(0.5 * k)


def symmetric_drift_3(t, m, moments, inverse):
    """``free_flow.free_drift`` of a body symmetric about its axis 3.

    m3 is constant, and so are the sine and cosine of k, from step to step: their roundings are all
    alike, and the length of (m1, m2) would grow with each.  By how much is known, and taken back.
    """
    a1, a3 = inverse[0], inverse[2]
    p1, p2, p3 = psi = multiply(t * a1, m)
    f, c1 = sinc1(dot(psi, psi))
    s, d1 = half1((t * m[2]) * (a3 - a1))
    d = 1.0 + d1
    w = fma(-f, p3 * s, fma(c1, d, d1))  # (2)
    v = f * fma(p2, s, p1 * d), f * fma(-p1, s, p2 * d), fma(f, p3 * d, fma(c1, s, s))
    m1, m2, _ = m
    sine, cosine1 = double_angle(s, d1)
    square = sine * sine
    excess = (2.0 * cosine1 + square) + fma(cosine1, cosine1, fma(sine, sine, -square))
    g = -0.5 * excess
    change = fma(cosine1, m1, fma(sine, m2, g * m1)), fma(cosine1, m2, fma(-sine, m1, g * m2)), 0.0
    return (w, v), change


def symmetric_drift_1(t, m, moments, inverse):
    """``free_flow.free_drift`` of a body symmetric about its axis 1."""
    (w, v), change = symmetric_drift_3(t, forth(m), forth(moments), forth(inverse))
    return (w, forth(forth(v))), forth(forth(change))


def symmetric_drift_2(t, m, moments, inverse):
    """``free_flow.free_drift`` of a body symmetric about its axis 2."""
    m, moments, inverse = forth(forth(m)), forth(forth(moments)), forth(forth(inverse))
    (w, v), change = symmetric_drift_3(t, m, moments, inverse)
    return (w, forth(v)), forth(change)


def forth(v):
    """The axes renamed in a cycle: the first becomes the third."""
    return v[1], v[2], v[0]


SYMMETRIC_DRIFTS = symmetric_drift_1, symmetric_drift_2, symmetric_drift_3
