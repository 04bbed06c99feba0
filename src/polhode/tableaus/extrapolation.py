"""Columns of Gragg's extrapolation: their numbers of substeps, and their exact weights.

A column is the explicit midpoint rule with n substeps (n even); its error is a series in (h/n)².
The sum Σ w_j D_j of k columns with

    w_j = Π_(i≠j) n_j² / (n_j² - n_i²)                                                 (1)

is of order 2k; without the coarsest column it is of order 2k - 2, and the difference estimates the
error.

The rounding error is about sqrt(Σ w_j² n_j/10) units in the last place of a step's increment, 78
with the columns 2, 4, …, 16.  Others, with more substeps, err less and cost no more for the length
of step that they allow.  The choice here is the best of all whose lanes are at most 32 substeps
long: the fastest of orders 12 and 16, and one of order 14 with a small rounding error.

Columns run in four lanes side by side, several after each other in one lane; a step takes as long
as its longest lane, the first.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType

BITS = 49  # of weights after the point: they are floats then, and their sum is exactly 1


def weights_of(numbers: tuple[int, ...]) -> tuple[Fraction, ...]:
    """Return the weights (1) of columns with these numbers of substeps."""
    weights = []
    for n in numbers:
        weight = Fraction(1)
        for i in numbers:
            if i != n:
                weight *= Fraction(n * n, n * n - i * i)
        weights.append(weight)
    return tuple(weights)


@dataclass(frozen=True, kw_only=True)
class Columns:
    """The numbers of substeps, all even, of the columns in each lane."""

    name: str
    lanes: tuple[tuple[int, ...], ...]

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        return tuple(sorted(n for lane in self.lanes for n in lane))

    @property
    def order(self) -> int:
        return 2 * len(self.numbers)

    @cached_property
    def weights(self) -> Mapping[int, Fraction]:
        """The weight of each column, by its number of substeps."""
        return MappingProxyType(dict(zip(self.numbers, weights_of(self.numbers), strict=True)))

    @cached_property
    def rounded(self) -> Mapping[int, Fraction]:
        """The weights as floats that sum to 1: otherwise every step would have the wrong length."""
        unit = Fraction(1, 2**BITS)
        near = {n: round(weight / unit) * unit for n, weight in self.weights.items()}
        largest = max(near, key=lambda n: abs(near[n]))
        near[largest] += 1 - sum(near.values())
        return MappingProxyType(near)

    @cached_property
    def differences(self) -> Mapping[int, Fraction]:
        """The weights minus those without the coarsest column, for the error estimate."""
        less = dict(zip(self.numbers[1:], weights_of(self.numbers[1:]), strict=True))
        return MappingProxyType({n: w - less.get(n, 0) for n, w in self.weights.items()})

    @property
    def rounding(self) -> float:
        """The rounding error of a step, in units of 2⁻⁵³ of its increment."""
        return math.sqrt(sum(float(w) ** 2 * n / 10 for n, w in self.weights.items()))

    @property
    def evaluations(self) -> int:
        """The evaluations of a step: one at its start, n - 1 for each column."""
        return 1 + sum(self.numbers) - len(self.numbers)


COLUMNS: Mapping[str, Columns] = MappingProxyType(
    {
        name: Columns(name=name, lanes=lanes)
        for name, lanes in {
            "12": ((32,), (26,), (20, 12), (16, 14)),
            "16": ((32,), (26, 6), (20, 12), (14, 10, 8)),
            "14": ((32,), (18, 4), (12, 6), (10, 8)),
        }.items()
    }
)
