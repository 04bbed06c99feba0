"""JPL's ephemerides: positions of Earth, Moon, Sun and planets, and the Moon's librations.

DE421 is the usual one; DE422 and DE423, which are newer and have the same constants of the Moon,
can take its place.

Times are TDB, as Julian dates or seconds; axes are those of the ICRF; the unit of length is the
kilometre.  A series is a table (set, axis, coefficient) of Chebyshev polynomials, each for an
interval of L seconds.  At the time t after a ``start``, with x counted in intervals from the
beginning of the one that contains the start,

    x = x₀ + t/L,    k = ⌊x⌋,    s = 2 (x - k) - 1                                     (1)
    f = Σ c_j T_j(s),    by    b_j = c_j + 2 s b_(j+1) - b_(j+2),    f = c_0 + s b_1 - b_2   (2)

(2) is Clenshaw's sum.  The number of the first set, x₀ and 1/L are the *clock* of a series; with it
t loses little to rounding even far from the beginning of the ephemeris.  Outside the ephemeris all
values are NaN, and a run stops there with a status.
"""

from collections.abc import Mapping
from datetime import date, datetime
from functools import cache, cached_property
from importlib import import_module
from math import floor, isfinite, nan
from types import MappingProxyType
from typing import Any

import numpy as np

from polhode.compiler.machine import fma
from polhode.errors import InputError

DAY = 86400.0  # s
J2000 = 2451545.0  # TDB Julian date
PLANETS = "mercury", "venus", "mars", "jupiter", "saturn", "uranus", "neptune"
NUMBERS = 1, 2, 4, 5, 6, 7, 8  # 3 is the Earth
NAMES = "de421", "de422", "de423"  # packages with librations and the constants of their model
GRAVITIES = {name: f"GM{k}" for name, k in zip(PLANETS, NUMBERS, strict=True)} | {"sun": "GMS"}


# ---- in compiled code
def clenshaw(s, table, k):
    """Return the three sums (2) of set k."""
    a1 = a2 = b1 = b2 = c1 = c2 = 0.0
    twice = s + s
    for j in range(table.shape[2] - 1, 0, -1):
        a1, a2 = fma(twice, a1, table[k, 0, j] - a2), a1
        b1, b2 = fma(twice, b1, table[k, 1, j] - b2), b1
        c1, c2 = fma(twice, c1, table[k, 2, j] - c2), c1
    return (
        fma(s, a1, table[k, 0, 0] - a2),
        fma(s, b1, table[k, 1, 0] - b2),
        fma(s, c1, table[k, 2, 0] - c2),
    )


def series_at(t, clock, table):
    """Return the value of a series t seconds after the start of its clock."""
    first, x0, frequency = clock
    x = fma(t, frequency, x0)
    whole = floor(x)
    k = int(first) + whole
    if k == table.shape[0] and x == whole:  # the very end
        return clenshaw(1.0, table, k - 1)
    if not 0 <= k < table.shape[0]:
        return nan, nan, nan
    return clenshaw(2.0 * (x - whole) - 1.0, table, k)  # (1)


