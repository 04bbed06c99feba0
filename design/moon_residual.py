"""What the departure of the Moon's model from DE421 looks like: ``python design/moon_residual.py``.

For each constant, the relative change that would reduce the residual of 50 years most, and what
would be left of it, in mas at the ends of the intervals of DE421's librations; first for the model
as it was before two of its terms were known, then for the model as it is.  Then other poles of the
Earth, the free librations of 40 starts, a start with the rates of the series in an interval, and a
tide raised by the Sun.  Nothing of this adjusts a number of the model.  It takes a minute.

Without the two terms one constant stands out: a friction between mantle and core smaller by 7.4e-4
would leave 0.04 of 0.18 mas, and 7e-4 is the core's share of C.  So k_v is in units of the mantle's
C.  What is left then is a free libration in longitude, started by a torque with the synodic month:
the Sun's on the Moon's figure of degree 3.
"""

import math
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

import polhode as ph
from polhode.celestial import layered, layers, libration
from polhode.celestial.ephemeris import DAY, de421, series_at
from polhode.celestial.field import ARCSECOND, direction
from polhode.celestial.layered import times_axis
from polhode.kernels.quaternion import to_body, turned
from polhode.kernels.so3 import exp1
from polhode.kernels.vector import add, add_scaled, multiply

EPOCH, TIMES = 2440400.5, np.arange(2283) * 8.0 * DAY
FORMER = "mantle-friction", "sun-on-degree-3"
STEPS = {
    "KVC": 1e-3, "COBLAT": 1e-3, "IFAC": 1e-4, "K2M": 1e-3, "TAUM": 1e-3, "LBET": 1e-7,
    "LGAM": 1e-7, "J2E": 1e-2, "GMS": 1e-6, "J3M": 1e-6, "C31M": 1e-6, "C33M": 1e-6,
}  # fmt: skip
CENTURY = 36525.0 * DAY


def residual(change: Mapping[str, float], without: tuple[str, ...] = ()) -> np.ndarray:
    """Return the residual in mas with some constants changed."""
    source, known = de421(), de421().constants
    source.constants = MappingProxyType({**known, **change})
    try:
        moon = ph.celestial.layered_moon(EPOCH, without=without)
    finally:
        source.constants = known
    run = moon.solve((0.0, TIMES[-1]), rtol=1e-13, t_eval=TIMES)
    return 1e3 * ph.celestial.moon_residuals(run, EPOCH)


def rms(gaps: np.ndarray) -> float:
    return float(np.sqrt((gaps**2).sum(axis=1).mean()))


def show_constants(without: tuple[str, ...]) -> None:
    base, known = residual({}, without), de421().constants
    sys.stdout.write(f"without {', '.join(without) or 'nothing'}: {rms(base):.4f} mas\n")
    for name, step in STEPS.items():
        slope = (residual({name: known[name] * (1.0 + step)}, without) - base) / step
        best = -(slope * base).sum() / (slope * slope).sum()
        left = rms(base + best * slope)
        sys.stdout.write(f"  {name:7} {best:+.1e} would leave {left:.4f}\n")


def pole_with(nutation: float, bend: float) -> Callable:
    """Return the Earth's pole with the nutation of 18.6 years, and with the bend of its path."""

    def pole(t, q, begun, rate):
        centuries = (begun + t) / CENTURY
        node = 2.1824392 - 33.7570446 * centuries
        x = rate * (begun + t) - nutation * 6.844 * ARCSECOND * math.sin(node)
        y = (nutation * 9.205 * math.cos(node) - bend * 22.4 * centuries**2) * ARCSECOND
        return to_body(q, (x, y, 1.0))

    return pole


def show_poles() -> None:
    before = libration.pole
    for name, pole in {
        "bent path of the pole": pole_with(0.0, 1.0),
        "and nutation of 18.6 years": pole_with(1.0, 1.0),
    }.items():
        libration.pole = pole
        sys.stdout.write(f"{name}: {rms(residual({})):.4f} mas\n")
    libration.pole = before


def show_starts(without: tuple[str, ...]) -> None:
    """Fit the free libration of 1058.3 days of 40 starts, and a period to its sine."""
    times, sines = np.arange(390) * 8.0 * DAY, []
    angle = 2.0 * np.pi * times / (1058.3 * DAY)
    rows = np.stack([np.ones_like(times), np.cos(angle), np.sin(angle)], axis=1)
    starts = 8.0 * np.arange(1, 41)
    for days in starts:
        moon = ph.celestial.layered_moon(EPOCH + days, without=without)
        run = moon.solve((0.0, times[-1]), rtol=1e-13, t_eval=times)
        gaps = 1e3 * ph.celestial.moon_residuals(run, EPOCH + days)[:, 2]
        sines.append(np.linalg.lstsq(rows, gaps, rcond=None)[0][2])
    found = []
    for period in np.linspace(20.0, 40.0, 2001):
        angle = 2.0 * np.pi * starts / period
        terms = np.stack([np.ones_like(starts), np.cos(angle), np.sin(angle)], axis=1)
        left = sines - terms @ np.linalg.lstsq(terms, np.array(sines), rcond=None)[0]
        found.append((float(left.std()), float(period)))
    left, period = min(found)
    sys.stdout.write(
        f"without {', '.join(without) or 'nothing'}: free librations of {np.std(sines):.4f} mas;"
        f" less what depends on the start with {period:.1f} days, {left:.4f}\n"
    )


def show_rates() -> None:
    """Start a day after the epoch with the rates of the series."""
    begin, switches = EPOCH + 1.0, layers.switches_of("de421", None, None, ())
    switches |= {"degree": 4, "sun": True, "oblateness": True, "ephemeris": "de421"}
    core, times = ph.celestial.layered_moon(begin).core, TIMES[1:] - DAY
    moon = layers.at_date(de421(), begin, switches, core)
    run = moon.solve((0.0, times[-1]), rtol=1e-13, t_eval=times)
    gaps = 1e3 * ph.celestial.moon_residuals(run, begin)
    sys.stdout.write(f"started with rates inside an interval: {rms(gaps):.4f} mas\n")


def show_tide_of_the_sun() -> None:
    """Let the Sun raise a tide in the mantle, too, which DE421 does not have."""
    earth_only, plain = layered.distortion_of, layered.distorted
    ratio = de421().gravity("sun") / de421().gravity("earth")

    def of_both(t, q, omega, change, params):
        (numbers, layers), tables = params
        clocks, share, bulge, delay = numbers[0], numbers[2], layers[0][0], layers[0][2]
        moon = series_at(t - delay, clocks[0], tables[0])
        pair = series_at(t - delay, clocks[1], tables[1])
        sun = series_at(t - delay, clocks[2], tables[2])
        s = add_scaled(add_scaled(sun, -1.0, pair), -share, moon)
        u, r = direction(q, s)
        c1, v = exp1(multiply(delay, omega))
        turned_u = turned(c1, v, u)
        return earth_only(t, q, omega, change, params), ratio * bulge / (r * r * r), turned_u

    def both(distortion, v):
        first, f, u = distortion
        return add(plain(first, v), times_axis(f, u, v))

    layered.distortion_of, layered.distorted = of_both, both
    sys.stdout.write(f"with a tide raised by the Sun: {rms(residual({})):.4f} mas\n")
    layered.distortion_of, layered.distorted = earth_only, plain


if __name__ == "__main__":
    for names in (FORMER, ()):
        show_constants(names)
    show_poles()
    show_starts(FORMER[1:])
    show_starts(())
    show_rates()
    show_tide_of_the_sun()
