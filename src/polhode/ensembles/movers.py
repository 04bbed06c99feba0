"""Movers: the solver of one body, applied to blocks of many.

A mover starts some members (``Rows``), takes them from row to row of its times, and returns their
states there.  It works on groups: members that share machine code.

The position of members along the run is a number: steps of a map, the fraction of the span, or rows
of the closed form.  ``position(row)`` is that of a row, ``next_pause(done, every)`` where to pause
for a checkpoint every ``every`` steps, ``SHORTEST`` the shortest way between two pauses.  Results
do not depend on pauses.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import floor, inf
from typing import Any, NamedTuple

import numpy as np

from polhode import loops
from polhode.compiler.machine import CompiledOrPlain, put, take
from polhode.compiler.tree import flat, like, spread
from polhode.contracts import OK, start
from polhode.contracts.company import company_of
from polhode.ensembles.members import Rows
from polhode.formulations.equations import equations_of
from polhode.loops import part, whole_step
from polhode.loops.join import BoundMethod, bind_method, variant
from polhode.loops.lanes import fixed
from polhode.loops.lanes.blocks import fill, in_threads, unpack
from polhode.solvers.bound import Bound
from polhode.solvers.fixed_steps import plan


class Reached(NamedTuple):
    """How far members came, one entry each."""

    status: np.ndarray
    t: np.ndarray  # of the last good state
    nsteps: np.ndarray
    niter: np.ndarray  # Newton iterations, or rejected trial steps


@dataclass
class Group:
    """Members that share machine code: their places in the chunk, and their blocks of numbers.

    ``rows`` are all members of the chunk, where a mover needs to know how they started.
    """

    places: np.ndarray
    blocks: np.ndarray
    code: Any
    rows: Rows | None = None


def in_order_of_chunk(groups: Sequence[Group], tables: Sequence[np.ndarray]) -> np.ndarray:
    """One table with its rows in the order of the chunk, from one table for each group."""
    out = np.empty((sum(len(group.places) for group in groups), tables[0].shape[1]))
    for group, table in zip(groups, tables, strict=True):
        out[group.places] = table
    return out


def enter_variables(bound: Bound, t0: float, rows: Rows) -> np.ndarray:
    """What the loops integrate, at the start: states, or the variables of a formulation."""
    variables, problem = bound.variables, bound.problem
    if variables is None or variables.name == "quaternion":
        return rows.states.copy()
    company = None if problem.model.coupled is None else company_of(problem.model)
    enter = equations_of(variables, problem.moves, company).enter
    states = (like(bound.state, iter(row)) for row in rows.states.tolist())
    return np.array([flat(enter(t0, state, bound.body)) for state in states])


# ---- fixed steps
class Code(NamedTuple):
    """The loops of members with one symmetry; ``places``: the first slots of state, carry, body."""

    start: Callable
    advance: Callable
    slots: tuple
    places: tuple[int, int, int]
    loops: BoundMethod


@lru_cache(64)
def lane_loops(parts: BoundMethod) -> tuple[Callable, Callable]:
    bound = parts.method, parts.model, parts.aligned
    return fixed.build(fixed.start_lanes, *bound), fixed.build(fixed.advance_lanes, *bound)


class FixedMover:
    """Maps, and integrators with fixed steps; ``bound`` is the solver of a single member."""

    SHORTEST = 16.0
    _stride = 1  # slots of a number

    def __init__(
        self, bound: Bound, aligned: bool, threads: int, t0: float, t1: float, times: np.ndarray
    ):
        self.bound, self.aligned, self.threads, self.t0 = bound, aligned, threads, t0
        self.tables = bound.params[1]
        self.plan = plan(t0, t1, bound.dt, times)
        axis = bound.problem.body.symmetry_axis
        self._differs = bound.method.exact_when_free and bound.method.step is not None
        self._own_axis = -1 if axis is None or not self._differs else axis
        self._codes: dict[int, Code] = {}

    @property
    def has_lanes(self) -> bool:
        """Whether members can move side by side: all that a step keeps are numbers."""
        return all(isinstance(x, float) for x in spread(self.code(self._own_axis).slots))

    def code(self, axis: int) -> Code:
        """The code of members that are symmetric about ``axis``, -1 if about none."""
        if axis not in self._codes:
            self._codes[axis] = self._code(axis)
        return self._codes[axis]

    def _enter_own(self) -> tuple[tuple, tuple]:
        """(variables, body) of the problem itself: the pattern of all members."""
        bound = self.bound
        if bound.variables is None:
            return bound.state, bound.body
        return bound.enter(0.0, bound.state)

    def _code(self, axis: int) -> Code:
        bound, problem = self.bound, self.bound.problem
        first, body = self._enter_own()
        if axis == self._own_axis and self.aligned == problem.body.is_aligned:
            parts, carry = bound.loops, bound.carry
        else:
            method = variant(bound.method, None if axis < 0 else axis, bound.compensated)
            parts = bind_method(method, problem.model, self.aligned, problem.moves)
            carry = parts.start(0.0, bound.dt, first, body, bound.params)
        slots = fixed.slots_of(parts.method, first, carry, body, bound.params)
        return Code(*lane_loops(parts), slots, fixed.places(slots), parts)

    def _by_code(self, rows: Rows) -> Iterator[tuple[np.ndarray, Code]]:
        """(places, code) of the members that share machine code."""
        axes = rows.axes if self._differs else np.full(len(rows.states), -1)
        for axis in np.unique(axes).tolist():
            yield np.flatnonzero(axes == axis), self.code(axis)

    def start(self, rows: Rows) -> list[Group]:
        variables, groups = enter_variables(self.bound, self.t0, rows), []
        constants = np.hstack([rows.bodies, rows.numbers])
        for places, code in self._by_code(rows):
            state, carry, body = code.places
            slots = np.array(flat(code.slots))
            slots[:state] = 0.0
            own = (slice(state, carry), variables[places]), (slice(body, None), constants[places])
            group = Group(places, fill(slots, own), code)
            settings = self.t0, self.plan.h, self.bound.weights, self.tables, code.slots
            code.start(group.blocks, *settings)
            self._move(code, group.blocks[:0], self.plan.h, 0, 0)  # compile before threads start
            groups.append(group)
        return groups

    def _slots(self, group: Group, blocks: np.ndarray, first: int, last: int) -> np.ndarray:
        """Slots of the members of a group, one row each."""
        return unpack(blocks, len(group.places), first, last).T

    def advance(self, groups: Sequence[Group], done: float, row: int, limit: float = inf) -> float:
        """Go from the step ``done`` to the last one before row ``row``, or only to ``limit``."""
        first = int(done)
        last = int(min(self.plan.ends[row], max(limit, first + 1)))
        for group in groups if last > first else ():
            self._move(group.code, group.blocks, self.plan.h, first, last - first)
        return last

    def position(self, row: int) -> float:
        return int(self.plan.ends[row])

    def next_pause(self, done: float, every: int) -> float:
        return (done // every + 1) * every

    def steps(self, groups: Sequence[Group], done: float) -> int:
        """The steps so far."""
        return int(done)

    def _move(self, code: Code, blocks: np.ndarray, this: float, k: int, n: int) -> None:
        """``n`` steps of size ``this`` after the first ``k``."""
        bound, ends = self.bound, (*code.places[:2], self._stride)
        grid = self.t0, self.plan.h, this, k, n, bound.weights, bound.offsets, self.tables

        def run(some):
            code.advance(some, np.empty(some.shape[1]), ends, *grid, code.slots)

        in_threads(run, blocks, self.threads)

    def states(self, groups: Sequence[Group], row: int) -> tuple[np.ndarray, np.ndarray]:
        """(states in principal axes, status) at row ``row``, after ``advance``."""
        tables, codes = [], []
        for group in groups:
            blocks = self._beside(group, row)
            tables.append(self._slots(group, blocks, *group.code.places[:2]))
            codes.append(self._slots(group, blocks, fixed.STATUS, fixed.STATUS + 1))
        time, status = float(self.plan.times[row]), in_order_of_chunk(groups, codes)[:, 0]
        found = self._leave(groups, time, in_order_of_chunk(groups, tables))
        return found, status.astype(np.int64)

    def _leave(self, groups: Sequence[Group], t: float, variables: np.ndarray) -> np.ndarray:
        """States in principal axes, from what the loops integrate."""
        if self.bound.variables is None:
            return variables
        return self.bound.states(np.full(len(variables), t), variables)

    def begun(self, groups: Sequence[Group], rows: Rows) -> np.ndarray:
        """The states at the start."""
        return rows.states

    def _beside(self, group: Group, row: int) -> np.ndarray:
        """The blocks after the side step of a row, if there is one; it is never fed back."""
        side, blocks = float(self.plan.sides[row]), group.blocks
        if side != 0.0:
            blocks = blocks.copy()
            self._move(group.code, blocks, side, int(self.plan.ends[row]), 1)
        return blocks

    def reached(self, groups: Sequence[Group], row: int) -> Reached:
        """How far the members came, at the last row."""
        whole, tables = int(self.plan.ends[row]), []
        for group in groups:
            blocks = self._beside(group, row)
            tables.append(self._slots(group, blocks, fixed.STATUS, fixed.DONE + 1))
        status, count, done = in_order_of_chunk(groups, tables).astype(np.int64).T
        steps = np.where(status == OK, whole, done)
        good = np.where(status == OK, self.plan.times[row], self.t0 + steps * self.plan.h)
        if self.plan.sides[row] != 0.0:  # the last step is shorter
            steps = steps + (status == OK)
        return Reached(status, good, steps, count)

    def between(self, rows: Rows, states: np.ndarray, t0: float, times: np.ndarray) -> np.ndarray:
        """The states of members at times of their own after t0, by steps and a side step."""
        bound = self.bound
        variables = enter_variables(bound, self.t0, replace(rows, states=states))
        table, found = np.hstack([variables, rows.bodies, rows.numbers]), np.empty_like(variables)
        for places, code in self._by_code(rows):
            pattern, some = (code.slots[6], *code.slots[8:]), np.empty_like(variables[places])
            side_loop(code.loops)(
                t0, self.plan.h, times[places] - t0, table[places], pattern, bound.weights,
                bound.offsets, self.tables, some,
            )  # fmt: skip
            found[places] = some
        return found if bound.variables is None else bound.states(times, found)


@lru_cache(64)
def side_loop(parts: BoundMethod) -> CompiledOrPlain:
    return loops.build(side_steps, parts.method, parts.model, parts.aligned)


def side_steps(t, h, this, rows, pattern, weights, offsets, tables, out):
    """The state of every member a time of its own later; rows (state, body, numbers).

    As many steps of size h as fit into ``this[i]``, and a side step.
    """
    for i in range(len(rows)):
        state, body, numbers = take(rows, i, 0, pattern)
        params = numbers, tables
        carry = start(t, part(weights, 0, h), state, body, params)
        whole = floor(this[i] / h)
        for k in range(whole + 1):  # one call site: the step is compiled once
            size = h if k < whole else this[i] - whole * h
            state, carry, _, _, _ = whole_step(
                t + k * h, size, weights, offsets, state, carry, body, params
            )
        put(out, i, state)


class SingleMover(FixedMover):
    """Members one after another, for steps that work on arrays: Gauss's.

    The blocks are rows (active, status, count, done, state, carry, body, numbers).
    """

    def _code(self, axis: int) -> Code:
        bound, problem = self.bound, self.bound.problem
        first, body = self._enter_own()
        slots = 0.0, 0.0, 0.0, 0.0, (), (), first, bound.carry, body, bound.params[0]
        parts = bind_method(bound.method, problem.model, self.aligned, problem.moves)
        return Code(bound.run, bound.run, slots, fixed.places(slots), parts)

    def start(self, rows: Rows) -> list[Group]:
        code, count = self.code(-1), len(rows.states)
        blocks = np.zeros((count, len(flat(code.slots))))
        variables = enter_variables(self.bound, self.t0, rows)
        blocks[:, code.places[0] : code.places[1]] = variables
        blocks[:, code.places[2] :] = np.hstack([rows.bodies, rows.numbers])
        return [Group(np.arange(count), blocks, code)]

    def _slots(self, group: Group, blocks: np.ndarray, first: int, last: int) -> np.ndarray:
        return blocks[:, first:last]

    def _move(self, code: Code, blocks: np.ndarray, this: float, k: int, n: int) -> None:
        bound, (first, last, _) = self.bound, code.places
        beside = this != self.plan.h
        ends, sides = np.array([0 if beside else n]), np.array([this if beside else 0.0])
        settings = ends, sides, bound.weights, bound.offsets, self.tables
        for row in (blocks[i] for i in np.flatnonzero(blocks[:, fixed.STATUS] == OK)):
            data, out = row[None, first:].copy(), np.empty((1, last - first))
            status, _, steps, count, _ = code.advance(
                data, self.t0, self.plan.h, k, k == 0, *settings, out
            )
            row[first:], row[fixed.STATUS] = data[0], status
            row[fixed.COUNT] += count
            row[fixed.DONE] = k + steps
            if beside and status == OK:
                row[first:last] = out[0]
