"""What an ensemble is asked for: which states are kept, what is reduced, and when.

``task_of`` makes a ``Task`` of the arguments of ``solve_ensemble``; all that can be wrong with them
is told before anything runs.
"""

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from polhode.contracts import Coordinates
from polhode.ensembles.chunk import Quantities, Task
from polhode.ensembles.distributions import GROUP
from polhode.ensembles.members import Members
from polhode.ensembles.reductions import OURS, VECTORS, FirstTime, Reduction, tried
from polhode.ensembles.store import TAKEN, VARIED, reduced
from polhode.errors import InputError, MethodError
from polhode.problems.problem import Problem
from polhode.solvers.arguments import in_order, times_of
from polhode.solvers.fixed_steps import plan
from polhode.solvers.solvers import Solver

CHUNK = 64 * GROUP  # members that are on their way at the same time
LOOKS = 1001  # at events, where there are no steps that all members share
REDUCED = 101  # times of reductions, if nobody says
MOST = 2**31  # bytes of states, or of values for quantiles, that are kept in memory; members
ALL, FINAL = "all", "final"


def task_of(
    members: Members,
    arguments: Mapping[str, Any],
    solver: Any,
    t0: float,
    t1: float,
    save: Any,
    reductions: tuple[Reduction, ...],
    reduce_times: Any,
) -> Task:
    """Rows at all times at which something is saved, reduced or looked for."""
    _check_solver(solver)
    _check_quantities(reductions, members.problem)
    fixed = isinstance(solver, Solver)
    grid = plan(t0, t1, solver.dt).times if fixed and _needs_grid(save, reductions) else None
    saved = _saved_times(save, t0, t1, grid)
    reduced, looked = np.empty(0), np.empty(0)
    if any(not isinstance(r, FirstTime) for r in reductions):
        reduced = _reduced_times(reduce_times, t0, t1)
    elif reduce_times is not None:
        instead = "; FirstTime is looked for at times of its own, every=" if reductions else ""
        raise InputError(f"reduce_times= needs reduce= of all members at a time{instead}")
    if any(isinstance(r, FirstTime) for r in reductions):
        looked = _looks(reductions, t0, t1, grid, solver.dt if fixed else 0.0)
    times = np.unique(np.concatenate([saved, reduced, looked, [t0, t1]]))  # all go to the end
    times = times if t1 >= t0 else times[::-1]
    kept, folded_up, watched = (np.isin(times, some) for some in (saved, reduced, looked))
    return Task(members, dict(arguments), t0, t1, times, kept, folded_up, watched, reductions)


def _needs_grid(save: Any, reductions: tuple[Reduction, ...]) -> bool:
    stride = isinstance(save, (int, np.integer)) and not isinstance(save, bool)
    events = any(isinstance(r, FirstTime) for r in reductions)
    return stride or events or (isinstance(save, str) and save == ALL)


def _check_solver(solver: Any) -> None:
    variables = getattr(solver, "_variables", None)
    if isinstance(variables, Coordinates) or (variables is not None and not variables.continuous):
        raise MethodError(
            f"formulation {variables.name!r} is not for ensembles: take 'quaternion', or leave out"
            " formulation="
        )


def _check_quantities(reductions: tuple[Reduction, ...], problem: Problem) -> None:
    for one in reductions:
        if one.of in ("position", "velocity") and not problem.moves:
            raise InputError(
                f"reduce: members have no {one.of}: give position= to the Problem, or leave it out"
            )
        if one.of == "energy" and not problem.model.has_potential:
            raise InputError(
                f"reduce: the model {problem.model.name!r} has no potential, and members no"
                " energy: take kinetic_energy"
            )


def check_results(task: Task) -> None:
    """Try what is made of reductions: a mistake is told now, and no two results have one name."""
    taken = dict.fromkeys(TAKEN, "what is saved")
    for one in task.reductions:
        for name, found in tried(one, _trial_values(task, one)).items():
            if not isinstance(one, FirstTime):
                found = np.asarray(found)[None]
            label = reduced(one, name, found)
            for new in (name, *label.coords):
                if new in taken or new.startswith(VARIED) or "/" in new:
                    raise InputError(
                        f"reduce: {one.key} has a result of the name {new!r}, which belongs to"
                        f" {taken.get(new, 'something else in files')}: give it another name"
                    )
                taken[new] = one.key


