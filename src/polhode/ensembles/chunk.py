"""A chunk: some members of an ensemble while they run, and the arrays they leave.

A chunk begins at a multiple of ``GROUP`` members, so that no group is ever divided.
"""

from collections.abc import Callable, Mapping
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.contracts import NO_ATTITUDE, OK
from polhode.ensembles.adaptive_movers import AdaptiveMover, FreeMover
from polhode.ensembles.distributions import GROUP
from polhode.ensembles.movers import FixedMover, Group, Reached, SingleMover
from polhode.ensembles.quantities import Snapshot
from polhode.ensembles.reductions.base import Gauges
from polhode.ensembles.tangent_movers import (
    AdaptiveTangentMover,
    FreeTangentMover,
    SingleTangentMover,
    TangentMover,
)
from polhode.ensembles.task import Task
from polhode.errors import MethodError
from polhode.loops.lanes import tangents
from polhode.loops.rows import ROUNDING
from polhode.solvers.bound import ADAPTIVE, FIXED, Bound

if TYPE_CHECKING:
    from polhode.ensembles.checkpoint import EnsembleSaver

Arrays = dict[str, np.ndarray]
Mover = FixedMover | AdaptiveMover | FreeMover | AdaptiveTangentMover


def make_mover(task: Task, threads: int) -> Mover:
    """The mover of the members of a task, for all chunks of a process."""
    bound = task.bound
    assert bound is not None
    settings = bound, task.members.is_aligned, threads, task.t0, task.t1, task.times
    if task.directions is not None:
        return _tangent_mover(task, *settings)
    if bound.kind == ADAPTIVE:
        return AdaptiveMover(*settings)
    if bound.kind != FIXED:
        return FreeMover(*settings)
    mover = FixedMover(*settings)
    return mover if mover.has_lanes else SingleMover(*settings)


def _tangent_mover(task: Task, bound: Bound, *settings: Any) -> Mover:
    """The mover of members with derivatives."""
    wide, directions = task.wide, task.directions
    assert directions is not None
    if bound.kind == ADAPTIVE and wide is not None:
        return AdaptiveTangentMover(bound, wide, *settings)
    if bound.kind != FIXED and wide is not None:
        return FreeTangentMover(bound, wide, *settings)
    if FixedMover(bound, *settings).has_lanes:
        return TangentMover(bound, directions, task.gauge, *settings)
    if wide is None:
        raise MethodError(
            f"reduce: method {bound.name!r} works on arrays, and tangents are measured in lanes:"
            " take another map, such as method='mr2'"
        )
    return SingleTangentMover(bound, wide, *settings)


