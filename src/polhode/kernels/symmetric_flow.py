"""The exact motion of a free body with two equal moments, by sines and cosines.

With axis 3 the axis of symmetry, I1 = I2, the momentum rotates about it and the body about both:

    q' = q exp(psi) exp(k e_3),    m' = exp(-k e_3) m
    psi = t m / I1,    k = t m3 (1/I3 - 1/I1)                                          (1)

(psi and k e_3 are rotation vectors.)  With the quaternions (c, f psi) and (d, 0, 0, s) of the two
rotations, their product is

    (c d - f psi3 s, f (psi1 d + psi2 s), f (psi2 d - psi1 s), f psi3 d + c s)         (2)

The same as ``free_flow`` for such a body, at a third of its cost.  Rotations by less than
HALF_TURN, that is small steps, need no root, no division and no reduction of angles.

m3 is constant, and so are s and d: they are rounded alike in every step.  With 1 + x = d² + s² for
the *rounded* d and s,

    sin k = 2 s d / (1 + x),    cos k - 1 = -2 s² / (1 + x)                            (3)

rotate m, to twice the digits: its length is conserved, and its angle is twice that in v1 and v2.
Then the rotation (2) for (-t, m') is the inverse of that for (t, m) whatever else is rounded, the
map stays reversible, and energy errors do not add up in one direction.
"""

from math import nan, sqrt

from polhode.compiler.machine import blend, fma, mask
from polhode.kernels.sums import square, two_sum
from polhode.kernels.trig import half_angle, sincos1
from polhode.kernels.vector import dot, multiply

HALF_TURN = 3.1  # radians, somewhat less than pi


def sinc1(z):
    """Return (sin(n/2) / n, cos(n/2) - 1) from z = n²."""
    if z < HALF_TURN * HALF_TURN:
        p, c1 = half_angle(z)
        return fma(0.5 * z, p, 0.5), c1
    n = sqrt(z)
    s, c1 = sincos1(0.5 * n)
    return s / n, c1


def half1(k):
    """Return (sin(k/2), cos(k/2) - 1)."""
    if abs(k) < HALF_TURN:
        f, c1 = sinc1(k * k)
        return f * k, c1
    return sincos1(0.5 * k)


def short_sinc1(z):
    """Return ``sinc1`` without a branch, NaN for a longer rotation."""
    p, c1 = half_angle(z)
    return blend(mask(z < HALF_TURN * HALF_TURN), fma(0.5 * z, p, 0.5), nan), c1


def short_half1(k):
    """Return ``half1`` without a branch, NaN for a longer rotation."""
    f, c1 = short_sinc1(k * k)
    return f * k, c1


def twice(s, d1):
    """Return ((sin k, cos k - 1), their rounding errors), where k/2 is the angle of (1 + d1, s)."""
    s2 = s + s
    square_s, low = square(s)
    x, x_low = two_sum(d1 + d1, square_s)
    x = fma(d1, d1, x) + (x_low + low)
    part = s2 * d1
    sine, cosine1 = s2 + part, -2.0 * square_s
    sine_low = (part - (sine - s2)) + fma(s2, d1, -part)
    return (sine, cosine1), (fma(-x, sine, sine_low), fma(-x, cosine1, -2.0 * low))  # (3)


def symmetric_drift_3(t, m, moments, inverse):
    """Return ``free_flow.free_drift`` for a body symmetric about its axis 3."""
    a1, a3 = inverse[0], inverse[2]
    p1, p2, p3 = psi = multiply(t * a1, m)
    f, c1 = sinc1(dot(psi, psi))
    s, d1 = half1((t * m[2]) * (a3 - a1))
    d = 1.0 + d1
    w = fma(-f, p3 * s, fma(c1, d, d1))  # (2)
    v1, v2 = f * fma(p1, d1, fma(p2, s, p1)), f * fma(p2, d1, fma(-p1, s, p2))  # not d: see (3)
    v3 = fma(f, p3 * d, fma(c1, s, s))
    m1, m2, _ = m
    (sine, cosine1), (sine_low, cosine_low) = twice(s, d1)
    change1 = fma(cosine1, m1, fma(sine, m2, fma(cosine_low, m1, sine_low * m2)))
    change2 = fma(cosine1, m2, fma(-sine, m1, fma(cosine_low, m2, -(sine_low * m1))))
    return (w, (v1, v2, v3)), (change1, change2, 0.0)


def symmetric_drift_1(t, m, moments, inverse):
    """Return ``free_flow.free_drift`` for a body symmetric about its axis 1."""
    (w, v), change = symmetric_drift_3(t, forth(m), forth(moments), forth(inverse))
    return (w, forth(forth(v))), forth(forth(change))


def symmetric_drift_2(t, m, moments, inverse):
    """Return ``free_flow.free_drift`` for a body symmetric about its axis 2."""
    m, moments, inverse = forth(forth(m)), forth(forth(moments)), forth(forth(inverse))
    (w, v), change = symmetric_drift_3(t, m, moments, inverse)
    return (w, forth(v)), forth(change)


def forth(v):
    """Permute the axes cyclically: the first becomes the third."""
    return v[1], v[2], v[0]


SYMMETRIC_DRIFTS = symmetric_drift_1, symmetric_drift_2, symmetric_drift_3
SHORT = {sinc1: short_sinc1, half1: short_half1}
