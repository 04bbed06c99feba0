"""Many members on their way: the solvers of one body, over blocks of bodies.

A crowd knows how to ``start`` some members (``Rows``), to bring them to one of its stops, and to
tell their states there.  What it moves are herds: members of one kind, which share machine code.

How far members are is a number: the steps of a map, the part of the span that has passed, or the
row.  ``at(row)`` is that of a row, ``pause(done, every)`` a place for a break after some ``every``
steps, ``PIECE`` a short way.  No bit depends on breaks.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from math import floor, inf
from typing import Any, NamedTuple

import numpy as np

from polhode import loops
from polhode.compiler.machine import CompiledOrPlain, put, take
from polhode.compiler.tree import flat, like
from polhode.contracts import OK, start
from polhode.ensembles.members import Rows
from polhode.formulations.equations import equations_of
from polhode.kernels.free_flow import free_flow
from polhode.loops import part, whole_step
from polhode.loops.join import Joined, Pursuit, joined, pursuit, variant
from polhode.loops.lanes import adaptive, fixed
from polhode.loops.lanes.blocks import in_threads, pack, unpack
from polhode.problems.problem import Problem
from polhode.solvers.fixed_steps import plan
from polhode.solvers.solvers import AdaptiveSolver, FreeSolver, Solver


class Reached(NamedTuple):
    """How far the members of a chunk came, one entry each."""

    status: np.ndarray
    t: np.ndarray  # of the last good state
    nsteps: np.ndarray
    niter: np.ndarray  # Newton iterations, or trial steps that did not count


@dataclass
class Herd:
    """Members of one kind: their places in the chunk, and their blocks."""

    places: np.ndarray
    blocks: np.ndarray
    kind: Any


def gathered(herds: Sequence[Herd], tables: Sequence[np.ndarray]) -> np.ndarray:
    """One table, rows in the order of the chunk, from one for each herd."""
    out = np.empty((sum(len(herd.places) for herd in herds), tables[0].shape[1]))
    for herd, table in zip(herds, tables, strict=True):
        out[herd.places] = table
    return out


def entered(problem: Problem, solver: Any, t0: float, rows: Rows) -> np.ndarray:
    """What loops integrate, at the start: the states, or the variables of a formulation."""
    variables = solver._variables
    if variables is None or variables.name == "quaternion":
        return rows.states.copy()
    enter, body = equations_of(variables, problem.moves).enter, problem.body.data
    states = (like(problem.state, iter(row)) for row in rows.states.tolist())
    return np.array([flat(enter(t0, state, body)) for state in states])


# ---- fixed steps
class Kind(NamedTuple):
    """The loops of members with the same symmetry; ``places`` are those of state, carry, body."""

    start: Callable
    advance: Callable
    slots: tuple
    places: tuple[int, int, int]
    parts: Joined


@lru_cache(64)
def lane_loops(parts: Joined) -> tuple[Callable, Callable]:
    return (
        fixed.build(fixed.start_lanes, *parts._joined),
        fixed.build(fixed.advance_lanes, *parts._joined),
    )


class FixedCrowd:
    """Maps, and integrators with fixed steps; ``solver`` is the one of a single member."""

    PIECE = 16.0

    def __init__(self, solver: Solver, aligned: bool, threads: int):
        self.solver, self.aligned, self.threads = solver, aligned, threads
        self.problem: Problem = solver.problem
        self.tables = self.problem.model.tables
        self._kinds: dict[int, Kind] = {}
        self._differ = solver.method.exact_when_free and solver.method.step is not None

    def stops(self, t0: float, t1: float, times: np.ndarray) -> None:
        """Set the span, and the times at which the members are looked at."""
        self.t0 = t0
        self.plan = plan(t0, t1, self.solver.dt, times)

    def kind(self, axis: int) -> Kind:
        """Members that are symmetric about ``axis``, -1 if about none."""
        if axis not in self._kinds:
            self._kinds[axis] = self._kind(axis)
        return self._kinds[axis]

    def _kind(self, axis: int) -> Kind:
        solver, problem = self.solver, self.problem
        method = variant(solver.method, None if axis < 0 else axis, solver.asked.compensated)
        parts = joined(method, problem.model, self.aligned, problem.moves)
        first, body = solver._entered(0.0, solver._state)
        carry = parts.start(0.0, solver.dt, first, body, problem.model.params)
        slots = fixed.slots_of(method, first, carry, body, problem.model.params)
        return Kind(*lane_loops(parts), slots, fixed.places(slots), parts)

    def _by_kind(self, rows: Rows) -> Iterator[tuple[np.ndarray, Kind]]:
        """(places, kind): who shares machine code."""
        axes = rows.axes if self._differ else np.full(len(rows), -1)
        for axis in np.unique(axes).tolist():
            yield np.flatnonzero(axes == axis), self.kind(axis)

    def start(self, rows: Rows) -> list[Herd]:
        herds = []
        for places, kind in self._by_kind(rows):
            some = rows[places]
            columns = np.tile(np.array(flat(kind.slots)), (len(some), 1))
            columns[:, : kind.places[0]] = 0.0
            columns[:, kind.places[0] : kind.places[1]] = self._entered(some)
            columns[:, kind.places[2] :] = np.hstack([some.bodies, some.numbers])
            herd = Herd(places, pack(columns.T, len(some)), kind)
            first = self.t0, self.plan.h, self.solver._weights, self.tables, kind.slots
            kind.start(herd.blocks, *first)
            self._move(kind, herd.blocks[:0], self.plan.h, 0, 0)  # compiles, before threads do
            herds.append(herd)
        return herds

    def _slots(self, herd: Herd, blocks: np.ndarray, first: int, last: int) -> np.ndarray:
        """Slots of the members of a herd, one row each."""
        return unpack(blocks, len(herd.places), first, last).T

    def _entered(self, rows: Rows) -> np.ndarray:
        return entered(self.problem, self.solver, self.t0, rows)

    def go(self, herds: Sequence[Herd], done: float, row: int, to: float = inf) -> float:
        """From the step ``done`` to the one before row ``row`` of the plan, or only to ``to``."""
        first = int(done)
        last = int(min(self.plan.ends[row], max(to, first + 1)))
        for herd in herds if last > first else ():
            self._move(herd.kind, herd.blocks, self.plan.h, first, last - first)
        return last

    def at(self, row: int) -> float:
        return int(self.plan.ends[row])

    def pause(self, done: float, every: int) -> float:
        return (done // every + 1) * every

    def steps(self, herds: Sequence[Herd], done: float) -> int:
        """The steps so far."""
        return int(done)

    def _move(self, kind: Kind, blocks: np.ndarray, this: float, k: int, n: int) -> None:
        ends = kind.places[:2]
        solver = self.solver
        grid = self.t0, self.plan.h, this, k, n, solver._weights, solver._offsets, self.tables

        def run(some):
            kind.advance(some, np.empty(some.shape[1]), ends, *grid, kind.slots)

        in_threads(run, blocks, self.threads)

    def states(self, herds: Sequence[Herd], row: int) -> tuple[np.ndarray, np.ndarray]:
        """(states in principal axes, status) at row ``row``, after ``go``."""
        tables, codes = [], []
        for herd in herds:
            blocks = self._aside(herd, row)
            tables.append(self._slots(herd, blocks, *herd.kind.places[:2]))
            codes.append(self._slots(herd, blocks, fixed.STATUS, fixed.STATUS + 1))
        found = gathered(herds, tables)
        if self.solver._variables is not None:
            times = np.full(len(found), self.plan.times[row])
            found = self.solver._parts.states(times, found, self.problem.body.data)
        return found, gathered(herds, codes)[:, 0].astype(np.int64)

    def _aside(self, herd: Herd, row: int) -> np.ndarray:
        """The blocks after the side step of a row, if there is one; it is never fed back."""
        side, blocks = float(self.plan.sides[row]), herd.blocks
        if side != 0.0:
            blocks = blocks.copy()
            self._move(herd.kind, blocks, side, int(self.plan.ends[row]), 1)
        return blocks

    def reached(self, herds: Sequence[Herd], row: int) -> Reached:
        """How far everybody came, at the last row."""
        whole, tables = int(self.plan.ends[row]), []
        for herd in herds:
            tables.append(self._slots(herd, self._aside(herd, row), fixed.STATUS, fixed.DONE + 1))
        table = gathered(herds, tables)
        status, count, done = table.astype(np.int64).T
        steps = np.where(status == OK, whole, done)
        good = np.where(status == OK, self.plan.times[row], self.t0 + steps * self.plan.h)
        if self.plan.sides[row] != 0.0:  # the last step is shorter
            steps = steps + (status == OK)
        return Reached(status, good, steps, count)

    def between(self, rows: Rows, states: np.ndarray, t0: float, times: np.ndarray) -> np.ndarray:
        """The states of members at times of their own after t0; by steps and a side step."""
        solver = self.solver
        entered = self._entered(Rows(states, rows.bodies, rows.numbers, rows.axes))
        table, found = np.hstack([entered, rows.bodies, rows.numbers]), np.empty_like(entered)
        for places, kind in self._by_kind(rows):
            pattern, some = (kind.slots[6], *kind.slots[8:]), np.empty_like(entered[places])
            aside_loop(kind.parts)(
                t0, self.plan.h, times[places] - t0, table[places], pattern, solver._weights,
                solver._offsets, self.tables, some,
            )  # fmt: skip
            found[places] = some
        if solver._variables is None:
            return found
        return solver._parts.states(times, found, self.problem.body.data)


@lru_cache(64)
def aside_loop(parts: Joined) -> CompiledOrPlain:
    return loops.build(asides, *parts._joined)


def asides(t, h, this, rows, pattern, weights, offsets, tables, out):
    """The state of every member a time of its own later; rows (state, body, numbers).

    As many steps of size h as there is room for in ``this[i]``, and a side step.
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


