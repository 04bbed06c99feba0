"""The Earth as a rigid body in the field of the Moon, the Sun and the planets of DE421.

The body axes are the Earth's principal axes, x at the longitude -14.93°, the inertial axes those of
the ICRF (GCRS); the time is TDB, in seconds after the start.  The moments follow from the
dynamical ellipticity H, the triaxiality T = (B - A)/C, J2 and the mass,

    C = J2 M R²/H,    A = C (1 - H - T/2),    B = C (1 - H + T/2)                       (1)

and the torque of masses μ/G in the directions u at the distances r is

    N = Σ 3 μ/r³ u × I u                                                               (2)

In the Sun's field the local inertial axes turn by the geodetic precession Ω:  N = Ω × m.  (3)

The attitude at the start is that of IAU 2006/2000A.  Its pole p and the rate n of the Earth
rotation angle give

    ω = n p + p × p'                                                                   (4)

which leaves a free wobble of less than a milliarcsecond.  The momentum is
m = C n p + A p × p', so that the pole without any free wobble is the slow solution of

    p = m/(C n) - A/(C n) p × p'                                                       (5)

In (5) the second term grows with the frequency: 7 % for 13.66 days.  It is found by iteration, with
p' from a spline through rows of a run one day apart.
"""

import warnings
from math import pi
from typing import Any

import numpy as np

from polhode.celestial import field
from polhode.celestial.ephemeris import DAY, Ephemeris, calendar, de421, julian_date, series_at
from polhode.celestial.field import ARCSECOND, Moments, differences, direction, turned_by_moments
from polhode.errors import InputError
from polhode.kernels.quaternion import to_body
from polhode.kernels.vector import add, add_scaled, cross
from polhode.problems.problem import Problem

ELLIPTICITY = 3.273795e-3  # H, IERS Conventions 2010, table 1.1
TRIAXIALITY = 2.1961e-5  # (B - A)/C
LONGITUDE = -14.93 * pi / 180.0  # of the axis of A
SPIN = 2.0 * pi * 1.00273781191135448 / DAY  # n, the rate of the Earth rotation angle, rad/s
MAS = 1e-3 * ARCSECOND
SPACING = 2.0 * DAY  # (5) has terms of some days
REFERENCES = "folkner2009", "petit2010", "mathews2002"


# ---- the torque
def torque(t, q, m, body, params):
    """Sum the torques of the Moon and the others; all series are read at one place in the code."""
    (clocks, gravities, share, differences, rate), tables = params
    moon = pair = n = (0.0, 0.0, 0.0)
    for k in range(len(tables)):
        s = series_at(t, clocks[k], tables[k])
        if k == 1:
            pair = s  # Earth and Moon together
            continue
        if k == 0:
            moon = s
        else:
            s = add_scaled(add_scaled(s, -1.0, pair), 1.0 - share, moon)
        u, r = direction(q, s)
        near = 3.0 * gravities[k] / (r * r * r)
        n = add_scaled(n, near, turned_by_moments(differences, u))  # (2)
    return add(n, cross(to_body(q, rate), m))  # (3)


# ---- constants
def moments(ephemeris: Ephemeris) -> Moments:
    """Return A, B, C in kg m²."""  # (1)
    c = ephemeris.constants
    polar = c["J2E"] * field.mass(ephemeris, "earth") * (1e3 * c["AE"]) ** 2 / ELLIPTICITY
    equatorial = 1.0 - ELLIPTICITY
    return (
        polar * (equatorial - 0.5 * TRIAXIALITY),
        polar * (equatorial + 0.5 * TRIAXIALITY),
        polar,
    )


# ---- IAU 2006/2000A
def erfa() -> Any:
    """Return the package ``erfa``, which the extra ``celestial`` installs."""
    try:
        import erfa as package
    except ImportError:
        raise InputError(
            "the Earth's attitude needs the package 'pyerfa': pip install 'polhode[celestial]'"
        ) from None
    return package


def poles(start: float, t: Any) -> np.ndarray:
    """Return rows of IAU 2006/2000A's pole (CIP) t seconds after ``start``, taking TT as TDB."""
    x, y, _ = erfa().xys06a(start, np.atleast_1d(np.asarray(t, dtype=float)) / DAY)
    return np.stack([x, y, np.sqrt(1.0 - x * x - y * y)], axis=1)


