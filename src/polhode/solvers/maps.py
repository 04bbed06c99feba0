"""Solve with fixed steps: maps, and integrators with fixed steps."""

from typing import Any

import numpy as np

from polhode.compiler.tree import like
from polhode.contracts import OK, Status
from polhode.problems.problem import Problem
from polhode.solvers.adaptive_steps import (
    DeferredSteps,
    StepsTaken,
    count_attitudes,
    failure,
)
from polhode.solvers.arguments import Arguments, find_fixed_steps
from polhode.solvers.bound import bind_fixed, undescribed
from polhode.solvers.checkpoint import Stored
from polhode.solvers.fixed_steps import FIRST_CHUNK, Plan, plan, take_steps
from polhode.solvers.progress import reporter
from polhode.solvers.raised import fixed_steps_before
from polhode.solvers.solver import Facts, Result, Solver

ALL_STEPS = "run.sol and events need the states of all steps; take a larger dt"


def prepare_map(problem: Problem, keywords: Arguments, method: Any) -> Solver:
    """Bind a map, or an integrator with fixed steps, to a problem."""
    found, variables, dt, reason, arguments = find_fixed_steps(problem, keywords, method)
    bound = bind_fixed(problem, found, variables, dt, keywords.compensated)
    if bound.loops.run is None:
        bound.loops.packed(bound.first, bound.carry, bound.body_first, bound.params[0])
    return Solver(bound, keywords, arguments, reason, solve_map)


def solve_map(
    solver: Solver, t0: float, t1: float, state: tuple, params: tuple, stored: Stored | None
) -> Result:
    """Take fixed steps from t0 to t1; ``stored`` is what a checkpoint holds of the run."""
    bound, output = solver.bound, solver.output
    grid = output.plan(t0, t1, bound.dt)
    row, _, body = bound.fill(t0, state, params)
    out = np.empty((len(grid.ends), bound.width))
    settings = bound.weights, bound.offsets, params[1], out
    found = None
    if grid.steps <= FIRST_CHUNK and not output.progress and output.checkpoint is None:
        args = row, t0, grid.h, 0, True, grid.ends, grid.sides, *settings
        try:
            found = bound.loops.run(*args)
        except Exception as error:
            found = fixed_steps_before(error, bound.loops.run, args)
    if found is None:
        saving = solver.save(t0, t1, state, params, stored)
        with reporter(output.progress) as report, saving as saver:
            found = take_steps(bound.loops.run, row, t0, grid, *settings, report, saver)
    times, out, facts = _facts(solver, t0, grid, found, row, body, out)
    motion = DeferredSteps(lambda: _every_step(solver, t0, t1, state, params, times, out))
    rows, end = (out if bound.variables is None else None), times
    if rows is None and not output.every_step:  # else on demand
        rows = bound.loops.states(times, out, body)
        if not bound.loops.continuous:  # the sign follows from all steps
            motion.taken.follow(times, rows)
    if output.watch is not None and (stop := solver.find_events(motion, facts)) is not None:
        end = output.cut(times, stop, t1 >= t0)
        rows = motion.at(end)
    return motion, end, rows, facts


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
    bound, output, method, times = solver.bound, solver.output, solver.bound.method, grid.times
    facts: Facts = {"method": method.name, "niter": iterations}
    side_steps = output.side_steps
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
    facts["nsteps"] = steps + (side_steps if output.t_eval is None else 0)
    if method.evaluations is not None:
        facts["nfev"] = method.evaluations(like(bound.carry, iter(row[0, bound.width :])))
    else:
        torques = len(method.weights) * method.torques_per_step
        facts["nfev"] = method.torques_at_start + iterations * method.torques_per_iteration
        facts["nfev"] += (steps + side_steps) * torques
    return times, out, facts


def _every_step(
    solver: Solver,
    t0: float,
    t1: float,
    state: tuple,
    params: tuple,
    times: np.ndarray,
    out: np.ndarray,
) -> StepsTaken:
    """Return every step of a run; taken again if not all were kept."""
    bound = solver.bound
    settings = bound.weights, bound.offsets
    row, first, body = bound.fill(t0, state, params)
    if not solver.output.every_step:
        grid = plan(t0, t1, bound.dt, remedy=ALL_STEPS)
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
