"""Verdicts from measurements: the judges that the measurements of all papers share.

A measurement returns ``Measured``: what was found, in words and numbers, and the verdict.  Most
compare numbers with a bound or with an order; ``below``, ``above``, ``between`` and ``of_order``
fill the numbers into a text and judge them.  ``judge`` makes a verdict of any other condition.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

HOLDS, CORRECTED, FAILS = "holds", "holds with the correction", "does not hold"
VERDICTS = HOLDS, CORRECTED, FAILS
UNTESTED = "not tested"

Measured = tuple[str, str]  # (text, verdict)
Check = Callable[[Any], Measured]  # of the laboratory of a paper


class Untestable(RuntimeError):
    """A measurement that could not be made, and why."""


# ---- judges
def judge(printed: bool, corrected: bool = False) -> str:
    """The verdict, from whether the statement holds as printed, or else with its correction."""
    if printed:
        return HOLDS
    return CORRECTED if corrected else FAILS


def below(limit: float, text: str, *values: float) -> Measured:
    """Holds if all values are below a limit; ``text`` has a place ``{}`` for each."""
    return text.format(*values), judge(max(values) < limit)


def above(limit: float, text: str, *values: float) -> Measured:
    """Holds if all values are above a limit; ``text`` has a place ``{}`` for each."""
    return text.format(*values), judge(min(values) > limit)


def between(low: float, high: float, text: str, *values: float) -> Measured:
    """Holds if all values are between two limits; ``text`` has a place ``{}`` for each."""
    return text.format(*values), judge(low < min(values) and max(values) < high)


def of_order(order: float, text: str, *found: float, band: float = 0.15) -> Measured:
    """Holds if all orders found are near the one expected; ``text`` has a place ``{}`` for each."""
    return text.format(*found), judge(all(near(x, order, band) for x in found))


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
