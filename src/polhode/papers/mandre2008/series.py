"""Power series in the time with fractions for coefficients: derivatives without rounding.

``turning`` is a motion that is known in this form: with a quaternion p(t) of polynomials,

    q = p p / |p|²                                                                     (1)

has length 1 at all times and needs no root.
"""

from fractions import Fraction
from typing import Any

from polhode.papers.mandre2008 import by_hand
from polhode.papers.mandre2008.by_hand import Numbers

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

    def __rsub__(self, other: Any) -> "Series":
        return -self + other

    def __truediv__(self, other: Any) -> "Series":
        d, quotient = Series.of(other).c, list[Fraction]()
        for n in range(TERMS):
            known = sum((quotient[i] * d[n - i] for i in range(n)), Fraction(0))
            quotient.append((self.c[n] - known) / d[0])
        return Series(*quotient)

    def rate(self) -> "Series":
        """Return the derivative; its last coefficient is lost."""
        return Series(*(n * c for n, c in enumerate(self.c) if n))


def rates(values: Numbers) -> Numbers:
    return tuple(value.rate() for value in values)


def apart(a: Numbers, b: Numbers, known: int = TERMS) -> float:
    """Return the largest difference of the first ``known`` coefficients."""
    pairs = zip(a, b, strict=True)
    return float(max(abs(d) for x, y in pairs for d in Series.of(x - y).c[:known]))


def turning() -> Numbers:
    """q of (1)."""
    p = Series(3, 1, -2, 1), Series(1, -2, 0, 3), Series(-2, 1, 1), Series(1, 3, -1, 2)
    size = by_hand.dot(p, p)
    return tuple(x / size for x in by_hand.grassmann(p, p))


def matrix(q: Numbers) -> tuple[Numbers, ...]:
    """Return the rotation matrix of a unit quaternion, by its elements."""
    w, x, y, z = q
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )


def transposed(rows: tuple[Numbers, ...]) -> tuple[Numbers, ...]:
    return tuple(zip(*rows, strict=True))


def rate_in_body(rows: tuple[Numbers, ...]) -> Numbers:
    """ω of Aᵀ A' = skew(ω), in body axes, without quaternions."""
    a = transposed(rows)
    b = transposed(tuple(rates(row) for row in rows))
    return by_hand.dot(a[2], b[1]), by_hand.dot(a[0], b[2]), by_hand.dot(a[1], b[0])
