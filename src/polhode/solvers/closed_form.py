"""Solve a free motion in closed form, for ``method="auto"``."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from polhode.errors import MethodError
from polhode.problems.problem import Problem
from polhode.results.trajectory import Trajectory
from polhode.solvers.adaptive_steps import MOST_LOOKS, FreeMotion
from polhode.solvers.arguments import AUTO, Arguments, accuracy, in_order, positive
from polhode.solvers.bound import EXACT, Bound
from polhode.solvers.checkpoint import Stored
from polhode.solvers.exact import EXACT as NAME
from polhode.solvers.output import Output
from polhode.solvers.solver import NO_STEPS, Solver

FREE_ROWS = 201  # states returned by default


def prepare_closed_form(problem: Problem, keywords: Arguments) -> Solver:
    """Make a solver for the closed form of the free motion."""
    output = Output(keywords)
    accuracy(keywords.rtol, keywords.atol if keywords.dt is not None else None)
    dt = 0.0 if keywords.dt is None else positive(keywords.dt, AUTO)
    if keywords.checkpoint is not None:
        raise MethodError(NO_STEPS)
    data = problem.state, problem.body.data, problem.model.params
    bound = Bound(EXACT, NAME, problem, *data, FREE_LOOPS, dt=dt)
    arguments = {**({} if keywords.dt is None else {"dt": dt}), **keywords.shown()}
    return Solver(bound, keywords, output, arguments, "there is no torque", solve_closed_form)


def solve_closed_form(
    solver: Solver, t0: float, t1: float, state: tuple, params: tuple, stored: Stored | None
) -> Trajectory:
    """Evaluate the closed form at the times to return."""
    bound, output = solver.bound, solver.output
    if output.t_eval is not None:
        times = in_order(output.t_eval, t0, t1)
    elif bound.dt == 0.0:
        times = np.linspace(t0, t1, FREE_ROWS)
    else:
        times = output.plan(t0, t1, bound.dt).times
    most = MOST_LOOKS if output.watch is None else math.inf
    motion, facts = FreeMotion(bound.body, state, t0, t1, most), {"method": NAME}
    if (stop := solver.find_events(motion, facts)) is not None:
        times = output.cut(times, stop, t1 >= t0)
    return solver.trajectory(motion, times, motion.at(times), state, params, facts)


def _no_potential(times, states, body, params):
    return np.zeros(len(times))


def _accelerations(times, states, body, params):
    inverse, m = np.array(body[1]), states[:, 4:7]
    return np.hstack([inverse * np.cross(m, inverse * m), np.zeros((len(times), 3))])


class FreeAlong(NamedTuple):
    """Quantities along rows of states of a free body, as ``loops.join.Along`` has them."""

    potentials: Callable = _no_potential
    accelerations: Callable = _accelerations


class FreeLoops(NamedTuple):
    """What stands in the place of compiled loops where there is no force."""

    along: FreeAlong = FreeAlong()


FREE_LOOPS = FreeLoops()