def leap_offset(start: float) -> float:
    """Return TT - UTC in seconds, from the leap seconds known."""
    package = erfa()
    year, month, day, _ = package.jd2cal(start, 0.0)
    if year < 1960:
        raise InputError(
            f"UTC begins in 1960: for a start on {calendar(start)} give delta_t, which is TT - UT1"
            " in seconds"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", package.ErfaWarning)  # years after the last leap second
        return 32.184 + float(package.dat(year, month, day, 0.5))


def state(start: float, delta_t: float) -> tuple[Any, np.ndarray]:
    """Return (attitude, angular velocity in body axes) of IAU 2006/2000A, without polar motion."""
    from scipy.spatial.transform import Rotation

    matrix = erfa().c2t06a(start, 0.0, start, -delta_t / DAY, 0.0, 0.0)  # ICRF to ITRF
    attitude = Rotation.from_matrix(matrix.T) * Rotation.from_rotvec([0.0, 0.0, LONGITUDE])
    h = 0.25 * DAY
    p = poles(start, [-2.0 * h, -h, 0.0, h, 2.0 * h])
    drift = (8.0 * (p[3] - p[1]) - (p[4] - p[0])) / (12.0 * h)
    omega = SPIN * p[2] + np.cross(p[2], drift)  # (4)
    return attitude, attitude.inv().apply(omega)


# ---- the problem
def earth(
    start: Any,
    *,
    sun: bool = True,
    planets: bool = False,
    geodetic: bool = False,
    delta_t: float | None = None,
) -> Problem:
    """Return the rotation of a rigid Earth from a date on, with the start of IAU 2006/2000A.

    The time of the problem is TDB, in seconds after ``start``; the body axes are the Earth's
    principal axes, the inertial axes those of the ICRF.  Needs the extra ``celestial``.

    Parameters
    ----------
    start : a date of TDB, "2000-01-01" or "2000-01-01T12:00", or a TDB Julian date, 1900 to 2200
    sun, planets : their torques, besides that of the Moon
    geodetic : the geodetic precession of the local inertial axes
    delta_t : TT - UT1 in seconds, which fixes the longitude; by default from leap seconds

    Examples
    --------
    >>> import polhode as ph
    >>> earth = ph.celestial.earth("2000-01-01")
    >>> earth.moves, round(float(earth.omega[2] * 86164.0905), 4)  # a turn in a sidereal day
    (False, 6.2832)
    """
    ephemeris, begin = de421(), julian_date(start)
    ephemeris.check(begin)
    offset = leap_offset(begin) if delta_t is None else float(delta_t)
    if not np.isfinite(offset):
        raise InputError(f"delta_t must be a number of seconds, TT - UT1, got {delta_t!r}")
    inertia, others = moments(ephemeris), field.other_bodies(sun, planets)
    parts = {"differences": differences(inertia)}
    model = field.model(
        "earth", torque, ephemeris, begin, "moon", others, parts, geodetic, REFERENCES
    )
    return field.problem(ephemeris, begin, inertia, model, state(begin, offset))


# ---- the run
def figure_poles(run: Any) -> np.ndarray:
    """Return rows of the axis of C of a run, without its free wobble."""  # (5)
    from scipy.interpolate import make_interp_spline

    t = np.asarray(run.t)
    if len(t) < 8 or np.abs(np.diff(t)).max() > SPACING * (1.0 + 1e-9):
        raise InputError(
            f"the poles of a run need 8 rows or more, at most {SPACING / DAY:g} days apart, got"
            f" {len(t)} over {abs(t[-1] - t[0]) / DAY:g} days; give t_eval once a day"
        )
    m = np.asarray(run.angular_momentum_inertial)
    axis = m / np.linalg.norm(m, axis=1)[:, None]
    days = np.abs(t - t[0]) / DAY
    back = (1.0 - ELLIPTICITY) / (SPIN * DAY) * np.sign(t[-1] - t[0])  # A/(C n)
    rows = a_day_apart(days)
    if len(rows) < 8:
        raise InputError(f"the poles of a run need 8 days or more, got {days[-1]:.3g}")
    p = axis[rows]
    for _ in range(8):
        spline = make_interp_spline(days[rows], p, k=7)
        p = axis[rows] - back * np.cross(p, spline(days[rows], 1))
    p = axis - back * np.cross(spline(days), spline(days, 1))
    return p / np.linalg.norm(p, axis=1)[:, None]


def a_day_apart(days: np.ndarray) -> list[int]:
    """Return indices of rows a day or more apart, from the first to the last.

    Anything faster than a day would grow in the iteration of (5).
    """
    rows = [0]
    for k, day in enumerate(days):
        if day - days[rows[-1]] > 1.0 - 1e-9:
            rows.append(k)
    if rows[-1] != len(days) - 1:
        rows[-1] = len(days) - 1
    return rows


def earth_residuals(run: Any, start: Any, detrend: bool = True) -> np.ndarray:
    """Return rows of X and Y of a run's pole less those of IAU 2006/2000A, in milliarcseconds.

    The pole is the axis of figure without the free wobble.  The rows of the run must be at most two
    days apart: give ``t_eval`` once a day.  ``detrend`` removes an offset and a trend from each.
    """
    gaps = (figure_poles(run) - poles(julian_date(start), run.t))[:, :2] / MAS
    return detrended(run.t, gaps) if detrend else gaps


def detrended(t: Any, values: np.ndarray) -> np.ndarray:
    """Return columns less offset and trend, by least squares."""
    x = np.asarray(t, dtype=float)
    x = (x - x.mean()) / max(float(np.ptp(x)), 1.0)
    basis = np.stack([np.ones_like(x), x], axis=1)
    return values - basis @ np.linalg.lstsq(basis, values, rcond=None)[0]
