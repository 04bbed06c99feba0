"""The reference of a comparison: the true motion at the end of a span, and its error.

A free body moves in closed form (``solvers.exact``), its centre of mass on a straight line.  With a
torque or a force, Newton's and Euler's equations are solved as they stand by an explicit method of
order 8 (``order_8``) with a fixed step and compensated sums: no exponential, no Newton iteration,
no splitting, so that it shares nothing with the methods that are compared.  The step is halved
until halving no longer reduces the change of the result, and twice more: what is left is rounding,
and the larger of the last two changes is the error.  The tests compare it with SciPy's own
integrator, with mpmath and with the closed form.

Errors of the position are relative to the distance from the origin or the radius of gyration r,
those of the velocity to the speed or to |m|/(M r), whichever is larger: neither vanishes where the
body passes the origin, or rests.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from polhode.body import RigidBody
from polhode.comparison.order_8 import order_8
from polhode.contracts import Model
from polhode.errors import InputError
from polhode.problems.problem import Problem
from polhode.results.trajectory import Trajectory
from polhode.solvers.entry import prepare
from polhode.solvers.exact import exact_free_motion

EPS = 2.0**-52
FIRST_TURN = 0.5  # radians, at most, that a step of the first attempt turns the body
MOST_STEPS = 2**24  # of an attempt
SMALL = 1e-8  # a smaller change that halving the step does not reduce by 4 is rounding
PATIENCE = 10.0  # seconds of an attempt that is the last one
CONSTANT = 1e-9  # relative change of an energy that counts as constant
ROUNDING_CHANGES = 3  # to wait for; the larger of the last two is the error


@dataclass(frozen=True)
class Reference:
    """The end of a motion, and its error.

    ``attitude_error`` is an angle in radians, ``momentum_error`` relative to the momentum.
    ``keeps_energy``: the energy is known, and the same as at the start.  ``route`` describes how
    the motion was computed.  ``place`` is None for a body that only turns.
    """

    q: tuple[float, ...]
    angular_momentum: tuple[float, ...]
    keeps_energy: bool
    attitude_error: float
    momentum_error: float
    route: str
    place: "Place | None" = None

    @property
    def error(self) -> float:
        """The attitude error; with six degrees of freedom that of the position, if larger."""
        return max(self.attitude_error, self.place.position_error if self.place else 0.0)


@dataclass(frozen=True)
class Place:
    """Position and velocity at the end of a motion, what errors are relative to, and their own."""

    position: tuple[float, ...]
    velocity: tuple[float, ...]
    position_scale: float  # m
    velocity_scale: float  # m/s
    position_error: float = 0.0
    velocity_error: float = 0.0

    def errors(self, run: Trajectory) -> tuple[float, float]:
        """The errors of position and velocity at the end of a run, relative to the scales."""
        return (
            math.dist(run.x[-1], self.position) / self.position_scale,
            math.dist(run.v[-1], self.velocity) / self.velocity_scale,
        )


def true_end(problem: Problem, t_span: Sequence[float]) -> Reference:
    """The attitude, the momentum and the place at the end of ``t_span``."""
    t0, t1 = map(float, t_span)
    if nothing_acts(problem.model):
        return _free(problem, t1 - t0)
    return _forced(problem, t0, t1)


def nothing_acts(model: Model) -> bool:
    """Whether there is neither a torque nor a force, by construction."""
    return model.is_free and not model.moves


# ---- distances
def angle(p: Sequence[float], q: Sequence[float]) -> float:
    """The angle between two attitudes: 4 arcsin(|p ∓ q| / 2), exact to rounding when small."""
    a, b = np.array(p) / math.hypot(*p), np.array(q) / math.hypot(*q)
    apart = min(float(np.linalg.norm(a - b)), float(np.linalg.norm(a + b)))
    return 4 * math.asin(min(apart / 2, 1.0))


def relative(m: Sequence[float], other: Sequence[float]) -> float:
    """|m - other| / |other|, without overflow however large m is."""
    return math.dist(m, other) / (math.hypot(*other) or 1.0)


def place_at(
    body: RigidBody, position: Sequence[float], velocity: Sequence[float], m: Sequence[float]
) -> Place:
    """The place of a body with the angular momentum m, and its scales; of points at rest, 1."""
    reach = math.sqrt(float(np.trace(body.inertia)) / (2 * body.mass))  # radius of gyration
    spin = math.hypot(*m) / (body.mass * reach) if reach else 0.0
    far = max(math.hypot(*position), reach) or 1.0
    fast = max(math.hypot(*velocity), spin) or 1.0
    return Place(tuple(map(float, position)), tuple(map(float, velocity)), far, fast)


def end_of(run: Trajectory, problem: Problem) -> Place | None:
    """Where a run ends; None for a body that only turns."""
    if not problem.moves:
        return None
    return place_at(problem.body, run.x[-1], run.v[-1], run.angular_momentum[-1])


def keeps_energy(run: Trajectory, error: float) -> bool:
    """Whether the energy is known, and the same at the end as at the start.

    ``error`` is that of the momentum.
    """
    if run.energy is None:
        return False
    change = abs(float(run.energy[-1] - run.energy[0])) / (float(run.kinetic_energy.max()) or 1.0)
    return change < 100 * error + CONSTANT


# ---- free bodies
def _free(problem: Problem, t: float) -> Reference:
    from scipy.spatial.transform import Rotation

    body, attitude = problem.body, Rotation.from_quat(problem.attitude, scalar_first=True)

    def end(omega) -> Trajectory:
        return exact_free_motion(body, attitude, omega, t)

    run = end(problem.omega)
    moments = body.principal_moments
    size = np.linalg.norm(problem.angular_momentum)
    rounding = 2 * EPS * (1 + size * abs(t) / moments[moments > 0].min())
    near = []  # the ends from starts that differ by one rounding
    for k in range(3):
        for towards in (-np.inf, np.inf):
            omega = list(problem.omega)
            omega[k] = float(np.nextafter(omega[k], towards))
            near.append(end(omega))
    q, m = run.q[0], run.angular_momentum[0]
    return Reference(
        tuple(q.tolist()),
        tuple(m.tolist()),
        True,
        float(rounding) + max(angle(other.q[0], q) for other in near),
        float(rounding) + max(relative(other.angular_momentum[0], m) for other in near),
        "closed form of the free body",
        _straight(problem, t, m.tolist()),
    )


def _straight(problem: Problem, t: float, m: list[float]) -> Place | None:
    """The place of a free body after a time t."""
    if problem.position is None or problem.velocity is None:
        return None
    x, v = problem.position, problem.velocity
    place = place_at(problem.body, [a + t * b for a, b in zip(x, v, strict=True)], v, m)
    far = math.hypot(*x) + abs(t) * math.hypot(*v)
    return replace(place, position_error=EPS * far / place.position_scale, velocity_error=EPS)


# ---- bodies with a torque or a force
def _forced(problem: Problem, t0: float, t1: float) -> Reference:
    steps, more = _first_steps(problem, t1 - t0), ROUNDING_CHANGES
    last, took = None, 0.0
    changes: list[tuple[float, ...]] = [(np.inf,) * 4]
    prepare(problem, method=order_8(), dt=1.0)((t0, t0))  # compiles
    while more and steps <= MOST_STEPS and took < PATIENCE:
        begun = time.perf_counter()
        solver = prepare(problem, method=order_8(), dt=abs(t1 - t0) / steps, save_every=steps)
        run = solver((t0, t1))
        took = time.perf_counter() - begun
        if run.success and last is not None:
            changes.append(_change(run, last, problem))
            before, now = (max(turn, *place) for turn, _, *place in changes[-2:])
            if more < ROUNDING_CHANGES or (before < SMALL and now >= before / 4):
                more -= 1
        last = run if run.success else None
        steps *= 2
    if last is None or len(changes) < 3:
        raise InputError(
            f"t_span = ({t0:g}, {t1:g}): no reference could be computed over it"
            f" ({run.message or 'too many steps'}); choose a shorter span, or give reference="
        )
    errors = (np.max(changes[-2:], axis=0) + 4 * EPS).tolist()
    place = end_of(last, problem)
    if place is not None:
        place = replace(place, position_error=errors[2], velocity_error=errors[3])
    whose = "Euler's" if place is None else "Newton's and Euler's"
    return Reference(
        tuple(last.q[-1].tolist()),
        tuple(last.angular_momentum[-1].tolist()),
        keeps_energy(last, errors[1]),
        errors[0],
        errors[1],
        f"order 8 on {whose} equations, {last.nsteps} steps, compensated",
        place,
    )


def _change(run: Trajectory, last: Trajectory, problem: Problem) -> tuple[float, ...]:
    """How far two runs end apart: in attitude, angular momentum, position and velocity."""
    turn = angle(run.q[-1], last.q[-1])
    momentum = relative(run.angular_momentum[-1], last.angular_momentum[-1])
    place = end_of(last, problem)
    return (turn, momentum, *((0.0, 0.0) if place is None else place.errors(run)))


def _first_steps(problem: Problem, span: float) -> int:
    """The number of steps of the first attempt, a power of two."""
    rate = float(np.linalg.norm(problem.omega))
    return 2 ** max(4, int(np.ceil(np.log2(1 + rate * abs(span) / FIRST_TURN))))
