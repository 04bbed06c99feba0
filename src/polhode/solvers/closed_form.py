"""Solve a free motion in closed form, for ``method="auto"``."""

import math
from functools import cached_property
from types import SimpleNamespace

import numpy as np

from polhode.contracts import Status, angular_velocity, inverse_mass, inverse_moments
from polhode.errors import InputError, MethodError
from polhode.files.given import shortage
from polhode.kernels.trig import FARTHEST
from polhode.problems.problem import Problem
from polhode.results.trajectory import Trajectory
from polhode.solvers.adaptive_steps import check_inside, turn_towards
from polhode.solvers.arguments import AUTO, Arguments, accuracy, in_order, positive
from polhode.solvers.bound import EXACT, Bound
from polhode.solvers.checkpoint import Stored
from polhode.solvers.exact import EXACT as NAME
from polhode.solvers.exact import LOST, free_rows, rows_with_tangents, turned_at_most
from polhode.solvers.fixed_steps import ROW
from polhode.solvers.solver import NO_STEPS, Facts, Solver

FEWEST, MOST = 201, 20_001  # states returned by default
TURN = 0.1  # radians between two of them
LOOK = 0.5  # radians between two looks at the sign of the attitude
MOST_LOOKS = 1_000_000  # unless there are events


def prepare_closed_form(problem: Problem, keywords: Arguments) -> Solver:
    """Make a solver for the closed form of the free motion."""
    accuracy(keywords.rtol, keywords.atol if keywords.dt is not None else None)
    dt = 0.0 if keywords.dt is None else positive(keywords.dt, AUTO)
    if keywords.checkpoint is not None:
        raise MethodError(NO_STEPS)
    data = problem.state, problem.body.data, problem.model.params
    directions = keywords.directions(problem)
    bound = Bound(EXACT, NAME, problem, *data, FREE_LOOPS, dt=dt, directions=directions)
    arguments = {**({} if keywords.dt is None else {"dt": dt}), **keywords.shown()}
    return Solver(bound, keywords, arguments, "there is no torque", lambda *_: solve_closed_form)


def solve_closed_form(
    solver: Solver, t0: float, t1: float, state: tuple, params: tuple, stored: Stored | None
) -> Trajectory:
    """Evaluate the closed form at the times to return."""
    bound, output = solver.bound, solver.output
    if output.t_eval is not None:
        times = in_order(output.t_eval, t0, t1)
    elif bound.dt == 0.0:
        times = np.linspace(t0, t1, _count(bound.body, state[1], abs(t1 - t0)))
    else:
        times = output.plan(t0, t1, bound.dt).times.copy()
    motion = FreeMotion(bound, state, t0, t1, events=output.watch is not None)
    facts = Facts(method=NAME)
    found = solver.find_events(motion, facts)
    if found is not None:
        times = output.cut(times, found[1], t1 >= t0)
    turned = turned_at_most(bound.body, state[1], times - t0)
    if not (near := turned < FARTHEST).all():
        facts["status"] = Status.NOT_FINITE
        facts["message"] = f"stopped before the body turns by {turned.max():.3g} rad: {LOST}"
        times = times[: np.argmin(near)] if near[0] else np.array([t0])
    rows = motion.at(times)
    if found is not None:
        rows = solver.with_jump(motion, found[0], times, rows, state)
    return solver.trajectory(motion, times, rows, facts, state, params)


def _count(body: tuple, m: tuple, length: float) -> int:
    """Return how many states show the motion."""
    turns = float(turned_at_most(body, m, np.array(length))) / TURN
    return 1 + math.ceil(min(max(turns, FEWEST - 1), MOST - 1))


class FreeMotion:
    """The closed form of a free motion; ``times`` are close enough to find events between them.

    The sign of the attitude is continuous along the motion.  Where that would take more than
    ``MOST_LOOKS`` and there are no ``events``, it is continuous from one of the requested times to
    the next.  A body with a position moves on a straight line.
    """

    def __init__(self, bound: Bound, state: tuple, t0: float, t1: float, events: bool):
        self.body, self.directions, self.state, self.t0 = bound.body, bound.directions, state, t0
        turned = abs(t1 - t0) * math.hypot(*angular_velocity(state[1], bound.body))
        if events and (short := shortage(turned / LOOK * ROW)):
            raise InputError(
                f"the body turns by {turned:.3g} rad over t_span, too far to find events: looking"
                f" every {LOOK} rad takes {short}; take a shorter t_span"
            )
        self.followed = turned / LOOK <= (math.inf if events else MOST_LOOKS)
        self.times = np.linspace(t0, t1, 2 + (math.ceil(turned / LOOK) if self.followed else 0))

    @cached_property
    def states(self) -> np.ndarray:
        return self._rows(self.times)

    def at(self, times: np.ndarray) -> np.ndarray:
        check_inside(times, self.times)
        rows = self._rows(times)
        if self.directions is not None:
            wide = rows_with_tangents(self.directions, self.body, self.state, times - self.t0)
            rows = np.hstack([rows, wide[:, rows.shape[1] :]])
        if self.followed:
            shares = (times - self.t0) / (self.times[1] - self.times[0] or 1.0)
            places = np.rint(shares).astype(np.int64).clip(0, len(self.times) - 1)
            turn_towards(self.states[places, :4], rows)
        return rows

    def _rows(self, times: np.ndarray) -> np.ndarray:
        passed = times - self.t0
        rows = free_rows(self.body, self.state[:2], passed)
        if len(self.state) == 2:
            return rows
        x, p = map(np.array, self.state[2:])
        line = x + passed[:, None] * (inverse_mass(self.body) * p)
        return np.hstack([rows, line, np.broadcast_to(p, line.shape)])


def _accelerations(times, states, body, params):
    inverse, m = np.array(inverse_moments(body)), states[:, 4:7]
    return np.hstack([inverse * np.cross(m, inverse * m), np.zeros((len(times), 3))])


# what stands in the place of compiled loops where there is no force
FREE_LOOPS = SimpleNamespace(
    along=SimpleNamespace(
        potentials=lambda times, *_: np.zeros(len(times)), accelerations=_accelerations
    )
)
