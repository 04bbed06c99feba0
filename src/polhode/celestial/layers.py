"""``LayeredMoon``, the Moon with tides and a fluid core: its constants, models and terms.

The equations are in ``layered``.  A model is a set of switches; ``without`` leaves out terms, one
by one, to see what each of them does.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from polhode.celestial import layered, libration
from polhode.celestial.ephemeris import DAY, Ephemeris, julian_date, opened
from polhode.celestial.field import NEWTON, other_bodies
from polhode.contracts import inverse_moments
from polhode.errors import InputError
from polhode.kernels.vector import add, cross, scale
from polhode.results.trajectory import Trajectory
from polhode.solvers.angular_velocity import prepare_angular_velocity

MEAN_MOTION = 2.6616995e-6  # rad/s, of the Moon in its orbit
METHOD, RTOL = "extrapolation", 1e-12
ON_TIDES = "sun-on-tides", "planets-on-tides", "oblateness-on-tides"
NEWER = *ON_TIDES, "sun-on-degree-3", "mantle-friction"
MODELS: Mapping[str, dict[str, Any]] = MappingProxyType(
    {
        "de421": {"planets": True, "geodetic": False, "without": ()},
        "layered": {
            "planets": False,
            "geodetic": True,
            "without": NEWER,
        },
    }
)
TERMS: Mapping[str, str] = MappingProxyType(
    {
        "degree-3": "the Moon's figure of degree 3",
        "degree-4": "the Moon's figure of degree 4",
        "sun": "the Sun",
        "planets": "the planets",
        "oblateness": "the Earth's J2",
        "pole": "the precession of the Earth's pole",
        "tides": "the tide in the mantle",
        "spin": "what the spin adds to the mantle's moments",
        "delay": "the delay of tide and spin",
        "friction": "the friction between mantle and core",
        "mantle-friction": "k_v in units of the mantle's C (the whole Moon's instead)",
        "boundary": "the oblateness of the core's boundary",
        "sun-on-degree-3": "the Sun's torque on the figure of degrees 3 and 4",
        "sun-on-tides": "the Sun's torque on what tide and spin add",
        "planets-on-tides": "the planets' torque on it",
        "oblateness-on-tides": "the torque of the Earth's J2 on it",
    }
)


@dataclass(frozen=True)
class LayeredMoon:
    """The mantle's attitude (w, x, y, z), the momenta of mantle and core, and what acts on them.

    ``body`` is the data of the undistorted mantle; ``numbers`` and ``tables`` are those of
    ``layered.motion``.
    """

    name: str
    attitude: tuple[float, ...]
    mantle: tuple[float, ...]
    core: tuple[float, ...]
    body: tuple
    numbers: tuple
    tables: tuple
    references: ClassVar = layered.REFERENCES

    @property
    def params(self) -> tuple:
        return self.numbers, self.tables

    def prepare(self, *, method: str = METHOD, rtol: float = RTOL, **arguments: Any) -> Callable:
        """Return a function of the time span; ``arguments`` as in ``prepare_angular_velocity``."""
        solver = prepare_angular_velocity(
            layered.rates, frame="body", variables={"mantle": self.mantle, "core": self.core},
            params=(self.numbers, self.body, self.tables), method=method, rtol=rtol, **arguments,
        )  # fmt: skip
        solver.name = self.name
        return partial(solver, attitude=self.attitude, scalar_first=True)

    def solve(self, t_span: Sequence[float], **arguments: Any) -> Trajectory:
        """Integrate over a time span in seconds; ``arguments`` as in ``prepare``.

        The run has the mantle's attitude and ``omega``, and ``run.variables`` the angular momenta
        "mantle" and "core" in the mantle's axes.
        """
        return self.prepare(**arguments)(t_span)


def layered_moon(
    start: Any,
    *,
    model: str = "de421",
    degree: int = 4,
    sun: bool = True,
    planets: bool | None = None,
    oblateness: bool = True,
    geodetic: bool | None = None,
    without: Iterable[str] = (),
    ephemeris: str = "de421",
) -> LayeredMoon:
    """Return the Moon with tides and a fluid core; ``layered_moon(start).solve(t_span)`` is a run.

    DE421 has the core's state at one date, 1969-06-28; from there it is integrated.  The mantle has
    DE421's attitude and ω at the latest date at which an interval of its series ends, where they
    are exact, and is integrated from there to ``start``, up to 8 days.

    Parameters
    ----------
    start, degree, sun, oblateness, ephemeris : as for ``ph.celestial.moon``
    model : "de421", with the terms that DE421 has; or "layered", in which the Earth alone acts on
        what tides and spin add, with geodetic precession and without planets
    planets, geodetic : as for ``ph.celestial.moon``; None: as the model has them
    without : names of terms to leave out, of ``polhode.celestial.layers.TERMS``
    """
    switches = switches_of(model, planets, geodetic, without)
    switches |= {"degree": degree, "sun": sun, "oblateness": oblateness, "ephemeris": ephemeris}
    source, begin = opened(ephemeris), julian_date(start)
    epoch, exact = source.constants["JDEPOC"], source.latest_end("librations", begin)
    core = first_core(source)
    if exact != epoch:
        core = later(at_date(source, epoch, switches, core), exact - epoch).variables["core"][-1]
    found = at_date(source, exact, switches, core)
    if begin != exact:
        run = later(found, begin - exact)
        rows = run.q, run.variables["mantle"], run.variables["core"]
        q, m, mc = (tuple(row[-1].tolist()) for row in rows)
        found = replace(at_date(source, begin, switches, mc), attitude=q, mantle=m)
    return found


def later(first: LayeredMoon, days: float) -> Trajectory:
    """Return a run of some days."""
    return first.solve((0.0, days * DAY))


def switches_of(
    model: str, planets: bool | None, geodetic: bool | None, without: Iterable[str]
) -> dict[str, Any]:
    """Return the switches of a model, some of them replaced."""
    if model not in MODELS:
        raise InputError(f"model must be one of {', '.join(MODELS)}, got {model!r}")
    left_out = (without,) if isinstance(without, str) else tuple(without)
    for name in left_out:
        if name not in TERMS:
            raise InputError(f"without takes names of {', '.join(TERMS)}, got {name!r}")
    found = dict(MODELS[model])
    found["without"] = *found["without"], *left_out
    given = {"planets": planets, "geodetic": geodetic}
    return found | {name: value for name, value in given.items() if value is not None}


def first_core(ephemeris: Ephemeris) -> np.ndarray:
    """Return the momentum of the core at the epoch of DE421."""
    c = ephemeris.constants
    rates = np.array([c["OMGCX"], c["OMGCY"], c["OMGCZ"]]) / DAY
    return rates * libration.core_moments(ephemeris)


def at_date(
    ephemeris: Ephemeris, start: float, switches: Mapping[str, Any], core: Any
) -> LayeredMoon:
    """Return the Moon with the momentum (2) of DE421's attitude and ω, and this one of the core."""
    own = dict(switches)
    without = own.pop("without")
    rigid = libration.moon(start, mantle=True, **own)
    others = other_bodies(own["sun"], own["planets"])
    numbers = kept(rigid.model.numbers, others, without)
    both, tables = (numbers, layers(ephemeris, numbers, others, without)), rigid.model.tables
    m, omega, body, q = rigid.angular_momentum, rigid.omega, rigid.body.data, rigid.attitude
    n = layered.torque(0.0, q, m, body, (both, tables))
    change = scale(inverse_moments(body), add(cross(m, omega), n))
    distortion = layered.distortion_of(0.0, q, omega, change, (both, tables))
    mantle = add(m, layered.distorted(distortion, omega))
    x, y, z = map(float, core)
    return LayeredMoon(f"layered {rigid.name}", q, mantle, (x, y, z), body, both, tables)


