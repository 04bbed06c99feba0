"""The runs that the claims and figures of Boyle (2017) share.

They take the steps of ``integrate_angular_velocity``; here the raw variables are kept, because the
paper compares the frame vectors as they come out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import cos, sin
from time import thread_time
from typing import Any

import numpy as np

from polhode import loops, problems
from polhode.compiler.tree import flat
from polhode.contracts import OK, Formulation, Rate
from polhode.formulations import FORMULATIONS, vectors2_damped
from polhode.integrators import INTEGRATORS
from polhode.kernels.quaternion import to_unit_length
from polhode.loops.join import BoundIntegrator
from polhode.papers.boyle2017 import by_hand
from polhode.papers.boyle2017.courses import Course, errors_between
from polhode.papers.counted import Counted, counted, counting, work_of
from polhode.papers.laboratory import Laboratory as Base
from polhode.papers.laboratory import Progress
from polhode.papers.quaternions import pure
from polhode.papers.verdicts import Untestable
from polhode.problems import GivenRate
from polhode.problems.given_motions import about
from polhode.solvers.adaptive_steps import AdaptiveRun, run_adaptive
from polhode.solvers.arguments import MAX_STEPS

DP, BS = "dop853", "bulirsch-stoer"
ROTOR, RESET, NAIVE = "rotor", "generator-reset", "generator"
TWO, THREE, PROJECTED = "vectors2", "vectors3", "vectors2-projected"
FIGURE_3 = ROTOR, TWO, NAIVE, RESET  # formulations of the figures
FIGURE_5 = ROTOR, TWO, RESET
EARLY = 20_000.0  # the end of figures 1 and 4: 20 orbits
REPEATS = 12  # of timed runs
TRIALS = 12  # in which the work of an evaluation is counted
MOST = 3_000_000  # steps after which a run counts as failed


# ---- formulations beside the registry
_reset = FORMULATIONS[RESET].reset


def _stale(y):
    """A reset after which the integrator continues with the slope of the old generator."""
    return _reset(y)[0], False


def _unit(y):
    return to_unit_length(y), False


OTHERS: Mapping[str, Formulation] = {
    "stale": replace(FORMULATIONS[RESET], name="stale", reset=_stale),
    "normalised": replace(FORMULATIONS[ROTOR], name="normalised", reset=_unit),
    "weak": vectors2_damped.formulation(1e-3, 1e-3),  # 1/λ is an orbit
    "strong": vectors2_damped.formulation(1.0, 1.0),
}


def formulation(name: str) -> Formulation:
    return OTHERS[name] if name in OTHERS else FORMULATIONS[name]


# ---- problems
BINARY, *STAND_INS = (make() for make in problems.RATES.values())
BINARY_OMEGA = BINARY.omega
_one, _two, _three, _four = (p.omega for p in STAND_INS)


def _velocity_of_binary(t, q, params):
    return BINARY_OMEGA(t)


def _velocity_of_stand_in(t, q, params):
    """One function for all of them, so that it is compiled once."""
    which = params[0][0]
    if which < 0.5:
        return _one(t)
    if which < 1.5:
        return _two(t)
    if which < 2.5:
        return _three(t)
    return _four(t)


def bending(s):
    """The rates of twist and of bending of the beam, per unit length, in its own axes."""
    angle, twist = 0.5 * s + 0.3 * sin(2 * s), 0.5 + 0.6 * cos(2 * s)
    return TORSION + twist, CURVATURE * sin(angle), CURVATURE * cos(angle)


def _bending_of_beam(s, q, params):
    return bending(s)


# a helix, whose frame (tangent, normal, binormal) turns about one axis, and its section's twist
TORSION, CURVATURE = 0.24, 0.32
HELIX = about((0.6, 0.0, 0.8), lambda s: 0.4 * s, lambda s: 0.4)
TWIST = about((1, 0, 0), lambda s: 0.5 * s + 0.3 * sin(2 * s), lambda s: 0.5 + 0.6 * cos(2 * s))
BEAM = GivenRate("beam", HELIX * TWIST, (0.0, 20.0))


def _rate(problem: GivenRate) -> Rate:
    if problem is BINARY:
        return Rate(velocity=_velocity_of_binary, inertial=True)
    if problem is BEAM:
        return Rate(velocity=_bending_of_beam, inertial=False)
    number = float(STAND_INS.index(problem))
    return Rate(velocity=_velocity_of_stand_in, inertial=True, params=((number,), ()))


def exact(problem: GivenRate, t: np.ndarray) -> np.ndarray:
    """Return the attitudes at some times; those of the binary by the formula of the page."""
    return by_hand.binary(t) if problem is BINARY else problem.exact(t)


def rates(problem: GivenRate, times: np.ndarray) -> np.ndarray:
    """Return the angular velocities at some times, by the library."""
    return np.array([problem.omega(t) for t in times])


def frames(name: str, y: np.ndarray) -> np.ndarray:
    """Return the frame vectors (rows) of variables; vectors are taken as they are."""
    if name == THREE:
        return y.reshape(-1, 3, 3)
    if y.shape[1] == 6:
        return np.stack([y[:, :3], y[:, 3:], np.cross(y[:, :3], y[:, 3:])], axis=1)
    return by_hand.frame(by_hand.exponential(pure(y)) if y.shape[1] == 3 else y)


def distance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the distance of frames, (25)."""
    return np.sqrt(((a - b) ** 2).sum(axis=(-1, -2)))