class Chunk:
    """Members from ``first`` to ``last``; ``arrays`` hold everything that will be returned.

    With ``drain`` the saved states are not returned, but handed over while the chunk runs, ``room``
    times at once: drain(rows, first member, index of the first time, states).
    """

    def __init__(
        self, task: Task, mover: Mover, first: int, last: int, drain: Any = None, room: int = 1
    ):
        self.task, self.mover, self.first, self.last = task, mover, first, last
        self.rows = task.members.rows(first, last)
        self.groups: list[Group] = mover.start(self.rows)
        self.row, self.done = 0, 0.0  # the next row; the position of the members
        self.seen = mover.begun(self.groups, self.rows)  # of the last row that was looked at
        self.lost = np.full(last - first, np.inf)  # since when there is no attitude
        self.drain = drain
        n, count = last - first, -(-(last - first) // GROUP)
        saved, reduced = int(task.at_save.sum()), int(task.at_reduce.sum())
        rows = saved if drain is None else room
        self.arrays: Arrays = {"states": np.empty((rows, n, task.width))}
        if task.reductions:
            self.arrays["count"] = np.zeros((reduced, count))
            self.arrays |= {key: np.full((reduced, n), np.nan) for key in task.by_value}
        for key in task.events:
            self.arrays[key] = np.full(n, np.nan)
            self.arrays[f"{key} before"] = np.full(n, np.nan)
        if task.events:
            self.arrays["before"] = self.rows.states.copy()

    # ---- rows
    def run(
        self, report: Callable[[float], None] | None = None, saver: "EnsembleSaver | None" = None
    ) -> Arrays:
        """Run all rows that are left; ``report`` is called with the fraction of members done."""
        count, rows = self.task.members.count, len(self.task.times)
        begin, share = self.first / count, (self.last - self.first) / count
        while self.row < rows:
            self.next(inf if saver is None else saver.limit(self))
            if report is not None:
                report(begin + share * self.row / rows)
            if saver is not None:
                saver.after(self)
        return self.result()

    @property
    def steps(self) -> int:
        """The number of steps so far; of members with steps of their own the most."""
        return self.mover.steps(self.groups, self.done)

    def next(self, limit: float = inf) -> None:
        """Go to the next row and record it; or only to ``limit``, if that comes first."""
        task, row, mover = self.task, self.row, self.mover
        self.done = mover.advance(self.groups, self.done, row, limit)
        if limit < inf and self.done < mover.position(row):
            return
        if task.at_save[row] or task.at_reduce[row] or task.at_event[row]:
            states, status = self._states(row)
            before = task.rows_before[:, row].tolist()
            if task.at_save[row]:
                self._save(before[0], states)
            if task.at_reduce[row] or task.at_event[row]:
                own = states[:, : task.members.width]
                snapshot = Snapshot(task.members, self.rows, float(task.times[row]), own)
                if task.at_reduce[row]:
                    self._reduce(before[1], snapshot, status == OK)
                if task.at_event[row]:
                    self._look_for_events(row, snapshot, status == OK)
        self.row += 1

    def _states(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """(states, status) at a row; a member without an attitude stays where it had one.

        A map cannot lose it between two rows and have one again, so its last row is enough.
        """
        states, status = self.mover.states(self.groups, row)
        bound = self.task.bound
        assert bound is not None
        last = row == len(self.task.times) - 1 and getattr(bound.method, "keeps_unit", True)
        if bound.variables is not None or last:
            with np.errstate(over="ignore", invalid="ignore"):
                square = np.einsum("ij,ij->i", states[:, :4], states[:, :4])
            if (bad := ~(abs(square - 1.0) < ROUNDING)).any():
                states[bad], status[bad & (status == OK)] = self.seen[bad], NO_ATTITUDE
                self.lost[bad] = np.minimum(self.lost[bad], row)
        self.seen = states
        return states, status

    def _save(self, place: int, states: np.ndarray) -> None:
        rows, room = self.arrays["states"], len(self.arrays["states"])
        rows[place % room] = states
        full = place % room == room - 1 or place == self.task.at_save.sum() - 1
        if self.drain is not None and full:
            self.drain(self.rows, self.first, place - place % room, rows[: place % room + 1])

    def _reduce(self, place: int, snapshot: Snapshot, good: np.ndarray) -> None:
        task, arrays, all_good = self.task, self.arrays, good.all()
        bounds = [(a, a + GROUP) for a in range(0, len(good), GROUP)]
        arrays["count"][place] = [good[a:b].sum() for a, b in bounds]
        for key, one in task.by_group.items():
            values = task.values(key, one, snapshot)
            parts = [
                one.part(values[a:b] if all_good else values[a:b][good[a:b]]) for a, b in bounds
            ]
            if key not in arrays:
                shape = int(task.at_reduce.sum()), len(bounds), len(parts[0])
                arrays[key] = np.zeros(shape)
            arrays[key][place] = parts
        for key, whole in task.by_value.items():
            values = task.values(key, whole, snapshot)[:, 0]
            arrays[key][place] = np.where(good, values, np.nan)

    def _look_for_events(self, row: int, snapshot: Snapshot, good: np.ndarray) -> None:
        for key, event in self.task.events.items():
            values = self.task.values(key, event, snapshot)[:, 0]
            now = np.where(good, values, np.nan)
            found, before = self.arrays[key], self.arrays[f"{key} before"]
            direction = float(getattr(event.of, "direction", 0))
            crossed = np.isnan(found) & (before * now <= 0) & (before != 0)
            crossed &= direction * (now - before) >= 0
            places = np.flatnonzero(crossed)
            if len(places):
                found[places] = self._zeros(row, places, key, before[places], now[places])
            # a value of 0 at the start is not a zero; later it keeps the sign from before
            self.arrays[f"{key} before"] = np.where(now == 0, before, now)
        self.arrays["before"] = snapshot.states.copy()

    def _zeros(
        self, row: int, places: np.ndarray, key: str, low: np.ndarray, high: np.ndarray
    ) -> np.ndarray:
        """Times of zeros between the last row that was searched and this one."""
        task, function = self.task, self.task.functions[key]
        earlier = np.flatnonzero(task.at_event[:row])[-1]
        start, end = float(task.times[earlier]), float(task.times[row])
        rows, before = self.rows[places], self.arrays["before"][places]

        def values(times):
            states = self.mover.between(rows, before, start, times)
            return function(times, Snapshot(task.members, rows, 0.0, states).event_rows)

        count = len(places)
        return find_zeros(values, np.full(count, start), np.full(count, end), low, high)

    # ---- results
    def result(self) -> Arrays:
        reached = self.mover.reached(self.groups, len(self.task.times) - 1)
        if (bad := self.lost < np.inf).any():
            status, t = reached.status.copy(), reached.t.copy()
            status[bad & (status == OK)] = NO_ATTITUDE
            t[bad] = self._before(self.lost[bad])
            reached = reached._replace(status=status, t=t)
        out = {key: value for key, value in self.arrays.items() if not key.endswith("before")}
        if self.task.growth:
            gauges = self._gauges(reached)
            out |= {key: one.of_gauges(gauges) for key, one in self.task.growth.items()}
        if self.drain is not None:
            del out["states"]
        return out | {f"reached {name}": x for name, x in reached._asdict().items()}

    def _gauges(self, reached: Reached) -> Gauges:
        """What the gauges of tangents show at the end, and when they were looked at last."""
        mover, gauge = self.mover, self.task.gauge
        assert isinstance(mover, TangentMover)
        assert gauge is not None
        looks = np.minimum(reached.nsteps, mover.plan.ends[-1]) // gauge.every
        found = np.moveaxis(mover.gauges(self.groups)[:, :, tangents.LENGTH :], -1, 0)
        return Gauges(looks * gauge.every * abs(mover.plan.h), *found)

    def _before(self, rows: np.ndarray) -> np.ndarray:
        """Times of the rows that were looked at before these; of the start if there is none."""
        task = self.task
        looked = np.flatnonzero(task.at_save | task.at_reduce | task.at_event)
        places = np.searchsorted(looked, rows) - 1
        return np.where(places < 0, task.t0, task.times[looked[places]])

    # ---- checkpoints
    @property
    def _event_arrays(self) -> list[str]:
        """The arrays that do not grow row by row."""
        own = [f"{key}{ending}" for key in self.task.events for ending in ("", " before")]
        return [*own, *(["before"] if own else [])]

    def state(self) -> Arrays:
        """What is needed to go on later, besides the rows of ``arrays`` so far."""
        found = {f"kept {key}": self.arrays[key] for key in self._event_arrays}
        if self.drain is not None and self.row < len(self.task.times):  # not yet handed over
            room = len(self.arrays["states"])
            waiting = int(self.task.rows_before[0, self.row]) % room
            found["waiting"] = self.arrays["states"][:waiting]
        found["place"] = np.array([self.row, self.done], dtype=float)
        if self.row > 0:
            found |= {"seen": self.seen, "lost": self.lost}
        return found | {f"blocks {i}": group.blocks for i, group in enumerate(self.groups)}

    def restore(self, state: Mapping[str, np.ndarray], rows: Mapping[str, np.ndarray]) -> None:
        """Go on from ``state``; ``rows`` are those of ``arrays`` up to there."""
        self.row, self.done = int(state["place"][0]), float(state["place"][1])
        if not 0 <= self.done <= self.mover.position(self.row):
            raise ValueError(f"members are at {self.done}, beyond row {self.row}")
        if "seen" in state:  # not at the start, and not in files of 0.1.0
            self.seen = np.array(self.seen)
            _fill(self.seen, state["seen"])
            _fill(self.lost, state["lost"])
        self.arrays |= {key: np.array(value) for key, value in rows.items()}
        for key in self._event_arrays:
            _fill(self.arrays[key], state[f"kept {key}"])
        if "waiting" in state:
            _fill(self.arrays["states"][: len(state["waiting"])], state["waiting"])
        for i, group in enumerate(self.groups):
            _fill(group.blocks, state[f"blocks {i}"])


def _fill(room: np.ndarray, values: np.ndarray) -> None:
    """Put values into an array of the same shape."""
    if room.shape != values.shape:
        raise ValueError(f"an array of shape {values.shape} instead of {room.shape}")
    room[...] = values


def find_zeros(values, low, high, f_low, f_high):
    """Zeros of many functions at once, each between its ``low`` and ``high`` (Illinois rule).

    Each iteration ends with its own bracket, independently of the others.
    """
    a, b, fa, fb = low.copy(), high.copy(), f_low.copy(), f_high.copy()
    found, going = high.copy(), f_high != 0
    for _ in range(100):
        with np.errstate(all="ignore"):
            x = b - fb * (b - a) / (fb - fa)
        inside = (x > np.minimum(a, b)) & (x < np.maximum(a, b))
        x = np.where(inside, x, 0.5 * (a + b))
        found = np.where(going, x, found)
        narrow = np.abs(b - a) <= 4 * np.spacing(np.maximum(np.abs(a), np.abs(b)))
        going &= ~(narrow | (x == a) | (x == b))
        if not going.any():
            break
        fx = values(found)
        other = fx * fb < 0
        a, fa = np.where(other, b, a), np.where(other, fb, 0.5 * fa)
        b, fb = x, fx
        going &= fx != 0
    return found
