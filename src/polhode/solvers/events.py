"""Events: zeros of functions ``event(t, q, omega)`` or ``event(t, x, v, q, omega)`` along a motion.

Where a model has variables y, an event may take them as well, as its last argument.

Each step is searched in ``PARTS`` pieces.  Where a function changes sign, its zero is found by
bracketing; where it comes near zero and turns back between two pieces, the turning point is found
first, since there may be two zeros around it.  A zero exactly at the start does not count.
"""

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from polhode import loops
from polhode.compiler.dual import ON_DUAL
from polhode.compiler.machine import CompiledOrPlain
from polhode.compiler.tree import bind, like
from polhode.contracts import Status
from polhode.errors import InputError
from polhode.kernels.rules import RULES
from polhode.kernels.trig import ELEMENTARY

PARTS = 8  # of a step
BLOCK = 4096  # steps that are searched together

See = Callable[[np.ndarray], np.ndarray]  # times -> rows (q, omega), or (q, omega, x, v)
SEEN = {  # the form of ``Watch.plain_data``
    "times": [[float]],
    "stop": (None, float),
    "done": int,
    "signs": [float],
    "tails": [(None, [float])],
}
FORMS = "event(t, q, omega), or event(t, x, v, q, omega) where the body has a position"
TAKEN = {  # arguments by their number
    3: ("q", "omega"),
    4: ("q", "omega", "y"),
    5: ("x", "v", "q", "omega"),
    6: ("x", "v", "q", "omega", "y"),
}


class Beside(NamedTuple):
    """Where a row that an event sees has the variables of a model, and how they are nested."""

    place: int
    pattern: Any


@dataclass(frozen=True)
class Event:
    """A function, the number of zeros after which to stop, and the sign of its slope there.

    ``form`` is the function of (t, x, v, q, omega, y) behind the ``values``; ``called`` is its name
    in messages.
    """

    values: Callable[[np.ndarray, np.ndarray], np.ndarray]
    terminal: float
    direction: float
    form: Callable
    called: str

    @property
    def on_duals(self) -> Callable:
        """The function of numbers with derivatives, in plain Python."""
        return bind(bind(self.form, RULES), ON_DUAL)


class Watch:
    """Events to look for; ``times[k]`` are the zeros of the k-th, ``stop`` is where a run ends."""

    def __init__(self, events: Sequence[Event]):
        self.events = events
        self.times: list[list[float]] = [[] for _ in events]
        self.stop: float | None = None
        self._done = 0  # steps that were searched
        self._signs: list[float] = [0.0 for _ in events]
        self._tails: list[tuple[float, float] | None] = [None for _ in events]  # (time, value)

    def fresh(self, found: Mapping[str, Any] | None = None) -> "Watch":
        """Return a watch for the same events, at its start or as its ``plain_data`` say."""
        watch = Watch(self.events)
        if found is not None:
            if any(len(found[key]) != len(self.events) for key in ("times", "signs", "tails")):
                raise ValueError(f"there are {len(self.events)} events, and it has seen others")
            if not (found["stop"] is None or [found["stop"]] in [t[-1:] for t in found["times"]]):
                raise ValueError(f"it stopped at {found['stop']} without an event")
            watch.times = [list(times) for times in found["times"]]
            watch.stop, watch._done = found["stop"], found["done"]
            watch._signs = list(found["signs"])
            watch._tails = [None if tail is None else (tail[0], tail[1]) for tail in found["tails"]]
        return watch

    @property
    def plain_data(self) -> dict[str, Any]:
        """What was found so far, for a checkpoint."""
        return {
            "times": self.times,
            "stop": self.stop,
            "done": self._done,
            "signs": [float(sign) for sign in self._signs],
            "tails": self._tails,
        }

    def look(self, knots: np.ndarray, see: See) -> bool:
        """Search the steps that are new; return whether a terminal event was found."""
        while self._done < len(knots) - 1 and self.stop is None:
            ahead = min(self._done + BLOCK, len(knots) - 1)
            self._block(see, knots[self._done : ahead + 1])
            self._done = ahead
        return self.stop is not None

    def note(self, facts: dict[str, Any]) -> float | None:
        """Add the events to the facts of a trajectory; return the time of a terminal one."""
        facts["t_events"] = [np.array(times) for times in self.times]
        if self.stop is not None:
            k = self.stopped_by
            facts["message"] = f"stopped at t = {self.stop:.10g} by events[{k}]"
            facts["status"] = Status.OK
        return self.stop

    @property
    def stopped_by(self) -> int:
        """The index of the event at which the run ended."""
        return next(k for k, times in enumerate(self.times) if times[-1:] == [self.stop])

    def _block(self, see: See, knots: np.ndarray) -> None:
        shares = np.arange(PARTS) / PARTS
        inner = knots[:-1, None] + np.diff(knots)[:, None] * shares
        times = np.append(inner.ravel(), knots[-1])
        forward = 1.0 if knots[-1] >= knots[0] else -1.0
        rows = see(times)
        found: list[list[tuple[float, float]]] = []
        for k, event in enumerate(self.events):
            values = event.values(times, rows)

            def value(t, event=event):
                flat = np.atleast_1d(t).ravel()
                return event.values(flat, see(flat)).reshape(np.shape(t))

            tail, self._tails[k] = self._tails[k], (float(times[-2]), float(values[-2]))
            zeros = _zeros(times, values, value, self._signs[k], tail)
            last = np.flatnonzero(values)
            self._signs[k] = np.sign(values[last[-1]]) if len(last) else self._signs[k]
            found.append([z for z in zeros if event.direction * z[1] >= 0])
        self._stop_at(found, forward)
        for k, zeros in enumerate(found):
            kept = [t for t, _ in zeros if self.stop is None or forward * (t - self.stop) <= 0]
            self.times[k] += kept

    def _stop_at(self, found: list[list[tuple[float, float]]], forward: float) -> None:
        ends = []
        for event, old, zeros in zip(self.events, self.times, found, strict=True):
            left = event.terminal - len(old)
            if left <= len(zeros):
                ends.append(zeros[int(left) - 1][0])
        if ends:
            self.stop = min(ends, key=lambda t: forward * t)