class SinglyCrowd(FixedCrowd):
    """Members one after another, for steps that use vectors of their own: Gauss's.

    The blocks are rows (active, status, count, done, state, carry, body, numbers).
    """

    def _kind(self, axis: int) -> Kind:
        solver = self.solver
        first, body = solver._entered(0.0, solver._state)
        slots = 0.0, 0.0, 0.0, 0.0, (), (), first, solver._carry, body, self.problem.model.numbers
        parts = joined(solver.method, self.problem.model, self.aligned, self.problem.moves)
        return Kind(solver._run, solver._run, slots, fixed.places(slots), parts)

    def start(self, rows: Rows) -> list[Herd]:
        kind = self.kind(-1)
        blocks = np.zeros((len(rows), len(flat(kind.slots))))
        blocks[:, kind.places[0] : kind.places[1]] = self._entered(rows)
        blocks[:, kind.places[2] :] = np.hstack([rows.bodies, rows.numbers])
        return [Herd(np.arange(len(rows)), blocks, kind)]

    def _slots(self, herd: Herd, blocks: np.ndarray, first: int, last: int) -> np.ndarray:
        return blocks[:, first:last]

    def _move(self, kind: Kind, blocks: np.ndarray, this: float, k: int, n: int) -> None:
        solver, (first, last, _) = self.solver, kind.places
        aside = this != self.plan.h
        ends, sides = np.array([0 if aside else n]), np.array([this if aside else 0.0])
        settings = ends, sides, solver._weights, solver._offsets, self.tables
        for row in (blocks[i] for i in np.flatnonzero(blocks[:, fixed.STATUS] == OK)):
            data, out = row[None, first:].copy(), np.empty((1, last - first))
            status, _, steps, count, _ = kind.advance(
                data, self.t0, self.plan.h, k, k == 0, *settings, out
            )
            row[first:], row[fixed.STATUS] = data[0], status
            row[fixed.COUNT] += count
            row[fixed.DONE] = k + steps
            if aside and status == OK:
                row[first:last] = out[0]


