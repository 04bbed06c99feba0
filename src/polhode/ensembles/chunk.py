"""A chunk of the members of an ensemble on its way: what is saved of it, and what is reduced.

A chunk begins at a multiple of ``GROUP`` members, so that no group is ever divided.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any, Protocol

import numpy as np

from polhode import loops
from polhode.compiler.machine import CompiledOrPlain, take
from polhode.compiler.tree import bind
from polhode.contracts import OK, ORIGIN, Model, potential_at
from polhode.ensembles.distributions import GROUP
from polhode.ensembles.members import Members, Rows
from polhode.ensembles.movers import Crowd, Herd, crowd_of
from polhode.ensembles.reductions import FirstTime, Quantiles, Reduction
from polhode.kernels.quaternion import conjugate, product, to_inertial
from polhode.solvers.entry import prepare
from polhode.solvers.events import watched

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Task:
    """All that a chunk needs to know, wherever it runs."""

    members: Members
    arguments: Mapping[str, Any]  # of ``prepare``
    t0: float
    t1: float
    times: np.ndarray  # of all rows
    saved: np.ndarray  # whether all states of a row are kept
    reduced: np.ndarray  # whether a row is reduced
    looked: np.ndarray  # whether it is looked at for events
    reductions: tuple[Reduction, ...]

    def crowd(self, threads: int) -> Crowd:
        solver = prepare(self.members.problem, **self.arguments)
        made = crowd_of(solver, self.members.is_aligned, threads)
        made.stops(self.t0, self.t1, self.times)
        return made

    @cached_property
    def places(self) -> np.ndarray:
        """How many rows before each one are saved, and how many reduced."""
        both = np.stack([self.saved, self.reduced])
        return np.cumsum(both, axis=1) - both

    @cached_property
    def by_groups(self) -> list[Reduction]:
        return [r for r in self.reductions if not isinstance(r, (Quantiles, FirstTime))]

    @cached_property
    def quantiles(self) -> list[Quantiles]:
        return [r for r in self.reductions if isinstance(r, Quantiles)]

    @cached_property
    def first_times(self) -> list[FirstTime]:
        return [r for r in self.reductions if isinstance(r, FirstTime)]

    @cached_property
    def functions(self) -> dict[str, Callable]:
        """(times, rows) -> values, of the functions that a user gave."""
        made = {}
        for reduction in self.reductions:
            if not isinstance(reduction.of, str):
                watch = watched(reduction.of, f"reduce: the function of {reduction.key}")
                assert watch is not None
                made[reduction.key] = watch.events[0].values
        return made


def member_potentials(t, rows, pattern, tables, out):
    """The potential energy of every member: rows (state, body, numbers)."""
    for i in range(len(rows)):
        (q, _, x, _), body, numbers = seen(take(rows, i, 0, pattern))
        out[i] = potential_at(t, q, x, body, (numbers, tables))


def seen(member):
    """A stub: ((q, m, x, p), body, numbers) of a member that does not move."""
    (q, m), body, numbers = member
    return (q, m, ORIGIN, ORIGIN), body, numbers


def seen_moving(member):
    return member


class Quantities:
    """What can be said of some members, from their states in principal axes."""

    def __init__(self, members: Members, rows: Rows):
        self.rows, self.problem, self.aligned = rows, members.problem, members.is_aligned
        self.inverse, self.axes = rows.bodies[:, 3:6], tuple(rows.bodies[:, 6:10].T)

    def at(self, t: float, states: np.ndarray) -> "Seen":
        return Seen(self, t, states)

    @cached_property
    def potentials(self) -> CompiledOrPlain:
        return _potentials(self.problem.model, self.aligned, self.problem.moves)


class Seen:
    """Quantities at one time, each computed when it is asked for, in the user's axes."""

    def __init__(self, about: Quantities, t: float, states: np.ndarray):
        self.about, self.t, self.states = about, t, states

    def __getitem__(self, name: str) -> np.ndarray:
        return getattr(self, name)

    def _outer(self, v: np.ndarray) -> np.ndarray:
        if self.about.aligned:
            return v
        return np.stack(to_inertial(self.about.axes, tuple(v.T)), axis=1)

    def _inertial(self, v: np.ndarray) -> np.ndarray:
        return np.stack(to_inertial(tuple(self.states[:, :4].T), tuple(v.T)), axis=1)

    @cached_property
    def q(self) -> np.ndarray:
        q = self.states[:, :4]
        if self.about.aligned:
            return q
        return np.stack(product(tuple(q.T), conjugate(self.about.axes)), axis=1)

    @property
    def angular_momentum(self) -> np.ndarray:
        return self._outer(self.states[:, 4:7])

    @cached_property
    def omega(self) -> np.ndarray:
        return self._outer(self.states[:, 4:7] * self.about.inverse)

    @property
    def omega_inertial(self) -> np.ndarray:
        return self._inertial(self.states[:, 4:7] * self.about.inverse)

    @property
    def angular_momentum_inertial(self) -> np.ndarray:
        return self._inertial(self.states[:, 4:7])

    @property
    def speed(self) -> np.ndarray:
        return np.linalg.norm(self.omega, axis=1, keepdims=True)

    @property
    def position(self) -> np.ndarray:
        return self.states[:, 7:10]

    @property
    def velocity(self) -> np.ndarray:
        return self.states[:, 10:13] * self.about.rows.bodies[:, 11:12]

    @cached_property
    def kinetic_energy(self) -> np.ndarray:
        m = self.states[:, 4:7]
        turning = 0.5 * (m * m * self.about.inverse).sum(axis=1, keepdims=True)
        if self.states.shape[1] == 7:
            return turning
        p = self.states[:, 10:13]
        return turning + 0.5 * (p * p * self.about.rows.bodies[:, 11:12]).sum(1, keepdims=True)

    @property
    def energy(self) -> np.ndarray:
        model, rows = self.about.problem.model, self.about.rows
        pattern = self.about.problem.state, self.about.problem.body.data, model.numbers
        table = np.hstack([self.states, rows.bodies, rows.numbers])
        out = np.empty(len(table))
        self.about.potentials(self.t, table, pattern, model.tables, out)
        return self.kinetic_energy + out[:, None]

    def of(self, reduction: Reduction, functions: Mapping[str, Callable]) -> np.ndarray:
        """The values of the quantity of a reduction, (members, components)."""
        if isinstance(reduction.of, str):
            return self[reduction.of]
        times = np.full(len(self.states), self.t)
        return functions[reduction.key](times, self.for_events)[:, None]

    @cached_property
    def for_events(self) -> np.ndarray:
        """Rows (q, omega), and (x, v) if they move."""
        place = (self.position, self.velocity) if self.states.shape[1] > 7 else ()
        return np.hstack([self.q, self.omega, *place])


