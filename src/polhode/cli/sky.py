"""What the commands ``moon`` and ``earth`` share."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

FORMATS = ".csv", ".png"
METHOD = "extrapolation"
YEAR = 365.25 * 86400.0  # s


def date_of(start: str) -> float:
    """The TDB Julian date of a date or of a number."""
    from polhode.celestial.ephemeris import julian_date

    try:
        return float(start)
    except ValueError:
        return julian_date(start)


def check_span(start: str, years: float) -> None:
    """That DE421 covers it."""
    from polhode.celestial.ephemeris import DAY, de421

    days = years * YEAR / DAY
    de421().check(date_of(start), min(days, 0.0), max(days, 0.0))


def rms(values: "np.ndarray") -> float:
    """Over time, of numbers or of lengths of rows."""
    import numpy as np

    return float(np.sqrt(np.mean(np.square(values).reshape(len(values), -1).sum(axis=1))))
