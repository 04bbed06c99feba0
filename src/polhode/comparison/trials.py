"""The runs of one method in a comparison: errors against the reference, costs and times."""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from polhode.comparison.reference import Reference, angle, nothing_acts, relative
from polhode.contracts import Integrator, Method
from polhode.problems.problem import Problem
from polhode.results.trajectory import Trajectory
from polhode.solvers.entry import prepare

ENERGY_STATES = 200  # of a run in which the change of energy is looked for
PATIENCE = 1.0  # seconds to spend on timing one run
SAMPLE = 5e-4  # seconds; shorter runs are called several times for one sample
PARTS = 8  # steps tried in an octave
IN_A_ROW = 3  # steps that must reach an error, so that a lucky one does not count
MOST_STEPS = 2**20  # of a search
LEAST_RTOL = 1e-15

Trial = tuple["Row", Callable]  # a row without its time, and what to call for the time


@dataclass(frozen=True)
class Row:
    """One run: its cost, and the error at its end.

    ``attitude_error`` is an angle in radians; ``momentum_error`` is that of the angular momentum in
    body axes, relative to its magnitude.  With six degrees of freedom ``position_error`` is
    relative to the distance from the origin or the radius of gyration, whichever is larger, and
    ``velocity_error`` to the speed or |m|/(M r), with that radius r.  All are taken at the end, and
    never below the error of the reference.  Where one of them would be, ``resolved`` is False: it
    is only known to be smaller.
    ``energy_error`` is the largest change of the energy since the start, relative to the largest
    kinetic energy; None without a potential, or if the energy is not constant.  ``torques`` counts
    evaluations of the torque, or of force and torque together.  ``seconds`` is the CPU time of the
    prepared solver.  A run that failed has a ``message`` and no errors.
    """

    method: str
    dt: float  # the mean step of an adaptive integrator
    steps: int
    torques: int
    seconds: float
    attitude_error: float | None
    momentum_error: float | None
    energy_error: float | None
    resolved: bool = True
    message: str = ""
    rtol: float | None = None  # of an adaptive integrator
    position_error: float | None = None  # None for a body that only turns
    velocity_error: float | None = None

    @property
    def error(self) -> float | None:
        """The attitude error; with six degrees of freedom the position error, if it is larger."""
        if self.attitude_error is None or self.position_error is None:
            return self.attitude_error
        return max(self.attitude_error, self.position_error)

    def reaches(self, error: float) -> bool:
        """Whether the attitude error, and that of the position, is at most ``error``."""
        return self.error is not None and self.error <= error

    @property
    def setting(self) -> str:
        """The step or the tolerance, in words."""
        return f"dt = {self.dt:.4g}" if self.rtol is None else f"rtol = {self.rtol:.2g}"