@dataclass(frozen=True)
class Run:
    """The steps of a run, its errors by (25), and its cost."""

    t: np.ndarray
    y: np.ndarray
    error: np.ndarray
    rejected: int
    evaluations: int
    seconds: float
    work: float = np.nan  # operations in all, from those of an evaluation (``counted``)

    @property
    def steps(self) -> int:
        return len(self.t) - 1

    @property
    def worst(self) -> float:
        return float(self.error.max())

    @property
    def evaluations_per_step(self) -> float:
        return self.evaluations / self.steps

    @property
    def seconds_per_evaluation(self) -> float:
        return self.seconds / self.evaluations

    @property
    def work_per_evaluation(self) -> float:
        return self.work / self.evaluations


@dataclass
class Study:
    """Runs with falling tolerances, by integrator and formulation."""

    tolerances: tuple[float, ...]
    runs: dict[tuple[str, str], list[Run]]

    def numbers(self, integrator: str, name: str, of: str) -> np.ndarray:
        return np.array([getattr(run, of) for run in self.runs[integrator, name]], float)

    def cost(self, integrator: str, name: str, error: float, of: str = "evaluations") -> float:
        """Return the cost of reaching a largest error, interpolated between tolerances."""
        errors, costs = (self.numbers(integrator, name, what) for what in ("worst", of))
        falling = np.minimum.accumulate(errors)
        keep = np.concatenate([[True], falling[1:] < falling[:-1]])
        x, y = np.log(errors[keep])[::-1], np.log(costs[keep])[::-1]
        if not x[0] <= np.log(error) <= x[-1]:
            raise Untestable(f"{integrator}, {name}: no errors around {error:.0e}")
        return float(np.exp(np.interp(np.log(error), x, y)))

    def costs(self, integrator: str, name: str, errors: Any, of: str = "evaluations") -> np.ndarray:
        """Return the costs of reaching each of some errors."""
        return np.array([self.cost(integrator, name, error, of) for error in errors])

    def whole(self, *pairs: tuple[str, str]) -> np.ndarray:
        """Return errors over the whole range that the curves of some pairs reach, all of them."""
        curves = [self.numbers(*pair, "worst") for pair in pairs]
        high, low = min(curve[0] for curve in curves), max(curve.min() for curve in curves)
        return errors_between(high * (1 - 1e-12), low * (1 + 1e-12))

    def course(
        self, one: tuple[str, str], other: tuple[str, str], errors: Any, of: str = "evaluations"
    ) -> Course:
        """Return the costs of a pair relative to those of another, at each of some errors."""
        return Course(errors, self.costs(*one, errors, of) / self.costs(*other, errors, of))

    def ratio(self, integrator: str, name: str, of: str = "evaluations") -> Course:
        """Return the costs relative to the rotor's, over the errors that all formulations reach."""
        errors = self.whole(*(pair for pair in self.runs if pair[0] == integrator))
        return self.course((integrator, name), (integrator, ROTOR), errors, of)

    def bs_to_dp(self, name: str, of: str = "evaluations") -> Course:
        """Return the costs of B-S relative to D-P in one formulation, over all common errors."""
        pair = (BS, name), (DP, name)
        return self.course(*pair, self.whole(*pair), of)


def spread(values: Any, form: str = ".2f") -> str:
    """Return the smallest and the largest, in words."""
    values = list(values)
    return f"{np.min(values):{form}} to {np.max(values):{form}}"


