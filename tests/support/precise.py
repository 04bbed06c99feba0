"""Exact and high-precision numbers, and rotations with them, for comparison in tests."""

from decimal import Decimal
from fractions import Fraction
from math import isfinite

import mpmath as mp
from hypothesis import settings

ROUNDING = 2.0**-53  # the relative error of one operation
repeatable = settings(deadline=None, derandomize=True)


def exact_fma(a, b, c):
    """a * b + c rounded once, as compiled code does it."""
    if isfinite(a) and isfinite(b) and isfinite(c) and (c or (a and b)):
        return float(Fraction(a) * Fraction(b) + Fraction(c))
    return a * b + c  # of zeros too, whose sign it keeps


# ---- quaternions and matrices in mpmath numbers, from their definitions
def to_mp(value):
    """The same nesting of tuples, in mpmath numbers."""
    if isinstance(value, tuple):
        return tuple(map(to_mp, value))
    return mp.mpf(str(value) if isinstance(value, Decimal) else value)


def hamilton(p, q):
    """The product by i² = j² = k² = ijk = -1."""
    signs = ((1, 1, 1, 1), (1, -1, 1, -1), (1, -1, -1, 1), (1, 1, -1, -1))
    result = [0, 0, 0, 0]
    for i in range(4):
        for j in range(4):
            result[i ^ j] += signs[i][j] * p[i] * q[j]
    return tuple(result)


def length(v):
    return mp.sqrt(mp.fsum(mp.mpf(x) ** 2 for x in v))


def unit_quaternion(psi):
    """(cos a/2 - 1, sin a/2 · axis) of the rotation vector psi."""
    psi, n = to_mp(tuple(psi)), length(psi)
    factor = mp.sinc(n / 2) / 2
    return -2 * mp.sin(n / 4) ** 2, tuple(factor * x for x in psi)


def skew(v):
    x, y, z = to_mp(tuple(v))
    return mp.matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def column(v):
    return mp.matrix([mp.mpf(x) for x in v])


def distance(found, right):
    """The largest difference of two sequences of numbers."""
    return max(abs(mp.mpf(f) - r) for f, r in zip(found, right, strict=True))
