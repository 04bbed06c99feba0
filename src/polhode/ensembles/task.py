"""The task of an ensemble: what to save, what to reduce, and when.

``make_task`` makes a ``Task`` of the arguments of ``solve_ensemble``, and checks them before
anything runs.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from polhode.contracts import Coordinates
from polhode.contracts.checks import span, whole
from polhode.contracts.company import company_of
from polhode.ensembles.distributions import GROUP
from polhode.ensembles.members import Members
from polhode.ensembles.quantities import BESIDE, QUANTITIES, Snapshot
from polhode.ensembles.reductions import REDUCTIONS, check_quantity
from polhode.ensembles.reductions.base import GrowthReduction, Reduction, ValuesReduction
from polhode.ensembles.reductions.first_time import FirstTime
from polhode.ensembles.store import RESERVED, SENSITIVITY, VARIED
from polhode.ensembles.tangents import Gauge, tangents_of
from polhode.errors import InputError, MethodError
from polhode.files.given import shortage
from polhode.problems.problem import Problem
from polhode.solvers.arguments import Arguments, times_within
from polhode.solvers.bound import FIXED, Bound
from polhode.solvers.entry import prepare_from
from polhode.solvers.events import Beside, event_values
from polhode.solvers.fixed_steps import ROW, count_steps, plan
from polhode.solvers.sensitivities import Directions, Tangents, directions_of, scales_of
from polhode.solvers.solver import Solver

CHUNK_MEMBERS = 64 * GROUP  # in memory at the same time
EVENT_TIMES = 1001  # where members have no steps in common
REDUCE_TIMES = 101  # by default
MOST_BYTES = 2**31  # of states, or of values for quantiles, in memory
MOST_MEMBERS = 2**31
TRIAL_MEMBERS = 64
ALL, FINAL = "all", "final"
FEWER_TIMES = "save a list of times, or take a larger dt"


@dataclass(frozen=True)
class Task:
    """All that a chunk needs to know, wherever it runs.

    ``arguments`` are those of ``prepare``.  ``bound`` is the record of the solver that they give in
    this process, without derivatives, and ``wide`` the one with them, if they ask for any.
    """

    members: Members
    arguments: Arguments
    t0: float
    t1: float
    times: np.ndarray  # of all rows
    at_save: np.ndarray  # whether the states of a row are saved
    at_reduce: np.ndarray  # whether a row is reduced
    at_event: np.ndarray  # whether events are looked for at a row
    reductions: tuple[Reduction, ...]
    bound: Bound | None = None
    wide: Bound | None = None

    @cached_property
    def rows_before(self) -> np.ndarray:
        """How many rows before each one are saved, and how many are reduced."""
        both = np.stack([self.at_save, self.at_reduce])
        return np.cumsum(both, axis=1) - both

    @cached_property
    def by_group(self) -> dict[str, Reduction]:
        """The reductions that groups of members are joined for, by key."""
        others = ValuesReduction, FirstTime, GrowthReduction
        return {one.key: one for one in self.reductions if not isinstance(one, others)}

    @cached_property
    def by_value(self) -> dict[str, ValuesReduction]:
        """The reductions that need all values, by key."""
        return {one.key: one for one in self.reductions if isinstance(one, ValuesReduction)}

    @cached_property
    def events(self) -> dict[str, FirstTime]:
        """The events that are looked for, by key."""
        return {one.key: one for one in self.reductions if isinstance(one, FirstTime)}

    @cached_property
    def growth(self) -> dict[str, GrowthReduction]:
        """The reductions of tangents, by key."""
        return {one.key: one for one in self.reductions if isinstance(one, GrowthReduction)}

    @cached_property
    def by_member(self) -> dict[str, Reduction]:
        """The reductions whose result is a number for each member, by key."""
        return {**self.events, **self.growth}

    # ---- derivatives
    @cached_property
    def directions(self) -> Directions | None:
        """What the motion is differentiated by; with reductions of tangents, along these."""
        if not self.growth:
            return None if self.wide is None else self.wide.directions
        (given, _), *_ = (one.measured for one in self.growth.values())
        problem = self.members.problem
        return directions_of(problem, Tangents(tangents_of(given, scales_of(problem))))

    @cached_property
    def gauge(self) -> Gauge | None:
        """How tangents are measured, if they are."""
        if not self.growth or self.directions is None:
            return None
        (_, every), *_ = (one.measured for one in self.growth.values())
        return Gauge(every, self.directions.count, 1.0 / scales_of(self.members.problem)[3:] ** 2)

    @cached_property
    def width(self) -> int:
        """The numbers of a row of a member: its state, and its derivatives if they are kept."""
        if self.directions is None or self.growth:
            return self.members.width
        return self.members.width + self.directions.outputs * self.directions.count

    @property
    def beside(self) -> Beside | None:
        """Where rows for events have the variables of the model."""
        company = self.members.company
        return None if company is None else Beside(self.members.beside, company.pattern)

    @cached_property
    def functions(self) -> dict[str, Callable]:
        """The user's functions that are reduced, (times, rows) -> values, by key."""
        return {
            one.key: event_values(one.of, f"reduce: the function of {one.key}", self.beside)
            for one in self.reductions
            if not isinstance(one.of, str)
        }

    def values(self, key: str, one: Reduction, snapshot: Snapshot) -> np.ndarray:
        """The values of the quantity of a reduction, (members, components)."""
        if isinstance(one.of, str):
            return snapshot[one.of]
        times = np.full(len(snapshot.states), snapshot.t)
        return self.functions[key](times, snapshot.event_rows)[:, None]


