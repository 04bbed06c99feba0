"""``compare``: what accuracy costs, measured method by method.

For every method and step: the errors at the end of the span against the ``reference`` (of attitude
and momentum, and with six degrees of freedom of position and velocity), the work in evaluations of
torque and force, and the time of the prepared solver.  All runs take turns, so that a busy
moment affects them alike; the clock is the CPU time of the thread, and the least of the repeats
counts.
"""

import csv
import json
import math
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from polhode.comparison.reference import (
    Reference,
    end_of,
    keeps_energy,
    nothing_acts,
    true_end,
)
from polhode.comparison.trials import AdaptiveTrials, Row, Trial, Trials, measure_times
from polhode.contracts import Integrator, Method, Model, checks
from polhode.errors import FileError, InputError
from polhode.integrators import INTEGRATORS
from polhode.methods import METHODS
from polhode.problems.problem import Problem
from polhode.results.trajectory import Trajectory
from polhode.solvers.arguments import find_integrator, find_method, is_integrator
from polhode.solvers.entry import prepare

if TYPE_CHECKING:
    import pandas

IMPLICIT = "imidm"  # the only implicit method of order 2 that is compared by default
ADAPTIVE = "extrapolation", "vern9", "dop853"  # the integrators that are compared by default
HALVINGS = 7  # default steps
FIRST_TURN = 0.8  # radians that the longest default step turns the body
RTOLS = tuple(10.0**-k for k in range(3, 14))
LEVELS = tuple(10.0**-k for k in range(1, 15))


