"""The course of an adaptive run: every step it took, and what lies between them."""

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from polhode.compiler.tree import flat, like
from polhode.contracts import OK
from polhode.errors import InputError
from polhode.kernels.vector import scale
from polhode.loops.join import Pursuit
from polhode.solvers.checkpoint import Saver
from polhode.solvers.exact import free_rows

FIRST_ROWS, MOST_ROWS = 1000, 8000  # steps in one call of a compiled loop: Ctrl-C is served between
LOOKS = 8  # at the sign of an attitude inside a step, if it may jump
LOOK = 0.5  # radians between two looks at a closed form
MOST_LOOKS = 1_000_000  # at the sign of a closed form, unless there are events


class Motion(Protocol):
    """A motion that is known: the times of its steps, and rows of states there and at any times."""

    @property
    def times(self) -> np.ndarray: ...

    @property
    def states(self) -> np.ndarray: ...

    def at(self, times: np.ndarray) -> np.ndarray: ...


class Course:
    """Rows (t, t_low, variables) at the start and after every step; the time is t + t_low.

    ``parts`` is a Pursuit or a Joined, ``pattern`` the form of the variables, ``settings`` what a
    side step needs: tolerances, or weights and offsets.
    """

    status, rejected, evaluations, next_step = OK, 0, 0, 0.0
    breaks: Sequence[int] = ()  # rows at breakpoints, between one just before and one just after
    _looks: np.ndarray | None = None

    def __init__(self, parts, rows, pattern, body, params, settings):
        self.parts, self.rows, self.pattern = parts, rows, pattern
        self.body, self.params, self.settings = body, params, settings

    @property
    def times(self) -> np.ndarray:
        return self.rows[:, 0]

    @property
    def nsteps(self) -> int:
        return len(self.rows) - 1 - 2 * len(self.breaks)

    @cached_property
    def states(self) -> np.ndarray:
        """Rows (attitude, momentum, …), the sign of the attitude continuous."""
        states = self._states(self.times, self.rows[:, 2:])
        if not self.parts.continuous:
            _turn_towards(self.looks()[::LOOKS], states)
        return states

    def looks(self) -> np.ndarray:
        """Attitudes of continuous sign at ``LOOKS`` places of each step, and at the end.

        A run that grows is looked at where it is new.
        """
        if self._looks is None:
            self._looks = self._states(self.times[:1], self.rows[:1, 2:])[:, :4]
        known, times = self._looks, self.times[len(self._looks) // LOOKS :]
        if len(times) > 1:
            shares = np.arange(1, LOOKS + 1) / LOOKS
            inner = times[:-1, None] + np.diff(times)[:, None] * shares
            inner[:, -1] = times[1:]
            out, _, _ = self._sampled(inner.ravel(), self.places(inner.ravel()))
            new = self._states(inner.ravel(), out)[:, :4]
            _keep_sign(np.concatenate([known[-1:], new]), new)
            self._looks = np.concatenate([known, new])
        return self._looks

    def places(self, times: np.ndarray) -> np.ndarray:
        """The row at which the step begins in which each time lies."""
        knots = self.times
        if knots[-1] >= knots[0]:
            return np.searchsorted(knots, times, side="right") - 1
        return np.searchsorted(-knots, -times, side="right") - 1

    def at(self, times: np.ndarray) -> np.ndarray:
        """Rows (attitude, momentum, …) at any times of the run."""
        first, last = _check_inside(times, self.times)
        if len(times) == 0:
            return self._states(self.times[:1], self.rows[:1, 2:])[:0]
        order = np.argsort(times if last >= first else -times, kind="stable")
        inner = times[order]
        places = self.places(inner)
        out, good, count = self._sampled(inner, places)
        if good < len(times):
            raise InputError(
                f"t[{order[good]}] = {float(inner[good])!r}: the state there is not finite; the"
                " force is not defined inside this step"
            )
        self.evaluations += count
        states = self._states(inner, out)
        if not self.parts.continuous:
            steps = np.append(np.diff(self.times), 1.0)
            shares = (LOOKS * (inner - self.times[places]) / steps[places]).astype(np.int64)
            _turn_towards(self.looks()[LOOKS * places + np.minimum(shares, LOOKS - 1)], states)
        back = np.empty_like(states)
        back[order] = states
        return back

    def _states(self, times: np.ndarray, rows: np.ndarray) -> np.ndarray:
        return self.parts.states(times, rows, self.body)

    def _sampled(self, times: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, int, int]:
        """(rows of variables at times in order, how many are good, evaluations)."""
        out = np.empty((len(times), self.rows.shape[1] - 2))
        good, count = self.parts.sampled(
            self.rows, places, times, self.settings, *self._patterns, self.body, self.params, out
        )
        out[good:] = np.nan
        return out, good, count

    @cached_property
    def _patterns(self) -> tuple:
        """(state, carry, what is fitted): only their form matters."""
        row = self.rows[0].tolist()
        t, state = row[0] + row[1], like(self.pattern, iter(row[2:]))
        h = (self.rows[-1, 0] - t) / max(self.nsteps, 1)
        carry = self.parts.start(t, h, state, self.body, self.params)
        fitted = ()
        if self.parts.fit is not None:
            fitted, _ = self.parts.fit(t, h, state, carry, state, self.body, self.params)
        return state, carry, fitted


def _check_inside(times: np.ndarray, knots: np.ndarray) -> tuple[float, float]:
    """An error unless all times are between the first and the last knot, which are returned."""
    first, last = float(knots[0]), float(knots[-1])
    wrong = np.flatnonzero(~((times >= min(first, last)) & (times <= max(first, last))))
    if len(wrong):
        raise InputError(
            f"t[{wrong[0]}] = {float(times[wrong[0]])!r} is outside the run, from {first} to {last}"
        )
    return first, last


def _keep_sign(chain: np.ndarray, new: np.ndarray) -> None:
    """Give the attitudes ``new`` a continuous sign; ``chain`` is one before them, and they."""
    turned = np.cumsum(np.einsum("ij,ij->i", chain[1:], chain[:-1]) < 0) % 2
    new *= np.where(turned, -1.0, 1.0)[:, None]


def _turn_towards(near: np.ndarray, states: np.ndarray) -> None:
    """Give each attitude in ``states`` the sign with which it is nearer to ``near``."""
    states[np.einsum("ij,ij->i", states[:, :4], near) < 0, :4] *= -1.0


class Made:
    """A motion that is made when something is asked of it."""

    def __init__(self, make: Callable[[], Course]):
        self._make = make

    @cached_property
    def course(self) -> Course:
        return self._make()

    @property
    def times(self) -> np.ndarray:
        return self.course.times

    @property
    def states(self) -> np.ndarray:
        return self.course.states

    def at(self, times: np.ndarray) -> np.ndarray:
        return self.course.at(times)


class FreeMotion:
    """The closed form of a free motion; ``times`` are near enough to see an event between them.

    The sign of the attitude is continuous along the motion.  Where that would take more looks than
    ``most`` it is continuous from one of the times that are asked for to the next.  A body with a
    position moves on a straight line.
    """

    def __init__(self, body: tuple, state: tuple, t0: float, t1: float, most: float = MOST_LOOKS):
        self.body, self.state, self.t0, self.most = body, state, t0, most
        rate = math.hypot(*scale(body[1], state[1]))
        self.times = np.linspace(t0, t1, 2 + math.ceil(abs(t1 - t0) * rate / LOOK))

    @cached_property
    def states(self) -> np.ndarray:
        return self._rows(self.times)

    def at(self, times: np.ndarray) -> np.ndarray:
        _check_inside(times, self.times)
        rows = self._rows(times)
        if len(self.times) <= self.most:
            shares = (times - self.t0) / (self.times[1] - self.times[0] or 1.0)
            places = np.rint(shares).astype(np.int64).clip(0, len(self.times) - 1)
            _turn_towards(self.states[places, :4], rows)
        return rows

    def _rows(self, times: np.ndarray) -> np.ndarray:
        passed = times - self.t0
        rows = free_rows(self.body, self.state[:2], passed)
        if len(self.state) == 2:
            return rows
        x, p = map(np.array, self.state[2:])
        line = x + passed[:, None] * (self.body[4] * p)
        return np.hstack([rows, line, np.broadcast_to(p, line.shape)])


def row_of_numbers(tolerances: tuple[float, float], largest: float, *numbers: Any) -> np.ndarray:
    """What ``pursue`` takes: state, carry, body and numbers of the force, and the limits."""
    return np.array([flat((numbers, largest, tolerances))])


def row_at_break(t: float, rows: np.ndarray) -> np.ndarray:
    """The last of the rows, at a breakpoint that is just behind it."""
    there = rows[-1:].copy()
    there[0, :2] = t, 0.0
    return there


def pursue(
    parts: Pursuit,
    points: Sequence[float],
    row: np.ndarray,
    state: tuple,
    body: tuple,
    params: tuple,
    tolerances: tuple[float, float],
    first: float,
    report: Callable[[float], None] | None = None,
    stop: Callable[[Course], bool] | None = None,
    begun: tuple | None = None,
    saver: Saver | None = None,
) -> Course:
    """The run from the first of ``points`` to the last, started anew at those between.

    ``row`` is ``row_of_numbers``, and used up; ``first`` the first step, or 0.  ``stop(course)`` is
    asked after so many steps, whatever the calls of the compiled loop.  ``begun``: the first call
    was made already, and this is what it returned, with its rows.  ``saver`` keeps the run in a
    checkpoint, or goes on with one.
    """
    begin, finish, width = points[0], points[-1], 2 + len(state)
    run, tables, at_start = parts.run, params[1], parts.integrator.evaluations_at_start
    t, low, room, pieces, kept, at = begin, 0.0, FIRST_ROWS, [], 0, 1
    course = Course(parts, row, state, body, params, tolerances)
    before = None if saver is None else saver.begun(row, width)
    if before is not None:
        counts, old, numbers = before
        t, low, h = numbers["clock"].tolist()
        pieces, kept, at, room, left = [old], 1, counts["place"], counts["room"], counts["left"]
        course.breaks = tuple(counts["breaks"])
        course.evaluations, course.rejected = counts["evaluations"], counts["rejected"]
        if "status" in counts:
            course.rows, course.status, course.next_step = old, counts["status"], h
            return course
    steps = 0 if before is None else counts["steps"]

    def told(**more: int) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """(counts, numbers) of the run as it is, for a checkpoint."""
        found = {"steps": steps, "place": place, "room": room, "left": left, **more}
        found |= {"breaks": course.breaks, "rejected": course.rejected}
        found["evaluations"] = course.evaluations
        return found, {"row": row, "clock": np.array([t, low, h])}

    for place in range(at, len(points)):
        target, last = points[place], place == len(points) - 1
        end = target if last else math.nextafter(target, t)  # at the break may be either force
        fresh = before is None
        if fresh:
            h, left = math.copysign(first, end - t), room - 1
        before = None
        while True:
            if begun is None:
                ahead = left if saver is None else min(left, saver.left(steps))
                out = np.empty((ahead + 1, width))
                begun = *run(row, t, low, end, h, fresh, tables, out), out
            t, low, h, status, accepted, rejected, starts, count, out = begun
            begun = None
            pieces.append(out[0 if fresh else 1 : accepted + 1])
            steps, left, fresh = steps + accepted, left - accepted, False
            course.evaluations += count + starts * at_start
            course.rejected += rejected
            if report is not None:
                report((t - begin) / (finish - begin) if finish != begin else 1.0)
            if status != OK or (end - t) - low == 0.0:
                break
            if left == 0:
                room = min(4 * room, MOST_ROWS)
                left = room - 1
                if stop is not None:
                    course.rows = np.concatenate(pieces)
                    if stop(course):
                        return _finished(course, saver, told(status=OK))
            if saver is not None and saver.due(steps):
                saver.mark(*told(), np.concatenate(pieces[kept:]))
                kept = len(pieces)
        if status != OK:
            course.status, course.next_step = status, h
            break
        if not last:
            course.breaks = (*course.breaks, sum(map(len, pieces)))
            pieces.append(row_at_break(target, pieces[-1]))
            t, low = math.nextafter(target, finish), 0.0
    course.rows = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
    return _finished(course, saver, told(status=status))


def _finished(course: Course, saver: Saver | None, told: tuple[dict, dict]) -> Course:
    if saver is not None:
        saver.finish(*told, course.rows)
    return course
