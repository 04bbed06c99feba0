"""Sine and cosine without branches, the same operations for one body and for SIMD lanes.

``sincos1(a) = (sin a, cos a - 1)``: a rotation by a small angle is an *increment*, whose cosine is
never rounded near 1: lengths drift as the square root of the number of rotations (Brouwer's law).

a is reduced by whole turns to |r| <= pi, and the half angle r/2 is doubled:

    2 sin(r/2) = r + r z P(z),    cos(r/2) - 1 = z (z Q(z) - 1/8),    z = r²           (1)
    sin r = 2 sin(r/2) (1 + (cos(r/2) - 1)),    cos r - 1 = -(2 sin(r/2))² / 2          (2)

Reduction by half turns would be shorter, but lose the common sign of (sin, cos), and with it the
continuity of a quaternion.  P and Q interpolate at Chebyshev nodes (``design/sincos.py``).
"""

import cmath
import math

from polhode.compiler.machine import blend, fma, mask, rint

P0, P1 = -0.041666666666666664, 0.0005208333333333322
P2, P3 = -3.1001984126960884e-06, 1.07645778199847e-08
P4, P5 = -2.4464948844424267e-11, 3.920648753086607e-14
P6, P7 = -4.665508828117721e-17, 4.167841914273055e-20
Q0, Q1 = 0.0026041666666666665, -2.1701388888888876e-05
Q2, Q3 = 9.688120039679628e-08, -2.691144455231285e-10
Q4, Q5 = 5.096864404961478e-13, -7.001167152596309e-16
Q6, Q7 = 7.290462658750289e-19, -5.80543472999435e-22
TURN, TURN_REST, TURNS = 6.283185307179586, 2.4492935982947064e-16, 0.15915494309189535
NEARLY_A_TURN = 9.8  # the square of half its angle
FARTHEST = 1e14  # radians; beyond, the number of turns is off by more than the polynomials allow


def sincos1(a):
    """Return (sin a, cos a - 1): within 2 ulp for |a| < pi/4, 3 ulp for |a| < pi/2.

    For |a| < ``FARTHEST`` the absolute errors are within 8e-16 and 14e-16; beyond, both are NaN.
    (In plain Python, where ``fma`` rounds twice, the angle is rounded once more.)
    """
    k = rint(a * TURNS)
    r = fma(-k, TURN_REST, fma(-k, TURN, a))
    z = r * r
    return doubled(r, in_reach(a, r * z), half_angle(z))


def sincos1_of_reduced(r):
    """Return (sin r, cos r - 1) for |r| <= pi."""
    z = r * r
    return doubled(r, r * z, half_angle(z))


def in_reach(a, value):
    """Return the value where the angle a can be reduced by whole turns, NaN where it cannot."""
    return blend(mask(abs(a) < FARTHEST), value, math.nan)


def sincos1_of_turn(half):
    """Return ``sincos1`` of half the angle by which a step rotates a body.

    In SIMD lanes it is first replaced for short steps, by ``SHORT``.
    """
    return sincos1(half)


def sincos1_of_short_turn(half):
    """Return the same bits as ``sincos1`` for |half| < 3.13; NaN beyond."""
    z = half * half
    return doubled(half, blend(mask(z < NEARLY_A_TURN), half * z, math.nan), half_angle(z))


def doubled(r, cube, of_half):
    """Return (sin r, cos r - 1) from ``half_angle(r²)``; ``cube`` is r³."""
    p, c1 = of_half
    s2 = fma(cube, p, r)
    return fma(s2, c1, s2), -0.5 * (s2 * s2)  # (2)


def half_angle(z):
    """Return ((2 sin(r/2) / r - 1) / z, cos(r/2) - 1) from z = r² <= pi²."""
    z2 = z * z
    z4 = z2 * z2
    p_low = fma(z2, fma(z, P3, P2), fma(z, P1, P0))
    p = fma(z4, fma(z2, fma(z, P7, P6), fma(z, P5, P4)), p_low)
    q_low = fma(z2, fma(z, Q3, Q2), fma(z, Q1, Q0))
    q = fma(z4, fma(z2, fma(z, Q7, Q6), fma(z, Q5, Q4)), q_low)
    return p, z * fma(z, q, -0.125)  # (1)


def sin(a):
    """Return the sine of a; replaces ``math.sin`` in a model."""
    return sincos1(a)[0]


def cos(a):
    """Return the cosine of a; replaces ``math.cos`` in a model."""
    return 1.0 + sincos1(a)[1]


def double_angle(s, c1):
    """Return (sin 2a, cos 2a - 1) from (sin a, cos a - 1)."""
    s2 = s + s
    return fma(s2, c1, s2), -(s2 * s)


SHORT = {sincos1_of_turn: sincos1_of_short_turn}

# Replacements of functions of ``math`` in a model: ours, or those of ``cmath`` for complex numbers.
ELEMENTARY = {math.sin: sin, math.cos: cos}
_ON_BOTH = "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log", "sqrt"
ON_COMPLEX = {getattr(math, name): getattr(cmath, name) for name in _ON_BOTH}
