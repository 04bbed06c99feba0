"""The field of the other bodies of DE421, which turns the Moon and the Earth.

A mass μ/G in the direction u at the distance r turns a figure of degree 2 by T = 3 μ/r³ u × I u.
In the Sun's field the local inertial axes turn by the geodetic precession Ω, 19.2 mas a year about
the pole of the ecliptic:  T = Ω × m.
"""

from collections.abc import Callable, Mapping
from math import cos, pi, sin, sqrt
from typing import Any

import numpy as np

from polhode.body import RigidBody
from polhode.celestial.ephemeris import DAY, PLANETS, Ephemeris, calendar
from polhode.compiler.machine import fma
from polhode.contracts import Model
from polhode.kernels.quaternion import to_body
from polhode.kernels.vector import dot, multiply, scale
from polhode.problems.problem import Problem

NEWTON = 6.67430e-11  # m³/(kg s²), CODATA 2018; it only scales moments and torques alike
ARCSECOND = pi / 648000.0
GEODETIC = 0.01919 * ARCSECOND / (365.25 * DAY)  # rad/s
OBLIQUITY = 84381.406 * ARCSECOND  # of the ecliptic of J2000
NO_GRADIENT = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
Moments = tuple[float, float, float]


# ---- in compiled code
def turned_by_moments(differences, u):
    """Return u × I u, from (C - B, A - C, B - A)."""
    return scale(differences, (u[1] * u[2], u[2] * u[0], u[0] * u[1]))


def direction(q, s):
    """Return (u, r): the unit vector along s in body axes, and the length of s."""
    r = sqrt(dot(s, s))
    return to_body(q, multiply(1.0 / r, s)), r


def with_product(gradient, f, u, v):
    """Return a symmetric G, as (xx, yy, zz, yz, zx, xy), and f (u vᵀ + v uᵀ)/2."""
    xx, yy, zz, yz, zx, xy = gradient
    half = 0.5 * f
    return (
        fma(f * u[0], v[0], xx),
        fma(f * u[1], v[1], yy),
        fma(f * u[2], v[2], zz),
        fma(half, fma(u[1], v[2], u[2] * v[1]), yz),
        fma(half, fma(u[2], v[0], u[0] * v[2]), zx),
        fma(half, fma(u[0], v[1], u[1] * v[0]), xy),
    )


# ---- numbers
def differences(i: Moments) -> Moments:
    """Return (C - B, A - C, B - A)."""
    return i[2] - i[1], i[0] - i[2], i[1] - i[0]


def mass(ephemeris: Ephemeris, name: str) -> float:
    """Return the mass of the Moon or the Earth in kg."""
    return ephemeris.gravity(name) * 1e9 / NEWTON


def other_bodies(sun: bool, planets: bool) -> tuple[str, ...]:
    """Return the bodies beside Moon and Earth that act."""
    return (("sun",) if sun else ()) + (PLANETS if planets else ())


def model(
    name: str,
    torque: Callable,
    ephemeris: Ephemeris,
    start: float,
    central: str,
    others: tuple[str, ...],
    figure: Mapping[str, Any],
    geodetic: bool,
    references: tuple[str, ...],
) -> Model:
    """Make a model of the torques of ``central`` (Moon or Earth) and ``others`` on a ``figure``."""
    names = ("moon", "earthmoon", *others) if others else ("moon",)
    pole = 0.0, -sin(OBLIQUITY), cos(OBLIQUITY)
    return Model(
        name=name,
        torque=torque,
        potential=None,
        names=("clocks", "gravities", "share", *figure, "geodetic"),
        numbers=(
            tuple(ephemeris.clock(name, start) for name in names),
            (ephemeris.gravity(central), 0.0, *map(ephemeris.gravity, others))[: len(names)],
            ephemeris.earth_share,
            *figure.values(),
            multiply(GEODETIC if geodetic else 0.0, pole),
        ),
        tables=tuple(map(ephemeris.table, names)),
        depends_on_omega=geodetic,
        references=references,
    )


def problem(
    ephemeris: Ephemeris, start: float, inertia: Any, model: Model, state: tuple[Any, np.ndarray]
) -> Problem:
    """Return the problem of a model from a date on; the state is (attitude, ω in body axes)."""
    attitude, omega = state
    return Problem(
        RigidBody(np.array(inertia), mass=mass(ephemeris, model.name)),
        model=model,
        attitude=attitude,
        omega=omega,
        name=f"{model.name} from {calendar(start)}",
    )
