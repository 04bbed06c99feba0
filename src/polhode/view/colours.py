"""A map of colours for numbers, and the scale that goes with it.

The map runs from violet over blue and green to yellow.  Its lightness rises evenly, so that equal
steps look equal and every kind of colour vision sees the same order.
"""

from typing import NamedTuple

import numpy as np

LEVELS = 252  # levels 0 … 251 are colours of the map; divisible by many numbers of bins
MISSING = 255  # the level of a value that is not a number
STATIONS = np.array(  # lightness, green to red, blue to yellow: a path in Oklab
    [[0.40, 0.085, -0.145], [0.52, -0.020, -0.120], [0.63, -0.090, -0.025], [0.75, -0.115, 0.08],
     [0.87, -0.045, 0.165]]
)  # fmt: skip
TO_CONES = np.array(
    [[1.0, 0.3963377774, 0.2158037573], [1.0, -0.1055613458, -0.0638541728],
     [1.0, -0.0894841775, -1.2914855480]]
)  # fmt: skip
TO_LIGHT = np.array(
    [[4.0767416621, -3.3077115913, 0.2309699292], [-1.2684380046, 2.6097574011, -0.3413193965],
     [-0.0041960863, -0.7034186147, 1.7076147010]]
)  # fmt: skip
STRAY = 4.0  # times the range of the middle 98 % that a scale may span


def palette(levels: int = LEVELS) -> np.ndarray:
    """Return the colours of the map, (levels, 3) bytes of red, green and blue."""
    path = _even(_smooth(STATIONS, 1000), levels)
    light = ((path @ TO_CONES.T) ** 3) @ TO_LIGHT.T
    light = np.clip(light, 0.0, 1.0)
    shown = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    return np.rint(255.0 * shown).astype(np.uint8)


def _smooth(stations: np.ndarray, count: int) -> np.ndarray:
    """Return points of the polynomial through all stations."""
    at = np.linspace(-1.0, 1.0, len(stations))
    fit = np.polynomial.polynomial.polyfit(at, stations, len(stations) - 1)
    return np.polynomial.polynomial.polyval(np.linspace(-1.0, 1.0, count), fit).T


def _even(path: np.ndarray, count: int) -> np.ndarray:
    """Return points of a path at equal distances."""
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
    at = np.linspace(0.0, length[-1], count)
    return np.stack([np.interp(at, length, column) for column in path.T], axis=1)


class Scale(NamedTuple):
    """The values at the ends of the map; ``beyond``: how many values lie outside."""

    low: float
    high: float
    beyond: int

    def levels(self, values: np.ndarray) -> np.ndarray:
        """Return the levels of values, in bytes; ``MISSING`` for what is not finite."""
        finite = np.isfinite(values)
        share = (np.where(finite, values, self.low) - self.low) / (self.high - self.low)
        level = np.rint(np.clip(share, 0.0, 1.0) * (LEVELS - 1))
        return np.where(finite, level, MISSING).astype(np.uint8)


def scale(values: np.ndarray, given: tuple[float, float] | None = None) -> Scale:
    """Choose the scale of values: ``given``, or from the least to the greatest.

    A few values far away from all others would leave them one colour.  If the whole range is more
    than ``STRAY`` times that of the middle 98 % of the values, the scale has this range.
    """
    low, high = robust_range(values, STRAY) if given is None else given
    if not high > low:
        size = max(abs(low), 1e-300)
        low, high = low - 1e-3 * size, high + 1e-3 * size
    beyond = int(np.count_nonzero((values < low) | (values > high)))
    return Scale(float(low), float(high), beyond)


def robust_range(values: np.ndarray, stray: float) -> tuple[float, float]:
    """Return the least and greatest finite value, or those of the middle 98 % if others stray."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return 0.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    first, last = (float(x) for x in np.quantile(finite, [0.01, 0.99]))
    if last > first and not high - low <= stray * (last - first):
        return first, last
    return low, high
