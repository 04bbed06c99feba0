"""Solve with fixed steps: maps, and integrators with fixed steps."""

from typing import Any

import numpy as np

from polhode.compiler.machine import exactly
from polhode.compiler.tree import gather, spread
from polhode.contracts import OK, Status
from polhode.problems.problem import Problem
from polhode.results.trajectory import Trajectory
from polhode.solvers.adaptive_steps import (
    DeferredSteps,
    StepsTaken,
    count_attitudes,
    failure,
)
from polhode.solvers.arguments import Arguments, find_fixed_steps
from polhode.solvers.bound import Bound, bind_fixed, undescribed
from polhode.solvers.checkpoint import Stored
from polhode.solvers.fixed_steps import FIRST_CHUNK, Plan, plan, take_steps
from polhode.solvers.progress import reporter
from polhode.solvers.raised import fixed_steps_before
from polhode.solvers.solver import BodyDetails, Facts, Move, Output, Solver

ALL_STEPS = "run.sol and events need the states of all steps; take a larger dt"


def prepare_map(problem: Problem, keywords: Arguments, method: Any) -> Solver:
    """Bind a map, or an integrator with fixed steps, to a problem."""
    found, variables, dt, reason, arguments = find_fixed_steps(problem, keywords, method)
    directions = None if keywords.sensitivities is None else keywords.directions(problem)
    bound = bind_fixed(problem, found, variables, dt, keywords.compensated, None, directions)
    if bound.loops.run is None:
        bound.build()
    return Solver(bound, keywords, arguments, reason, choose_move)


def choose_move(bound: Bound, output: Output, keywords: Arguments) -> Move:
    """Choose the quickest way to make runs with these arguments."""
    return solve_map if output.progress else take_at_once(bound, output)


def take_at_once(bound: Bound, output: Output) -> Move:
    """Return what takes the steps of a run in one call of the loop, if they are not very many.

    Prepared solvers are called in loops: what stays the same is looked up once, here.
    """
    dt, width, fill, body = bound.dt, bound.width, bound.fill, bound.problem.body
    weights, offsets, run = bound.weights, bound.offsets, bound.loops.run
    plain = bound.of_states and output.watch is None
    known: tuple[Any, Any] = None, None  # tables, and the loop for them and no others

    def move(
        solver: Solver, t0: float, t1: float, state: tuple, params: tuple, stored: Stored | None
    ) -> Trajectory:
        nonlocal known
        grid = steps, h, _, ends, sides = output.plan(t0, t1, dt)
        if steps > FIRST_CHUNK or output.checkpoint is not None:
            return solve_map(solver, t0, t1, state, params, stored, grid)
        row, first, inside, given = fill(t0, state, params)
        out, tables = np.empty((len(ends), width)), params[1]
        args = row, t0, h, 0, True, ends, sides, weights, offsets, tables, out
        its, loop = known
        try:
            if tables is its:
                found = loop(*args)
            else:
                found = run(*args)
                known = tables, exactly(run, *args)
        except Exception as error:
            found = fixed_steps_before(error, run, args)
        if found is None or found[0] != OK or not plain:
            made = grid, row, (first, inside, given), out, found
            return _finish(solver, t0, t1, state, params, stored, *made)
        facts = _counts(solver, found[2], found[3], row)
        facts["body"], facts["arguments"], facts["reason"] = body, solver.arguments, solver.reason
        facts["_details"] = AllSteps(solver, out, grid.times, (t0, t1), state, params)
        return Trajectory.of(facts)

    return move


def solve_map(
    solver: Solver,
    t0: float,
    t1: float,
    state: tuple,
    params: tuple,
    stored: Stored | None,
    grid: Plan | None = None,
) -> Trajectory:
    """Take fixed steps from t0 to t1; ``stored`` is what a checkpoint holds of the run."""
    bound = solver.bound
    if grid is None:
        grid = solver.output.plan(t0, t1, bound.dt)
    row, *inside = bound.fill(t0, state, params)
    made = grid, row, tuple(inside), np.empty((len(grid.ends), bound.width))
    return _finish(solver, t0, t1, state, params, stored, *made, None)