# ---- steps of their own size
PAUSES = 100


@lru_cache(64)
def pursuits(parts: Pursuit, aligned: bool, moving: bool) -> adaptive.Pursuits:
    model: Any = parts.force
    return adaptive.Pursuits(parts.integrator, parts.formulation, model, aligned, moving)


class AdaptiveCrowd:
    """Integrators with a step of their own for every member."""

    PIECE = 1e-6

    def __init__(self, solver: AdaptiveSolver, aligned: bool, threads: int):
        self.solver, self.aligned, self.threads = solver, aligned, threads
        self.problem, self.tables = solver.problem, solver.problem.model.tables
        model, moves = self.problem.model, self.problem.moves
        variables: Any = solver._variables
        self.parts = pursuit(solver.integrator, variables, model, aligned, moves)
        self.runs = pursuits(self.parts, aligned, moves)
        self.first, body = solver._entered(0.0, solver._state)
        self.slots = self.runs.slots_of(self.first, body, model.params)
        self.places = adaptive.places(self.slots)

    def stops(self, t0: float, t1: float, times: np.ndarray) -> None:
        self.t0, self.t1, self.times = t0, t1, times

    def start(self, rows: Rows) -> list[Herd]:
        columns = np.tile(np.array(flat(self.slots)), (len(rows), 1))
        columns[:, self.places.state] = entered(self.problem, self.solver, self.t0, rows)
        columns[:, self.places.body], columns[:, self.places.numbers] = rows.bodies, rows.numbers
        herd = Herd(np.arange(len(rows)), pack(columns.T, len(rows)), None)
        first, largest = self.solver._limits
        settings = self.solver.tolerances, self.tables, self.slots
        self.runs.begin(herd.blocks, self.t0, self.t1, first, largest, *settings)
        self._advance(self.t0, herd.blocks[:1])  # compiles, before threads do
        return [herd]

    def _advance(self, until: float, blocks: np.ndarray) -> None:
        limits = self.t1, self.solver._limits[1], self.solver.tolerances
        self.runs.advance(blocks, until, *limits, self.tables, self.slots)

    def go(self, herds: Sequence[Herd], done: float, row: int, to: float = inf) -> float:
        """Steps of everybody to row ``row``, or only to ``to``, or just past it."""
        (herd,) = herds
        end, until = self.at(row), float(self.times[row])
        if to < end:
            end, until = to, self.t0 + to * (self.t1 - self.t0)
        in_threads(partial(self._advance, until), herd.blocks, self.threads)
        return end

    def at(self, row: int) -> float:
        length = self.t1 - self.t0
        return float((self.times[row] - self.t0) / length) if length else 0.0

    def pause(self, done: float, every: int) -> float:
        """The next hundredth of the span, whatever the steps are."""
        return (floor(done * PAUSES * (1 + 1e-12)) + 1) / PAUSES

    def steps(self, herds: Sequence[Herd], done: float) -> int:
        """Those of the member that took most."""
        (herd,), place = herds, self.places.accepted
        return int(unpack(herd.blocks, len(herd.places), place, place + 1).max())

    def states(self, herds: Sequence[Herd], row: int) -> tuple[np.ndarray, np.ndarray]:
        (herd,) = herds
        count, places, t = len(herd.places), self.places, float(self.times[row])
        rest = self.solver.tolerances, self.tables, self.slots
        found = unpack(self.runs.sample(herd.blocks, t, *rest), count).T.copy()
        lost = np.isnan(found).any(axis=1)  # they failed before, and stay where they are
        last = unpack(herd.blocks, count, places.state.start, places.state.stop).T
        found[lost] = last[lost]
        codes = unpack(herd.blocks, count, places.status, places.status + 1)[0]
        status = np.where(lost, codes, OK).astype(np.int64)
        return self._left(np.full(count, t), found), status

    def _left(self, times: np.ndarray, variables: np.ndarray) -> np.ndarray:
        return self.parts.states(times, np.ascontiguousarray(variables), self.problem.body.data)

    def reached(self, herds: Sequence[Herd], row: int) -> Reached:
        (herd,) = herds
        table, places = unpack(herd.blocks, len(herd.places)), self.places
        counts = table[[places.status, places.accepted, places.rejected]].astype(np.int64)
        return Reached(counts[0], table[places.t].copy(), counts[1], counts[2])

    def between(self, rows: Rows, states: np.ndarray, t0: float, times: np.ndarray) -> np.ndarray:
        """The states of members at times of their own, after t0; one by one."""
        solver, width = self.solver, len(self.first)
        carry = flat(self.slots[adaptive.CARRY])
        here = Rows(states, rows.bodies, rows.numbers, rows.axes)
        found = entered(self.problem, solver, t0, here)
        out = np.empty((1, 2 + width))
        run = self.parts.packed(self.first, *self.slots[adaptive.CARRY :])
        ends = [solver._limits[1], *solver.tolerances]
        for i, t in enumerate(times):
            row = np.array([[*found[i], *carry, *rows.bodies[i], *rows.numbers[i], *ends]])
            run(row, t0, 0.0, t, 0.0, True, self.tables, out)
            found[i] = row[0, :width]
        return self._left(times, found)


