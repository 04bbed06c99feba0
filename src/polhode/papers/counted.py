"""Numbers that count the operations on them, for claims about what a formula or a step costs.

A sum, a difference, a product, a product with a sum (``fma``) and a rounding to an integer are one
operation; a change of sign, a comparison and a choice are none.  Sines and cosines are polynomials
of the library, and count as these; other elementary functions count as a sine, ``FUNCTION``.
``work`` counts a quotient and a root as ``SLOW`` operations: processors take about that much longer
for them.  Counts do not depend on the machine or its load.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from operator import add, mul, sub, truediv
from typing import Any

import numpy as np

from polhode.compiler.machine import combined, fma, rint
from polhode.compiler.tree import bind

SLOW, FUNCTION = 5, 28


@dataclass
class Tally:
    """Operations counted, and the quotients and roots among them."""

    operations: int = 0
    slow: int = 0

    @property
    def work(self) -> int:
        """The operations, a quotient or a root being ``SLOW`` of them."""
        return self.operations + (SLOW - 1) * self.slow


tally = Tally()


def _count(value: float, slow: bool = False, operations: int = 1) -> "Counted":
    tally.operations += operations
    tally.slow += slow
    return Counted(value)


def _counting(operation: Callable[[float, float], float]) -> Any:
    slow = operation is truediv

    def apply(self: "Counted", other: float) -> "Counted":
        return _count(operation(float(self), float(other)), slow)

    return apply


def _reflected(operation: Callable[[float, float], float]) -> Any:
    slow = operation is truediv

    def apply(self: "Counted", other: float) -> "Counted":
        return _count(operation(float(other), float(self)), slow)

    return apply


class Counted(float):
    """A number that counts sums, differences, products and quotients; a change of sign is free."""

    __add__, __sub__, __mul__, __truediv__ = map(_counting, (add, sub, mul, truediv))
    __radd__, __rsub__, __rmul__, __rtruediv__ = map(_reflected, (add, sub, mul, truediv))

    def __neg__(self) -> "Counted":
        return Counted(-float(self))

    def __abs__(self) -> "Counted":
        return Counted(abs(float(self)))


# ---- formulas on arrays
def count_operations(compute: Callable[..., Any], *arrays: Any) -> tuple[Any, int]:
    """The result of ``compute`` on arrays of such numbers, and how many operations it took."""
    numbers = [np.vectorize(Counted, otypes=[object])(array) for array in arrays]
    begin = tally.operations
    return compute(*numbers), tally.operations - begin


# ---- plain functions of the library
def counted(value: Any) -> Any:
    """Return a nested tuple with its floats replaced by such numbers."""
    if isinstance(value, tuple):
        return tuple(map(counted, value))
    return Counted(value) if isinstance(value, float) else value


def _combined(weights: Any, rows: Any) -> tuple[Counted, ...]:
    total = [weights[0] * x for x in rows[0]]
    for weight, row in zip(weights[1:], rows[1:], strict=True):
        total = [_count(weight * float(x) + float(y)) for x, y in zip(row, total, strict=True)]
    return tuple(total)


def _as(operations: int, function: Callable[..., float], slow: bool = False) -> Callable:
    return lambda *numbers: _count(function(*map(float, numbers)), slow, operations)


COUNTING: dict[Any, Any] = {
    combined: _combined,
    fma: _as(1, lambda a, b, c: a * b + c),
    rint: _as(1, rint),
    math.sqrt: _as(1, math.sqrt, slow=True),
} | {
    function: _as(FUNCTION, function)
    for function in (math.atan2, math.asinh, math.exp, math.expm1, math.log, math.log1p)
}


def counting(function: Callable) -> Callable:
    """Return a function of the library that counts its operations on ``Counted`` numbers."""
    return bind(function, COUNTING)


def work_of(call: Callable[[], Any]) -> int:
    """Return the work of a call of a counting function."""
    begin = tally.work
    call()
    return tally.work - begin
