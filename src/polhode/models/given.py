"""Checks of the arguments of models."""

from collections.abc import Sequence
from math import isfinite, sqrt

from polhode.errors import InputError


def three(value: Sequence[float], argument: str) -> tuple[float, float, float]:
    """Three finite numbers."""
    try:
        x, y, z = map(float, value)
    except (TypeError, ValueError):
        raise InputError(f"{argument} must be three numbers, got {value!r}") from None
    if not all(map(isfinite, (x, y, z))):
        raise InputError(f"{argument} must be finite, got {[x, y, z]}")
    return x, y, z


def unit(value: Sequence[float], argument: str) -> tuple[float, float, float]:
    """A direction, of length 1; a unit vector along an axis keeps its bits."""
    x, y, z = three(value, argument)
    size = sqrt(x * x + y * y + z * z)
    if size == 0.0:
        raise InputError(f"{argument} must not be zero")
    return x / size, y / size, z / size


def finite(value: float, argument: str) -> float:
    """A finite number."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InputError(f"{argument} must be a number, got {value!r}") from None
    if not isfinite(number):
        raise InputError(f"{argument} must be finite, got {value!r}")
    return number


def positive(value: float, argument: str) -> float:
    """A finite positive number."""
    number = finite(value, argument)
    if not number > 0:
        raise InputError(f"{argument} must be positive and finite, got {value!r}")
    return number


def not_negative(value: float, argument: str) -> float:
    """A finite number, 0 or more."""
    number = finite(value, argument)
    if number < 0:
        raise InputError(f"{argument} must not be negative, got {value!r}")
    return number