# ---- the files
class Ephemeris:
    """The tables and constants of an ephemeris from the package of its name, such as ``de421``.

    ``constants`` have JPL's names and units (km, days, astronomical units); ``gravity(name)`` is GM
    in km³/s².  ``first`` and ``last`` are TDB Julian dates.
    """

    def __init__(self, package: Any, reader: Any):
        self._read = reader(package)
        self.name: str = self._read.name
        values = np.load(self._read.path("constants.npy"))
        self.constants: Mapping[str, float] = MappingProxyType(
            {name.decode(): float(value) for name, value in values}
        )
        self.first, self.last = self.constants["jalpha"], self.constants["jomega"]

    @cached_property
    def earth_share(self) -> float:
        """Return the Earth's share of the mass of Earth and Moon together."""
        ratio = self.constants["EMRAT"]
        return ratio / (1.0 + ratio)

    def gravity(self, name: str) -> float:
        """Return GM in km³/s²."""
        if name in ("earth", "moon"):
            share = self.earth_share if name == "earth" else 1.0 - self.earth_share
            gm = share * self.constants["GMB"]
        elif name in GRAVITIES:
            gm = self.constants[GRAVITIES[name]]
        else:
            raise InputError(
                f"there is no mass of {name!r}; known are earth, moon, {', '.join(GRAVITIES)}"
            )
        return gm * self.constants["AU"] ** 3 / DAY**2

    def table(self, name: str) -> np.ndarray:
        """Return the coefficients of a series, read-only."""
        if name not in self._read.names:
            raise InputError(f"name must be one of {', '.join(self._read.names)}, got {name!r}")
        found = self._read.load(name)
        found.flags.writeable = False
        return found

    def clock(self, name: str, start: float) -> tuple[float, float, float]:
        """Return (number of the first set, x₀, 1/L) of a series for times after ``start``."""
        days = self.interval(name)
        first, rest = divmod(start - self.first, days)
        return float(first), rest / days, 1.0 / (days * DAY)

    def interval(self, name: str) -> float:
        """Return the length of an interval of a series in days."""
        return (self.last - self.first) / self.table(name).shape[0]

    def latest_end(self, name: str, start: float) -> float:
        """Return the last date up to ``start`` at which an interval of a series ends.

        There JPL's series have the integrated values and rates; in between they approximate them.
        """
        self.check(start)
        return self.first + (start - self.first) // self.interval(name) * self.interval(name)

    def series(self, name: str, start: float) -> tuple[tuple[float, float, float], np.ndarray]:
        """Return (clock, table) for ``series_at``."""
        return self.clock(name, start), self.table(name)

    def librations(self, start: float, t: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the Moon's angles φ, θ, ψ and their rates (rad, rad/s) t seconds after ``start``.

        Rz(φ) Rx(θ) Rz(ψ) turns vectors from the Moon's principal axes to the ICRF's.
        """
        days = np.atleast_1d(np.asarray(t, dtype=float)) / DAY
        self.check(start, float(days.min()), float(days.max()))
        angles, rates = self._read.position_and_velocity("librations", start, days)
        return angles.T, rates.T / DAY

    def check(self, start: float, before: float = 0.0, after: float = 0.0) -> None:
        """Raise an error if days before or after the start lie outside the ephemeris."""
        if not self.first <= start + before <= start + after <= self.last:
            raise InputError(
                f"{self.name} covers the Julian dates {self.first} to {self.last} (TDB), that is"
                f" {calendar(self.first)} to {calendar(self.last)}; requested"
                f" {start + before:.1f} to {start + after:.1f}"
            )


def de421() -> Ephemeris:
    """Return the ephemeris DE421, which the extra ``celestial`` installs.

    Examples
    --------
    >>> import polhode as ph
    >>> ephemeris = ph.celestial.de421()
    >>> 81.3 < ephemeris.constants["EMRAT"] < 81.31  # mass of the Earth over that of the Moon
    True
    """
    return opened("de421")


@cache
def opened(name: str) -> Ephemeris:
    """Return the ephemeris of a package: de421, de422 or de423."""
    if name not in NAMES:
        raise InputError(f"ephemeris must be one of {', '.join(NAMES)}, got {name!r}")
    try:
        package = import_module(name)
        from jplephem.ephem import Ephemeris as Reader
    except ImportError as error:
        extra = "'polhode[celestial]'"
        raise InputError(
            f"the ephemeris {name.upper()} needs the package {error.name!r}: pip install"
            f" {extra if name == 'de421' else f'{extra} {name}'}"
        ) from None
    return Ephemeris(package, Reader)


# ---- dates
def julian_date(start: Any) -> float:
    """Return the TDB Julian date of "2000-01-01", "2000-01-01T12:00", a ``date`` or a number."""
    moment = start
    if isinstance(start, str):
        try:
            moment = datetime.fromisoformat(start)
        except ValueError:
            moment = None
    if isinstance(moment, datetime):
        if moment.tzinfo is not None:
            raise InputError(f"start is a date of TDB and has no time zone, got {start!r}")
        midnight = datetime(moment.year, moment.month, moment.day)
        return moment.toordinal() + 1721424.5 + (moment - midnight).total_seconds() / DAY
    if isinstance(moment, date):
        return moment.toordinal() + 1721424.5
    try:
        number = float(moment)
    except (TypeError, ValueError):
        number = nan
    if not isfinite(number):
        raise InputError(
            "start must be a date of TDB such as '2000-01-01' or '2000-01-01T12:00', or a TDB"
            f" Julian date, got {start!r}"
        )
    return number


def calendar(julian: float) -> str:
    """Return the day of a Julian date."""
    return date.fromordinal(floor(julian - 1721424.5)).isoformat()
