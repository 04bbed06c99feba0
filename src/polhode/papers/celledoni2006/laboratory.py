"""The runs, work and times that the claims and figures of Celledoni & Säfström (2006) share.

What a method costs is the work of its steps, counted (``counted``), in units of a step of MR2.
Execution times are shown with their range (``timing``), in the same units; no verdict rests on
them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import permutations
from typing import Any

import numpy as np

from polhode import loops, problems
from polhode.body import RigidBody
from polhode.contracts import Method, Model, inverse_moments
from polhode.kernels.vector import add_scaled, cross, scale
from polhode.methods import METHODS
from polhode.models import gravity_gradient, heavy_top
from polhode.papers import laboratory as shared
from polhode.papers.celledoni2006 import by_hand, reference
from polhode.papers.counted import Counted, counted, counting, work_of
from polhode.papers.laboratory import WHOLE_RUN, under
from polhode.papers.reference import motion_of, top
from polhode.papers.rotations import matrix
from polhode.papers.timing import ranged, take_turns
from polhode.papers.verdicts import Untestable, largest, slope
from polhode.problems.problem import Problem
from polhode.results.trajectory import Trajectory
from polhode.solvers.entry import prepare
from polhode.tableaus.composition import SUZUKI4

TOP_STEPS, TOP_END = (0.1, 0.05, 0.01), 100.0  # figures 4 and 5
SATELLITE_STEPS, SATELLITE_END = (0.1, 0.05), 400.0  # figures 7 and 8
FREE_STEP, FREE_END = 0.4, 400.0  # section 4.1, energy
ALPHA_STEP, ALPHA_END = 0.01, 10.0  # figure 6
TIMED_STEPS = 2000  # of one timing: the overhead of the call is then one per cent
COUNTED_STEPS = 8  # in which the work of a step is counted
NEAR = 0.3  # on the unit sphere: a path within this distance of another has its shape
FLOOR = 1e-13  # smaller errors are rounding, and have no order
THREE = "mr2", "sej", "sej4"  # the methods of figures 3 to 8
TODAY = "strang"  # what the library offers today: splitting with the exact flow of (6)


# ---- torques
TORQUES = heavy_top(1.0, (1.0, 0.0, 0.0)) + gravity_gradient(by_hand.MU, by_hand.RADIUS)


def torques(
    strength: float = 0.0, mu: float = 0.0, centre: Sequence[float] = (0.0, 0.0, 1.0)
) -> Model:
    """A top of strength ``strength``, and the gravity gradient of 4.3 with ``mu``.

    All torques of the paper are one model with other numbers, so that each method is compiled once.
    """
    (_, (_, r, direction)) = TORQUES.numbers
    top = (float(strength), tuple(map(float, centre)))
    return replace(TORQUES, numbers=(top, (float(mu), r, direction)))


STRENGTHS: Mapping[str, tuple[float, float]] = {
    "celledoni-free": (0.0, 0.0),
    "celledoni-heavy-top": (1.0, 0.0),
    "satellite": (0.0, by_hand.MU),
}


# ---- methods beside the registry
def _rk4(t, h, state, carry, body, params):
    q, m = state
    inverse = inverse_moments(body)
    k1 = cross(m, scale(inverse, m))
    m2 = add_scaled(m, h / 2, k1)
    k2 = cross(m2, scale(inverse, m2))
    m3 = add_scaled(m, h / 2, k2)
    k3 = cross(m3, scale(inverse, m3))
    m4 = add_scaled(m, h, k3)
    k4 = cross(m4, scale(inverse, m4))
    m = add_scaled(add_scaled(m, h / 6, k1), h / 3, k2)
    return (q, add_scaled(add_scaled(m, h / 3, k3), h / 6, k4)), carry


OTHERS: Mapping[str, Method] = {
    "rk4": Method(  # the standard solver: (1) alone, conserves nothing
        name="rk4",
        title="classical Runge-Kutta method for the Euler equations",
        order=4,
        symmetric=False,
        free_only=True,
        references=("celledoni2006",),
        step=_rk4,
    ),
    "mr4s": replace(METHODS["mr2"], name="mr4s", order=SUZUKI4.order, weights=SUZUKI4.floats),
}
LABELS = {"mr4s": "MR4 (Suzuki)", "rk4": "RK4", "strang": "Strang, exact flow"}


def find_method(name: str) -> Method:
    """A method of the library or of ``OTHERS``."""
    return OTHERS[name] if name in OTHERS else METHODS[name]


def label(name: str) -> str:
    """Return the name of a method in text and figures."""
    return LABELS.get(name, name.upper())


def short_label(name: str) -> str:
    """Return the same where MR2 is the only method of its kind."""
    return "MR" if name == "mr2" else label(name)


# ---- figures 1 to 3
@dataclass(frozen=True)
class Example:
    """A work-precision study on [0, 1]: a problem of the catalogue, methods and steps."""

    title: str
    start: Callable[[], Problem]
    methods: tuple[str, ...]
    powers: range  # k of the steps 2⁻ᵏ


EXAMPLES: Mapping[str, Example] = {
    "euler": Example(
        "Euler's equations",
        problems.celledoni_free,
        ("mr2", "mr4", "mr4s", "dmv2", "dmv4", "dmv6", "je", "rk4"),
        range(2, 7),
    ),
    "frb": Example(
        "Free rigid body",
        problems.celledoni_free,
        ("mr2", "mr4", "jem2", "jem4", "strang", "sej"),
        range(2, 7),
    ),
    "top": Example("Heavy top", problems.celledoni_heavy_top, (*THREE, TODAY), range(4, 10)),
}


@dataclass(frozen=True)
class Study:
    """Errors at t = 1 by quantity, method and step, and what a step costs, in steps of MR2."""

    steps: np.ndarray  # falling
    errors: Mapping[str, Mapping[str, np.ndarray]]  # in π, in Q (Frobenius), in both
    work: Mapping[str, np.ndarray]  # counted
    times: Mapping[str, np.ndarray]  # execution times, for each group of rounds
    iterations: Mapping[str, float]  # Newton's, for each step

    def time(self, name: str) -> np.ndarray:
        """Execution times of the whole interval, in steps of MR2: the least."""
        return self.times[name].min(axis=0) / self.steps

    def work_of(self, name: str) -> float:
        """Return the work of a step, in steps of MR2."""
        return float(np.median(self.work[name]))

    def times_of(self, name: str, other: str = "mr2") -> str:
        """Return the time of a step over that of another method, in words."""
        one, two = (np.median(self.times[n], axis=1) for n in (name, other))
        return ranged(one / two)

    def order(self, quantity: str, name: str, last: int = 99) -> float:
        """Return the slope of the errors above rounding, over the last steps."""
        values = self.errors[quantity][name]
        fine = np.flatnonzero(values > FLOOR)[-last:]
        return slope(self.steps[fine].tolist(), values[fine].tolist())

    def error_ratio(self, quantity: str, name: str, other: str) -> np.ndarray:
        """Return the errors of one method over those of another, by step."""
        return self.errors[quantity][name] / self.errors[quantity][other]

    def cost_to(self, quantity: str, name: str, aim: float, cost: np.ndarray) -> float:
        """Return the cost of reaching an error, by interpolation or extrapolation.

        ``cost`` is that of a step, by step size.
        """
        values, costs = self.errors[quantity][name], cost / self.steps
        if values[0] <= aim:
            return float(costs[0])
        fine = values > FLOOR
        x, y = np.log(costs[fine]), np.log(values[fine])
        below = np.flatnonzero(y <= np.log(aim))
        if len(below):
            k = int(below[0])
            share = (y[k - 1] - np.log(aim)) / (y[k - 1] - y[k])
            return float(np.exp(x[k - 1] + share * (x[k] - x[k - 1])))
        rate = float(np.polyfit(x, y, 1)[0])
        return float(np.exp(x[-1] + (np.log(aim) - y[-1]) / rate))

    def work_ratio(self, quantity: str, name: str, other: str, aim: float) -> float:
        """Return the work of one method to an error, over that of another."""
        one, two = (self.cost_to(quantity, n, aim, self.work[n]) for n in (name, other))
        return one / two

    def time_ratio(
        self, quantity: str, name: str, other: str, aim: float, form: str = ".2g"
    ) -> str:
        """Return the same of execution times, in words."""
        one, two = (
            np.array([self.cost_to(quantity, n, aim, cost) for cost in self.times[n]])
            for n in (name, other)
        )
        return ranged(one / two, form)


class Swing:
    """The energy error of a run over time."""

    def __init__(self, run: Trajectory):
        energy = np.asarray(run.energy)
        self.error, self.start = energy - energy[0], float(energy[0])

    @property
    def largest(self) -> float:
        """The largest absolute error."""
        return largest(self.error)

    @property
    def relative(self) -> float:
        """The largest error, relative to the energy at the start."""
        return self.largest / abs(self.start)

    @property
    def amplitude(self) -> float:
        """Half the range of the error."""
        return float(np.ptp(self.error)) / 2


def vertical(run: Trajectory) -> np.ndarray:
    """u = Q e3 along a run: the third row of the library's attitude matrix."""
    return run.rotation.as_matrix()[:, 2, :]