def _finish(
    solver: Solver,
    t0: float,
    t1: float,
    state: tuple,
    params: tuple,
    stored: Stored | None,
    grid: Plan,
    row: np.ndarray,
    inside: tuple,
    out: np.ndarray,
    found: tuple | None,
) -> Trajectory:
    """Take the steps unless one call ``found`` all; make the trajectory.

    ``inside`` are the variables at the start, body and params as the loop sees them.
    """
    bound, output, body = solver.bound, solver.output, inside[1]
    if found is None:
        settings = bound.weights, bound.offsets, params[1], out
        saving = solver.save(t0, t1, state, params, stored)
        with reporter(output.progress) as report, saving as saver:
            found = take_steps(bound.loops.run, row, t0, grid, *settings, report, saver)
    times, out, facts = _facts(solver, t0, grid, found, row, body, out)
    motion = DeferredSteps(lambda: _every_step(solver, t0, t1, inside, times, out))
    rows, end = (out if bound.of_states else None), times
    if rows is None and not output.every_step:  # else on demand
        rows = bound.loops.states(times, out, body)
        if not bound.loops.continuous:  # the sign follows from all steps
            motion.taken.follow(times, rows)
    if output.watch is not None and (found := solver.find_events(motion, facts)) is not None:
        watch, stop = found
        end = output.cut(times, stop, t1 >= t0)
        rows = solver.with_jump(motion, watch, end, motion.at(end), state)
    return solver.trajectory(motion, end, rows, facts, state, params)


def _facts(
    solver: Solver,
    t0: float,
    grid: Plan,
    found: tuple,
    row: np.ndarray,
    body: tuple,
    out: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, Facts]:
    """Return (times, rows, facts) of a run, up to the last good step if it failed."""
    status, rows, steps, iterations, size, *raised = found
    bound, method, times = solver.bound, solver.bound.method, grid.times.copy()
    facts: Facts = {}
    side_steps = solver.output.side_steps
    if status != OK:
        stop = t0 + steps * grid.h
        out, times = out[:rows], times[:rows]
        side_steps = int(np.count_nonzero(grid.sides[:rows]))
        if rows == 0 or (stop - times[-1]) * grid.h > 0:  # the last good step, saved or not
            out, times = np.vstack([out, row[:, : bound.width]]), np.append(times, stop)
        good = count_attitudes(bound.loops.states, times, out, body)
        if bound.variables is not None and good == 0 and times[0] == t0:
            raise undescribed(bound.variables)
        if method.keeps_unit and good < len(times):
            out, times, stop = out[:good], times[:good], float(times[good - 1])
            steps = round((stop - t0) / grid.h)
        facts["status"] = Status(status)
        facts["message"] = failure(status, stop, steps, grid.h, size, bound.variables, *raised)
    return times, out, _counts(solver, steps, iterations, row, side_steps) | facts


def _counts(
    solver: Solver, steps: int, iterations: int, row: np.ndarray, side_steps: int | None = None
) -> Facts:
    """Return the name of the method and what the steps took; by default all side steps."""
    bound, output, method = solver.bound, solver.output, solver.bound.method
    if side_steps is None:
        side_steps = output.side_steps
    if method.evaluations is not None:
        count = method.evaluations(gather(bound.carry, iter(row[0, bound.width :])))
    else:
        torques = len(method.weights) * method.torques_per_step
        count = method.torques_at_start + iterations * method.torques_per_iteration
        count += (steps + side_steps) * torques
    return {
        "method": method.name,
        "niter": iterations,
        "nsteps": steps + (side_steps if output.t_eval is None else 0),
        "nfev": count,
    }


class AllSteps(BodyDetails):
    """Details of a run to its end; its times are copied when they are asked for."""

    __slots__ = ("_source", "_times", "planned", "span")
    _source: DeferredSteps
    _times: np.ndarray

    def __init__(self, solver, rows, planned, span, first, params):
        self.solver, self.rows, self.planned, self.span = solver, rows, planned, span
        self.first, self.params = first, params

    @property
    def times(self):
        try:
            return self._times
        except AttributeError:
            self._times = self.planned.copy()
            return self._times

    @property
    def source(self):
        try:
            return self._source
        except AttributeError:
            inside = self.first, self.solver.bound.body, self.params
            known = self.solver, *self.span, inside, self.times, self.rows
            self._source = DeferredSteps(lambda: _every_step(*known))
            return self._source


def _every_step(
    solver: Solver,
    t0: float,
    t1: float,
    inside: tuple,
    times: np.ndarray,
    out: np.ndarray,
) -> StepsTaken:
    """Return every step of a run; taken again if not all were kept."""
    bound = solver.bound
    settings = bound.weights, bound.offsets
    first, body, params = inside
    if not solver.output.every_step:
        grid = plan(t0, t1, bound.dt, remedy=ALL_STEPS, size=solver.output.size)
        row = np.array([spread((first, bound.carry, body, params[0]))])
        out = np.empty((len(grid.ends), bound.width))
        with reporter(False) as report:
            status, rows, *_ = take_steps(
                bound.loops.run, row, t0, grid, *settings, params[1], out, report
            )
        times, out = grid.times[:rows], out[:rows]
        if status != OK and bound.method.keeps_unit:
            good = count_attitudes(bound.loops.states, times, out, body)
            times, out = times[:good], out[:good]
    table = np.column_stack([times, np.zeros(len(times)), out])
    return StepsTaken(bound.loops, table, first, body, params, settings)
