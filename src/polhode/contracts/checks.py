"""Checks of arguments: numbers, vectors and time spans."""

from collections.abc import Sequence
from math import isfinite, sqrt
from numbers import Integral
from typing import Any

from polhode.errors import InputError


def number(value: Any, argument: str) -> float:
    """Return a number, perhaps infinite or NaN."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InputError(f"{argument} must be a number, got {value!r}") from None
    except OverflowError:
        raise InputError(f"{argument} must be finite, got a number that is too large") from None


def finite(value: Any, argument: str) -> float:
    """Return a finite number."""
    found = number(value, argument)
    if not isfinite(found):
        raise InputError(f"{argument} must be finite, got {value!r}")
    return found


def positive(value: Any, argument: str) -> float:
    """Return a finite positive number."""
    found = number(value, argument)
    if not (isfinite(found) and found > 0):
        raise InputError(f"{argument} must be positive and finite, got {value!r}")
    return found


def not_negative(value: Any, argument: str) -> float:
    """Return a finite number, 0 or more."""
    found = finite(value, argument)
    if found < 0:
        raise InputError(f"{argument} must not be negative, got {value!r}")
    return found


def whole(value: Any, argument: str, least: int) -> int:
    """Return a whole number, ``least`` or more."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise InputError(f"{argument} must be a whole number, {least} or more, got {value!r}")
    return int(value)


def three(value: Any, argument: str) -> tuple[float, float, float]:
    """Return three finite numbers."""
    try:
        if getattr(value, "ndim", 1) != 1:
            raise ValueError
        x, y, z = map(float, value)
    except (TypeError, ValueError):
        raise InputError(f"{argument} must be three numbers, got {value!r}") from None
    if not (isfinite(x) and isfinite(y) and isfinite(z)):
        raise InputError(f"{argument} must be finite, got {[x, y, z]}")
    return x, y, z


def unit(value: Any, argument: str) -> tuple[float, float, float]:
    """Return a direction, of length 1; a unit vector along an axis keeps its bits."""
    x, y, z = three(value, argument)
    size = sqrt(x * x + y * y + z * z)
    if size == 0.0:
        raise InputError(f"{argument} must not be zero")
    return x / size, y / size, z / size


def span(t_span: Sequence[float]) -> tuple[float, float]:
    """Return the start and the end of a time span."""
    try:
        t0, t1 = t_span
        t0, t1 = float(t0), float(t1)
    except (TypeError, ValueError):
        raise InputError(f"t_span must be two numbers (start, end), got {t_span!r}") from None
    if not isfinite(t1 - t0):
        raise InputError(f"t_span must be finite, got {t_span!r}")
    return t0, t1
