"""Solve with adaptive steps: integrators in the variables of a formulation."""

from typing import Any

from polhode.problems.problem import Problem
from polhode.results.trajectory import Trajectory
from polhode.solvers.adaptive_steps import (
    AdaptiveRun,
    StepsTaken,
    collect_steps,
    run_adaptive,
    whole_run,
)
from polhode.solvers.arguments import Arguments, breaks, find_adaptive_steps
from polhode.solvers.bound import Bound, bind_adaptive
from polhode.solvers.checkpoint import Stored
from polhode.solvers.progress import reporter
from polhode.solvers.solver import BodyDetails, Move, Output, Solver


def prepare_adaptive(problem: Problem, keywords: Arguments, method: Any) -> Solver:
    """Bind an adaptive integrator to a problem."""
    found = find_adaptive_steps(keywords, method)
    directions = None if keywords.sensitivities is None else keywords.directions(problem)
    bound = bind_adaptive(problem, *found[:4], directions)
    if bound.loops.run is None:
        bound.build()
    return Solver(bound, keywords, found.arguments, found.reason, choose_move)


def choose_move(bound: Bound, output: Output, keywords: Arguments) -> Move:
    """Choose the quickest way to make runs with these arguments."""
    if output.watch is None and not output.progress and keywords.breakpoints is None:
        return take_at_once(bound, output)
    return solve_adaptive


def take_at_once(bound: Bound, output: Output) -> Move:
    """Return what takes the steps of a run in one call of the loop, if they are not very many.

    Prepared solvers are called in loops: what stays the same is looked up once, here.
    """
    loops, limits, body = bound.loops, bound.limits, bound.problem.body
    every_step, fill = output.every_step, bound.fill
    at_once = whole_run(loops, 2 + bound.width, limits[0], limits[2])

    def move(
        solver: Solver, t0: float, t1: float, state: tuple, params: tuple, stored: Stored | None
    ) -> Trajectory:
        if output.checkpoint is not None:
            return solve_adaptive(solver, t0, t1, state, params, stored)
        row, first, inside, given = fill(t0, state, params)
        table, found = at_once(row, t0, t1, params[1])
        if table is None:
            numbers = row, first, inside, given, bound.tolerances, limits[0], limits[2]
            run = AdaptiveRun(loops, (t0, t1), *numbers)
            run.begun = found
            return collected(solver, run_adaptive(run), t0, t1, state, params)
        if not every_step:
            taken = StepsTaken(loops, table, first, inside, given, bound.tolerances)
            _, taken.rejected, taken.evaluations = found
            return collected(solver, taken, t0, t1, state, params)
        facts = {
            "method": bound.name,
            "nsteps": found[0],
            "rejected": found[1],
            "nfev": found[2],
            "body": body,
            "arguments": solver.arguments,
            "reason": solver.reason,
            "_details": AllSteps(solver, table, (first, inside, given), state, params),
        }
        return Trajectory.of(facts)

    return move


def collected(
    solver: Solver, taken: StepsTaken, t0: float, t1: float, state: tuple, params: tuple
) -> Trajectory:
    found = collect_steps(solver, solver.bound.name, taken, None, t0, t1, state)
    return solver.trajectory(*found, state, params)


class AllSteps(BodyDetails):
    """Details of a run that returns all its steps, whose rows are in a ``table``."""

    __slots__ = ("_taken", "inside", "table")
    _taken: StepsTaken
    given = rows = None

    def __init__(self, solver, table, inside, first, params):
        self.solver, self.table, self.inside = solver, table, inside
        self.first, self.params = first, params

    @property
    def source(self):
        try:
            return self._taken
        except AttributeError:
            bound = self.solver.bound
            first, body, params = self.inside
            known = first, body, params, bound.tolerances
            self._taken = StepsTaken(bound.loops, self.table, *known)
            return self._taken


def solve_adaptive(
    solver: Solver, t0: float, t1: float, state: tuple, params: tuple, stored: Stored | None
) -> Trajectory:
    """Integrate from t0 to t1; ``stored`` is what a checkpoint holds of the run."""
    bound, output, breakpoints = solver.bound, solver.output, solver.keywords.breakpoints
    row, first, body, given = bound.fill(t0, state, params)
    numbers = row, first, body, given, bound.tolerances, bound.limits[0], bound.limits[2]
    run = AdaptiveRun(bound.loops, breaks(breakpoints, t0, t1), *numbers)
    watch = output.watch
    if watch is not None:
        watch = watch.fresh(None if stored is None else stored.data.get("seen"))
    if watch is None and not output.progress and output.checkpoint is None:
        taken = run_adaptive(run)
    else:
        saving = solver.save(t0, t1, state, params, stored)
        with reporter(output.progress) as report, saving as saver:
            if saver is not None:
                saver.watch = watch
            look = None if watch is None else lambda c: watch.look(c.times, solver.see(c))
            taken = run_adaptive(run, report, look, saver)
    found = collect_steps(solver, bound.name, taken, watch, t0, t1, state)
    return solver.trajectory(*found, state, params)