@dataclass(frozen=True)
class Comparison:
    """Methods compared on one problem; ``rows`` are ordered by method, long steps first.

    ``is_free``: there is neither torque nor force.

    Examples
    --------
    >>> import polhode as ph
    >>> top = ph.problems.fast_top()
    >>> found = ph.compare(top, (0, 1), methods=["mr2", "strang"], dts=[0.01, 0.005], repeats=1)
    >>> found.cheapest(1e-3).method in ("mr2", "strang"), len(found.of("mr2"))
    (True, 2)
    """

    problem: str
    t_span: tuple[float, float]
    is_free: bool
    reference: Reference
    rows: tuple[Row, ...]

    @property
    def methods(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(row.method for row in self.rows))

    def of(self, method: str) -> tuple[Row, ...]:
        """The rows of one method."""
        return tuple(row for row in self.rows if row.method == method)

    def cheapest(self, error: float, cost: str = "seconds") -> Row | None:
        """The cheapest run whose attitude error is at most ``error``; None if there is none.

        With six degrees of freedom this is also asked of the position error.  ``cost`` is
        "seconds", "torques" or "steps".
        """
        good = [row for row in self.rows if row.reaches(error)]
        return min(good, key=lambda row: getattr(row, cost), default=None)

    def frontier(self, cost: str = "seconds") -> dict[float, Row]:
        """The cheapest run for each error 0.1, 0.01, … that is reached."""
        found = ((level, self.cheapest(level, cost)) for level in LEVELS)
        return {level: row for level, row in found if row is not None}

    # ---- other forms
    def table(self) -> list[dict]:
        """The rows as dictionaries."""
        return [asdict(row) for row in self.rows]

    def to_dataframe(self) -> "pandas.DataFrame":
        import pandas

        return pandas.DataFrame(self.table())

    def save(self, path: str | os.PathLike) -> Path:
        """Write the rows to a .csv file, or with the problem and the reference to a .json file."""
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
            raise FileError(f"path must end in .csv or .json, got {path.name!r}")
        return path

    def plot(
        self,
        path: str | os.PathLike | None = None,
        axes: Any = None,
        *,
        theme: str | None = None,
    ):
        """Draw the work-precision diagram: error against time and against torques.

        ``theme`` is "light" (the default) or "dark".
        """
        from polhode import plot

        axes = plot.work_precision(self, axes, theme=theme)
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
    """Compare the errors and costs of methods on a problem.

    Parameters
    ----------
    problem : Problem
    t_span : (start, end)
    methods : names or records of maps and integrators; default: those of ``usual_methods``
    dts : steps; default: one that turns the body by 0.8 radians, and six halvings of it
    rtols : tolerances, in place of steps, of adaptive integrators; default: 1e-3, 1e-4, … 1e-13
    errors : in place of both: for each method and each of these attitude errors (radians; with six
        degrees of freedom also errors of the position), the longest step that reaches it.  Steps an
        eighth of an octave apart are tried (tolerances a quarter of a decade apart); three in a row
        must reach the error, so that a lucky one does not count.  An error that is not reached has
        no row
    reference : a run whose last state is taken as true.  Default: the closed form if nothing acts
        on the body; else a method of order 8, with steps so short that only rounding is left
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
    if problem.model.coupled is not None:
        raise InputError(
            "compare takes no model with variables, for which it has no reference:"
            f" {problem.model.name!r} has {', '.join(problem.model.variable_names)}"
        )
    span = t0, t1 = checks.span(t_span)
    if t0 == t1:
        raise InputError(f"t_span must be two different finite numbers, got {t_span!r}")
    if dts is not None and errors is not None:
        raise InputError("give dts or errors, not both")
    chosen = usual_methods(problem.model) if methods is None else _find(methods)
    for method in chosen:  # an unsuitable one is refused
        prepare(problem, method=method, dt=None if _adaptive(method) else abs(t1 - t0))
    sizes: Sequence[float] = () if errors is not None else _steps(problem, span, dts)
    tolerances = RTOLS if rtols is None else _positive(rtols, "rtols")
    targets = () if errors is None else _positive(errors, "errors")
    checks.whole(repeats, "repeats", 1)
    report = progress or (lambda fraction: None)

    truth = true_end(problem, span) if reference is None else _given(reference, span, problem)
    trials: list[Trial] = []
    for done, method in enumerate(chosen):
        runs, settings = Trials(problem, method, span, truth), sizes
        if _adaptive(method):
            runs, settings = AdaptiveTrials(problem, method, span, truth), tolerances
        trials += runs.at(settings) if errors is None else runs.reaching(targets)
        report(0.5 * (done + 1) / len(chosen))
    calls = [call for _, call in trials]
    times = measure_times(calls, int(repeats), lambda x: report(0.5 + 0.5 * x))
    rows = (replace(row, seconds=t) for (row, _), t in zip(trials, times, strict=True))
    model, name = problem.model, problem.name or problem.model.name
    return Comparison(name, span, nothing_acts(model), truth, tuple(rows))


def usual_methods(model: Model) -> list[Method | Integrator]:
    """The methods to compare by default: those of order 2 or more that take the model.

    Of the implicit ones of order 2 only ``imidm``: the others cost about as much, for errors of
    about the same size.  With a torque or a force also the adaptive integrators of ``ADAPTIVE``.
    """
    explicit = [m for m in METHODS.values() if m.order == 2 and (m.free_only or not m.implicit)]
    adaptive = [] if nothing_acts(model) else [INTEGRATORS[name] for name in ADAPTIVE]
    return adaptive + [
        method
        for method in METHODS.values()
        if method.takes(model)
        and (method.name == IMPLICIT or method.order > 2 or method in explicit)
    ]


def _adaptive(method: Method | Integrator) -> TypeGuard[Integrator]:
    return isinstance(method, Integrator) and method.adaptive


# ---- checks
def _find(methods: Iterable[str | Method | Integrator]) -> list[Method | Integrator]:
    if isinstance(methods, (str, Method, Integrator)):
        methods = [methods]
    found = (find_integrator(m) if is_integrator(m) else find_method(m) for m in methods)
    chosen = {method.name: method for method in found}
    if not chosen:
        raise InputError("methods must be one or more names, got none")
    return list(chosen.values())


def _positive(values: Iterable[float], argument: str) -> list[float]:
    try:
        numbers = sorted({float(value) for value in values}, reverse=True)
    except (TypeError, ValueError):
        raise InputError(f"{argument} must be numbers, got {values!r}") from None
    if not numbers or not all(math.isfinite(x) and x > 0 for x in numbers):
        raise InputError(f"{argument} must be one or more positive numbers, got {values!r}")
    return numbers


def _steps(problem: Problem, span: tuple, dts: Iterable[float] | None) -> list[float]:
    length = abs(span[1] - span[0])
    if dts is not None:
        return _positive(dts, "dts")
    rate = float(np.linalg.norm(problem.omega))
    steps = max(8, math.ceil(rate * length / FIRST_TURN))
    return [length / steps / 2**k for k in range(HALVINGS)]


def _given(reference: Trajectory, span: tuple, problem: Problem) -> Reference:
    if not isinstance(reference, Trajectory):
        raise InputError(f"reference must be a Trajectory, got {reference!r}")
    end = float(reference.t[-1]) if len(reference) else math.nan
    if abs(end - span[1]) > 1e-12 * max(abs(span[0]), abs(span[1])):
        raise InputError(
            f"reference must end where t_span ends, at {span[1]:g}, but ends at {end:g}"
        )
    if problem.moves and reference.x is None:
        raise InputError("reference must have a position, as the problem has; got a run without")
    q, m = reference.q[-1], reference.angular_momentum[-1]
    route, constant = f"given ({reference.method})", keeps_energy(reference, 0.0)
    place = end_of(reference, problem)
    return Reference(tuple(q.tolist()), tuple(m.tolist()), constant, 0.0, 0.0, route, place)