def mean_distance(path: np.ndarray, other: np.ndarray) -> float:
    """Return the mean distance of two paths at the same times."""
    return float(np.linalg.norm(path - other, axis=1).mean())


@dataclass(frozen=True)
class Experiment:
    """The runs of two figures, by method and step, and the exact curve of u every 0.01."""

    runs: Mapping[tuple[str, float], Trajectory]
    curve: np.ndarray

    def path(self, name: str, h: float) -> np.ndarray:
        """u along a run."""
        return vertical(self.runs[name, h])

    def astray(self, name: str, h: float) -> np.ndarray:
        """Return how far each point of a path is from the nearest point of the exact curve."""
        from scipy.spatial import cKDTree

        return np.asarray(cKDTree(self.curve).query(self.path(name, h))[0])

    def farthest(self, name: str, h: float) -> float:
        """Return the largest of these distances."""
        return float(self.astray(name, h).max())

    def swing(self, name: str, h: float) -> Swing:
        """Return the energy error of a run."""
        return Swing(self.runs[name, h])

    def energy_ratio(self, h: float) -> float:
        """Return the largest energy error of MR over that of SEJ."""
        return self.swing("mr2", h).largest / self.swing("sej", h).largest


def relabel(given: Problem, order: tuple[int, ...]) -> Problem:
    """A problem with its body axes permuted, by a proper signed permutation."""
    turn = np.eye(3)[list(order)]
    if np.linalg.det(turn) < 0:
        turn[1] *= -1
    return Problem(
        RigidBody((np.abs(turn) @ given.body.principal_moments).tolist()),
        torques(*STRENGTHS[given.name], centre=(turn @ [0.0, 0.0, 1.0]).tolist()),
        matrix(given.attitude) @ turn.T,
        angular_momentum=turn @ np.array(given.angular_momentum),
        name=given.name,
    )


