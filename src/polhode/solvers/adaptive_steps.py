"""Adaptive runs: how steps are taken, and the states between them."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from polhode.compiler.machine import exactly
from polhode.compiler.tree import gather, spread
from polhode.contracts import ADVICE, NOT_FINITE, OK, Coordinates, Status
from polhode.errors import InputError
from polhode.files.given import damage_refused
from polhode.loops.join import BoundIntegrator
from polhode.loops.rows import ROUNDING
from polhode.solvers.bound import undescribed
from polhode.solvers.checkpoint import Saver
from polhode.solvers.events import Watch
from polhode.solvers.raised import adaptive_steps_before, told

FIRST_ROWS, MOST_ROWS = 1000, 8000  # of one call of a compiled loop, between which Ctrl-C is served
COUNTS = {  # in a checkpoint
    **dict.fromkeys(("steps", "place", "room", "left", "rejected", "evaluations"), int),
    "breaks": [int],
}
LOOKS = 8  # at the sign of an attitude inside a step, where it may jump
SHORTEST = 1e-3  # of the span: how close a run comes to a time at which a user's function raises


class Motion(Protocol):
    """A motion: the times of its steps, and rows of states at these and at any times."""

    @property
    def times(self) -> np.ndarray: ...

    @property
    def states(self) -> np.ndarray: ...

    def at(self, times: np.ndarray) -> np.ndarray: ...


class StepsTaken:
    """Rows (t, t_low, variables) at the start and after every step; the time is t + t_low.

    ``loops`` is a ``BoundIntegrator`` or a ``BoundMethod``, ``pattern`` the form of the variables,
    ``settings`` what a side step needs: tolerances, or weights and offsets.
    """

    status, rejected, evaluations, next_step = OK, 0, 0, 0.0
    raised = ""  # what a user's function raised
    breaks: Sequence[int] = ()  # rows at breakpoints, between one just before and one just after
    _looks: np.ndarray | None = None

    def __init__(
        self,
        loops: Any,
        rows: np.ndarray,
        pattern: tuple,
        body: tuple,
        params: tuple,
        settings: Any,
    ):
        self.loops, self.rows, self.pattern = loops, rows, pattern
        self.body, self.params, self.settings = body, params, settings

    @property
    def times(self) -> np.ndarray:
        return self.rows[:, 0]

    @property
    def nsteps(self) -> int:
        return len(self.rows) - 1 - 2 * len(self.breaks)

    @cached_property
    def states(self) -> np.ndarray:
        """Rows (attitude, momentum, …) of the steps, with attitudes of continuous sign."""
        states = self._states(self.times, self.rows[:, 2:])
        if not self.loops.continuous:
            turn_towards(self.looks()[::LOOKS], states)
        return states

    def keep_attitudes(self) -> None:
        """Drop the rows of a failed run from the first on that is no attitude."""
        good = count_attitudes(self.loops.states, self.times, self.rows[:, 2:], self.body)
        if good == 0:
            raise undescribed(self.loops.formulation)
        self.rows = self.rows[:good]
        self.breaks = tuple(row for row in self.breaks if row + 1 < good)

    def looks(self) -> np.ndarray:
        """Return attitudes of continuous sign at ``LOOKS`` places of each step, and at the end.

        A run that grows is evaluated only where it is new.
        """
        if self._looks is None:
            self._looks = self._states(self.times[:1], self.rows[:1, 2:])[:, :4]
        known, times = self._looks, self.times[len(self._looks) // LOOKS :]
        if len(times) > 1:
            shares = np.arange(1, LOOKS + 1) / LOOKS
            inner = times[:-1, None] + np.diff(times)[:, None] * shares
            inner[:, -1] = times[1:]
            out, *_ = self._sampled(inner.ravel(), self.places(inner.ravel()))
            new = self._states(inner.ravel(), out)[:, :4]
            _keep_sign(np.concatenate([known[-1:], new]), new)
            self._looks = np.concatenate([known, new])
        return self._looks

    def places(self, times: np.ndarray) -> np.ndarray:
        """Return, for each time, the row at which its step begins."""
        knots = self.times
        if knots[-1] >= knots[0]:
            return np.searchsorted(knots, times, side="right") - 1
        return np.searchsorted(-knots, -times, side="right") - 1

    def at(self, times: np.ndarray) -> np.ndarray:
        """Return rows (attitude, momentum, …) at any times of the run."""
        first, last = check_inside(times, self.times)
        order = np.argsort(times if last >= first else -times, kind="stable")
        states, good = self.along(times[order])
        if good < len(states):
            raise InputError(
                f"t[{order[good]}] = {float(times[order[good]])!r}: there is no attitude inside"
                " this step, which is too long for its variables; take a smaller dt or tolerance"
            )
        if good < len(times):
            raise InputError(
                f"t[{order[good]}] = {float(times[order[good]])!r}: the state there is not finite;"
                " the force is not defined inside this step"
            )
        back = np.empty_like(states)
        back[order] = states
        return back

    def along(self, times: np.ndarray) -> tuple[np.ndarray, int]:
        """Return (the states at times in the order of the run, how many are good).

        A step that is too long may have states without an attitude, which are returned, and states
        that are not finite, which are left out, with all after them.
        """
        if len(times) == 0:
            return self._states(self.times[:1], self.rows[:1, 2:])[:0], 0
        out, finite, turned, count = self._sampled(times, self.places(times))
        self.evaluations += count
        states = self._states(times[:finite], out[:finite])
        if not self.loops.continuous:
            self.follow(times[:finite], states)
        return states, turned

    def follow(self, times: np.ndarray, states: np.ndarray) -> None:
        """Give the attitudes of states at some times the sign that they have along the motion."""
        places, steps = self.places(times), np.append(np.diff(self.times), 1.0)
        shares = (LOOKS * (times - self.times[places]) / steps[places]).astype(np.int64)
        looks, near = self.looks(), LOOKS * places + np.clip(shares, 0, LOOKS - 1)
        turn_towards(looks[np.clip(near, 0, len(looks) - 1)], states)

    def _states(self, times: np.ndarray, rows: np.ndarray) -> np.ndarray:
        return self.loops.states(times, rows, self.body)

    def _sampled(self, times: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, int, int, int]:
        """Return rows of variables at ordered times, and what ``loops.sampled`` counts."""
        out = np.empty((len(times), self.rows.shape[1] - 2))
        forms = self.loops.forms
        if forms is None:
            forms = self.loops.forms = self._forms()
        finite, turned, count = self.loops.sampled(
            self.rows, places, times, self.settings, *forms, self.body, self.params, out
        )
        out[finite:] = np.nan
        return out, finite, turned, count

    def _forms(self) -> tuple:
        """Return (state, carry, fitted polynomial); only their form matters."""
        row = self.rows[0].tolist()
        t, state = row[0] + row[1], gather(self.pattern, iter(row[2:]))
        h = (self.rows[-1, 0] - t) / max(self.nsteps, 1)
        carry = self.loops.start(t, h, state, self.body, self.params)
        fitted = ()
        if self.loops.fit is not None:
            fitted, _ = self.loops.fit(t, h, state, carry, state, self.body, self.params)
        return state, carry, fitted


def count_attitudes(states: Callable, times: np.ndarray, rows: np.ndarray, body: tuple) -> int:
    """Return the number of rows before the first whose attitude is not of length 1.

    ``states(times, rows, body)`` makes states of rows of variables.
    """
    for count in range(len(rows), 0, -1):
        try:
            q = states(times[:count], rows[:count], body)[:, :4]
        except ArithmeticError:  # of the last row, in plain Python
            continue
        return count_units(q)
    return 0


def count_units(states: np.ndarray) -> int:
    """Return the number of rows before the first whose attitude is not of length 1."""
    q = states[:, :4]
    off = np.einsum("ij,ij->i", q, q) - 1.0
    if off @ off < ROUNDING * ROUNDING:  # then each of them is small: quick, and false for NaN
        return len(q)
    good = abs(off) < ROUNDING
    return len(q) if good.all() else int(np.argmin(good))


def check_inside(times: np.ndarray, knots: np.ndarray) -> tuple[float, float]:
    """Return the first and the last knot; raise an error if a time is not between them."""
    first, last = float(knots[0]), float(knots[-1])
    wrong = np.flatnonzero(~((times >= min(first, last)) & (times <= max(first, last))))
    if len(wrong):
        raise InputError(
            f"t[{wrong[0]}] = {float(times[wrong[0]])!r} is outside the run, from {first} to {last}"
        )
    return first, last


def _keep_sign(chain: np.ndarray, new: np.ndarray) -> None:
    """Give the attitudes ``new`` a continuous sign; ``chain`` is one before them and they."""
    turned = np.cumsum(np.einsum("ij,ij->i", chain[1:], chain[:-1]) < 0) % 2
    new *= np.where(turned, -1.0, 1.0)[:, None]


def turn_towards(near: np.ndarray, states: np.ndarray) -> None:
    """Give each attitude in ``states`` the sign with which it is nearer to ``near``."""
    states[np.einsum("ij,ij->i", states[:, :4], near) < 0, :4] *= -1.0


def differentiated(
    values: Callable[[np.ndarray], np.ndarray],
    times: np.ndarray,
    spacing: np.ndarray,
    low: Any,
    high: Any,
) -> np.ndarray:
    """Return the slopes at some times of rows of values, by differences over five times (h⁴).

    The five lie between ``low`` and ``high``, ``spacing`` apart.
    """
    d = np.minimum(spacing, (high - low) / 4)
    middle = np.clip(times, low + 2 * d, high - 2 * d)
    shifts = np.arange(-2.0, 3.0)
    nodes = np.clip(middle[:, None] + d[:, None] * shifts, low, high)
    found = values(nodes.ravel()).reshape(len(times), 5, -1)
    x = (times - middle) / d
    powers = np.vander(shifts, 5, increasing=True).T  # row j: shifts^j
    slopes = np.stack([j * x ** max(j - 1, 0) if j else 0 * x for j in range(5)], axis=1)
    weights = np.linalg.solve(powers[None], slopes[..., None])[..., 0] / d[:, None]
    return np.einsum("ij,ijk->ik", weights, found)


class DeferredSteps:
    """A motion whose steps are made on demand."""

    def __init__(self, make: Callable[[], StepsTaken]):
        self._make = make

    @cached_property
    def taken(self) -> StepsTaken:
        return self._make()

    @property
    def times(self) -> np.ndarray:
        return self.taken.times

    @property
    def states(self) -> np.ndarray:
        return self.taken.states

    def at(self, times: np.ndarray) -> np.ndarray:
        return self.taken.at(times)


class GrowingRows:
    """Rows that are appended to an array; one twice as long replaces it when it is full."""

    def __init__(self, rows: np.ndarray):
        self._room, self.count = rows, len(rows)

    @property
    def rows(self) -> np.ndarray:
        return self._room[: self.count]

    def append(self, rows: np.ndarray) -> None:
        count = self.count + len(rows)
        if count > len(self._room):
            room = np.empty((max(count, 2 * len(self._room)), rows.shape[1]))
            room[: self.count] = self.rows
            self._room = room
        self._room[self.count : count] = rows
        self.count = count


def row_at_break(t: float, rows: np.ndarray) -> np.ndarray:
    """Return the last of the rows, at a breakpoint just behind it."""
    there = rows[-1:].copy()
    there[0, :2] = t, 0.0
    return there


# ---- runs
def whole_run(loops: BoundIntegrator, width: int, first_step: float, max_steps: int) -> Callable:
    """Return a function of (row, t0, t1, tables) that takes all steps in one call of the loop.

    It returns (rows, (accepted, rejected, evaluations)); or None and what ``AdaptiveRun.begun``
    is, if the run needs more calls.  Rows are copied from an array that is kept for the next run:
    most runs are much shorter than there is room for.
    """
    at_start = loops.integrator.evaluations_at_start
    spare: list[np.ndarray] = []
    known: tuple[Any, Any] = None, None  # tables, and the loop for them and no others

    def run(row: np.ndarray, t0: float, t1: float, tables: tuple) -> tuple:
        nonlocal known
        try:
            out = spare.pop()
        except IndexError:
            out = np.empty((FIRST_ROWS, width))
        h = first_step if t1 >= t0 else -first_step
        its, loop = known
        try:
            if tables is its:
                begun = loop(row, t0, 0.0, t1, h, True, tables, max_steps, out)
            else:
                args = row, t0, 0.0, t1, h, True, tables, max_steps, out
                begun = loops.run(*args)
                known = tables, exactly(loops.run, *args)
        except Exception as error:
            if not loops.force.user:
                raise
            args = row, t0, 0.0, t1, h, True, tables, max_steps, out
            begun = adaptive_steps_before(error, args)
            return None, begun and (*begun, out)
        t, t_low, _, status, accepted, rejected, starts, count = begun
        if status != OK or (t1 - t) - t_low != 0.0:
            return None, (*begun, out)
        rows = out[: accepted + 1].copy()
        spare.append(out)
        return rows, (accepted, rejected, count + starts * at_start)

    return run


def run_adaptive(
    run: "AdaptiveRun",
    report: Callable[[float], None] | None = None,
    look: Callable[[StepsTaken], bool] | None = None,
    saver: Saver | None = None,
) -> StepsTaken:
    """Integrate to the last point of a run, restarting at the breakpoints.

    ``report`` gets the fraction done.  ``look`` searches the steps for events, after numbers of
    steps that do not depend on the calls of the compiled loop, and returns whether to stop.
    ``saver`` stores the run in a checkpoint, or continues from one.
    """
    if saver is not None and run.restore(saver):
        return run.taken
    going = True
    while going:
        run.advance(saver)
        if report is not None:
            report(run.fraction)
        if run.at_end:
            going = run.next_stretch()
        elif run.left == 0 and run.stops(look):
            going = False
        elif saver is not None and saver.due(run.steps):
            run.save(saver)
    return run.finish(saver)


class AdaptiveRun:
    """An adaptive run under way: where it is, and the rows so far.

    Between two ``points`` lies a stretch, which a run starts with a first step of its own; the
    points between the first and the last are breakpoints.  ``row`` is that of ``Bound``, and used
    up; ``first_step`` may be 0; ``max_steps`` counts accepted and rejected trials.  ``begun`` is
    the result of a first call of the compiled loop, with its rows, if it was made already.
    """

    begun: tuple | None = None
    status, fresh, end = OK, True, 0.0

    def __init__(
        self,
        loops: BoundIntegrator,
        points: Sequence[float],
        row: np.ndarray,
        first: tuple,
        body: tuple,
        params: tuple,
        tolerances: tuple[float, float],
        first_step: float,
        max_steps: int,
    ):
        self.taken = StepsTaken(loops, row, first, body, params, tolerances)
        self.loops, self.points, self.row, self.tables = loops, points, row, params[1]
        self.width, self.first_step, self.max_steps = 2 + len(spread(first)), first_step, max_steps
        self.t, self.low, self.h = points[0], 0.0, 0.0
        self.kept = GrowingRows(np.empty((0, self.width)))
        self.saved = self.steps = self.left = 0  # rows in the journal, steps, rows that are left
        self.room, self.place = FIRST_ROWS, 1
        self._start_stretch()

    # ---- stepping
    def advance(self, saver: Saver | None) -> None:
        """Call the compiled loop once, at most to the next checkpoint."""
        begun, self.begun = self.begun, None
        if begun is None:
            ahead = self.left if saver is None else min(self.left, saver.left(self.steps))
            begun = self._call(ahead)
        self.t, self.low, self.h, self.status, accepted, rejected, starts, count, out = begun
        new = out[0 if self.fresh else 1 : accepted + 1]
        if self.kept.count == 0:
            self.kept = GrowingRows(new)
        else:
            self.kept.append(new)
        self.steps, self.left, self.fresh = self.steps + accepted, self.left - accepted, False
        self.taken.evaluations += count + starts * self.loops.integrator.evaluations_at_start
        self.taken.rejected += rejected

    def _call(self, ahead: int) -> tuple:
        """Call the compiled loop, with fewer and shorter steps if a user's function raises."""
        run, where = self.loops.run, (self.row, self.t, self.low)
        out, end = np.empty((ahead + 1, self.width)), self.end
        least = SHORTEST * abs(self.points[-1] - self.points[0])
        most = self.max_steps - self.steps - self.taken.rejected
        while True:
            now = *where, end, self.h, self.fresh, self.tables, most, out[: ahead + 1]
            try:
                return *run(*now), out
            except Exception as error:
                if (known := adaptive_steps_before(error, now)) is not None:
                    return *known, out
                if ahead == 1 and abs(end - self.t) <= least:
                    self.taken.raised = told(run, error, now)
                    out[0] = *where[1:], *self.row[0, : self.width - 2]
                    return self.t, self.low, self.h, NOT_FINITE, 0, 0, 0, 0, out
                if ahead == 1:
                    end = self.t + 0.5 * (end - self.t)
                ahead = max(1, ahead // 2)

    @property
    def at_end(self) -> bool:
        """Whether the stretch is done, or has failed."""
        return self.status != OK or (self.end - self.t) - self.low == 0.0

    @property
    def fraction(self) -> float:
        begin, finish = self.points[0], self.points[-1]
        return (self.t - begin) / (finish - begin) if finish != begin else 1.0

    # ---- stretches, from breakpoint to breakpoint
    def _start_stretch(self) -> None:
        self._find_end()
        self.fresh = True
        self.h, self.left = math.copysign(self.first_step, self.end - self.t), self.room - 1

    def _find_end(self) -> None:
        target = self.points[self.place]  # at a breakpoint the force may be either one
        last = self.place == len(self.points) - 1
        self.end = target if last else math.nextafter(target, self.t)

    def next_stretch(self) -> bool:
        """Pass the breakpoint at the end of a stretch; return False if there is none."""
        if self.status != OK:
            self.taken.status, self.taken.next_step = self.status, self.h
            return False
        if self.place == len(self.points) - 1:
            return False
        target = self.points[self.place]
        self.taken.breaks = (*self.taken.breaks, self.kept.count)
        self.kept.append(row_at_break(target, self.kept.rows))
        self.t, self.low = math.nextafter(target, self.points[-1]), 0.0
        self.place += 1
        self._start_stretch()
        return True

    # ---- events
    def stops(self, look: Callable[[StepsTaken], bool] | None) -> bool:
        """Search the rows for a terminal event, when there is no more room for others."""
        self.room = min(4 * self.room, MOST_ROWS)
        self.left = self.room - 1
        if look is None:
            return False
        self.taken.rows = self.kept.rows
        return look(self.taken)

    # ---- checkpoints
    def restore(self, saver: Saver) -> bool:
        """Continue from a checkpoint, if there is one; return whether that run had finished."""
        with damage_refused(saver.path):
            found = saver.restore(self.row, self.width, COUNTS)
            if found is None:
                return False
            counts, rows, numbers = found
            self.t, self.low, self.h = numbers["clock"].tolist()
            self._check(counts, rows)
        self.kept, self.saved, self.steps = GrowingRows(rows), len(rows), counts["steps"]
        self.place, self.room, self.left = counts["place"], counts["room"], counts["left"]
        self.taken.breaks = tuple(counts["breaks"])
        self.taken.evaluations, self.taken.rejected = counts["evaluations"], counts["rejected"]
        if "status" in counts:
            self.taken.rows, self.taken.status = rows, counts["status"]
            self.taken.next_step = self.h
            return True
        self._find_end()
        self.fresh = False
        return False

    def _check(self, counts: Mapping[str, Any], rows: np.ndarray) -> None:
        """Raise an error unless the counts and the clock of a checkpoint fit its rows."""
        points, place, breaks = self.points, counts["place"], counts["breaks"]
        forward = 1.0 if points[-1] >= points[0] else -1.0
        times = rows[:, 0]
        fits = 1 <= place < len(points) and np.isfinite([self.t, self.low, self.h]).all()
        fits = fits and len(rows) and times[0] == points[0]
        fits = fits and (forward * np.diff(times) >= 0).all()
        fits = fits and all(a < b for a, b in pairwise([0, *breaks, len(rows)]))
        if "status" in counts:
            Status(counts["status"])
        else:
            ahead = forward * (points[place] - self.t) >= 0 < forward * self.h
            fits = fits and ahead and len(breaks) == place - 1
            fits = fits and (self.t, self.low) == (*rows[-1, :2],)
            fits = fits and 0 < counts["left"] < counts["room"] <= MOST_ROWS
        if not fits:
            raise ValueError(f"its counts {dict(counts)} do not fit its {len(rows)} rows")

    def save(self, saver: Saver) -> None:
        """Write a checkpoint with the rows since the last one."""
        saver.mark(self._counts(), self._numbers(), self.kept.rows[self.saved :])
        self.saved = self.kept.count

    def finish(self, saver: Saver | None) -> StepsTaken:
        """Put the rows together, and into the checkpoint."""
        self.taken.rows = self.kept.rows
        if self.status != OK:
            self.taken.keep_attitudes()
        if saver is not None and not self.taken.raised:
            saver.finish(self._counts(status=self.status), self._numbers(), self.taken.rows)
        return self.taken

    def _counts(self, **more: int) -> dict[str, Any]:
        return {
            "steps": self.steps,
            "place": self.place,
            "room": self.room,
            "left": self.left,
            **more,
            "breaks": self.taken.breaks,
            "rejected": self.taken.rejected,
            "evaluations": self.taken.evaluations,
        }

    def _numbers(self) -> dict[str, np.ndarray]:
        return {"row": self.row, "clock": np.array([self.t, self.low, self.h])}


# ---- results
def collect_steps(
    solver: Any,
    name: str,
    taken: StepsTaken,
    watch: Watch | None,
    t0: float,
    t1: float,
    state: tuple,
) -> tuple[StepsTaken, np.ndarray, np.ndarray | None, dict[str, Any]]:
    """Return (steps, times, rows, facts) of a run; rows are None for those of all steps.

    ``state`` is that at the start, as the solver's ``seen_on_duals`` takes it.
    """
    facts: dict[str, Any] = {"method": name}
    times, rows, stop = taken.times, None, None
    if taken.status != OK:
        facts["status"] = Status(taken.status)
    if watch is not None:
        watch.look(times, solver.see(taken))
        stop = watch.note(facts)
    if taken.status != OK and stop is None:
        end = float(times[-1]), taken.nsteps, taken.next_step
        facts["message"] = failure(taken.status, *end, 0.0, taken.loops.formulation, taken.raised)
    if stop is not None or not solver.output.every_step:
        times = solver.output.select_times(times, stop, t0, t1)
        rows, good = taken.along(times)
        if watch is not None and good == len(times):
            rows = solver.with_jump(taken, watch, times, rows, state)
        if good < len(times):
            facts["status"] = Status.NO_ATTITUDE
            ends = float(times[good]), taken.nsteps, taken.next_step, 0.0
            facts["message"] = failure(Status.NO_ATTITUDE, *ends, taken.loops.formulation)
            times, rows = times[:good], rows[:good]
    facts["nsteps"], facts["rejected"] = taken.nsteps, taken.rejected
    facts["nfev"] = taken.evaluations
    return taken, times, rows, facts


def failure(
    status: int, t: float, steps: int, h: float, size: float, variables: Any, raised: str = ""
) -> str:
    """Say what went wrong, and what to try."""
    if raised:
        return f"stopped at t = {t:.10g} after {steps} steps: {raised}"
    residual = f", last correction {math.sqrt(size):.1e}" if size > 0 else ""
    text = (
        f"stopped at t = {t:.10g} after {steps} steps of {h:g}{residual}: {ADVICE[Status(status)]}"
    )
    if isinstance(variables, Coordinates):
        text += f"; the variables of {variables.name!r}: {variables.singular}"
    return text
