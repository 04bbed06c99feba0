"""Movers of members without steps in common: adaptive integrators, and the closed form.

See ``movers`` for what a mover does.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, partial
from math import floor, inf
from typing import Any

import numpy as np

from polhode.compiler.machine import CompiledOrPlain, put, take
from polhode.compiler.tree import flat
from polhode.contracts import OK
from polhode.ensembles.members import INVERSE_MASS, Rows
from polhode.ensembles.movers import Group, Reached, enter_variables
from polhode.kernels.free_flow import free_flow
from polhode.loops.join import BoundIntegrator, bind_integrator
from polhode.loops.lanes import adaptive
from polhode.loops.lanes.blocks import fill, in_threads, unpack
from polhode.solvers.bound import Bound

PAUSES = 100  # per span, where steps are adaptive


# ---- steps of their own size
@lru_cache(64)
def adaptive_runs(parts: BoundIntegrator, aligned: bool, moving: bool) -> adaptive.Pursuits:
    model: Any = parts.force
    return adaptive.Pursuits(parts.integrator, parts.formulation, model, aligned, moving)


class AdaptiveMover:
    """Integrators with adaptive steps; every member finds its own."""

    SHORTEST = 1e-6

    def __init__(
        self, bound: Bound, aligned: bool, threads: int, t0: float, t1: float, times: np.ndarray
    ):
        self.bound, self.threads, self.t0, self.t1, self.times = bound, threads, t0, t1, times
        self.tables, problem = bound.params[1], bound.problem
        variables: Any = bound.variables
        moves = problem.moves
        self.parts = bind_integrator(bound.method, variables, problem.model, aligned, moves)
        self.runs = adaptive_runs(self.parts, aligned, moves)
        self.first, body = bound.enter(0.0, bound.state)
        self.slots = self.runs.slots_of(self.first, body, bound.params)
        self.places = adaptive.places(self.slots)

    def start(self, rows: Rows) -> list[Group]:
        count, places = len(rows.states), self.places
        variables = enter_variables(self.bound, self.t0, rows)
        own = (places.state, variables), (places.body, rows.bodies), (places.numbers, rows.numbers)
        group = Group(np.arange(count), fill(np.array(flat(self.slots)), own), None)
        settings = self.bound.tolerances, self.tables, self.slots
        self.runs.begin(group.blocks, self.t0, self.t1, *self.bound.limits[:2], *settings)
        if self.threads > 1:
            self._move(self.t0, group.blocks[:1])  # compile before threads start
        return [group]

    def _move(self, until: float, blocks: np.ndarray) -> None:
        limits = self.t1, self.bound.limits[1], self.bound.tolerances
        most = self.bound.limits[2]
        self.runs.advance(blocks, until, *limits, self.tables, self.slots, most)

    def advance(self, groups: Sequence[Group], done: float, row: int, limit: float = inf) -> float:
        """Go to row ``row``, or only to ``limit``, or just past it."""
        (group,) = groups
        end, until = self.position(row), float(self.times[row])
        if limit < end:
            end, until = limit, self.t0 + limit * (self.t1 - self.t0)
        in_threads(partial(self._move, until), group.blocks, self.threads)
        return end

    def begun(self, groups: Sequence[Group], rows: Rows) -> np.ndarray:
        return rows.states

    def position(self, row: int) -> float:
        length = self.t1 - self.t0
        return float((self.times[row] - self.t0) / length) if length else 0.0

    def next_pause(self, done: float, every: int) -> float:
        """The next hundredth of the span, whatever the steps are."""
        return (floor(done * PAUSES * (1 + 1e-12)) + 1) / PAUSES

    def steps(self, groups: Sequence[Group], done: float) -> int:
        """The steps of the member that took most."""
        (group,), place = groups, self.places.accepted
        return int(unpack(group.blocks, len(group.places), place, place + 1).max())

    def states(self, groups: Sequence[Group], row: int) -> tuple[np.ndarray, np.ndarray]:
        (group,) = groups
        count, places, t = len(group.places), self.places, float(self.times[row])
        rest = self.bound.tolerances, self.tables, self.slots
        found = unpack(self.runs.sample(group.blocks, t, *rest), count).T.copy()
        lost = np.isnan(found).any(axis=1)  # they failed earlier, and stay where they are
        last = unpack(group.blocks, count, places.state.start, places.state.stop).T
        found[lost] = last[lost]
        codes = unpack(group.blocks, count, places.status, places.status + 1)[0]
        status = np.where(lost, codes, OK).astype(np.int64)
        return self._leave(np.full(count, t), found), status

    def _leave(self, times: np.ndarray, variables: np.ndarray) -> np.ndarray:
        return self.parts.states(times, np.ascontiguousarray(variables), self.bound.body)

    def reached(self, groups: Sequence[Group], row: int) -> Reached:
        (group,) = groups
        places, last = self.places, self.places.rejected + 1
        table = unpack(group.blocks, len(group.places), 0, last)  # the counts come first
        counts = table[[places.status, places.accepted, places.rejected]].astype(np.int64)
        return Reached(counts[0], table[places.t].copy(), counts[1], counts[2])

    def between(self, rows: Rows, states: np.ndarray, t0: float, times: np.ndarray) -> np.ndarray:
        """The states of members at times of their own after t0, one by one."""
        bound, width = self.bound, len(self.first)
        carry = flat(self.slots[adaptive.CARRY])
        found = enter_variables(bound, t0, replace(rows, states=states))
        out = np.empty((1, 2 + width))
        run = self.parts.packed(self.first, *self.slots[adaptive.CARRY :])
        ends = [bound.limits[1], *bound.tolerances]
        for i, t in enumerate(times):
            row = np.array([[*found[i], *carry, *rows.bodies[i], *rows.numbers[i], *ends]])
            run(row, t0, 0.0, t, 0.0, True, self.tables, bound.limits[2], out)
            found[i] = row[0, :width]
        return self._leave(times, found)


# ---- no torque
SIGN_STEP, MOST_SIGN_STEPS = 0.5, 1000  # radians between checks of a sign; checks between two rows
FREE = ((0.0,) * 4, (0.0,) * 3), (0.0,) * 3, (0.0,) * 3


def free_states(t, rows, pattern, out):
    """The exact motion of every member over a time of its own: rows (state, inertia, inverse)."""
    for i in range(len(rows)):
        (q, m), inertia, inverse = take(rows, i, 0, pattern)
        put(out, i, free_flow(t[i], q, m, inertia, inverse))


@lru_cache(1)
def _free_loop() -> CompiledOrPlain:
    return CompiledOrPlain(free_states, "the free motion")


class FreeMover:
    """The closed form of the free motion.

    The sign of an attitude is continuous: it is followed in steps of ``SIGN_STEP`` radians, at most
    ``MOST_SIGN_STEPS`` from row to row, beyond which it is taken from the row before.

    The one group holds rows (q, m, inertia, inverse, q at the last row, x, v).  There are no pauses
    between rows, since signs follow from row to row.
    """

    SHORTEST = 1.0

    def __init__(
        self, bound: Bound, aligned: bool, threads: int, t0: float, t1: float, times: np.ndarray
    ):
        self.problem, self.threads, self.t0, self.times = bound.problem, threads, t0, times

    def start(self, rows: Rows) -> list[Group]:
        states, bodies = rows.states, rows.bodies
        translation = states[:, 7:10], states[:, 10:13] * bodies[:, INVERSE_MASS]
        table = np.hstack([states[:, :7], bodies[:, :6], states[:, :4], *translation])
        return [Group(np.arange(len(states)), table, rows)]

    def advance(self, groups: Sequence[Group], done: float, row: int, limit: float = inf) -> float:
        """Follow the signs of the attitudes from the row before."""
        (group,) = groups
        begin = self.times[row - 1] if row else self.t0
        speed = np.linalg.norm(group.blocks[:, 4:7] * group.blocks[:, 10:13], axis=1).max()
        count = 1 + int(min(abs(self.times[row] - begin) * speed / SIGN_STEP, MOST_SIGN_STEPS))
        for t in begin + (self.times[row] - begin) * np.arange(1, count) / count:
            self._follow(group, t - self.t0)
        return row

    def begun(self, groups: Sequence[Group], rows: Rows) -> np.ndarray:
        return rows.states

    def position(self, row: int) -> float:
        return row

    def next_pause(self, done: float, every: int) -> float:
        return inf

    def steps(self, groups: Sequence[Group], done: float) -> int:
        """Rows, since there are no steps."""
        return int(done)

    def _follow(self, group: Group, elapsed: float) -> np.ndarray:
        """(q, m) after the time elapsed; the sign of q follows the last one."""
        found, last = np.empty((len(group.blocks), 7)), group.blocks[:, 13:17]

        def run(places):
            some = np.empty((len(places), 7))
            _free_loop()(np.full(len(places), elapsed), group.blocks[places], FREE, some)
            found[places] = some

        in_threads(run, group.places, self.threads)
        found[np.einsum("ij,ij->i", found[:, :4], last) < 0, :4] *= -1.0
        group.blocks[:, 13:17] = found[:, :4]
        return found

    def states(self, groups: Sequence[Group], row: int) -> tuple[np.ndarray, np.ndarray]:
        (group,) = groups
        elapsed = self.times[row] - self.t0
        found, rows = self._follow(group, elapsed), group.code
        if self.problem.moves:
            x, v = group.blocks[:, 17:20], group.blocks[:, 20:23]
            found = np.hstack([found, x + elapsed * v, rows.states[:, 10:13]])
        return found, np.zeros(len(found), np.int64)

    def reached(self, groups: Sequence[Group], row: int) -> Reached:
        none = np.zeros(len(groups[0].places), np.int64)
        return Reached(none, np.full(len(none), self.times[row]), none, none)

    def between(self, rows: Rows, states: np.ndarray, t0: float, times: np.ndarray) -> np.ndarray:
        """The states of members at times of their own after t0."""
        table, found = np.hstack([states[:, :7], rows.bodies[:, :6]]), states.copy()
        some, elapsed = np.empty((len(states), 7)), times - t0
        _free_loop()(elapsed, table, FREE, some)
        found[:, :7] = some
        if self.problem.moves:
            inverse_mass = rows.bodies[:, INVERSE_MASS]
            found[:, 7:10] += elapsed[:, None] * (inverse_mass * states[:, 10:13])
        found[np.einsum("ij,ij->i", found[:, :4], states[:, :4]) < 0, :4] *= -1.0
        return found
