"""The four problems: their equations as a user writes them, their starts, and their references.

The state is the attitude as a quaternion (w, x, y, z), body to inertial, and ω in body axes:

    q' = q ω/2,    I ω' = Iω × ω + T                                                    (1)

In the last problem ω is given in inertial axes, and the state is the attitude alone.  The functions
are plain Python: Numba compiles them for SciPy and REBOUND, and with other sines and cosines they
are the equations of heyoka and JAX.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.bench.engines import tumbling
from polhode.bench.time_to_accuracy import heyoka, highorder, kinematics
from polhode.compiler.machine import compiled
from polhode.compiler.tree import bind
from polhode.kernels.trig import ELEMENTARY
from polhode.problems.given_motions import binary_omega

FREE, TOP, SATELLITE, TURNING = "free body", "heavy top", "satellite", "given ω"


# ---- equations
def turning(q, omega):
    """q' = q ω/2."""
    w, x, y, z = q
    a, b, c = omega
    return (
        -0.5 * (x * a + y * b + z * c),
        0.5 * (w * a + y * c - z * b),
        0.5 * (w * b + z * a - x * c),
        0.5 * (w * c + x * b - y * a),
    )


def slope_of_free(t, state):
    i1, i2, i3 = tumbling.INERTIA
    w, x, y, z, a, b, c = state
    rates = (i2 - i3) / i1 * b * c, (i3 - i1) / i2 * c * a, (i1 - i2) / i3 * a * b
    return turning((w, x, y, z), (a, b, c)) + rates


HEAVY = highorder.TOPS["2"]
MOMENTS, WEIGHT = HEAVY.inertia, HEAVY.weight


def slope_of_top(t, state):
    i1, i2, i3 = MOMENTS
    c1, c2, c3 = WEIGHT
    w, x, y, z, a, b, c = state
    g1, g2, g3 = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w + z * z - x * x - y * y
    rates = (
        ((i2 - i3) * b * c + c3 * g2 - c2 * g3) / i1,
        ((i3 - i1) * c * a + c1 * g3 - c3 * g1) / i2,
        ((i1 - i2) * a * b + c2 * g1 - c1 * g2) / i3,
    )
    return turning((w, x, y, z), (a, b, c)) + rates


INERTIA = 60.0, 90.0, 130.0  # kg m², of the satellite
MU, RADIUS = 3.986004415e14, 7e6  # m³/s², m
RATE = math.sqrt(MU / (RADIUS * RADIUS * RADIUS))


def to_the_earth(w, x, y, z, c, s):
    """The direction (c, s, 0) in body axes."""
    return (
        c * (1.0 - 2.0 * (y * y + z * z)) + s * 2.0 * (x * y + w * z),
        c * 2.0 * (x * y - w * z) + s * (1.0 - 2.0 * (x * x + z * z)),
        c * 2.0 * (x * z + w * y) + s * 2.0 * (y * z - w * x),
    )


def gradient(u, omega):
    """ω' by the gravity gradient, 3 n² u × I u, and by the spin itself."""
    i1, i2, i3 = INERTIA
    (u1, u2, u3), (a, b, c), f = u, omega, 3.0 * RATE * RATE
    return (
        (i3 - i2) / i1 * (f * (u2 * u3) - b * c),
        (i1 - i3) / i2 * (f * (u3 * u1) - c * a),
        (i2 - i1) / i3 * (f * (u1 * u2) - a * b),
    )


def slope_of_satellite(t, state):
    w, x, y, z, a, b, c = state
    u = to_the_earth(w, x, y, z, math.cos(RATE * t), math.sin(RATE * t))
    return turning((w, x, y, z), (a, b, c)) + gradient(u, (a, b, c))


in_inertial_axes = kinematics.turned
BINARY = kinematics.CASES["binary"]


def slope_of_turning(t, state):
    return in_inertial_axes(state, binary_omega(t))


