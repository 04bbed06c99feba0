"""Exact turns about the principal axes: the flows of the three parts m_k²/(2 I_k) of the energy.

A turn of the body about its axis k by the angle a takes q to q (cos a/2, sin a/2 e_k), and the
momentum in body axes turns back by a.  m_k itself stays, and so the rate m_k/I_k is constant.

All products are increments with the cosine less one (see ``trig``): |q| and |m| drift as the square
root of the number of turns.
"""

from polhode._compile import fma
from polhode.kernels.trig import double_angle, sincos1


def turn(a, b, s, c1):
    """The plane vector (a, b) turned back by the angle of sine s and cosine 1 + c1."""
    return fma(c1, a, fma(s, b, a)), fma(c1, b, fma(-s, a, b))


def turn_1(q, m, half):
    """The body turned about its axis 1 by twice ``half``: (q, m)."""
    (w, x, y, z), (m1, m2, m3) = q, m
    s, c1 = sincos1(half)
    x, w = turn(x, w, s, c1)
    y, z = turn(y, z, s, c1)
    s, c1 = double_angle(s, c1)
    m2, m3 = turn(m2, m3, s, c1)
    return (w, x, y, z), (m1, m2, m3)


def turn_2(q, m, half):
    """The body turned about its axis 2 by twice ``half``: (q, m)."""
    (w, x, y, z), (m1, m2, m3) = q, m
    (w, y, z, x), (m2, m3, m1) = turn_1((w, y, z, x), (m2, m3, m1), half)
    return (w, x, y, z), (m1, m2, m3)


def turn_3(q, m, half):
    """The body turned about its axis 3 by twice ``half``: (q, m)."""
    (w, x, y, z), (m1, m2, m3) = q, m
    (w, z, x, y), (m3, m1, m2) = turn_1((w, z, x, y), (m3, m1, m2), half)
    return (w, x, y, z), (m1, m2, m3)