class Laboratory(Base):
    """The runs of the figures.

    ``quick`` takes shorter runs with fewer tolerances, in plain Python: compiling some thirty loops
    would take longer.
    """

    def __init__(self, quick: bool, progress: Progress):
        super().__init__(quick, progress)
        self.end = 50_000.0 if quick else 1_000_000.0
        self.tolerances = tuple(10.0**-k for k in range(4, 15, 2 if quick else 1))
        self.errors = (1e-4, 1e-6, 3e-8) if quick else (1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
        self._integrators: dict[tuple, BoundIntegrator] = {}

    @property
    def error_range(self) -> str:
        """The range of ``errors``, in words."""
        return f"{self.errors[0]:.0e} … {self.errors[-1]:.0e}"

    # ---- one run
    def integrate(
        self,
        problem: GivenRate,
        integrator: str,
        name: str,
        tolerance: float,
        end: float,
        *,
        begin: float | None = None,
        scale: float = 1.0,
        largest: float = np.inf,
        most: int = MOST,
    ) -> Run:
        """A run from the start of a problem, or from ``begin``.

        ``scale`` multiplies variables and tolerance.

        A run that stops early, or takes more than ``most`` steps, is not a measurement.
        """
        rate, attitude = _rate(problem), problem.attitude
        if begin is None:
            begin = problem.span[0]
        else:
            attitude = tuple(exact(problem, np.array(begin)).tolist())
        parts = self._bound(integrator, name, rate)
        first = tuple(scale * x for x in formulation(name).enter(attitude))
        others = parts.start(begin, 1.0, first, (), rate.params), (), rate.params[0]
        parts.packed(first, *others)
        tolerances = 0.0, abs(scale) * tolerance
        row = np.array([flat(((first, *others), largest, tolerances))])
        limits = 0.0, MAX_STEPS
        run = AdaptiveRun(parts, (begin, end), row, first, (), rate.params, tolerances, *limits)
        clock = thread_time()
        taken = run_adaptive(run, look=lambda taken: len(taken.rows) >= most)
        seconds = thread_time() - clock
        if taken.status != OK or not run.at_end:
            raise Untestable(f"{integrator}, {name} on {problem.name}: stopped at t = {run.t}")
        t, y = taken.times, taken.rows[:, 2:]
        error = distance(frames(name, y / scale), by_hand.frame(exact(problem, t)))
        return Run(t, y, error, taken.rejected, taken.evaluations, seconds)

    def _bound(self, integrator: str, name: str, rate: Rate) -> BoundIntegrator:
        """Return an integrator in the variables of a formulation; one for all stand-ins."""
        key = integrator, name, rate.velocity
        if key not in self._integrators:
            self.progress(f"{integrator}, {name}")
            parts = INTEGRATORS[integrator], formulation(name), rate
            self._integrators[key] = BoundIntegrator(*parts, True, plain=self.quick)
        return self._integrators[key]

    def _study(
        self,
        problem: GivenRate,
        end: float,
        tolerances: tuple[float, ...],
        integrators: Sequence[str],
        names: Sequence[str],
        **more: Any,
    ) -> Study:
        pairs = [(integrator, name) for integrator in integrators for name in names]

        def runs(pair: tuple[str, str]) -> list[Run]:
            return [self.integrate(problem, *pair, tol, end, **more) for tol in tolerances]

        return Study(tolerances, {pair: runs(pair) for pair in pairs})

    # ---- the binary
    @cached_property
    def study(self) -> Study:
        """Figure 3; three vectors with D-P too."""
        study = self._study(BINARY, self.end, self.tolerances, (DP, BS), FIGURE_3)
        study.runs |= self._study(BINARY, self.end, self.tolerances, (DP,), (THREE,)).runs
        for _ in range(0 if self.quick else REPEATS):  # in turn, so that all see the same noise
            for pair, runs in study.runs.items():
                for k, tol in enumerate(self.tolerances):
                    again = self.integrate(BINARY, *pair, tol, self.end)
                    runs[k] = min(runs[k], again, key=lambda run: run.seconds)
        for pair, runs in study.runs.items():
            work = [self.work(*pair, tolerance) for tolerance in self.tolerances]
            runs[:] = [
                replace(run, work=run.evaluations * w) for run, w in zip(runs, work, strict=True)
            ]
        return study

    def work(self, integrator: str, name: str, tolerance: float) -> float:
        """Return the operations of an evaluation and its share of a step, in the first trials."""
        rate, (begin, end) = _rate(BINARY), BINARY.span
        layers = self._bound(integrator, name, rate).layers
        adapt = counting(loops.bound(loops.adapt, *layers))
        first = counted(formulation(name).enter(BINARY.attitude))
        nothing = Counted(0.0)
        start = counting(loops.bound(INTEGRATORS[integrator].start, *layers[1:]))
        carry = start(Counted(begin), nothing, first, (), rate.params)
        time = Counted(begin), nothing, Counted(end), nothing, np.inf, True
        rest = carry, (), rate.params, (0.0, tolerance), TRIALS, ()
        taken: list[Any] = []
        work = work_of(lambda: taken.append(adapt(*time, first, *rest)))
        return work / taken[0][-1]

    def ratio(self, integrator: str, name: str, of: str = "evaluations") -> Course:
        """Return the cost relative to that of the rotor, over the whole range of figure 3."""
        return self.study.ratio(integrator, name, of)

    @cached_property
    def far(self) -> Study:
        """D-P in orbits 200 to 250, which stay away from the identity: vectors and generator."""
        tolerances, begin = self.tolerances[: 4 if self.quick else None], 200_000.0
        return self._study(BINARY, 250_000.0, tolerances, (DP,), (TWO, NAIVE), begin=begin)

    @cached_property
    def projected(self) -> Study:
        """Figure 3 by D-P: the rotor, two vectors, and these made orthonormal after each step."""
        study = self._study(BINARY, self.end, self.tolerances, (DP,), (PROJECTED,))
        study.runs |= {(DP, name): self.study.runs[DP, name] for name in (ROTOR, TWO)}
        return study

    @cached_property
    def tight(self) -> dict[float, Run]:
        """The rotor by D-P with the smallest tolerances of figure 2."""
        return {
            tol: self.integrate(BINARY, DP, ROTOR, tol, self.end)
            for tol in (1e-11, 1e-12, 1e-13, 1e-14)
        }

    @property
    def rotor_runs(self) -> dict[float, Run]:
        """All runs of figure 2, by tolerance."""
        runs = self.study.runs[DP, ROTOR]
        return {**dict(zip(self.tolerances, runs, strict=True)), **self.tight}

    @cached_property
    def large_steps(self) -> Run:
        """The rotor by B-S with a tolerance of 1e-12."""
        return self.integrate(BINARY, BS, ROTOR, 1e-12, self.end)

    @cached_property
    def early(self) -> dict[str, Run]:
        """Figure 4, by steps of 1/40 of an orbit or less."""
        return {
            name: self.integrate(BINARY, DP, name, 1e-8, EARLY, largest=25.0)
            for name in (TWO, ROTOR, NAIVE, RESET)
        }

    @cached_property
    def damped(self) -> dict[str, Study]:
        """Runs by D-P with weak and strong damping, each beside runs of two undamped vectors."""
        plans = {
            "weak": (self.end, (1e-4, 1e-6) if self.quick else (1e-4, 1e-6, 1e-8, 1e-10)),
            "strong": (5_000.0, (1e-4,)) if self.quick else (self.end / 10, (1e-4, 1e-8)),
        }
        return {
            kind: self._study(BINARY, end, tolerances, (DP,), (kind, TWO))
            for kind, (end, tolerances) in plans.items()
        }

    @cached_property
    def after_resets(self) -> Study:
        """Dormand and Prince's method of order 5, its first slope right or stale after resets."""
        tolerances = tuple(10.0**-k for k in ((5, 7, 9) if self.quick else (4, 6, 8, 10)))
        return self._study(BINARY, self.end / 5, tolerances, ("dopri5",), (ROTOR, RESET, "stale"))

    # ---- the appendix
    def span(self, problem: GivenRate) -> float:
        """Return the end of a stand-in; the quick form takes a part of all but the last."""
        short = {STAND_INS[0]: 25.0, STAND_INS[1]: 10.0, STAND_INS[2]: 2.0}
        return short.get(problem, problem.span[1]) if self.quick else problem.span[1]

    @cached_property
    def stand_ins(self) -> dict[GivenRate, Study]:
        """Figure 5."""
        rest = self.tolerances, (DP, BS), FIGURE_5
        return {p: self._study(p, self.span(p), *rest) for p in STAND_INS}