# ---- the problems
@dataclass(frozen=True)
class Case:
    """A problem: what it is, its equations, its start and its end."""

    name: str
    text: str
    slope: Callable
    start: tuple[float, ...]
    end: float
    problem: ph.Problem | None = None  # None: ω is given

    def equations(self) -> list:
        """The equations for heyoka."""
        names = ("w", "x", "y", "z", "a", "b", "c")[: len(self.start)]
        time = heyoka.peer("heyoka").time
        state = heyoka.peer("heyoka").make_vars(*names)
        slope = bind(self.slope, heyoka.functions())
        return list(zip(state, slope(time, tuple(state)), strict=True))

    def attitude_after(self, part: int) -> np.ndarray:
        """Return the attitude at the end, or after a part of the given motion."""
        return self.attitude if part == 1 else BINARY.exact(self.end / part)

    @cached_property
    def attitude(self) -> np.ndarray:
        """The attitude at the end."""
        if self.name == FREE:
            return tumbling.Truth().attitude(np.array([self.end]))[0]
        if self.name == TOP:
            return HEAVY.extended()[0]
        if self.name == TURNING:
            return BINARY.exact(self.end)
        return heyoka.extended(self.equations(), np.array(self.start), self.end)[:4]

    @cached_property
    def compiled(self) -> Callable:
        """The slope as a function of t and an array, compiled by Numba."""
        import numba

        slope, size = compiled(bind(self.slope, ELEMENTARY)), len(self.start)
        if size == 4:
            return numba.njit(lambda t, y: np.array(slope(t, (y[0], y[1], y[2], y[3]))))
        return numba.njit(
            lambda t, y: np.array(slope(t, (y[0], y[1], y[2], y[3], y[4], y[5], y[6])))
        )


def _of(name: str, text: str, slope: Callable, end: float, problem: ph.Problem) -> Case:
    start = (*problem.attitude, *problem.omega)
    return Case(name, text, slope, tuple(map(float, start)), end, problem)


@cache
def cases() -> dict[str, Case]:
    """The four problems by name."""
    gravity = ph.models.gravity_gradient(MU, RADIUS, direction="orbit")
    attitude: Any = Rotation.from_rotvec((0.3, -0.4, 0.2))
    satellite = ph.Problem(
        ph.RigidBody(INERTIA), gravity, attitude=attitude, omega=(1.5e-3, -2e-3, 4e-3)
    )
    free, top = "a free body, I = (1, 2, 3), 100 s", f"a heavy asymmetric top, {HEAVY.end:g} s"
    orbit = "a satellite in the gravity gradient, one orbit"
    given = "attitude from a given ω(t), a precessing binary"
    found = (
        _of(FREE, free, slope_of_free, tumbling.END, tumbling.PROBLEM),
        _of(TOP, top, slope_of_top, HEAVY.end, HEAVY.problem),
        _of(SATELLITE, orbit, slope_of_satellite, 6000.0, satellite),
        Case(TURNING, given, slope_of_turning, BINARY.start, BINARY.end),
    )
    return {case.name: case for case in found}


# ---- runs
@dataclass(frozen=True, eq=False)
class Run:
    """A run to the end: ``call`` is timed, ``attitude`` reads the end off what it returns."""

    peer: str
    form: str  # a method, or a form of the equations
    setting: str
    call: Callable[[], Any]
    attitude: Callable[[Any], Any]
    reset: Callable[[], None] | None = None  # before a call, not timed
    part: int = 1  # it goes over this part of the motion; its time is multiplied


def decades(first: float, last: float, quick: bool) -> list[float]:
    """Tolerances, two in a decade; fewer in a quick run."""
    return [float(x) for x in 10.0 ** -np.arange(first, last + 0.1, 1.5 if quick else 0.5)]


def doubled(first: int, last: int, quick: bool) -> list[int]:
    """Numbers of steps: 100 times powers of two."""
    return [100 * 2**k for k in range(first, last + 1, 2 if quick else 1)]
