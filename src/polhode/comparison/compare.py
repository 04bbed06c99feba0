"""``compare``: what accuracy costs, method by method, measured.

For every method and step: the errors at the end of the span against the true motion (``_truth``),
the work in evaluations of the torque, and the time of the prepared solver.  All runs take turns,
so that a busy moment hits them alike; the clock is the CPU time of the thread, the least of the
repeats counts.
"""

import csv
import json
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from polhode.comparison.reference import Truth, angle, keeps_energy, relative, true_end
from polhode.contracts import Integrator, Method, Model
from polhode.errors import FileError, InputError
from polhode.integrators import INTEGRATORS
from polhode.methods import METHODS
from polhode.problems.problem import Problem
from polhode.results.trajectory import Trajectory
from polhode.solvers.arguments import find_integrator, find_method, is_integrator
from polhode.solvers.entry import prepare

if TYPE_CHECKING:
    import pandas

DEFAULT = "imidm"  # of the implicit methods of order 2 the only one that is compared unasked
HALVINGS = 7  # default steps
FIRST_TURN = 0.8  # radians that the longest default step turns the body
STATES = 200  # of a run that are looked at for the change of energy
PATIENCE = 1.0  # seconds to spend on timing one run
SAMPLE = 5e-4  # seconds; shorter runs are called several times for one sample
PARTS, ALIKE = 8, 3  # steps tried in an octave, and how many in turn must reach an error
MOST_STEPS = 2**20  # of a search
ADAPTIVE = "extrapolation", "vern9", "dop853"  # compared unasked
RTOLS = tuple(10.0**-k for k in range(3, 14))
LEVELS = tuple(10.0**-k for k in range(1, 15))


@dataclass(frozen=True)
class Row:
    """One run: what it cost, and how wrong its end is.

    ``attitude_error`` is an angle in radians; ``momentum_error`` is that of the angular momentum in
    body axes, relative to its size; both at the end, and never below the error of the reference.
    Where one of them would be, ``resolved`` is False: all that is known is that it is smaller.
    ``energy_error`` is the largest change of the energy since the start, relative to the largest
    kinetic energy; None if there is no potential, or the energy is not constant.
    ``seconds`` is the CPU time of the prepared solver.  A run that failed has no errors, and a
    ``message``.
    """

    method: str
    dt: float  # of an adaptive integrator the mean step
    steps: int
    torques: int
    seconds: float
    attitude_error: float | None
    momentum_error: float | None
    energy_error: float | None
    resolved: bool = True
    message: str = ""
    rtol: float | None = None  # of an adaptive integrator

    def reaches(self, error: float) -> bool:
        """Whether the attitude error is at most that."""
        return self.attitude_error is not None and self.attitude_error <= error

    @property
    def setting(self) -> str:
        """The step or the tolerance, in words."""
        return f"dt = {self.dt:.4g}" if self.rtol is None else f"rtol = {self.rtol:.2g}"


