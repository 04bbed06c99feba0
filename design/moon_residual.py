"""What the departure of the Moon's model from DE421 looks like: ``python design/moon_residual.py``.

For each constant, the relative change that would reduce the residual of 50 years most, and what
would be left of it, in mas at the ends of the intervals of DE421's librations; first for the model
as it was before two of its terms were known, then for the model as it is, then with other poles of
the Earth.  Nothing of this is used to adjust a number of the model.  It takes some minutes.

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
from polhode.celestial import libration
from polhode.celestial.ephemeris import DAY, de421
from polhode.celestial.field import ARCSECOND
from polhode.kernels.quaternion import to_body

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
        problem, variables = ph.celestial.layered_moon(EPOCH, without=without)
    finally:
        source.constants = known
    asked = {"method": "extrapolation", "rtol": 1e-13, "t_eval": TIMES}
    run = ph.solve(problem, (0.0, TIMES[-1]), formulation=variables, **asked)
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


if __name__ == "__main__":
    for names in (FORMER, ()):
        show_constants(names)
    show_poles()