# ---- runs
class Trials:
    """The runs of a method with fixed steps."""

    def __init__(
        self,
        problem: Problem,
        method: Method | Integrator,
        span: tuple[float, float],
        reference: Reference,
    ):
        self.problem, self.method, self.span, self.reference = problem, method, span, reference
        self.length = abs(span[1] - span[0])

    def at(self, settings: Iterable[float]) -> Iterator[Trial]:
        """A run with each of these steps."""
        for dt in settings:
            yield self._row(dt), self._call(dt)

    def reaching(self, targets: Iterable[float]) -> Iterator[Trial]:
        """For each of these errors, a run with the longest step that reaches it."""
        known: dict[int, Row] = {}

        def row(place: int) -> Row:  # number of steps: 2^(place / PARTS)
            if place not in known:
                known[place] = self._row(self.length / round(2 ** (place / PARTS)))
            return known[place]

        def reached(target: float, place: int) -> bool:
            return row(place).reaches(target)

        for target in targets:
            found = first_place(partial(reached, target))
            if found is not None:
                yield row(found), self._call(row(found).dt)

    def _row(self, dt: float) -> Row:
        every = max(1, round(self.length / dt) // ENERGY_STATES)
        run = prepare(self.problem, method=self.method, dt=dt, save_every=every)(self.span)
        return self._assess(run, dt)

    def _assess(self, run: Trajectory, dt: float) -> Row:
        """The row of a run, still without its time."""
        torques = 0 if nothing_acts(self.problem.model) else run.nfev
        row = Row(self.method.name, dt, run.nsteps, torques, math.nan, None, None, None)
        if not run.success:
            return replace(row, resolved=False, message=run.message)
        reference, place = self.reference, self.reference.place
        found = {
            "attitude_error": angle(run.q[-1], reference.q),
            "momentum_error": relative(run.angular_momentum[-1], reference.angular_momentum),
        }
        least = {name: getattr(reference, name) for name in found}
        if place is not None:
            moved = dict(zip(("position_error", "velocity_error"), place.errors(run), strict=True))
            found, least = found | moved, least | {name: getattr(place, name) for name in moved}
        return replace(
            row,
            **{name: max(error, least[name]) for name, error in found.items()},
            energy_error=self._energy_error(run),
            resolved=all(error > least[name] for name, error in found.items()),
        )

    def _energy_error(self, run: Trajectory) -> float | None:
        if run.energy is None or not self.reference.keeps_energy:
            return None
        size = float(run.kinetic_energy.max()) or 1.0
        return float(np.abs(run.energy - run.energy[0]).max()) / size

    def _call(self, dt: float) -> Callable:
        solver = prepare(self.problem, method=self.method, dt=dt, save_every=2**62)
        return lambda: solver(self.span)


class AdaptiveTrials(Trials):
    """The runs of an adaptive integrator, by tolerances."""

    method: Integrator

    def at(self, settings: Iterable[float]) -> Iterator[Trial]:
        """A run with each of these tolerances that the integrator allows."""
        for rtol in settings:
            if rtol >= self.method.tightest:
                yield self._row(rtol), self._call(rtol)

    def reaching(self, targets: Iterable[float]) -> Iterator[Trial]:
        """For each of these errors, a run with the largest tolerance that reaches it."""
        least = max(self.method.tightest, LEAST_RTOL)
        fine = [10.0 ** (-k / 4) for k in range(8, 61) if 10.0 ** (-k / 4) >= least]
        rows = [self._row(rtol) for rtol in fine]
        for target in targets:
            good = [row.reaches(target) for row in rows]
            for k in range(len(rows) - IN_A_ROW + 1):
                if all(good[k : k + IN_A_ROW]):
                    yield rows[k], self._call(fine[k])
                    break

    def _row(self, rtol: float) -> Row:
        run = prepare(self.problem, method=self.method, rtol=rtol)(self.span)
        return replace(self._assess(run, self.length / max(run.nsteps, 1)), rtol=rtol)

    def _call(self, rtol: float) -> Callable:
        solver = prepare(self.problem, method=self.method, rtol=rtol)
        return lambda: solver(self.span)


def first_place(reached: Callable[[int], bool]) -> int | None:
    """The first of ``IN_A_ROW`` places that reach the error, by octaves, then by parts."""
    last = PARTS * round(math.log2(MOST_STEPS))
    for octave in range(PARTS, last + 1, PARTS):
        if not reached(octave):
            continue
        place = octave - PARTS + 1
        while place <= octave + PARTS:
            missed = [p for p in range(place, place + IN_A_ROW) if not reached(p)]
            if not missed:
                return place
            place = missed[-1] + 1
    return None


# ---- time
def measure_times(
    calls: Sequence[Callable], repeats: int, report: Callable[[float], None]
) -> list[float]:
    """The least seconds of each call, all in turn; long ones are repeated less often."""
    fine = time.get_clock_info("thread_time").resolution <= 1e-6
    clock = time.thread_time if fine else time.perf_counter
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
