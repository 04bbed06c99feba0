"""Exact rotations about the principal axes: the flows of the parts m_k²/(2 I_k) of the energy.

A rotation of the body about its axis k by the angle a takes q to q (cos a/2, sin a/2 e_k), and the
momentum in body axes rotates back by a.  m_k is constant, and so is the rate m_k/I_k.

All products are increments with the cosine minus one (see ``trig``): |q| and |m| drift as the
square root of the number of rotations.  ``e`` holds the rounding errors of the sums: empty, or
(of q, of m) if they are compensated (``kernels/sums``).
"""

from collections.abc import Callable

from polhode.compiler.machine import fma
from polhode.kernels.sums import COMPENSATED as SUMS
from polhode.kernels.trig import double_angle, sincos1_of_turn


def turn(a, b, s, c1):
    """Rotate the plane vector (a, b) back by the angle of sine s and cosine 1 + c1."""
    return fma(c1, a, fma(s, b, a)), fma(c1, b, fma(-s, a, b))


def turn_1(q, m, e, half):
    """Rotate the body about its axis 1 by twice ``half``; return (q, m, e)."""
    (w, x, y, z), (m1, m2, m3) = q, m
    s, c1 = sincos1_of_turn(half)
    x, w = turn(x, w, s, c1)
    y, z = turn(y, z, s, c1)
    s, c1 = double_angle(s, c1)
    m2, m3 = turn(m2, m3, s, c1)
    return (w, x, y, z), (m1, m2, m3), e


def turn_2(q, m, e, half):
    """Rotate the body about its axis 2 by twice ``half``; return (q, m, e)."""
    (w, x, y, z), (m1, m2, m3) = q, m
    (w, y, z, x), (m2, m3, m1), e = turn_1((w, y, z, x), (m2, m3, m1), e, half)
    return (w, x, y, z), (m1, m2, m3), e


def turn_3(q, m, e, half):
    """Rotate the body about its axis 3 by twice ``half``; return (q, m, e)."""
    (w, x, y, z), (m1, m2, m3) = q, m
    (w, z, x, y), (m3, m1, m2), e = turn_1((w, z, x, y), (m3, m1, m2), e, half)
    return (w, x, y, z), (m1, m2, m3), e


# ---- compensated
def kept(x, y):
    """Return (x + y, its rounding error); y includes the previous error (Kahan 1965)."""
    new = x + y
    return new, y - (new - x)


def kept_turn(a, b, ea, eb, s, c1):
    """Return (a, b, ea, eb) after ``turn``, with the rounding errors of the sums, also rotated.

    The change is one chain of operations: it is rounded once at its own size, and all else far
    below.
    """
    da = fma(s, b, fma(c1, a, fma(s, eb, ea)))
    db = fma(-s, a, fma(c1, b, fma(-s, ea, eb)))
    a, ea = kept(a, da)
    b, eb = kept(b, db)
    return a, b, ea, eb


def kept_turn_1(q, m, e, half):
    (w, x, y, z), (m1, m2, m3) = q, m
    (ew, ex, ey, ez), (e1, e2, e3) = e
    s, c1 = sincos1_of_turn(half)
    x, w, ex, ew = kept_turn(x, w, ex, ew, s, c1)
    y, z, ey, ez = kept_turn(y, z, ey, ez, s, c1)
    s2, c2 = double_angle(s, c1)
    m2, m3, e2, e3 = kept_turn(m2, m3, e2, e3, s2, c2)
    return (w, x, y, z), (m1, m2, m3), ((ew, ex, ey, ez), (e1, e2, e3))


def kept_turn_2(q, m, e, half):
    (w, x, y, z), (m1, m2, m3) = q, m
    (ew, ex, ey, ez), (e1, e2, e3) = e
    q, m, e = kept_turn_1((w, y, z, x), (m2, m3, m1), ((ew, ey, ez, ex), (e2, e3, e1)), half)
    (w, y, z, x), (m2, m3, m1), ((ew, ey, ez, ex), (e2, e3, e1)) = q, m, e
    return (w, x, y, z), (m1, m2, m3), ((ew, ex, ey, ez), (e1, e2, e3))


def kept_turn_3(q, m, e, half):
    (w, x, y, z), (m1, m2, m3) = q, m
    (ew, ex, ey, ez), (e1, e2, e3) = e
    q, m, e = kept_turn_1((w, z, x, y), (m3, m1, m2), ((ew, ez, ex, ey), (e3, e1, e2)), half)
    (w, z, x, y), (m3, m1, m2), ((ew, ez, ex, ey), (e3, e1, e2)) = q, m, e
    return (w, x, y, z), (m1, m2, m3), ((ew, ex, ey, ez), (e1, e2, e3))


KEPT: dict[Callable, Callable] = SUMS | {
    turn_1: kept_turn_1,
    turn_2: kept_turn_2,
    turn_3: kept_turn_3,
}
