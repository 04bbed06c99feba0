"""Power series in the time with fractions for coefficients: derivatives without rounding.

``turning`` is a motion that is known in this form: with a quaternion p(t) of polynomials,

    q = p p / |p|²                                                                     (1)

has length 1 at all times and needs no root.
"""

from fractions import Fraction
from typing import Any

import numpy as np

from polhode.papers.quaternions import Array, product, square
from polhode.papers.rotations import skew

TERMS = 4


class Series:
    """c₀ + c₁ t + c₂ t² + …, the first ``TERMS`` of them."""

    def __init__(self, *coefficients: Any):
        self.c = tuple(Fraction(c) for c in coefficients) + (Fraction(0),) * TERMS
        self.c = self.c[:TERMS]

    @staticmethod
    def of(value: Any) -> "Series":
        return value if isinstance(value, Series) else Series(value)

    def __add__(self, other: Any) -> "Series":
        return Series(*(a + b for a, b in zip(self.c, Series.of(other).c, strict=True)))

    def __mul__(self, other: Any) -> "Series":
        d = Series.of(other).c
        return Series(*(sum(self.c[i] * d[n - i] for i in range(n + 1)) for n in range(TERMS)))

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> "Series":
        return self * -1

    def __sub__(self, other: Any) -> "Series":
        return self + -Series.of(other)

    def __truediv__(self, other: Any) -> "Series":
        d, quotient = Series.of(other).c, list[Fraction]()
        for n in range(TERMS):
            known = sum((quotient[i] * d[n - i] for i in range(n)), Fraction(0))
            quotient.append((self.c[n] - known) / d[0])
        return Series(*quotient)

    def rate(self) -> "Series":
        """Return the derivative; its last coefficient is lost."""
        return Series(*(n * c for n, c in enumerate(self.c) if n))


rates = np.vectorize(Series.rate, otypes=[object])  # of arrays


def apart(a: Any, b: Any, known: int = TERMS) -> float:
    """Return the largest difference of the first ``known`` coefficients."""
    pairs = zip(a, b, strict=True)
    return float(max(abs(d) for x, y in pairs for d in Series.of(x - y).c[:known]))


def turning() -> Array:
    """q of (1)."""
    p = np.array([Series(3, 1, -2, 1), Series(1, -2, 0, 3), Series(-2, 1, 1), Series(1, 3, -1, 2)])
    return product(p, p) / square(p)


def matrix(q: Array) -> Array:
    """Return the rotation matrix of a unit quaternion: 1 + 2 w skew(u) + 2 skew(u)²."""
    x = skew(q[1:])
    return np.eye(3) + x * (2 * q[0]) + 2 * x @ x


def rate_in_body(rows: Array) -> Array:
    """ω of Aᵀ A' = skew(ω), in body axes, without quaternions."""
    turning = rows.T @ rates(rows)
    return np.array([turning[2, 1], turning[0, 2], turning[1, 0]])