# ---- no torque
LOOK, MOST_LOOKS = 0.5, 1000
FREE = ((0.0,) * 4, (0.0,) * 3), (0.0,) * 3, (0.0,) * 3


def free_states(t, rows, pattern, out):
    """The exact motion of every member over a time of its own: rows (state, inertia, inverse)."""
    for i in range(len(rows)):
        (q, m), inertia, inverse = take(rows, i, 0, pattern)
        put(out, i, free_flow(t[i], q, m, inertia, inverse))


@lru_cache(1)
def _free() -> CompiledOrPlain:
    return CompiledOrPlain(free_states, "the free motion")


class FreeCrowd:
    """The closed form.

    The sign of an attitude is continuous, by looks at ``LOOK`` radians from each other; where a row
    would take more than ``MOST_LOOKS`` it is that of the row before.

    The one herd is rows (q, m, inertia, inverse, q at the last row, x, v).  There are no breaks
    between rows, for signs follow from row to row.
    """

    PIECE = 1.0

    def __init__(self, solver: FreeSolver, aligned: bool, threads: int):
        self.problem, self.threads = solver.problem, threads

    def stops(self, t0: float, t1: float, times: np.ndarray) -> None:
        self.t0, self.times = t0, times

    def start(self, rows: Rows) -> list[Herd]:
        states, bodies = rows.states, rows.bodies
        place = (states[:, 7:10], states[:, 10:13] * bodies[:, 11:])
        known = states[:, :7], bodies[:, :6], states[:, :4], *place
        return [Herd(np.arange(len(rows)), np.hstack(known), rows)]

    def go(self, herds: Sequence[Herd], done: float, row: int, to: float = inf) -> float:
        """Follow the signs of the attitudes from the row before."""
        (herd,) = herds
        begin = self.times[row - 1] if row else self.t0
        speed = np.linalg.norm(herd.blocks[:, 4:7] * herd.blocks[:, 10:13], axis=1).max()
        looks = 1 + int(min(abs(self.times[row] - begin) * speed / LOOK, MOST_LOOKS))
        for t in begin + (self.times[row] - begin) * np.arange(1, looks) / looks:
            self._follow(herd, t - self.t0)
        return row

    def at(self, row: int) -> float:
        return row

    def pause(self, done: float, every: int) -> float:
        return inf

    def steps(self, herds: Sequence[Herd], done: float) -> int:
        """Rows, in their place."""
        return int(done)

    def _follow(self, herd: Herd, passed: float) -> np.ndarray:
        """(q, m) after the time that has passed; the sign of q follows the last one."""
        found, last = np.empty((len(herd.blocks), 7)), herd.blocks[:, 13:17]

        def run(places):
            some = np.empty((len(places), 7))
            _free()(np.full(len(places), passed), herd.blocks[places], FREE, some)
            found[places] = some

        in_threads(run, herd.places, self.threads)
        found[np.einsum("ij,ij->i", found[:, :4], last) < 0, :4] *= -1.0
        herd.blocks[:, 13:17] = found[:, :4]
        return found

    def states(self, herds: Sequence[Herd], row: int) -> tuple[np.ndarray, np.ndarray]:
        (herd,) = herds
        passed = self.times[row] - self.t0
        found, rows = self._follow(herd, passed), herd.kind
        if self.problem.moves:
            x, v = herd.blocks[:, 17:20], herd.blocks[:, 20:23]
            found = np.hstack([found, x + passed * v, rows.states[:, 10:13]])
        return found, np.zeros(len(found), np.int64)

    def reached(self, herds: Sequence[Herd], row: int) -> Reached:
        none = np.zeros(len(herds[0].places), np.int64)
        return Reached(none, np.full(len(none), self.times[row]), none, none)

    def between(self, rows: Rows, states: np.ndarray, t0: float, times: np.ndarray) -> np.ndarray:
        """The states of members at times of their own, after t0."""
        table, found = np.hstack([states[:, :7], rows.bodies[:, :6]]), states.copy()
        some, passed = np.empty((len(states), 7)), times - t0
        _free()(passed, table, FREE, some)
        found[:, :7] = some
        if states.shape[1] > 7:
            found[:, 7:10] += passed[:, None] * (rows.bodies[:, 11:] * states[:, 10:13])
        found[np.einsum("ij,ij->i", found[:, :4], states[:, :4]) < 0, :4] *= -1.0
        return found


Crowd = FixedCrowd | AdaptiveCrowd | FreeCrowd


def crowd_of(solver: Any, aligned: bool, threads: int) -> Crowd:
    """The crowd whose members are solved as by ``solver``."""
    if isinstance(solver, AdaptiveSolver):
        return AdaptiveCrowd(solver, aligned, threads)
    if isinstance(solver, FreeSolver):
        return FreeCrowd(solver, aligned, threads)
    made = FixedCrowd(solver, aligned, threads)
    if all(isinstance(x, float) for x in flat(made.kind(-1).slots)):
        return made
    return SinglyCrowd(solver, aligned, threads)
