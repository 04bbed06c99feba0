"""Exact Butcher tableaus: fractions, or square roots to 50 digits.

    c | A      row k:  c_k | a_k1 … a_ks
    --+---
      | b

A tableau is checked when it is created (row sums of A are c, b sums to 1), and knows whether it is
explicit.  Its order is declared, and tested against the order conditions.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

from polhode.errors import InputError

DIGITS = 50


@dataclass(frozen=True, kw_only=True)
class Tableau:
    """A Runge-Kutta method; entries are anything that ``float`` takes (fractions stay exact).

    Examples
    --------
    >>> import polhode as ph
    >>> a, b, c = ((0, 0), (2 / 3, 0)), (1 / 4, 3 / 4), (0, 2 / 3)
    >>> ralston = ph.Tableau(name="ralston", a=a, b=b, c=c, order=2)
    >>> ralston.explicit, ralston.stages, ralston.symmetric
    (True, 2, False)
    """

    name: str
    a: tuple[tuple[Any, ...], ...]
    b: tuple[Any, ...]
    c: tuple[Any, ...]
    order: int
    references: tuple[str, ...] = ()

    def __post_init__(self):
        size = len(self.b)
        if size == 0 or len(self.a) != size or any(len(row) != size for row in self.a):
            shapes = len(self.a), [len(row) for row in self.a]
            raise InputError(
                f"tableau {self.name!r}: a must be {size} rows of {size} numbers, as many as b has;"
                f" got {shapes[0]} rows of lengths {shapes[1]}"
            )
        if len(self.c) != size:
            raise InputError(f"tableau {self.name!r}: c has {len(self.c)} entries, b has {size}")
        for k, (row, node) in enumerate(zip(self.a, self.c, strict=True)):
            total = sum(map(float, row))
            if abs(total - float(node)) > 1e-14 * (1 + sum(abs(float(x)) for x in row)):
                raise InputError(
                    f"tableau {self.name!r}: row {k + 1} of a sums to {total!r}, but c is"
                    f" {float(node)!r}; stage times must be the row sums"
                )
        if abs(sum(map(float, self.b)) - 1) > 1e-14 * (1 + sum(abs(float(x)) for x in self.b)):
            raise InputError(f"tableau {self.name!r}: b sums to {sum(map(float, self.b))!r}, not 1")
        if self.order < 1:
            raise InputError(f"tableau {self.name!r}: order must be at least 1, got {self.order}")

    @property
    def stages(self) -> int:
        return len(self.b)

    @property
    def explicit(self) -> bool:
        return all(float(x) == 0 for k, row in enumerate(self.a) for x in row[k:])

    @property
    def first_same_as_last(self) -> bool:
        """Whether the last stage is the slope at the end of the step."""
        return self.explicit and self.stages > 1 and tuple(self.a[-1]) == tuple(self.b)

    @property
    def symmetric(self) -> bool:
        """Whether the method is self-adjoint in a vector space: a_(s+1-i, s+1-j) + a_ij = b_j."""
        mirror = [row[::-1] for row in self.a[::-1]]
        return all(
            abs(float(x) + float(y) - float(w)) < 1e-14
            for row, other in zip(self.a, mirror, strict=True)
            for x, y, w in zip(row, other, self.b, strict=True)
        )

    def converted(self, number: Callable) -> tuple[tuple, tuple, tuple]:
        """Return (a, b, c) with every entry passed through ``number``."""
        rows = tuple(tuple(map(number, row)) for row in self.a)
        return rows, tuple(map(number, self.b)), tuple(map(number, self.c))


def _fractions(text: str) -> tuple[Fraction, ...]:
    return tuple(map(Fraction, text.split()))


def rational(name: str, rows: str, b: str, order: int, **facts) -> Tableau:
    """Make a tableau of fractions; ``rows`` are the rows of A, one per line, and c their sums."""
    a = tuple(map(_fractions, rows.strip().splitlines()))
    return Tableau(name=name, a=a, b=_fractions(b), c=tuple(map(sum, a)), order=order, **facts)


def sparse(text: str, rows: int | None, columns: int) -> tuple[tuple[Decimal, ...], ...]:
    """Read rows of decimals from lines "row column value"; one row from "column value" if None."""
    table = [[Decimal(0)] * columns for _ in range(rows or 1)]
    for line in text.split("\n"):
        if line:
            *row, column, value = line.split()
            table[int(row[0]) - 1 if row else 0][int(column) - 1] = Decimal(value)
    return tuple(map(tuple, table))


FORWARD_EULER = rational("forward-euler", "0", "1", 1)
BACKWARD_EULER = rational("backward-euler", "1", "1", 1)
MIDPOINT = rational("midpoint", "1/2", "1", 2)
TRAPEZOID = rational(
    "trapezoid",
    """0 0
       1/2 1/2""",
    "1/2 1/2",
    2,
)
HEUN2 = rational(
    "heun2",
    """0 0
       1 0""",
    "1/2 1/2",
    2,
)
KUTTA3 = rational(
    "kutta3",
    """0 0 0
       1/2 0 0
       -1 2 0""",
    "1/6 2/3 1/6",
    3,
    references=("kutta1901",),
)
RK4 = rational(
    "rk4",
    """0 0 0 0
       1/2 0 0 0
       0 1/2 0 0
       0 0 1 0""",
    "1/6 1/3 1/3 1/6",
    4,
    references=("kutta1901",),
)
BUTCHER6 = rational(
    "butcher6",
    """0 0 0 0 0 0 0
       1/3 0 0 0 0 0 0
       0 2/3 0 0 0 0 0
       1/12 1/3 -1/12 0 0 0 0
       -1/16 9/8 -3/16 -3/8 0 0 0
       0 9/8 -3/8 -3/4 1/2 0 0
       9/44 -9/11 63/44 18/11 0 -16/11 0""",
    "11/120 0 27/40 27/40 -4/15 -4/15 11/120",
    6,
    references=("butcher1964explicit",),
)


def _gauss4() -> Tableau:
    """Return Hammer and Hollingsworth's method (Hairer, Nørsett, Wanner, II.7, table 7.3)."""
    with localcontext(prec=DIGITS):
        r = Decimal(3).sqrt() / 6
        half, quarter = Decimal(1) / 2, Decimal(1) / 4
        return Tableau(
            name="gauss4",
            a=((quarter, quarter - r), (quarter + r, quarter)),
            b=(half, half),
            c=(half - r, half + r),
            order=4,
            references=("butcher1964implicit",),
        )