def _zeros(
    times: np.ndarray,
    values: np.ndarray,
    value: Callable,
    before: float,
    tail: tuple[float, float] | None = None,
) -> list[tuple[float, float]]:
    """Return (time, sign of the change) of the zeros, in the order of the motion.

    ``before`` is the last sign that was found, ``tail`` the time and value before the first ones.
    """
    from scipy.optimize import elementwise

    if tail is not None:  # the function may turn at the first time
        times, values = np.append(tail[0], times), np.append(tail[1], values)
    seen = int(tail is not None)
    signs = np.sign(values)
    if not np.isfinite(values).all():
        place = int(np.argmin(np.isfinite(values)))
        raise InputError(
            f"an event is not finite at t = {float(times[place])!r}; it must return a number"
        )
    where, brackets = np.flatnonzero(signs), []
    for i, j in pairwise(where):
        if signs[i] != signs[j] and j > seen:
            brackets.append((times[i], times[j], signs[j]))
    if len(where) and before * signs[where[0]] < 0 and where[0] > 0:
        brackets.append((times[0], times[where[0]], signs[where[0]]))
    size = np.abs(values)
    dips = 1 + np.flatnonzero(
        (size[1:-1] <= size[:-2])
        & (size[1:-1] <= size[2:])
        & (signs[1:-1] == signs[:-2])
        & (signs[1:-1] == signs[2:])
        & (signs[1:-1] != 0)
    )
    if len(dips):
        side = signs[dips]
        low = elementwise.find_minimum(
            lambda t, side: side * value(t),
            (times[dips - 1], times[dips], times[dips + 1]),
            args=(side,),
            maxiter=60,
        )
        for i, t, f, s in zip(dips, np.asarray(low.x), np.asarray(low.f_x), side, strict=True):
            if f < 0:
                brackets += [(times[i - 1], t, -s), (t, times[i + 1], s)]
    if not brackets:
        return []
    a, b, slope = map(np.array, zip(*brackets, strict=True))
    with np.errstate(invalid="ignore", divide="ignore"):  # SciPy's own, where values are equal
        root = elementwise.find_root(value, (a, b))
    zeros = sorted(zip(np.asarray(root.x).tolist(), slope.tolist(), strict=True))
    return zeros if times[-1] >= times[0] else zeros[::-1]