def bounds_of(solver: Solver) -> tuple[Bound, Bound | None]:
    """Return the records of a solver without derivatives, and with them if it has any."""
    if solver.bound.directions is None:
        return solver.bound, None
    plain = prepare_from(solver.problem, replace(solver.keywords, sensitivities=None))
    return plain.bound, solver.bound


def make_task(
    members: Members,
    arguments: Arguments,
    solver: Solver,
    t0: float,
    t1: float,
    save: Any,
    reductions: tuple[Reduction, ...],
    reduce_times: Any,
    in_memory: bool,
) -> Task:
    """A row for each time at which something is saved, reduced or looked for, checked."""
    bound, wide = bounds_of(solver)
    _check_formulation(bound)
    _check_quantities(reductions, members.problem)
    events = [one for one in reductions if isinstance(one, FirstTime)]
    fixed = bound.kind == FIXED
    grid = None
    if fixed and (events or _is_stride(save)):
        grid = plan(t0, t1, bound.dt, remedy=FEWER_TIMES).times
    saved = _save_times(save, t0, t1, grid)
    reduced, searched = np.empty(0), np.empty(0)
    if not all(isinstance(one, (FirstTime, GrowthReduction)) for one in reductions):
        reduced = _reduce_times(reduce_times, t0, t1)
    elif reduce_times is not None:
        instead = "; FirstTime has times of its own, every=" if events else ""
        raise InputError(f"reduce_times= needs reduce= of all members at one time{instead}")
    if events:
        searched = _event_times(events, t0, t1, grid, bound.dt if fixed else 0.0)
    times = np.unique(np.concatenate([saved, reduced, searched, [t0, t1]]))  # all go to the end
    times = times if t1 >= t0 else times[::-1]
    at_save, at_reduce, at_event = (np.isin(times, some) for some in (saved, reduced, searched))
    rows = times, at_save, at_reduce, at_event
    task = Task(members, arguments, t0, t1, *rows, reductions, bound, wide)
    _check_growth(task)
    _check_results(task)
    _check_size(task, in_memory)
    return task