def _gauss6() -> Tableau:
    """Return Kuntzmann and Butcher's method (Hairer, Nørsett, Wanner, II.7, table 7.4)."""
    with localcontext(prec=DIGITS):
        r = Decimal(15).sqrt()
        d5, d2, d4, d9 = (Decimal(5) / 36, Decimal(1) / 2, Decimal(2) / 9, Decimal(5) / 18)
        return Tableau(
            name="gauss6",
            a=(
                (d5, d4 - r / 15, d5 - r / 30),
                (d5 + r / 24, d4, d5 - r / 24),
                (d5 + r / 30, d4 + r / 15, d5),
            ),
            b=(d9, Decimal(4) / 9, d9),
            c=(d2 - r / 10, d2, d2 + r / 10),
            order=6,
            references=("butcher1964implicit",),
        )


GAUSS4, GAUSS6 = _gauss4(), _gauss6()

TABLEAUS = {
    tableau.name: tableau
    for tableau in (
        FORWARD_EULER,
        BACKWARD_EULER,
        HEUN2,
        MIDPOINT,
        TRAPEZOID,
        KUTTA3,
        RK4,
        GAUSS4,
        BUTCHER6,
        GAUSS6,
    )
}
"""All tableaus by name; ``mkrk:NAME`` is the method for bodies, and ``ph.lie`` takes them, too.

Examples
--------
>>> import polhode as ph
>>> [name for name, tableau in ph.TABLEAUS.items() if not tableau.explicit]
['backward-euler', 'midpoint', 'trapezoid', 'gauss4', 'gauss6']
"""
