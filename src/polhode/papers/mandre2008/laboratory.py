"""The runs that the claims and figures of Mandre (2008) share.

Normalisation and drift are measured on ``TUMBLING``, a free body with the moments 1, 2 and 3,
coupled rotation and translation on the catalogue's problems off-centre-spring and charged-top.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import cos, sin
from typing import Any

import numpy as np

from polhode import problems
from polhode.body import RigidBody
from polhode.contracts import Method, wrench
from polhode.kernels.vector import multiply
from polhode.methods.rkn4 import (
    METHOD,
    entered_with_place,
    left_with_place,
    normalised,
    nystrom,
    spin,
    turning,
)
from polhode.papers.laboratory import Laboratory as Base
from polhode.papers.mandre2008 import by_hand, reference
from polhode.papers.quaternions import Array, conjugate, inverse, product
from polhode.papers.verdicts import largest, relative_change, slope
from polhode.problems.problem import Problem
from polhode.results.trajectory import Trajectory
from polhode.solvers.exact import exact_free_motion

MOMENTS = 1.0, 2.0, 3.0
TUMBLING = Problem(RigidBody(MOMENTS), omega=[1.0, 1.0, 1.0], name="tumbling")
SPAN, STEP = 100.0, 0.025
VARIANTS: Mapping[str, dict[str, Any]] = {
    "as printed, never": {"as_printed": True, "normalise_every": 0},
    "as printed, every 1000": {"as_printed": True},
    "as printed, every step": {"as_printed": True, "normalise_every": 1},
    "q⁻¹, never": {"normalise_every": 0},
    "q⁻¹, every 1000": {"normalise_every": 1000},
    "q⁻¹, every step": {},
    "q⁻¹, momentum kept": {"keep_momentum": True},
}


# ---- 7.5: RKN4 in two halves, each using the other's state at the start of the step
def _held_place(t, y, yd, body, params):
    given, x, p = params
    u, omega, m = spin(y, yd, body)
    return turning(y, yd, u, omega, m, wrench(t, y, m, x, p, body, given)[0], body)


def _held_attitude(t, y, yd, body, params):
    given, q, m = params
    return multiply(body[4], wrench(t, q, m, y, multiply(body[3], yd), body, given)[1])


def _apart(t, h, state, carry, body, params):
    q, m, x, p = state
    y, yd = entered_with_place(state, body)
    turn, turn_rate = nystrom(t, h, y[:4], yd[:4], _held_place, body, (params, x, p))
    place, speed = nystrom(t, h, y[4:], yd[4:], _held_attitude, body, (params, q, m))
    end = left_with_place((*turn, *place), (*turn_rate, *speed), body)
    return normalised(end, 0.0), carry


def frozen() -> Method:
    """The methods of sections 5 and 6 side by side, without a coupling within the step."""
    record: dict[str, Any] = {
        "name": "rkn4-apart",
        "title": "RKN4 in two halves, coupled only at the start of a step",
        "order": 1,
        "symmetric": False,
        "references": ("mandre2008",),
    }
    return Method(**record, step=METHOD.step, motion=Method(**record, step=_apart))


# ---- a torque that depends on everything
def push(t: float, q: Array, omega: Array) -> Array:
    """A top, a swing and friction, in body axes."""
    u = by_hand.rotate(inverse(q), np.array([0.0, 0.0, 1.0]))
    return np.array([1.5 * u[1] + 0.3 * cos(2 * t), -1.5 * u[0], 0.2 * sin(t)]) - 0.1 * omega


PUSHED = Problem(
    RigidBody(MOMENTS),
    attitude=[0.8, 0.36, 0.48, 0.0],
    scalar_first=True,
    omega=[0.6, 1.1, -0.4],
    position=[0.0, 0.0, 0.0],
    name="pushed",
)
PUSHED_END = 2.0

Step = Callable[[float, float, Array, Array], tuple[Array, Array]]  # (t, h, q, ω)


def angle(q: Any, p: Any) -> float:
    """Return the angle between two attitudes; quaternions of any length."""
    u = product(inverse(p), q)
    return float(2 * np.arctan2(np.linalg.norm(u[1:]), abs(u[0])))


def march(
    step: Step, t_end: float, count: int, q: Any, omega: Any, normalise: bool = True
) -> tuple[Array, Array]:
    """(q, ω) after ``count`` steps from 0 to ``t_end``."""
    h, q, omega = t_end / count, np.array(q), np.array(omega)
    for k in range(count):
        q, omega = step(k * h, h, q, omega)
        q = by_hand.normalise(q) if normalise else q
    return q, omega


def extrapolation(values: Sequence[Array], t: float, h: float) -> by_hand.Torque:
    """7.3: torques extrapolated from values at the starts of the last steps, the last at t."""
    return lambda s, q, omega: by_hand.extrapolate(values, (s - t) / h)


@dataclass(frozen=True)
class Study:
    """Errors by step, and the orders that follow."""

    steps: np.ndarray
    errors: np.ndarray  # a row for each step, a column for each quantity

    @property
    def orders(self) -> list[float]:
        return [slope(self.steps.tolist(), column.tolist()) for column in self.errors.T]


@dataclass(frozen=True)
class Coupled:
    """A problem with coupled rotation and translation, and the runs of its convergence study."""

    problem: Problem
    wrench: reference.Wrench
    t_end: float
    counts: tuple[int, ...]


def coupled() -> dict[str, Coupled]:
    box, disc = problems.off_centre_spring(), problems.charged_top()
    return {
        "spring": Coupled(box, reference.spring_wrench(box.body.mass), 1.0, (200, 400, 800)),
        "charge": Coupled(disc, reference.charge_wrench(disc.body.mass), 0.2, (400, 800, 1600)),
    }


def energy_error(run: Trajectory) -> float:
    """Return the largest relative change of the energy."""
    return largest(relative_change(run.energy))


def tumbling_exact(times: Any) -> Trajectory:
    """Return the tumbling body in closed form."""
    return exact_free_motion(TUMBLING.body, None, TUMBLING.omega, times)


class Laboratory(Base):
    """The runs; ``quick`` takes fewer steps to find orders, and shorter runs to find drifts."""

    def rkn4(self, problem: Problem, t_end: float, dt: float, **options: Any) -> Trajectory:
        """A run of RKN4 from time 0, with its options."""
        return self.run(problem, "rkn4", t_end, dt, options=options or None)

    # ---- free tumbling
    @cached_property
    def tumbling(self) -> dict[str, Trajectory]:
        """By variant of normalisation, T = 100 and h = 0.025."""
        self.progress(f"free tumbling on [0, {SPAN:g}]")
        return {
            name: self.rkn4(TUMBLING, SPAN, STEP, **options) for name, options in VARIANTS.items()
        }

    @cached_property
    def tumbling_exact(self) -> Trajectory:
        """The closed form at the same times."""
        return tumbling_exact(self.tumbling["q⁻¹, every step"].t)

    def changes(self, name: str) -> dict[str, np.ndarray]:
        """Return the errors of a variant over time: length of q, energy, momentum, attitude."""
        run = self.tumbling[name]
        size = np.linalg.norm(run.q, axis=1)
        momentum = run.to_inertial(run.angular_momentum)  # q of any length
        off = np.linalg.norm(momentum - momentum[0], axis=1)
        return {
            "length": np.abs(size - 1),
            "energy": np.abs(relative_change(run.energy)),
            "momentum": off / np.linalg.norm(momentum[0]),
            "attitude": run.frame_error(self.tumbling_exact.q) / np.sqrt(2),
        }

    def worst(self, name: str, quantity: str) -> float:
        return float(self.changes(name)[quantity].max())

    def both_worst(self, when: str, quantity: str) -> list[float]:
        """Return the largest errors as printed and with q⁻¹, if normalised at these times."""
        return [self.worst(f"{name}, {when}", quantity) for name in ("as printed", "q⁻¹")]

    # ---- rotation with a torque, by hand
    @cached_property
    def pushed_end(self) -> tuple[np.ndarray, np.ndarray]:
        """(q, ω) by the reference."""
        _, _, q, omega = reference.flight(
            PUSHED, lambda t, p, v, q, omega: (push(t, q, omega), np.zeros(3)), PUSHED_END
        )
        return q, omega

    def study(self, step: Step, counts: Sequence[int], normalise: bool = False) -> Study:
        """Return the errors in attitude and ω of a step from the page."""
        q_end, omega_end = self.pushed_end
        rows = []
        for count in counts:
            q, omega = march(step, PUSHED_END, count, PUSHED.attitude, PUSHED.omega, normalise)
            rows.append([angle(q, q_end), float(np.linalg.norm(omega - omega_end))])
        return Study(PUSHED_END / np.array(counts), np.array(rows))

    @cached_property
    def spinning(self) -> dict[str, Study]:
        """The steps of section 6, as printed and with q⁻¹."""
        self.progress("orders of section 6")
        counts = (20, 40, 80, 160) if self.quick else (20, 40, 80, 160, 320)

        def of(back: by_hand.Back) -> Step:
            return lambda t, h, q, omega: by_hand.spin_step(t, h, q, omega, push, MOMENTS, back)

        return {
            "as printed": self.study(of(conjugate), counts),
            "as printed, normalised": self.study(of(conjugate), counts, True),
            "q⁻¹": self.study(of(inverse), counts),
        }

    def extrapolation_study(self, known: int, counts: Sequence[int], sign: float = 1.0) -> Study:
        """7.3: torques from the starts of the last ``known`` steps; exact in the first two steps.

        ``sign`` is that of x = (t - t₀)/h.
        """
        values: list[Array] = []

        def step(t: float, h: float, q: Array, omega: Array) -> tuple[Array, Array]:
            if t == 0.0:
                values.clear()
            values.append(push(t, q, omega))
            seen = push if len(values) < 3 else extrapolation(values[-known:], t, sign * h)
            return by_hand.spin_step(t, h, q, omega, seen, MOMENTS, inverse)

        return self.study(step, counts, normalise=True)

    # ---- six degrees of freedom
    @cached_property
    def flights(self) -> dict[str, Study]:
        """Errors in x, v, attitude and ω of the joint method, and of its halves kept apart."""
        self.progress("orders with six degrees of freedom")
        found = {}
        for name, case in coupled().items():
            ends = reference.flight(case.problem, case.wrench, case.t_end)
            found[name] = self._flights(case, ends, "rkn4")
            if name == "spring":
                found["apart"] = self._flights(case, ends, frozen())
        return found

    def _flights(self, case: Coupled, ends: tuple[np.ndarray, ...], method: Any) -> Study:
        x, v, q, omega = ends
        rows = []
        counts = case.counts if self.quick else (*case.counts, 2 * case.counts[-1])
        for count in counts:
            dt = case.t_end / count
            run = self.run(case.problem, method, case.t_end, dt, save_every=count)
            off = run.x[-1] - x, run.v[-1] - v, run.omega[-1] - omega
            place, speed, spin = (float(np.linalg.norm(vector)) for vector in off)
            rows.append([place, speed, angle(run.q[-1], q), spin])
        return Study(case.t_end / np.array(counts), np.array(rows))

    # ---- 7.7
    @cached_property
    def kinematics(self) -> dict[str, np.ndarray]:
        """Quaternions of the tumbling body by its exact ω, in rows of steps of ``STEP``."""
        return kinematic_runs(STEP, round(SPAN / STEP))


KINEMATICS = {"Euler": by_hand.euler, "RK4": by_hand.runge_kutta, "NASA": by_hand.whitmore}


def kinematic_runs(h: float, count: int, normalise: bool = False) -> dict[str, np.ndarray]:
    """Quaternions of the tumbling body from its exact ω, by each of the methods of 7.7."""
    times = 0.5 * h * np.arange(2 * count + 1)
    rates = tumbling_exact(times).omega
    found: dict[str, np.ndarray] = {}
    for name, turn in KINEMATICS.items():
        path = [np.array(TUMBLING.attitude)]
        for k in range(count):
            q = turn(path[-1], h, rates[2 * k : 2 * k + 3])
            path.append(by_hand.normalise(q) if normalise else q)
        found[name] = np.array(path)
    return found