def remake_task(
    members: Members,
    arguments: Arguments,
    solver: Solver,
    t_span: Sequence[float],
    rows: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    reductions: tuple[Reduction, ...],
    in_memory: bool,
    tried: bool,
) -> Task:
    """A task whose rows are known, from a file, checked; ``tried``: its reductions were before."""
    t0, t1 = span(t_span)
    _check_quantities(reductions, members.problem)
    bound, wide = bounds_of(solver)
    task = Task(members, arguments, t0, t1, *rows, reductions, bound, wide)
    _check_growth(task)
    _check_size(task, in_memory)
    times_within(task.times, t0, t1, "times")
    if bound.kind == FIXED:
        count_steps(t0, t1, bound.dt)
    if not tried:
        _check_results(task)
    return task


# ---- times
def _is_stride(save: Any) -> bool:
    if isinstance(save, str):
        return save == ALL
    return isinstance(save, (int, np.integer)) and not isinstance(save, bool)


def _save_times(save: Any, t0: float, t1: float, grid: np.ndarray | None) -> np.ndarray:
    wrong = InputError(
        "save must be 'final', 'all', a whole number of steps, a list of times or None,"
        f" got {save!r}"
    )
    if save is None:
        return np.empty(0)
    if isinstance(save, str) and save == FINAL:
        return np.array([t1])
    if _is_stride(save):
        stride = 1 if isinstance(save, str) else int(save)
        if stride < 1:
            raise wrong
        if grid is None:
            raise MethodError(
                "members have no steps in common here: give the times to save, save=[…]"
            )
        return np.unique(np.append(grid[::stride], grid[-1]))
    if isinstance(save, str) or np.ndim(save) == 0:
        raise wrong
    return times_within(save, t0, t1, "save")


def _reduce_times(reduce_times: Any, t0: float, t1: float) -> np.ndarray:
    if reduce_times is None:
        reduce_times = REDUCE_TIMES
    if isinstance(reduce_times, (int, np.integer)) and not isinstance(reduce_times, bool):
        if reduce_times < 1:
            raise InputError(f"reduce_times must be at least 1, got {reduce_times!r}")
        _check_times(int(reduce_times), f"reduce_times={reduce_times!r}")
        return np.linspace(t0, t1, int(reduce_times)) if reduce_times > 1 else np.array([t1])
    return times_within(reduce_times, t0, t1, "reduce_times")


def _event_times(
    events: list[FirstTime], t0: float, t1: float, grid: np.ndarray | None, dt: float
) -> np.ndarray:
    """When to look for events: at some of the common steps, or evenly where there are none."""
    found = []
    for every in {one.every for one in events}:
        if grid is None:
            count = EVENT_TIMES if every is None else 1 + int(np.ceil(abs(t1 - t0) / every - 1e-9))
            _check_times(count, f"FirstTime: every={every!r}")
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


# ---- checks
def _check_times(count: int, asked: str) -> None:
    """Raise an error if so many times do not fit into memory."""
    if short := shortage(count * ROW):
        raise InputError(f"{asked} asks for {count:.3g} times, some {short}: ask for fewer")


def _check_formulation(bound: Bound) -> None:
    variables = bound.variables
    if isinstance(variables, Coordinates) or (variables is not None and not variables.continuous):
        raise MethodError(
            f"formulation {variables.name!r} is not for ensembles: use 'quaternion', or leave out"
            " formulation="
        )


def _check_quantities(reductions: tuple[Reduction, ...], problem: Problem) -> None:
    company = None if problem.model.coupled is None else company_of(problem.model)
    shapes = {} if company is None else dict(zip(company.names, company.shapes, strict=True))
    for one in reductions:
        if isinstance(one, GrowthReduction):
            continue
        if one.of not in QUANTITIES or one.one_component:
            check_quantity(one, shapes)
        if one.of in ("position", "velocity") and not problem.moves:
            raise InputError(
                f"reduce: members have no {one.of}: give position= to the Problem, or leave it out"
            )
        if one.of == "energy" and not problem.model.has_potential:
            raise InputError(
                f"reduce: the model {problem.model.name!r} has no potential, and members no"
                " energy: use kinetic_energy"
            )