class Laboratory(shared.Laboratory):
    """The runs of the paper by Celledoni and Säfström.

    ``quick`` takes fewer timings, fewer values of α and shorter runs where errors accumulate.
    """

    def problem(self, given: Problem, name: str) -> Problem:
        """A problem as a method runs it: with the shared torques, unless it needs none."""
        free = given.model.is_free and name not in ("sej", "sej4", "strang", "strang6")
        if free or given.name not in STRENGTHS:
            return given
        return under(given, torques(*STRENGTHS[given.name]))

    def run(self, problem: Problem, method: Any, *args: Any, **keywords: Any) -> Trajectory:
        """A run from time 0, by the name of a method of the library or of ``OTHERS``."""
        used = self.problem(problem, method)
        return super().run(used, find_method(method), *args, **keywords)

    # ---- figures 1 to 3
    @cached_property
    def ends(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """(R, π) at t = 1: known to 20 digits without torque, by DOP853 with it."""
        q, m = motion_of(problems.celledoni_heavy_top(), top(), 1.0)
        free = matrix(np.array(reference.FREE_Q)), np.array(reference.FREE_PI)
        return {"euler": free, "frb": free, "top": (matrix(q[-1]), m[-1])}

    @cached_property
    def studies(self) -> dict[str, Study]:
        """Figures 1 to 3."""
        return {name: self._study(name, example) for name, example in EXAMPLES.items()}

    def _study(self, name: str, example: Example) -> Study:
        problem, steps = example.start(), 2.0 ** -np.array(example.powers)
        errors: dict[str, dict[str, np.ndarray]] = {"π": {}, "Q": {}, "both": {}}
        iterations = {}
        for other in example.methods:
            self.progress(f"{example.title}: errors of {other}")
            runs = [self.run(problem, other, 1.0, dt, WHOLE_RUN) for dt in steps.tolist()]
            found = np.array([shared.end_errors(run, self.ends[name]) for run in runs]).T
            errors["π"][other], errors["Q"][other] = found
            errors["both"][other] = np.hypot(*found)
            iterations[other] = float(np.mean([run.niter / run.nsteps for run in runs]))
        self.progress(f"{example.title}: work and times")
        work = {n: self._work(problem, n, steps) for n in example.methods}
        unit = float(np.median(work["mr2"]))
        times = self._times(problem, example.methods, steps)
        return Study(steps, errors, {n: w / unit for n, w in work.items()}, times, iterations)

    def _work(self, given: Problem, name: str, steps: np.ndarray) -> np.ndarray:
        """The mean work of the first steps, by step size."""
        problem, method = self.problem(given, name), find_method(name)
        start, whole = (
            counting(loops.joined(f, method, problem.model))
            for f in (method.start, loops.whole_step)
        )
        parts = [counted(tuple(array.tolist())) for array in loops.substeps(method)]
        numbers, tables = problem.model.params
        rest = counted(problem.body.data), (counted(numbers), tables)

        def of_steps(h: float) -> float:
            state = counted((problem.attitude, problem.angular_momentum))
            kept = [state, start(Counted(0.0), Counted(h), state, *rest)]

            def march() -> None:
                for k in range(COUNTED_STEPS):
                    state, carry, status, *_ = whole(
                        Counted(k * h), Counted(h), *parts, *kept, *rest
                    )
                    if status:
                        raise Untestable(f"a step of {name} with h = {h} did not converge")
                    kept[:] = state, carry

            return work_of(march) / COUNTED_STEPS

        return np.array([of_steps(h) for h in steps.tolist()])

    def _times(
        self, problem: Problem, names: tuple[str, ...], steps: np.ndarray
    ) -> dict[str, np.ndarray]:
        """Times of a step, by method, group of rounds and step size, in steps of MR2."""
        solvers = {
            (name, dt): prepare(
                self.problem(problem, name), method=find_method(name), dt=dt, save_every=WHOLE_RUN
            )
            for name in names
            for dt in steps.tolist()
        }
        calls = {
            key: partial(solver, (0.0, TIMED_STEPS * key[1])) for key, solver in solvers.items()
        }
        taken = take_turns(calls, 8 if self.quick else 24)
        times = {n: np.stack([taken[n, dt] for dt in steps.tolist()], axis=1) for n in names}
        unit = np.median(times["mr2"], axis=1, keepdims=True)
        return {name: found / unit for name, found in times.items()}

    # ---- section 4.1, energy
    @cached_property
    def free_swings(self) -> dict[str, Swing]:
        """Energy errors on [0, 400] with h = 0.4; SEJ computes τ at every step."""
        self.progress(f"free body: energy on [0, {FREE_END:g}]")
        problem = problems.celledoni_free()
        names = ("mr2", "mr4", "mr4s", "dmv2", "dmv4", "dmv6", "je", "sej")
        return {name: Swing(self.run(problem, name, FREE_END, FREE_STEP)) for name in names}

    # ---- figures 4 and 5, 7 and 8
    def _experiment(self, problem: Problem, end: float, steps: Sequence[float]) -> Experiment:
        """The exact curve is that of the Strang splitting of order 6 with h = 0.01."""
        self.progress(f"{problem.name}: trajectories on [0, {end:g}]")
        runs = {
            (name, h): self.run(problem, name, end, h) for name in (*THREE, TODAY) for h in steps
        }
        return Experiment(runs, vertical(self.run(problem, "strang6", end, 0.01)))

    @cached_property
    def top(self) -> Experiment:
        """Figures 4 and 5."""
        return self._experiment(problems.celledoni_heavy_top(), TOP_END, TOP_STEPS)

    @cached_property
    def satellite(self) -> Experiment:
        """Figures 7 and 8."""
        return self._experiment(problems.satellite(), SATELLITE_END, SATELLITE_STEPS)

    # ---- figure 6
    @cached_property
    def alphas(self) -> dict[str, np.ndarray]:
        """α of figure 6(a) and (b); the ranges are not given."""
        fine = 3 if self.quick else 10
        ends = {"a": 1.5, "b": 3.0}
        return {p: np.logspace(-1, end, round((end + 1) * fine) + 1) for p, end in ends.items()}

    @cached_property
    def alpha_errors(self) -> dict[str, dict[str, np.ndarray]]:
        """Means of |H - H_n| of figure 6, by panel and method."""
        self.progress("heavy top: energy errors against α")
        return {
            panel: {
                name: np.array([self._alpha(panel, name, alpha) for alpha in values.tolist()])
                for name in (*THREE, TODAY)
            }
            for panel, values in self.alphas.items()
        }

    @cached_property
    def alpha_ratios(self) -> dict[str, np.ndarray]:
        """The same of MR over SEJ, by panel."""
        return {panel: errors["mr2"] / errors["sej"] for panel, errors in self.alpha_errors.items()}

    def _alpha(self, panel: str, name: str, alpha: float) -> float:
        faster, heavier = (alpha, 1.0) if panel == "a" else (1.0, alpha)
        base = np.array([1.0, 2.0, 3.0])
        body = RigidBody((heavier * base).tolist())
        problem = Problem(body, torques(1.0), omega=(faster * base).tolist())
        error = Swing(self.run(problem, name, ALPHA_END, ALPHA_STEP)).error
        return float(np.abs(error[1:]).mean())

    # ---- figures 4 to 8
    def curve_errors(self) -> list[float]:
        """Return the distance of the two exact curves from DOP853; the quick form takes a tenth."""
        self.progress("trajectories by DOP853")
        share, orbiting = 10 if self.quick else 1, problems.satellite()
        found = []
        for given, law, curve in (
            (problems.celledoni_heavy_top(), top(), self.top.curve),
            (orbiting, reference.satellite(orbiting.body.data[0]), self.satellite.curve),
        ):
            times = np.arange(1, len(curve) // 100 // share + 1)
            q, _ = motion_of(given, law, times.astype(float))
            found.append(largest(curve[100 * times] - [matrix(row)[2] for row in q]))
        return found

    @cached_property
    def energy_ratios(self) -> list[float]:
        """Energy error of MR over that of SEJ, for every experiment of figures 4 to 8."""
        runs = [self.top.energy_ratio(h) for h in TOP_STEPS]
        runs += [self.satellite.energy_ratio(h) for h in SATELLITE_STEPS]
        return [*runs, *np.concatenate(list(self.alpha_ratios.values())).tolist()]

    # ---- section 4.3, orderings
    @cached_property
    def orderings(self) -> list[list[float]]:
        """The largest relative energy errors of MR2, for every order of its rotations.

        They are those of the free body, the top and the satellite; the order printed is the first.
        """
        self.progress("MR2 with its rotations in other orders")
        return [
            [
                Swing(self.run(relabel(given, order), "mr2", t_end, dt)).relative
                for order in permutations(range(3))
            ]
            for given, t_end, dt in (
                (problems.celledoni_free(), FREE_END, FREE_STEP),
                (problems.celledoni_heavy_top(), TOP_END, 0.01),
                (problems.satellite(), SATELLITE_END, 0.05),
            )
        ]
