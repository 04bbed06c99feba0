"""Lyapunov exponents: how fast neighbouring motions part, by tangents that are renormalised.

The columns of V are tangents of the flow, V' = A(t) V, orthonormal at the start.  From time to time

    V = Q R,    V <- V R⁻¹ = Q,    l_i += log R_ii                                     (1)

with R upper triangular, R_ii > 0, and the exponents are l_i / t (Benettin et al. 1980).  The motion
goes on as if nothing had happened: all derivatives that a loop keeps from step to step are
multiplied by R⁻¹, and its values stay as they are.

With n steps between two renormalisations, V R⁻¹ loses as many digits as the columns of V have
become parallel.  n is halved and doubled so that these stay few.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from polhode.compiler.dual import Dual
from polhode.compiler.tree import flat
from polhode.contracts import ADVICE, OK, Integrator, Method, Status
from polhode.contracts.checks import finite, span, whole
from polhode.errors import InputError, StepError
from polhode.problems.problem import Problem
from polhode.results.export import as_html, as_text
from polhode.solvers.arguments import AUTO, Arguments, answers_habits
from polhode.solvers.auto import INTEGRATOR
from polhode.solvers.bound import FIXED, Bound
from polhode.solvers.entry import prepare_from
from polhode.solvers.fixed_steps import count_steps
from polhode.solvers.progress import reporter
from polhode.solvers.raised import call_fixed
from polhode.solvers.sensitivities import Tangents, scales_of

FEWEST = 200  # renormalisations of a run, if it has as many steps
FIRST, MOST = 8, 20_000  # steps before the first of them, and between any two at most
LITTLE, MUCH, TOO_MUCH = 1e3, 1e6, 1e10  # by how much tangents may become parallel meanwhile
ROWS = 2000  # running values that are kept, at most
PARALLEL = 1e-10  # of tangents that are given: their smallest part across those before them
EARLY = 0.25  # the share of the span that is left out where errors are estimated


@dataclass(frozen=True, eq=False, repr=False)
class LyapunovExponents:
    """What ``lyapunov`` returns.

    Attributes
    ----------
    exponents : (k,) in 1/s, the largest first
    errors : (k,) the largest distance of the running values from the last ones, over the last three
        quarters of what counts; infinite if there is one value only
    t, running : (rows,) times, and (rows, k) the exponents up to these, the last ones included
    lyapunov_time : 1 / exponents[0] in s; infinite if that is not twice as large as its error
    growth : (k,) logarithms of how much longer the tangents became, each without what lies along
        those before it
    nsteps, renormalisations : how many it took
    method, arguments : as in a ``Trajectory``

    Examples
    --------
    >>> import polhode as ph
    >>> racket = ph.Problem(ph.RigidBody([2, 3, 4]), omega=[0, 1, 0])
    >>> found = ph.lyapunov(racket, 100, method="mr2", dt=0.05)
    >>> found.exponents.shape, found.running.shape[1]
    ((1,), 1)
    """

    exponents: np.ndarray
    errors: np.ndarray
    t: np.ndarray
    running: np.ndarray
    growth: np.ndarray
    nsteps: int
    renormalisations: int
    method: str
    arguments: Mapping[str, Any]
    name: str

    @property
    def lyapunov_time(self) -> float:
        largest = float(self.exponents[0])
        return 1.0 / largest if largest > 2.0 * self.errors[0] else math.inf

    def summary(self) -> dict[str, str]:
        """What ``print`` shows: a few facts by name."""
        pairs = zip(self.exponents, self.errors, strict=True)
        found = [f"{value:.4g} ± {error:.1g}" for value, error in pairs]
        time = self.lyapunov_time
        return {
            "problem": self.name,
            "exponents": ", ".join(found) + " per s",
            "lyapunov time": "infinite" if time == math.inf else f"{time:.4g} s",
            "over": f"t = {self.t[-1]:g}, in {self.nsteps} steps",
            "method": ", ".join([self.method, *(f"{k}={v!r}" for k, v in self.arguments.items())]),
        }

    def __repr__(self) -> str:
        return as_text("LyapunovExponents", self.summary())

    def _repr_html_(self) -> str:
        return as_html("LyapunovExponents", self.summary())

    def plot(self, ax: Any = None, *, theme: str | None = None) -> Any:
        """Draw the running values over time, and 1/t, as those of regular motions fall.

        ``ax`` are matplotlib's axes, to draw into; ``theme`` is "light" (the default) or "dark".
        """
        from polhode import plot

        return plot.exponents(self, ax, theme=theme)


@answers_habits
def lyapunov(
    problem: Problem,
    t_span: Any,
    *,
    exponents: int = 1,
    method: str | Method | Integrator = AUTO,
    dt: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    max_step: float | None = None,
    compensated: bool | None = None,
    options: Mapping[str, Any] | None = None,
    renormalise_every: int | None = None,
    transient: float = 0.1,
    tangents: Any = None,
    seed: int = 0,
    progress: bool | Callable[[float], None] = False,
) -> LyapunovExponents:
    """Return the largest Lyapunov exponents of a motion: how fast its neighbours part from it.

    Parameters
    ----------
    problem : the body, its model and its initial state
    t_span : how long to follow the motion, or (start, end); fixed steps end with the last whole
        one.  Exponents of regular motions fall as 1/t, those of chaotic ones settle within some
        hundred Lyapunov times
    exponents : how many, from 1 to 6; to 12 with a position, and more with variables of the model
    method, dt, rtol, atol, max_step, compensated, options : as in ``solve``.  With a
        symplectic map the exponents come in pairs ±λ
    renormalise_every : steps between two renormalisations of the tangents; by default as many as
        they stay well apart
    transient : the share of the span whose growth does not count: the tangents then still turn
        towards the directions in which they grow
    tangents : their initial directions, columns (θ, m) in body axes, then (x, p) if the body moves,
        then the model's variables; by default random ones
    seed : of the random ones, a whole number
    progress : True for a bar on stderr, or a function of the fraction done

    Returns
    -------
    LyapunovExponents

    Examples
    --------
    >>> import polhode as ph
    >>> racket = ph.Problem(ph.RigidBody([2, 3, 4]), omega=[0, 1, 0])
    >>> found = ph.lyapunov(racket, 100, method="mr2", dt=0.05)
    >>> closed_form = 3 * ((1 / 2 - 1 / 3) * (1 / 3 - 1 / 4)) ** 0.5
    >>> print(f"{found.exponents[0]:.1f}, {closed_form:.1f} per s")
    0.4, 0.4 per s
    """
    if not isinstance(problem, Problem):
        raise InputError(f"problem must be a Problem, got {problem!r}")
    t0, t1 = _span(t_span)
    scales = scales_of(problem)
    first = _first_tangents(tangents, exponents, seed, scales)
    share = finite(transient, "transient")
    if not 0.0 <= share < 1.0:
        raise InputError(f"transient must be a share of the span, from 0 to 1, got {transient!r}")
    if renormalise_every is not None:
        renormalise_every = whole(renormalise_every, "renormalise_every", 1)
    if method == AUTO and problem.model.is_free and not problem.model.moves:
        method = INTEGRATOR[0] if dt is None else "strang"  # the closed form has no steps
    arguments = Arguments(
        method, None, dt, rtol, atol, None, max_step,
        compensated=compensated, options=options,
    )  # fmt: skip
    by = Tangents(scales[:, None] * first)
    solver = prepare_from(problem, replace(arguments, sensitivities=by))
    bound = solver.bound
    course = (FixedCourse if bound.kind == FIXED else AdaptiveCourse)(bound, t0, t1)
    growth = Growth(first.shape[1])
    with reporter(progress) as report:
        follow(course, growth, scales, renormalise_every, report)
    times, logs = growth.since(t0, share)
    length = np.abs(times[1:] - times[0])
    running = (logs[1:] - logs[0]) / length[:, None]
    values = running[-1]
    late = running[length >= EARLY * length[-1]]
    errors = np.abs(late - values).max(axis=0) if len(late) > 1 else np.full(len(values), np.inf)
    order = np.argsort(-values, kind="stable")
    shown = {k: v for k, v in solver.arguments.items() if k != "sensitivities"}
    return LyapunovExponents(
        values[order], errors[order], times[1:], running[:, order], logs[-1, order],
        course.done, growth.count, bound.name, shown, problem.name or problem.model.name,
    )  # fmt: skip


# ---- arguments
def _span(t_span: Any) -> tuple[float, float]:
    """Return (start, end) from these, or from a length of time."""
    t0, t1 = span(t_span if np.ndim(t_span) else (0.0, t_span))
    if t0 == t1:
        raise InputError(f"t_span must be a length of time, or (start, end), got {t_span!r}")
    return t0, t1


def _first_tangents(given: Any, exponents: Any, seed: Any, scales: np.ndarray) -> np.ndarray:
    """Return orthonormal tangents in units of the scales, as columns."""
    most = len(scales)
    count = whole(exponents, "exponents", 1)
    if count > most:
        raise InputError(f"exponents must be from 1 to {most} for this problem, got {exponents!r}")
    if given is None:
        rng = np.random.default_rng(whole(seed, "seed", 0))
        return np.linalg.qr(rng.normal(size=(most, count)))[0]
    try:
        columns = np.array(given, dtype=float)
    except (TypeError, ValueError):
        columns = np.empty(0)
    if columns.shape == (most,) and count == 1:
        columns = columns[:, None]
    if columns.shape != (most, count) or not np.isfinite(columns).all():
        raise InputError(
            f"tangents must be {count} columns of {most} finite numbers (exponents={count}), got"
            f" shape {np.shape(given)}"
        )
    columns = columns / scales[:, None]
    sizes = np.linalg.norm(columns, axis=0)
    turned, triangle = np.linalg.qr(columns / np.where(sizes > 0, sizes, 1.0))
    if not (np.abs(np.diagonal(triangle)) > PARALLEL).all():
        raise InputError("tangents must be columns that do not depend on each other, and not 0")
    return turned * np.sign(np.diagonal(triangle))


# ---- motions
class Course(ABC):
    """A motion with tangents under way: the row of numbers that its loop takes and gives back."""

    def __init__(self, bound: Bound, t0: float):
        self.bound, self.t = bound, t0
        self.row, first, self.body, params = bound.fill(t0, bound.state, bound.params)
        self.tables = params[1]
        wide, at = (first, bound.carry, self.body, params[0]), 0
        places = []
        for number in flat(wide):
            places.append(at) if isinstance(number, Dual) else None
            at += len(number.d) + 1 if isinstance(number, Dual) else 1
        directions = bound.directions
        assert directions is not None
        self.directions = directions
        self._slopes = np.array(places)[:, None] + 1 + np.arange(directions.count)
        self.done, self.fresh = 0, True

    @property
    @abstractmethod
    def fraction(self) -> float:
        """How much of the span is done."""

    @property
    @abstractmethod
    def most(self) -> int:
        """The most steps until the next renormalisation."""

    @abstractmethod
    def advance(self, steps: int) -> None:
        """Take at most this number of steps."""

    @property
    def tangents(self) -> np.ndarray:
        """(θ, m), (x, p) and variables of the tangents, as columns, in the user's body axes."""
        bound, width = self.bound, self.bound.width
        rows = bound.loops.states(np.array([self.t]), self.row[:, :width], self.body)
        return self.directions.along(rows, bound.state, bound.body)[0]

    def divide(self, triangle: np.ndarray) -> None:
        """Multiply all derivatives by the inverse of a triangular matrix.

        Those of q lose what rounding has left along q, which would grow where others shrink.
        """
        slopes = self.row[0, self._slopes]
        for j in range(len(triangle)):
            slopes[:, j] = (slopes[:, j] - slopes[:, :j] @ triangle[:j, j]) / triangle[j, j]
        q = self.row[0, self._slopes[:4, 0] - 1]
        slopes[:4] -= np.outer(q, q @ slopes[:4]) / (q @ q)
        self.row[0, self._slopes] = slopes

    def mark(self) -> tuple:
        """Return what ``back`` needs to go on from here again."""
        return self.row.copy(), self.t, self.done, self.fresh

    def back(self, mark: tuple) -> None:
        self.row[...], self.t, self.done, self.fresh = mark

    def check(self, status: int, why: str = "") -> None:
        """Raise an error if the motion has stopped."""
        if status != OK:
            because = why or ADVICE[Status(status)]
            raise StepError(
                f"the motion stopped at t = {self.t:.10g} after {self.done} steps: {because}",
                status,
            )