def watch_for(
    events: Any, called: str = "events[{}]", beside: Beside | None = None
) -> Watch | None:
    """Return a watch for a user's events, one function or several; ``called`` in messages."""
    if events is None:
        return None
    try:
        functions = (events,) if callable(events) else tuple(events)
    except TypeError:
        raise InputError(f"events must be a function {FORMS}, or several, got {events!r}") from None
    made = []
    for k, function in enumerate(functions):
        if not callable(function):
            raise InputError(f"{called.format(k)} must be a function {FORMS}, got {function!r}")
        terminal, direction = getattr(function, "terminal", 0), getattr(function, "direction", 0)
        try:
            count, slope = float(terminal), float(direction)
        except (TypeError, ValueError):
            count = slope = math.nan
        if not (count >= 0 and count == int(count)) or math.isnan(slope):
            raise InputError(
                f"{called.format(k)}: terminal must be False, True or a number of zeros and"
                f" direction a number, got {terminal!r} and {direction!r}"
            )
        values = event_values(function, called.format(k), beside)
        form, _ = _form_of(function)
        made.append(Event(values, count or math.inf, slope, form, called.format(k)))
    return Watch(made) if made else None


def event_values(function: Callable, called: str, beside: Beside | None = None) -> Callable:
    """Return a function of (times, rows) with the values of an event, compiled if possible."""
    form, taken = _form_of(function)
    pieces: dict[Callable, Callable] = {loops.event: form}
    if "x" in taken:
        pieces[loops.state_in] = loops.whole_state_in
    if beside is not None and "y" in taken:
        pieces |= loops.reads_variables(*beside)
    template = bind(loops.watched, pieces)
    run, tried = CompiledOrPlain(template, called), False

    def values(times, rows):
        nonlocal tried
        if not tried:
            _try(function, called, taken, beside, float(times[0]), rows[0].tolist())
            tried = True
        out = np.empty(len(times))
        run(np.ascontiguousarray(times), np.ascontiguousarray(rows), out)
        return out

    return values


def _form_of(function: Callable) -> tuple[Callable, tuple[str, ...]]:
    """Return (an event as a function of (t, x, v, q, omega, y), what it takes after the time)."""
    own, taken = bind(function, ELEMENTARY), _taken(function)
    forms: dict[tuple[str, ...], Callable] = {
        TAKEN[3]: lambda t, x, v, q, omega, y: own(t, q, omega),
        TAKEN[4]: lambda t, x, v, q, omega, y: own(t, q, omega, y),
        TAKEN[5]: lambda t, x, v, q, omega, y: own(t, x, v, q, omega),
        TAKEN[6]: own,
    }
    return forms[taken], taken


def _taken(function: Callable) -> tuple[str, ...]:
    """Return what an event takes after the time: no more than it needs."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return TAKEN[3]
    for count, taken in TAKEN.items():
        try:
            signature.bind(*range(count))
        except TypeError:
            continue
        return taken
    return TAKEN[3]


def _try(
    function: Callable,
    called: str,
    taken: tuple[str, ...],
    beside: Beside | None,
    t: float,
    row: list[float],
) -> None:
    """Call an event once in plain Python, so that its own error is shown."""
    takes = f"(t, {', '.join(taken)})"
    if "x" in taken and (len(row) if beside is None else beside.place) == 7:
        raise InputError(
            f"{called} takes {takes}, but the body has no position: give"
            " position= to the Problem, or let it take (t, q, omega)"
        )
    if "y" in taken and beside is None:
        raise InputError(
            f"{called} takes {takes}, but the model has no variables y: make it with ph.coupled,"
            " or let it take (t, q, omega)"
        )
    slices = {"q": (0, 4), "omega": (4, 3), "x": (7, 3), "v": (10, 3)}
    given: dict[str, Any] = {name: tuple(row[k : k + n]) for name, (k, n) in slices.items()}
    if beside is not None:
        given["y"] = like(beside.pattern, iter(row[beside.place :]))
    try:
        float(function(t, *(given[name] for name in taken)))
    except Exception as error:
        raise InputError(
            f"{called} fails at t = {t!r}: {type(error).__name__}: {error}; it takes"
            f" {takes}, q = (w, x, y, z), and returns a number"
        ) from error
