"""Verdicts from measurements: the judges that the measurements of all papers share.

A measurement returns ``Measured``: the verdict and the values found; the column "measured" of the
table of claims puts them into words.  Most compare numbers with a bound or an order: ``below``,
``above``, ``between`` and ``of_order``; ``holds_if`` judges by any other condition, ``added_if``
what the paper does not say.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

HOLDS, CORRECTED, FAILS = "holds", "holds with the correction", "does not hold"
ADDED = "holds; addition"  # the paper implies it or leaves it open; the note says what is ours
VERDICTS = HOLDS, CORRECTED, ADDED, FAILS
UNTESTED = "not tested"

Measured = tuple[str, tuple[Any, ...]]  # (verdict, values)
Check = Callable[[Any], Measured]  # of the laboratory of a paper


class Untestable(RuntimeError):
    """A measurement that could not be made, and why."""


# ---- judges
def judge(printed: bool, corrected: bool = False) -> str:
    """The verdict, from whether the statement holds as printed, or else with its correction."""
    if printed:
        return HOLDS
    return CORRECTED if corrected else FAILS


def holds_if(printed: bool, *values: Any, corrected: bool = False) -> Measured:
    """Judge by conditions: whether the statement holds as printed, or else with its correction."""
    return judge(bool(printed), bool(corrected)), values


def added_if(found: bool, *values: Any) -> Measured:
    """Judge what we add to a statement that implies it, or that leaves it open."""
    return ADDED if found else FAILS, values


def below(limit: float, *values: float) -> Measured:
    """Hold if all values are below a limit."""
    return holds_if(max(values) < limit, *values)


def above(limit: float, *values: float) -> Measured:
    """Hold if all values are above a limit."""
    return holds_if(min(values) > limit, *values)


def between(low: float, high: float, *values: float) -> Measured:
    """Hold if all values are between two limits."""
    return holds_if(low < min(values) and max(values) < high, *values)


def of_order(order: float, *found: float, band: float = 0.15) -> Measured:
    """Hold if all orders found are near the one expected."""
    return holds_if(all(near(x, order, band) for x in found), *found)


def near(order: float, expected: float, band: float = 0.15) -> bool:
    """Return whether an order of convergence is the one expected."""
    return abs(order - expected) < band


# ---- numbers
def largest(values: Any) -> float:
    """Return the largest absolute value of an array."""
    return float(np.abs(values).max())


def relative_change(values: Any) -> np.ndarray:
    """Return the change of values over time, relative to the first."""
    values = np.asarray(values)
    return values / values[0] - 1


def slope(steps: Sequence[float], values: Sequence[float]) -> float:
    """Return the exponent p of values ~ steps^p, by least squares on the logarithms."""
    return float(np.polyfit(np.log(steps), np.log(values), 1)[0])


# ---- words
def listing(values: Mapping[str, float], form: str, name: Callable[[str], str] = str.upper) -> str:
    """Names with their values, such as "AKW 1.2e-03, IMID 4.5e-04"."""
    return ", ".join(f"{name(key)} {value:{form}}" for key, value in values.items())


def series(values: Iterable[float], form: str) -> str:
    """Values alone, such as "2.00, 1.99"."""
    return ", ".join(format(value, form) for value in values)