def _trial_values(task: Task, one: Reduction) -> np.ndarray:
    """(members, components) of a quantity: where something is a user's, those of real members."""
    if type(one) in OURS and isinstance(one.of, str):
        return np.ones((1, (4 if one.of == "q" else 3) if one.of in VECTORS else 1))
    rows = task.members.rows(0, min(task.members.count, 64))
    return Quantities(task.members, rows).at(task.t0, rows.states).of(one, task.functions)


def _saved_times(save: Any, t0: float, t1: float, grid: np.ndarray | None) -> np.ndarray:
    what = (
        "save must be 'final', 'all', a whole number of steps, a list of times or None,"
        f" got {save!r}"
    )
    if save is None:
        return np.empty(0)
    if isinstance(save, str):
        if save == FINAL:
            return np.array([t1])
        if save != ALL:
            raise InputError(what)
        save = 1
    if isinstance(save, (int, np.integer)) and not isinstance(save, bool):
        if save < 1:
            raise InputError(what)
        if grid is None:
            raise MethodError(
                "members have no steps in common here: give the times to save, save=[…]"
            )
        return np.unique(np.append(grid[:: int(save)], grid[-1]))
    if np.ndim(save) == 0:
        raise InputError(what)
    return in_order(times_of(save, "save"), t0, t1, "save")


def _reduced_times(reduce_times: Any, t0: float, t1: float) -> np.ndarray:
    if reduce_times is None:
        reduce_times = REDUCED
    if isinstance(reduce_times, (int, np.integer)) and not isinstance(reduce_times, bool):
        if reduce_times < 1:
            raise InputError(f"reduce_times must be at least 1, got {reduce_times!r}")
        return np.linspace(t0, t1, int(reduce_times)) if reduce_times > 1 else np.array([t1])
    return in_order(times_of(reduce_times, "reduce_times"), t0, t1, "reduce_times")


def _looks(
    reductions: tuple[Reduction, ...], t0: float, t1: float, grid: np.ndarray | None, dt: float
) -> np.ndarray:
    """Where to look for events: at some of the common steps, or evenly where there are none."""
    found = []
    for every in {r.every for r in reductions if isinstance(r, FirstTime)}:
        if grid is None:
            count = LOOKS if every is None else 1 + int(np.ceil(abs(t1 - t0) / every - 1e-9))
            found.append(np.linspace(t0, t1, count))
            continue
        steps = 1 if every is None else int(every / dt + 1e-9)
        if steps < 1:
            raise InputError(
                f"FirstTime: every={every!r} is shorter than a step, dt={dt!r}: leave it out to"
                " look after every step, or take a smaller dt"
            )
        found.append(np.append(grid[::steps], grid[-1]))
    return np.unique(np.concatenate(found))


def check_size(task: Task, in_memory: bool) -> None:
    count, moves = task.members.count, task.members.problem.moves
    if count > MOST:
        raise InputError(
            f"{count} members are more than {MOST}, whose ends alone would fill the memory: make"
            " several ensembles of them, with other seeds"
        )
    states = int(task.saved.sum()) * count * 8 * (13 if moves else 7)
    if in_memory and states > MOST:
        raise InputError(
            f"save= would keep {states / 2**30:.1f} GB of states in memory: save fewer times,"
            " reduce= them on the way, or write them to a file with out="
        )
    values = len(task.quantiles) * int(task.reduced.sum()) * count * 8
    if values > MOST:
        raise InputError(
            f"quantiles would keep {values / 2**30:.1f} GB of values: give fewer reduce_times=, or"
            " take a histogram"
        )


def threads_of(threads: Any) -> int:
    if threads is None:
        return (
            len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else (os.cpu_count() or 1)
        )
    if isinstance(threads, bool) or not isinstance(threads, (int, np.integer)) or threads < 1:
        raise InputError(f"threads must be a positive whole number, got {threads!r}")
    return int(threads)


def chunk_size(chunk: Any) -> int:
    if chunk is None:
        return CHUNK
    if isinstance(chunk, bool) or not isinstance(chunk, (int, np.integer)) or chunk < 1:
        raise InputError(f"chunk must be a positive number of members, got {chunk!r}")
    return -(-int(chunk) // GROUP) * GROUP