# ---- numbers
def kept(numbers: tuple, others: tuple[str, ...], without: tuple[str, ...]) -> tuple:
    """Return the numbers of the rigid Moon, with 0 for the terms to leave out."""
    clocks, gravities, share, (*figure, c3, c4), (strength, *oblate), turn = numbers
    c3 = libration.NO_HARMONICS if "degree-3" in without else c3
    c4 = libration.NO_HARMONICS if "degree-4" in without else c4
    strength = 0.0 if "oblateness" in without else strength
    gravities = of_bodies(gravities, others, without)
    return clocks, gravities, share, (*figure, c3, c4), (strength, *oblate), turn


def of_bodies(gravities: tuple, others: tuple[str, ...], without: Iterable[str]) -> tuple:
    """Return the gravities of the bodies, with 0 for "sun" and "planets" if they are left out."""
    kinds = "earth", "pair", *("sun" if name == "sun" else "planets" for name in others)
    pairs = zip(gravities, kinds, strict=False)
    return tuple(0.0 if kind in without else value for value, kind in pairs)


def layers(
    ephemeris: Ephemeris, numbers: tuple, others: tuple[str, ...], without: tuple[str, ...]
) -> tuple:
    """Return the numbers of tides and core, and what acts on the distorted part of the moments.

    These are (tide in kg m² km³, spin, delay, mean motion), (friction, excess of the core's
    moments), 1/moments of the core, and (last series that acts on degree 3, rate of the Earth's
    pole, gravities of the bodies on the distorted part, strength of the Earth's J2 on it).
    """
    c = ephemeris.constants
    radius, core = 1e3 * c["AM"], libration.core_moments(ephemeris)
    spin = c["K2M"] * radius**5 / (3.0 * NEWTON)
    tide = -3.0 * spin * ephemeris.gravity("earth")  # r³ in km³
    whole = libration.moments(ephemeris)[2]
    friction = c["KVC"] * (whole if "mantle-friction" in without else whole - core[2]) / DAY
    on_tides = [name.removesuffix("-on-tides") for name in without if name in ON_TIDES]
    return (
        (
            0.0 if "tides" in without else tide,
            0.0 if "spin" in without else spin,
            0.0 if "delay" in without else c["TAUM"] * DAY,
            MEAN_MOTION,
        ),
        (
            0.0 if "friction" in without else friction,
            0.0 if "boundary" in without else core[2] - core[0],
        ),
        (1.0 / core[0], 1.0 / core[1], 1.0 / core[2]),
        (
            2 if "sun" in others and "sun-on-degree-3" not in without else 0,
            0.0 if "pole" in without else libration.PRECESSION,
            of_bodies(numbers[1], others, on_tides),
            0.0 if "oblateness" in on_tides else numbers[4][0],
        ),
    )