def _check_growth(task: Task) -> None:
    """Raise an error unless a run can measure tangents, the same for all reductions of them."""
    bound, several = task.bound, {one.measured for one in task.growth.values()}
    if not several or bound is None:
        return
    names = " and ".join(one.result for one in task.growth.values())
    if len(several) > 1:
        raise InputError(
            f"reduce: {names} must have the same tangents= and every=, got"
            f" {', '.join(map(str, several))}"
        )
    if task.wide is not None:
        raise InputError(
            f"reduce: {names} would scale the derivatives that sensitivities= asks for: leave out"
            " one of them"
        )
    if bound.kind != FIXED:
        raise MethodError(
            f"reduce: {names} look at tangents every few steps of a map, and method {bound.name!r}"
            " finds its steps itself: give a map and dt=, such as method='mr2'"
        )
    if bound.variables is not None and bound.variables.name != "quaternion":
        raise MethodError(
            f"reduce: {names} are not for formulation {bound.variables.name!r}: leave it out"
        )
    ((_, every),) = several
    steps, _, _ = count_steps(task.t0, task.t1, bound.dt)
    if steps < every:
        raise InputError(
            f"reduce: {names} look at tangents every {every} steps, and the span has {steps}: give"
            " a longer one, or a smaller every="
        )
    assert task.directions is not None


def _check_results(task: Task) -> None:
    """Try the reductions: mistakes show now, and no two results share a name."""
    owners = dict.fromkeys(RESERVED, "the saved states")
    for one in task.reductions:
        for name, found in one.trial(_trial_values(task, one)).items():
            for new in (name, *found.coords):
                if new in owners or new.startswith((VARIED, BESIDE, SENSITIVITY)) or "/" in new:
                    raise InputError(
                        f"reduce: {one.key} has a result named {new!r}, a name that belongs to"
                        f" {owners.get(new, 'something else in files')}: give it another name"
                    )
                owners[new] = one.key


def _trial_values(task: Task, one: Reduction) -> np.ndarray:
    """(members, components) of a quantity; those of real members where a user wrote something."""
    if isinstance(one, GrowthReduction):
        return np.empty(0)
    if REDUCTIONS.get(type(one).__name__) is type(one) and one.of in QUANTITIES:
        return np.ones((1, *(QUANTITIES[str(one.of)].shape or (1,))))
    rows = task.members.rows(0, min(task.members.count, TRIAL_MEMBERS))
    return task.values(one.key, one, Snapshot(task.members, rows, task.t0, rows.states))


def _check_size(task: Task, in_memory: bool) -> None:
    count = task.members.count
    if count > MOST_MEMBERS:
        raise InputError(
            f"{count} members are more than {MOST_MEMBERS}, whose final states alone would fill the"
            " memory: make several ensembles of them, with other seeds"
        )
    states = int(task.at_save.sum()) * count * 8 * task.width
    if in_memory and states > MOST_BYTES:
        raise InputError(
            f"save= would keep {states / 2**30:.1f} GB of states in memory: save fewer times,"
            " reduce= them during the run, or write them to a file with out="
        )
    values = len(task.by_value) * int(task.at_reduce.sum()) * count * 8
    if values > MOST_BYTES:
        raise InputError(
            f"{', '.join(task.by_value)} would keep {values / 2**30:.1f} GB of values in memory:"
            " give fewer reduce_times=, or use a histogram"
        )


def threads_of(threads: Any, client: Any = None) -> int:
    """The number of threads; by default that of processors, or one on the workers of a client."""
    if threads is None and client is not None:
        return 1
    if threads is None:
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1
    return whole(threads, "threads", 1)


def chunk_size(chunk: Any) -> int:
    """Members of a chunk, rounded up to whole groups."""
    if chunk is None:
        return CHUNK_MEMBERS
    return -(-whole(chunk, "chunk", 1) // GROUP) * GROUP