class FixedCourse(Course):
    """Fixed steps."""

    def __init__(self, bound: Bound, t0: float, t1: float):
        super().__init__(bound, t0)
        self.t0 = t0
        self.total, self.h, _ = count_steps(t0, t1, bound.dt)
        if self.total == 0:
            raise InputError(f"t_span must hold a step of dt={bound.dt!r}, got ({t0}, {t1})")
        self._out = np.empty((1, bound.width))

    @property
    def fraction(self) -> float:
        return self.done / self.total

    @property
    def most(self) -> int:
        return min(max(self.total // FEWEST, 1), MOST)

    def advance(self, steps: int) -> None:
        bound, ahead = self.bound, min(steps, self.total - self.done)
        settings = bound.weights, bound.offsets, self.tables, self._out
        found = None
        while found is None:
            now = self.row, self.t0, self.h, self.done, self.fresh
            plan = np.array([ahead]), np.zeros(1)
            found = call_fixed(bound.loops.run, (*now, *plan, *settings), ahead == 1)
            ahead //= 2
        status, _, taken, _, _, *why = found
        self.done, self.fresh = self.done + taken, False
        self.t = self.t0 + self.done * self.h
        self.check(status, *why)


class AdaptiveCourse(Course):
    """Steps of their own size; a renormalisation does not change them."""

    def __init__(self, bound: Bound, t0: float, t1: float):
        super().__init__(bound, t0)
        self.t0, self.t1, self.low = t0, t1, 0.0
        self.h = math.copysign(bound.limits[0], t1 - t0)
        self.tried = 0

    @property
    def fraction(self) -> float:
        return (self.t - self.t0) / (self.t1 - self.t0)

    @property
    def most(self) -> int:
        if self.done == 0:
            return FIRST
        return min(max(int(self.done / (self.fraction * FEWEST)), 1), MOST)

    def mark(self) -> tuple:
        return *super().mark(), self.low, self.h, self.tried

    def back(self, mark: tuple) -> None:
        *rest, self.low, self.h, self.tried = mark
        super().back(tuple(rest))

    def advance(self, steps: int) -> None:
        out = np.empty((steps + 1, 2 + self.bound.width))
        now = self.row, self.t, self.low, self.t1, self.h, self.fresh, self.tables
        found = self.bound.loops.run(*now, self.bound.limits[2] - self.tried, out)
        self.t, self.low, self.h, status, accepted, rejected, _, _ = found
        self.done, self.fresh = self.done + accepted, False
        self.tried += accepted + rejected
        self.check(status)


# ---- growth
class Growth:
    """How much the tangents have grown, and when."""

    def __init__(self, count: int):
        self.logs, self.count = np.zeros(count), 0
        self._kept: list[tuple[float, np.ndarray]] = []
        self._last: list[tuple[float, np.ndarray]] = []
        self._every = 1

    def add(self, t: float, factors: np.ndarray) -> None:
        self.logs = self.logs + np.log(factors)
        self.count += 1
        self._last = [(t, self.logs)]
        if self.count % self._every == 0:
            self._kept += self._last
        if len(self._kept) == ROWS:
            self._kept, self._every = self._kept[1::2], 2 * self._every

    def since(self, t0: float, share: float) -> tuple[np.ndarray, np.ndarray]:
        """Return (times, logarithms) of some moments: the first after this share, and later ones.

        The last one is always there, and if it is the only one, so is the start.
        """
        rows = self._kept if self.count % self._every == 0 else self._kept + self._last
        times, logs = (np.array(part) for part in zip(*rows, strict=True))
        first = np.searchsorted(np.abs(times - t0), share * abs(times[-1] - t0))
        if share == 0.0 or first == len(times) - 1:
            return np.append(t0, times), np.vstack([np.zeros_like(logs[:1]), logs])
        return times[first:], logs[first:]


def follow(
    course: Course,
    growth: Growth,
    scales: np.ndarray,
    every: int | None,
    report: Callable[[float], None],
) -> None:
    """Go to the end, and renormalise the tangents every so many steps; None: as often as needed."""
    steps = FIRST if every is None else every
    while course.fraction < 1.0:
        before = course.mark()
        course.advance(steps if every is not None else min(steps, course.most))
        triangle = np.linalg.qr(course.tangents / scales[:, None], mode="r")
        triangle *= np.copysign(1.0, np.diagonal(triangle))[:, None]
        loss = _loss(triangle)
        if every is None and not loss < TOO_MUCH and steps > 1:
            course.back(before)
            steps //= 2
            continue
        if not loss < math.inf:
            raise StepError(
                f"tangents became parallel or overflowed before t = {course.t:.10g}: give a smaller"
                " renormalise_every, or fewer exponents"
            )
        course.divide(triangle)
        growth.add(course.t, np.diagonal(triangle))
        report(course.fraction)
        if every is None:
            steps = min(2 * steps, MOST) if loss < LITTLE else steps
            steps = max(steps // 2, 1) if loss > MUCH else steps


def _loss(triangle: np.ndarray) -> float:
    """Return by how much numbers in R⁻¹ may be larger than those of tangents; NaN if one is."""
    factors = np.diagonal(triangle)
    if not (factors > 0).all():
        return math.inf
    lengths = np.linalg.norm(triangle, axis=0)
    return float(np.max([lengths / factors, factors, 1.0 / factors]))
