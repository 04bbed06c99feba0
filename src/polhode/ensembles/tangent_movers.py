"""Movers of members with derivatives; see ``movers`` for what a mover does.

Members of maps move in lanes, where the derivatives of a number are slots beside it.  Others move
one after another, with the loops of a single run.  The values have the bits of a run without
derivatives in any case.

``states`` returns rows of states in principal axes, each followed by the matrix of its derivatives
in the user's axes, row after row.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from math import copysign, inf
from typing import Any

import numpy as np

from polhode.compiler.dual import ON_DUAL, Dual, Single, lifted
from polhode.compiler.machine import machine_width
from polhode.compiler.tree import bind, gather, spread
from polhode.contracts import OK
from polhode.ensembles.adaptive_movers import AdaptiveMover, FreeMover
from polhode.ensembles.members import Rows
from polhode.ensembles.movers import (
    Code,
    FixedMover,
    Group,
    Reached,
    SingleMover,
    in_order_of_chunk,
)
from polhode.ensembles.tangents import (
    Gauge,
    interleaved,
    user_rows,
    wide_constants,
    wide_variables,
)
from polhode.loops.join import BoundMethod, bind_method, variant
from polhode.loops.lanes import fixed, tangents
from polhode.loops.lanes.blocks import fill
from polhode.loops.tangents import form_of, pattern_of, with_tangents
from polhode.solvers.adaptive_steps import StepsTaken
from polhode.solvers.bound import Bound, enter
from polhode.solvers.exact import wide_loop
from polhode.solvers.sensitivities import Directions

FEW = 2  # directions with which several vectors of bodies at a time are faster than one


# ---- fixed steps
class TangentMover(FixedMover):
    """Maps, and integrators with fixed steps, in lanes; a ``gauge`` measures the tangents.

    With a gauge the states are returned without derivatives, which it has made small.
    """

    def __init__(
        self,
        bound: Bound,
        directions: Directions,
        gauge: Gauge | None,
        aligned: bool,
        threads: int,
        t0: float,
        t1: float,
        times: np.ndarray,
    ):
        self.values = FixedMover(bound, aligned, threads, t0, t1, times)
        aligned = aligned and not directions.turns_axes
        super().__init__(bound, aligned, threads, t0, t1, times)
        self.directions, self.gauge = directions, gauge
        self._stride = 1 + directions.count
        self._like = Single(0.0, (0.0,) * directions.count)

    def _code(self, axis: int) -> Code:
        bound, problem = self.bound, self.bound.problem
        own = self.directions.lifted(bound.state, bound.body, bound.params)
        state, body, params = tangents.singles(own, self.directions.count)
        first = state
        if bound.variables is not None:
            first, body = enter(bound.variables, bind(bound.change, ON_DUAL), body, 0.0, state)
        method = variant(bound.method, None if axis < 0 else axis, bound.compensated)
        wide = {"width": self._stride, "form": form_of((body, params))}
        parts = bind_method(method, problem.model, self.aligned, problem.moves, **wide)
        carry = lifted(parts.start(0.0, bound.dt, first, body, params), self._like)
        slots = tangents.slots_of(parts.method, first, carry, body, params, self._like)
        places = fixed.places(slots)
        measured: tuple = ()
        if self.gauge is not None:
            ends = places[0], places[2], len(spread(slots))
            numbers = (places[1] - places[0]) // self._stride
            measured = self.gauge.every, numbers, self.gauge.tangents, ends
        return Code(*tangent_loops(parts, self._like.d, measured), slots, places, parts)

    def start(self, rows: Rows) -> list[Group]:
        directions, width, groups = self.directions, self._stride, []
        states, bodies = directions.slopes(rows.states, rows.bodies)
        variables = wide_variables(self.bound, self.t0, rows, states, width, Single)
        constants = wide_constants(directions, rows, bodies, width)
        for places, code in self._by_code(rows):
            state, carry, body = code.places
            slots = np.array(spread(code.slots))
            slots[:state] = 0.0
            end = len(slots)
            if self.gauge is not None:
                slots = np.concatenate([slots, self.gauge.slots()])
            own = (slice(state, carry), variables[places]), (slice(body, end), constants[places])
            group = Group(places, fill(slots, own), code, rows)
            settings = self.t0, self.plan.h, self.bound.weights, self.tables, code.slots
            code.start(group.blocks, *settings)
            self._move(code, group.blocks[:0], self.plan.h, 0, 0)  # compile before threads start
            groups.append(group)
        return groups

    def _leave(self, groups: Sequence[Group], t: float, variables: np.ndarray) -> np.ndarray:
        code, rows = groups[0].code, groups[0].rows
        assert rows is not None
        states = code.loops.states(np.full(len(variables), t), variables, self.bound.body)
        if self.gauge is not None:
            return states[:, : self.directions.outputs + 1]
        return user_rows(self.directions, rows, states, self._stride)

    def begun(self, groups: Sequence[Group], rows: Rows) -> np.ndarray:
        """The states at the start."""
        tables = [self._slots(group, group.blocks, *group.code.places[:2]) for group in groups]
        return self._leave(groups, self.t0, in_order_of_chunk(groups, tables))

    def between(self, rows: Rows, states: np.ndarray, t0: float, times: np.ndarray) -> np.ndarray:
        return self.values.between(rows, states, t0, times)

    def gauges(self, groups: Sequence[Group]) -> np.ndarray:
        """What the gauges show, (members, tangents, numbers of a gauge)."""
        assert self.gauge is not None
        tables = []
        for group in groups:
            begin = len(spread(group.code.slots)) + len(self.gauge.weights)
            end = begin + tangents.GAUGES * self.gauge.tangents
            tables.append(self._slots(group, group.blocks, begin, end))
        found = in_order_of_chunk(groups, tables)
        return found.reshape(len(found), self.gauge.tangents, tangents.GAUGES)


@lru_cache(64)
def tangent_loops(parts: BoundMethod, zeros: tuple, measured: tuple) -> tuple[Any, Any]:
    """The loops that start and advance blocks; ``measured`` are the arguments of a gauge.

    Many derivatives fill the registers: then one vector of bodies at a time is fastest.
    """
    method = parts.method
    if len(zeros) > FEW:
        method = replace(method, width=min(method.width, machine_width()))
    others = tangents.replacements(Single(0.0, zeros), method.implicit)
    bound = method, parts.model, parts.aligned
    start = fixed.build(fixed.start_lanes, *bound, others)
    if measured:
        others[fixed.after_step] = tangents.gauge(*measured)
    return start, fixed.build(fixed.advance_lanes, *bound, others)


class SingleTangentMover(SingleMover):
    """Members one after another, for steps that work on arrays."""

    def __init__(
        self,
        bound: Bound,
        wide: Bound,
        aligned: bool,
        threads: int,
        t0: float,
        t1: float,
        times: np.ndarray,
    ):
        self.values = SingleMover(bound, aligned, threads, t0, t1, times)
        super().__init__(wide, aligned, threads, t0, t1, times)
        assert wide.directions is not None
        self.directions = wide.directions

    def _code(self, axis: int) -> Code:
        wide = self.bound
        own = wide.first, wide.carry, wide.body_first, wide.params_first[0]
        slots = 0.0, 0.0, 0.0, 0.0, (), (), *own
        return Code(wide.run, wide.run, slots, fixed.places(slots), wide.loops)

    def start(self, rows: Rows) -> list[Group]:
        code, count, directions = self.code(-1), len(rows.states), self.directions
        states, bodies = directions.slopes(rows.states, rows.bodies)
        given = self.bound, self.t0, rows, states, directions.width, Dual
        blocks = np.zeros((count, len(spread(code.slots))))
        blocks[:, code.places[0] : code.places[1]] = wide_variables(*given)
        blocks[:, code.places[2] :] = wide_constants(directions, rows, bodies, directions.width)
        return [Group(np.arange(count), blocks, code, rows)]

    def _leave(self, groups: Sequence[Group], t: float, variables: np.ndarray) -> np.ndarray:
        (group,) = groups
        assert group.rows is not None
        times = np.full(len(variables), t)
        states = self.bound.loops.states(times, variables, self.bound.body)
        return user_rows(self.directions, group.rows, states, self.directions.width)

    def begun(self, groups: Sequence[Group], rows: Rows) -> np.ndarray:
        """The states at the start."""
        (group,) = groups
        variables = self._slots(group, group.blocks, *group.code.places[:2])
        return self._leave(groups, self.t0, variables)

    def between(self, rows: Rows, states: np.ndarray, t0: float, times: np.ndarray) -> np.ndarray:
        return self.values.between(rows, states, t0, times)


# ---- no torque
class FreeTangentMover(FreeMover):
    """The closed form of the free motion; its derivatives follow one member after another."""

    def __init__(
        self,
        bound: Bound,
        wide: Bound,
        aligned: bool,
        threads: int,
        t0: float,
        t1: float,
        times: np.ndarray,
    ):
        super().__init__(bound, aligned, threads, t0, t1, times)
        assert wide.directions is not None
        self.directions = wide.directions
        given = self.directions.lifted(bound.state, bound.body, ((), ()))[:2]
        self._loop = wide_loop(form_of(given), pattern_of(given))

    def states(self, groups: Sequence[Group], row: int) -> tuple[np.ndarray, np.ndarray]:
        found, status = super().states(groups, row)
        return self._with_tangents(groups[0].code, self.times[row] - self.t0, found), status

    def begun(self, groups: Sequence[Group], rows: Rows) -> np.ndarray:
        return self._with_tangents(rows, 0.0, rows.states)

    def _with_tangents(self, rows: Rows, elapsed: float, values: np.ndarray) -> np.ndarray:
        directions, width = self.directions, self.directions.width
        states, bodies = directions.slopes(rows.states, rows.bodies)
        constants = wide_constants(directions, replace(rows, numbers=values[:, :0]), bodies, width)
        table = np.hstack([interleaved(rows.states, states, width), constants])
        wide, times = np.empty((len(values), values.shape[1] * width)), np.array([elapsed])
        for given, out in zip(table, wide, strict=True):
            self._loop(times, given[None], out[None])
        slopes = with_tangents(wide, width)[:, values.shape[1] :]
        return user_rows(directions, rows, np.hstack([values, slopes]), width)


# ---- steps of their own size
class AdaptiveTangentMover:
    """Members one after another, each with its own steps.

    The blocks are rows (status, t, t_low, h, accepted, rejected; t, t_low and variables at the last
    knot; the row of numbers of the loop).
    """

    SHORTEST = 1e-6
    STATUS, T, LOW, H, ACCEPTED, REJECTED, BEFORE = range(7)

    def __init__(
        self,
        bound: Bound,
        wide: Bound,
        aligned: bool,
        threads: int,
        t0: float,
        t1: float,
        times: np.ndarray,
    ):
        self.values = AdaptiveMover(bound, aligned, threads, t0, t1, times)
        self.wide, self.t0, self.t1, self.times = wide, t0, t1, times
        assert wide.directions is not None
        self.directions = wide.directions
        self.row = self.BEFORE + 2 + wide.width

    def start(self, rows: Rows) -> list[Group]:
        wide, directions, count = self.wide, self.directions, len(rows.states)
        states, bodies = directions.slopes(rows.states, rows.bodies)
        variables = wide_variables(wide, self.t0, rows, states, directions.width, Dual)
        constants = wide_constants(directions, rows, bodies, directions.width)
        blocks = np.zeros((count, self.row + wide.row.shape[1]))
        blocks[:, self.T] = blocks[:, self.BEFORE] = self.t0
        blocks[:, self.H] = copysign(wide.limits[0], self.t1 - self.t0)
        blocks[:, self.BEFORE + 2 : self.row] = variables
        inside = blocks[:, self.row :]
        inside[...] = wide.row
        inside[:, : wide.width] = variables
        end = wide.row.shape[1] - 3  # limits follow
        inside[:, end - constants.shape[1] : end] = constants
        return [Group(np.arange(count), blocks, None, rows)]

    def _has_come(self, block: np.ndarray, until: float) -> bool:
        """Whether a member is at a time or beyond it, on its way to the end."""
        left = (until - block[self.T]) - block[self.LOW]
        return left == 0.0 or (left < 0.0) == (self.t1 >= self.t0)

    def _step(self, block: np.ndarray) -> None:
        wide, out = self.wide, np.empty((2, 2 + self.wide.width))
        taken = block[self.ACCEPTED] + block[self.REJECTED]
        clock = block[self.T], block[self.LOW], self.t1, block[self.H], taken == 0
        most = wide.limits[2] - int(taken)
        t, low, h, status, accepted, rejected, _, _ = wide.loops.run(
            block[None, self.row :], *clock, wide.params[1], most, out
        )
        block[self.STATUS : self.H + 1] = status, t, low, h
        block[self.ACCEPTED] += accepted
        block[self.REJECTED] += rejected
        if accepted:
            block[self.BEFORE : self.row] = out[0]

    def advance(self, groups: Sequence[Group], done: float, row: int, limit: float = inf) -> float:
        """Go to row ``row``, or only to ``limit``, or just past it."""
        (group,) = groups
        end, until = self.position(row), float(self.times[row])
        if limit < end:
            end, until = limit, self.t0 + limit * (self.t1 - self.t0)
        for block in group.blocks:
            while block[self.STATUS] == OK and not self._has_come(block, until):
                self._step(block)
        return end

    def position(self, row: int) -> float:
        return self.values.position(row)

    def next_pause(self, done: float, every: int) -> float:
        return self.values.next_pause(done, every)

    def steps(self, groups: Sequence[Group], done: float) -> int:
        """The steps of the member that took most."""
        return int(groups[0].blocks[:, self.ACCEPTED].max())

    def states(self, groups: Sequence[Group], row: int) -> tuple[np.ndarray, np.ndarray]:
        (group,) = groups
        t = float(self.times[row])
        found = np.vstack([self._at(block, t) for block in group.blocks])
        late = np.array([not self._has_come(block, t) for block in group.blocks])
        status = np.where(late, group.blocks[:, self.STATUS], OK).astype(np.int64)
        return self._leave(group, found), status

    def _at(self, block: np.ndarray, t: float) -> np.ndarray:
        """The state of a member at t, in its last step, or where it has stopped before."""
        wide, row = self.wide, block[self.row :]
        clock, now = block[[self.T, self.LOW]], row[: wide.width]
        if block[self.ACCEPTED] == 0 or not self._has_come(block, t):
            return self._states(clock[0], now)
        knots = np.stack([block[self.BEFORE : self.row], np.concatenate([clock, now])])
        pattern = wide.first, wide.carry, wide.body_first, wide.params_first[0]
        first, _, body, numbers = gather(pattern, iter(row.tolist()))
        params = numbers, *wide.params[1:]
        return StepsTaken(wide.loops, knots, first, body, params, wide.tolerances).at(np.array([t]))

    def _states(self, t: float, variables: np.ndarray) -> np.ndarray:
        return self.wide.loops.states(np.array([t]), variables[None], self.wide.body)

    def _leave(self, group: Group, states: np.ndarray) -> np.ndarray:
        assert group.rows is not None
        return user_rows(self.directions, group.rows, states, self.directions.width)

    def begun(self, groups: Sequence[Group], rows: Rows) -> np.ndarray:
        (group,) = groups
        table = [self._states(self.t0, row) for row in group.blocks[:, self.BEFORE + 2 : self.row]]
        return self._leave(group, np.vstack(table))

    def reached(self, groups: Sequence[Group], row: int) -> Reached:
        blocks = groups[0].blocks
        counts = blocks[:, [self.STATUS, self.ACCEPTED, self.REJECTED]].T.astype(np.int64)
        return Reached(counts[0], blocks[:, self.T].copy(), counts[1], counts[2])

    def between(self, rows: Rows, states: np.ndarray, t0: float, times: np.ndarray) -> np.ndarray:
        return self.values.between(rows, states, t0, times)