@dataclass(frozen=True)
class Comparison:
    """Methods on one problem; ``rows`` are ordered by method, long steps first."""

    problem: str
    t_span: tuple[float, float]
    is_free: bool
    reference: Truth
    rows: tuple[Row, ...]

    @property
    def methods(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(row.method for row in self.rows))

    def of(self, method: str) -> tuple[Row, ...]:
        """The rows of one method."""
        return tuple(row for row in self.rows if row.method == method)

    def cheapest(self, error: float, cost: str = "seconds") -> Row | None:
        """The cheapest run whose attitude error is at most ``error``; None if there is none.

        ``cost`` is "seconds", "torques" or "steps".
        """
        good = [row for row in self.rows if row.reaches(error)]
        return min(good, key=lambda row: getattr(row, cost), default=None)

    def frontier(self, cost: str = "seconds") -> dict[float, Row]:
        """The cheapest run for each attitude error 0.1, 0.01, … that is reached."""
        found = ((level, self.cheapest(level, cost)) for level in LEVELS)
        return {level: row for level, row in found if row is not None}

    # ---- elsewhere
    def table(self) -> list[dict]:
        """The rows as plain data."""
        return [asdict(row) for row in self.rows]

    def to_dataframe(self) -> "pandas.DataFrame":
        import pandas

        return pandas.DataFrame(self.table())

    def save(self, path: str | os.PathLike) -> Path:
        """Write the rows as .csv, or with the problem and the reference as .json."""
        path = Path(path)
        if path.suffix == ".json":
            text = json.dumps({**asdict(self), "rows": self.table()}, indent=1)
            path.write_text(text + "\n", encoding="utf-8")
        elif path.suffix == ".csv":
            with path.open("w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, list(Row.__dataclass_fields__))
                writer.writeheader()
                writer.writerows(self.table())
        else:
            raise FileError(f"a comparison is saved as .csv or .json, got {path.name!r}")
        return path

    def plot(self, path: str | os.PathLike | None = None, axes: Any = None):
        """The work-precision diagram: attitude error against time and against torques."""
        from polhode import plot

        axes = plot.work_precision(self, axes)
        if path is not None:
            plot.save(axes, path)
        return axes

    def __repr__(self) -> str:
        lines = [f"Comparison of {len(self.methods)} methods, {self.problem}"]
        lines.append(
            f"  reference: {self.reference.route}, {self.reference.attitude_error:.1e} rad"
        )
        for level, row in self.frontier().items():
            lines.append(f"  {level:.0e}  {row.method}, {row.setting}, {row.seconds:.3g} s")
        return "\n".join(lines)


def compare(
    problem: Problem,
    t_span: Sequence[float],
    *,
    methods: Iterable[str | Method | Integrator] | None = None,
    dts: Iterable[float] | None = None,
    rtols: Iterable[float] | None = None,
    errors: Iterable[float] | None = None,
    reference: Trajectory | None = None,
    repeats: int = 7,
    progress: Callable[[float], None] | None = None,
) -> Comparison:
    """Errors and costs of methods on a problem.

    Parameters
    ----------
    problem : Problem
    t_span : (start, end)
    methods : names or records of maps and integrators; default: those of ``usual_methods``
    dts : steps; default: the one that turns the body by 0.8 radians, and six halvings of it
    rtols : tolerances of adaptive integrators, in place of steps; default: 1e-3, 1e-4, … 1e-13
    errors : in place of both: for each method and each of these attitude errors (radians) the
        longest step that reaches it.  Steps an eighth of an octave apart are tried (tolerances: a
        quarter of a decade); three in turn must reach the error, so that a lucky one does not
        count.  What is not reached has no row
    reference : a run whose last state is taken for the truth.  Default: the closed form if there is
        no torque; else a method of order 8, with a step at which only rounding is left
    repeats : of every timing, in turn; the least counts
    progress : a function of the fraction done

    Returns
    -------
    Comparison: ``rows``, ``table()``, ``plot()``, ``save(path)``, ``cheapest(error)``

    Examples
    --------
    >>> import polhode as ph
    >>> top = ph.problems.fast_top()
    >>> found = ph.compare(top, (0, 1), methods=["mr2", "imidm"], dts=[0.01, 0.005], repeats=1)
    >>> [row.method for row in found.rows]
    ['mr2', 'mr2', 'imidm', 'imidm']
    """
    if not isinstance(problem, Problem):
        raise InputError(f"problem must be a Problem, got {problem!r}")
    span = _span(t_span)
    if dts is not None and errors is not None:
        raise InputError("give dts or errors, not both")
    chosen = usual_methods(problem.model) if methods is None else _chosen(methods)
    for method in chosen:  # refuses what does not fit
        prepare(problem, method=method, dt=None if _adaptive(method) else abs(span[1] - span[0]))
    sizes: Sequence[float] = () if errors is not None else _steps(problem, span, dts)
    tolerances = RTOLS if rtols is None else _positive(rtols, "rtols")
    targets = () if errors is None else _positive(errors, "errors")
    if not isinstance(repeats, (int, np.integer)) or repeats < 1:
        raise InputError(f"repeats must be a whole number of at least 1, got {repeats!r}")
    report = progress or (lambda fraction: None)

    truth = true_end(problem, span) if reference is None else _given(reference, span)
    trials: list[tuple[Row, Callable]] = []
    for done, method in enumerate(chosen):
        trial, settings = _Trials(problem, method, span, truth), sizes
        if _adaptive(method):
            trial, settings = _Adaptive(problem, method, span, truth), tolerances
        trials += trial.at(settings) if errors is None else trial.reaching(targets)
        report(0.5 * (done + 1) / len(chosen))
    times = _times([call for _, call in trials], int(repeats), lambda x: report(0.5 + 0.5 * x))
    rows = (replace(row, seconds=t) for (row, _), t in zip(trials, times, strict=True))
    model, name = problem.model, problem.name or problem.model.name
    return Comparison(name, span, model.is_free, truth, tuple(rows))


def usual_methods(model: Model) -> list[Method | Integrator]:
    """All of order 2 or more that take the model; of the implicit ones of order 2 ``imidm`` alone.

    The others of order 2 cost as much as it does, for errors of its size.  With a torque also the
    adaptive integrators of ``ADAPTIVE``.
    """
    adaptive = [] if model.is_free else [INTEGRATORS[name] for name in ADAPTIVE]
    return adaptive + [
        method
        for method in METHODS.values()
        if method.takes(model)
        and (
            method.name == DEFAULT or method.order > 2 or (method.order == 2 and _distinct(method))
        )
    ]


def _distinct(method: Method) -> bool:
    return method.free_only or not method.implicit


def _adaptive(method: Method | Integrator) -> TypeGuard[Integrator]:
    return isinstance(method, Integrator) and method.adaptive


# ---- one method
class _Trials:
    """Runs of one method: rows without times yet, and what to call for the time."""

    def __init__(self, problem: Problem, method: Method | Integrator, span: tuple, truth: Truth):
        self.problem, self.method, self.span, self.truth = problem, method, span, truth
        self.length = abs(span[1] - span[0])

    def at(self, sizes: Iterable[float]) -> Iterator[tuple[Row, Callable]]:
        for dt in sizes:
            yield self._row(dt), self._call(dt)

    def reaching(self, targets: Iterable[float]) -> Iterator[tuple[Row, Callable]]:
        """The longest steps that reach the errors."""
        known: dict[int, Row] = {}

        def row(place: int) -> Row:  # number of steps: 2^(place / PARTS)
            if place not in known:
                known[place] = self._row(self.length / round(2 ** (place / PARTS)))
            return known[place]

        def reached(target: float, place: int) -> bool:
            return row(place).reaches(target)

        for target in targets:
            found = _first(partial(reached, target))
            if found is not None:
                yield row(found), self._call(row(found).dt)

    def _row(self, dt: float) -> Row:
        every = max(1, round(self.length / dt) // STATES)
        run = prepare(self.problem, method=self.method, dt=dt, save_every=every)(self.span)
        return self._judged(run, dt)

    def _judged(self, run: Trajectory, dt: float) -> Row:
        torques = 0 if self.problem.model.is_free else run.nfev
        row = Row(self.method.name, dt, run.nsteps, torques, math.nan, None, None, None)
        if not run.success:
            return replace(row, resolved=False, message=run.message)
        attitude = angle(run.q[-1], self.truth.q)
        momentum = relative(run.angular_momentum[-1], self.truth.angular_momentum)
        least = self.truth.attitude_error, self.truth.momentum_error
        return replace(
            row,
            attitude_error=max(attitude, least[0]),
            momentum_error=max(momentum, least[1]),
            energy_error=self._energy(run),
            resolved=attitude > least[0] and momentum > least[1],
        )

    def _energy(self, run: Trajectory) -> float | None:
        if run.energy is None or not self.truth.keeps_energy:
            return None
        size = float(run.kinetic_energy.max()) or 1.0
        return float(np.abs(run.energy - run.energy[0]).max()) / size

    def _call(self, dt: float) -> Callable:
        solver = prepare(self.problem, method=self.method, dt=dt, save_every=2**62)
        return lambda: solver(self.span)


class _Adaptive(_Trials):
    """The same for an adaptive integrator, by tolerances."""

    def __init__(self, problem: Problem, integrator: Integrator, span: tuple, truth: Truth):
        super().__init__(problem, integrator, span, truth)
        self.tightest = integrator.tightest

    def at(self, sizes: Iterable[float]) -> Iterator[tuple[Row, Callable]]:
        for rtol in sizes:
            if rtol >= self.tightest:
                yield self._row(rtol), self._call(rtol)

    def reaching(self, targets: Iterable[float]) -> Iterator[tuple[Row, Callable]]:
        """The largest tolerances that reach the errors."""
        least = max(self.tightest, 1e-15)
        fine = [10.0 ** (-k / 4) for k in range(8, 61) if 10.0 ** (-k / 4) >= least]
        rows = [self._row(rtol) for rtol in fine]
        for target in targets:
            good = [row.reaches(target) for row in rows]
            for k in range(len(rows) - ALIKE + 1):
                if all(good[k : k + ALIKE]):
                    yield rows[k], self._call(fine[k])
                    break

    def _row(self, rtol: float) -> Row:
        run = prepare(self.problem, method=self.method, rtol=rtol)(self.span)
        return replace(self._judged(run, self.length / max(run.nsteps, 1)), rtol=rtol)

    def _call(self, rtol: float) -> Callable:
        solver = prepare(self.problem, method=self.method, rtol=rtol)
        return lambda: solver(self.span)


def _first(reached: Callable[[int], bool]) -> int | None:
    """The first of ``ALIKE`` places in turn that reach the error, by octaves, then by parts."""
    last = PARTS * round(math.log2(MOST_STEPS))
    for octave in range(PARTS, last + 1, PARTS):
        if not reached(octave):
            continue
        place = octave - PARTS + 1
        while place <= octave + PARTS:
            missed = [p for p in range(place, place + ALIKE) if not reached(p)]
            if not missed:
                return place
            place = missed[-1] + 1
    return None


# ---- time
def _clock() -> Callable[[], float]:
    fine = time.get_clock_info("thread_time").resolution <= 1e-6
    return time.thread_time if fine else time.perf_counter


def _times(calls: Sequence[Callable], repeats: int, report: Callable[[float], None]) -> list[float]:
    """The least seconds of each call, all in turn; long ones are not repeated for ever."""
    clock = _clock()
    best, spent = [math.inf] * len(calls), [0.0] * len(calls)
    counts = [1] * len(calls)
    for i in range(repeats):
        for k, call in enumerate(calls):
            if spent[k] > PATIENCE:
                continue
            begun = clock()
            for _ in range(counts[k]):
                call()
            took = clock() - begun
            best[k], spent[k] = min(best[k], took / counts[k]), spent[k] + took
            counts[k] = max(1, math.ceil(SAMPLE / max(best[k], 1e-7)))
        report((i + 1) / repeats)
    return best


# ---- checks
def _span(t_span: Sequence[float]) -> tuple[float, float]:
    try:
        t0, t1 = map(float, t_span)
    except (TypeError, ValueError):
        raise InputError(f"t_span must be two numbers (start, end), got {t_span!r}") from None
    if not (math.isfinite(t1 - t0) and t1 != t0):
        raise InputError(f"t_span must be two different finite numbers, got {t_span!r}")
    return t0, t1


def _chosen(methods: Iterable[str | Method | Integrator]) -> list[Method | Integrator]:
    if isinstance(methods, (str, Method, Integrator)):
        methods = [methods]
    found = (find_integrator(m) if is_integrator(m) else find_method(m) for m in methods)
    chosen = {method.name: method for method in found}
    if not chosen:
        raise InputError("methods must be one name or more, got none")
    return list(chosen.values())


def _positive(values: Iterable[float], argument: str) -> list[float]:
    try:
        numbers = sorted({float(value) for value in values}, reverse=True)
    except (TypeError, ValueError):
        raise InputError(f"{argument} must be numbers, got {values!r}") from None
    if not numbers or not all(math.isfinite(x) and x > 0 for x in numbers):
        raise InputError(f"{argument} must be positive numbers, one or more, got {values!r}")
    return numbers


def _steps(problem: Problem, span: tuple, dts: Iterable[float] | None) -> list[float]:
    length = abs(span[1] - span[0])
    if dts is not None:
        return _positive(dts, "dts")
    rate = float(np.linalg.norm(problem.omega))
    steps = max(8, math.ceil(rate * length / FIRST_TURN))
    return [length / steps / 2**k for k in range(HALVINGS)]


def _given(reference: Trajectory, span: tuple) -> Truth:
    if not isinstance(reference, Trajectory):
        raise InputError(f"reference must be a Trajectory, got {reference!r}")
    end = float(reference.t[-1]) if len(reference) else math.nan
    if abs(end - span[1]) > 1e-12 * max(abs(span[0]), abs(span[1])):
        raise InputError(f"reference must end with t_span, at {span[1]:g}, but it ends at {end:g}")
    q, m = reference.q[-1], reference.angular_momentum[-1]
    route, kept = f"given ({reference.method})", keeps_energy(reference, 0.0)
    return Truth(tuple(q.tolist()), tuple(m.tolist()), kept, 0.0, 0.0, route)
