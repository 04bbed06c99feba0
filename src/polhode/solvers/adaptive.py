"""Solve with adaptive steps: integrators in the variables of a formulation."""

from typing import Any

from polhode.problems.problem import Problem
from polhode.solvers.adaptive_steps import AdaptiveRun, collect_steps, run_adaptive, take_all_steps
from polhode.solvers.arguments import Arguments, breaks, find_adaptive_steps
from polhode.solvers.bound import bind_adaptive
from polhode.solvers.checkpoint import Stored
from polhode.solvers.progress import reporter
from polhode.solvers.solver import Result, Solver


def prepare_adaptive(problem: Problem, keywords: Arguments, method: Any) -> Solver:
    """Bind an adaptive integrator to a problem."""
    found = find_adaptive_steps(keywords, method)
    bound = bind_adaptive(problem, *found[:4])
    if bound.loops.run is None:
        bound.loops.packed(bound.first, bound.carry, bound.body_first, bound.params[0])
    return Solver(bound, keywords, found.arguments, found.reason, solve_adaptive)


def solve_adaptive(
    solver: Solver, t0: float, t1: float, state: tuple, params: tuple, stored: Stored | None
) -> Result:
    """Integrate from t0 to t1; ``stored`` is what a checkpoint holds of the run."""
    bound, output, breakpoints = solver.bound, solver.output, solver.keywords.breakpoints
    row, first, body = bound.fill(t0, state, params)
    numbers = row, first, body, params, bound.tolerances, bound.limits[0], bound.limits[2]
    watch, simple = output.watch, not output.progress and output.checkpoint is None
    if breakpoints is None and output.every_step and watch is None and simple:
        taken = take_all_steps(bound.loops, t0, t1, *numbers)
    else:
        run = AdaptiveRun(bound.loops, breaks(breakpoints, t0, t1), *numbers)
        if watch is not None:
            watch = watch.fresh(None if stored is None else stored.data.get("seen"))
        if watch is None and simple:
            taken = run_adaptive(run)
        else:
            saving = solver.save(t0, t1, state, params, stored)
            with reporter(output.progress) as report, saving as saver:
                if saver is not None:
                    saver.watch = watch
                look = None if watch is None else lambda c: watch.look(c.times, solver.see(c))
                taken = run_adaptive(run, report, look, saver)
    return collect_steps(solver, bound.name, taken, watch, t0, t1)