_known: dict = {}


def _potentials(model: Model, aligned: bool, moving: bool) -> CompiledOrPlain:
    key = model.potential, model.potential_at, aligned, moving
    if key not in _known:
        template = bind(member_potentials, {seen: seen_moving} if moving else {})
        _known[key] = loops.build(template, None, model, aligned)
    return _known[key]


class Keeper(Protocol):
    """What keeps a chunk on its way: where it shall make a break, and what is done there."""

    def to(self, chunk: "Chunk") -> float: ...

    def passed(self, chunk: "Chunk") -> None: ...


class Chunk:
    """Members from ``first`` to ``last``; ``kept`` holds everything that will be returned.

    With ``drain`` the saved states are not returned, but handed over on the way, ``room`` times at
    once: drain(place of the first one, states).
    """

    def __init__(
        self, task: Task, first: int, last: int, threads: int = 1, drain: Any = None, room: int = 1
    ):
        self.task, self.first, self.last = task, first, last
        self.crowd = task.crowd(threads)
        self.rows = task.members.rows(first, last)
        self.about = Quantities(task.members, self.rows)
        self.herds: list[Herd] = self.crowd.start(self.rows)
        self.row, self.done = 0, 0.0  # the next row; how far the members are
        self.drain = drain
        n, groups = last - first, -(-(last - first) // GROUP)
        saved, reduced = int(task.saved.sum()), int(task.reduced.sum())
        width = self.rows.states.shape[1]
        rows = saved if drain is None else room
        self.kept: Arrays = {"states": np.empty((rows, n, width))}
        if task.reductions:
            self.kept["count"] = np.zeros((reduced, groups))
        for reduction in task.quantiles:
            self.kept[reduction.key] = np.full((reduced, n), np.nan)
        for event in task.first_times:
            self.kept[event.key] = np.full(n, np.nan)
            self.kept[f"{event.key} before"] = np.full(n, np.nan)
        if task.first_times:
            self.kept["before"] = self.rows.states.copy()
        self._groups = groups

    # ---- rows
    def run(
        self, after: Callable[[int], None] = lambda row: None, keeper: Keeper | None = None
    ) -> Arrays:
        """All rows that are left; ``after(row)`` is called behind each."""
        while self.row < len(self.task.times):
            self.next(inf if keeper is None else keeper.to(self))
            after(self.row)
            if keeper is not None:
                keeper.passed(self)
        return self.result()

    @property
    def steps(self) -> int:
        """How many there were; of members with steps of their own the most."""
        return self.crowd.steps(self.herds, self.done)

    def next(self, to: float = inf) -> None:
        """Go to the next row, and look; or only to ``to``, if the row is behind it."""
        task, row = self.task, self.row
        self.done = self.crowd.go(self.herds, self.done, row, to)
        if self.done < self.crowd.at(row):
            return
        if task.saved[row] or task.reduced[row] or task.looked[row]:
            states, status = self.crowd.states(self.herds, row)
            seen = self.about.at(float(task.times[row]), states)
            if task.saved[row]:
                self._save(int(task.places[0, row]), states)
            if task.reduced[row]:
                self._reduce(int(task.places[1, row]), seen, status == OK)
            if task.looked[row]:
                self._look(row, seen, status == OK)
        self.row += 1

    def _save(self, place: int, states: np.ndarray) -> None:
        rows, room = self.kept["states"], len(self.kept["states"])
        rows[place % room] = states
        full = place % room == room - 1 or place == self.task.saved.sum() - 1
        if self.drain is not None and full:
            self.drain(place - place % room, rows[: place % room + 1])

    def _reduce(self, place: int, seen: Seen, good: np.ndarray) -> None:
        bounds, all_good = [(a, a + GROUP) for a in range(0, len(good), GROUP)], good.all()

        def some(values, a, b):
            return values[a:b] if all_good else values[a:b][good[a:b]]

        self.kept["count"][place] = [good[a:b].sum() for a, b in bounds]
        for reduction in self.task.by_groups:
            values = seen.of(reduction, self.task.functions)
            parts = [reduction.part(some(values, a, b)) for a, b in bounds]
            if reduction.key not in self.kept:
                shape = int(self.task.reduced.sum()), self._groups, len(parts[0])
                self.kept[reduction.key] = np.zeros(shape)
            self.kept[reduction.key][place] = parts
        for reduction in self.task.quantiles:
            values = seen.of(reduction, self.task.functions)[:, 0]
            self.kept[reduction.key][place] = np.where(good, values, np.nan)

    def _look(self, row: int, seen: Seen, good: np.ndarray) -> None:
        for reduction in self.task.first_times:
            value = self.task.functions[reduction.key]
            now = np.where(good, seen.of(reduction, self.task.functions)[:, 0], np.nan)
            found, before = self.kept[reduction.key], self.kept[f"{reduction.key} before"]
            direction = float(getattr(reduction.of, "direction", 0))
            crossed = np.isnan(found) & (before * now <= 0) & (before != 0)
            crossed &= direction * (now - before) >= 0
            places = np.flatnonzero(crossed)
            if len(places):
                times = self._zeros(row, places, value, before[places], now[places])
                found[places] = times
            # a value of 0 at the start is no zero; later it has the sign from before
            self.kept[f"{reduction.key} before"] = np.where(now == 0, before, now)
        self.kept["before"] = seen.states.copy()

    def _zeros(self, row, places, value, low, high):
        """Times of zeros between the row looked at before and this one."""
        task = self.task
        earlier = np.flatnonzero(task.looked[:row])[-1]
        start, end = float(task.times[earlier]), float(task.times[row])
        rows, before = self.rows[places], self.kept["before"][places]
        about = Quantities(task.members, rows)

        def values(times):
            states = self.crowd.between(rows, before, start, times)
            return value(times, about.at(0.0, states).for_events)

        return bracketed(values, np.full(len(places), start), np.full(len(places), end), low, high)

    # ---- results
    def result(self) -> Arrays:
        reached = self.crowd.reached(self.herds, len(self.task.times) - 1)
        out = {key: value for key, value in self.kept.items() if not key.endswith("before")}
        if self.drain is not None:
            del out["states"]
        return out | {f"reached {name}": x for name, x in reached._asdict().items()}

    # ---- to be continued
    @property
    def lasting(self) -> list[str]:
        """What of ``kept`` does not grow row by row."""
        own = [f"{event.key}{what}" for event in self.task.first_times for what in ("", " before")]
        return [*own, *(["before"] if own else [])]

    def state(self) -> Arrays:
        """What is needed to go on later, besides the rows of ``kept`` so far."""
        arrays = {f"kept {key}": self.kept[key] for key in self.lasting}
        if self.drain is not None and self.row < len(self.task.times):  # those not yet handed over
            room = len(self.kept["states"])
            arrays["waiting"] = self.kept["states"][: int(self.task.places[0, self.row]) % room]
        arrays["place"] = np.array([self.row, self.done], dtype=float)
        return arrays | {f"blocks {i}": herd.blocks for i, herd in enumerate(self.herds)}

    def restore(self, arrays: Mapping[str, np.ndarray], rows: Mapping[str, np.ndarray]) -> None:
        """Go on where ``state`` was taken; ``rows`` are those of ``kept``."""
        self.row, self.done = int(arrays["place"][0]), float(arrays["place"][1])
        self.kept |= {key: np.array(value) for key, value in rows.items()}
        self.kept |= {key: np.array(arrays[f"kept {key}"]) for key in self.lasting}
        if "waiting" in arrays:
            self.kept["states"][: len(arrays["waiting"])] = arrays["waiting"]
        for i, herd in enumerate(self.herds):
            herd.blocks[:] = arrays[f"blocks {i}"]


def bracketed(values, low, high, f_low, f_high):
    """Zeros of many functions at once, each between its ``low`` and ``high`` (Illinois's rule).

    Each is done when its own bracket is, whatever the others need.
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
