"""The runs that the claims and figures of Krysl (2006) share."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from polhode import problems
from polhode.contracts import Model
from polhode.models import heavy_top, soft_wall
from polhode.papers import laboratory as shared
from polhode.papers import reference
from polhode.papers.laboratory import WHOLE_RUN, under
from polhode.papers.maps import VISIBLE
from polhode.papers.rotations import matrix
from polhode.papers.verdicts import Measured, holds_if, largest, relative_change, slope
from polhode.problems.problem import Problem
from polhode.results.trajectory import Trajectory
from polhode.solvers.entry import solve

PRESENT = ("trap", "imid", "trapm", "imidm")
COMPARED = ("akw", "bbtrap", "swc1")
ALL = (*COMPARED, *PRESENT)
WALL_STEP, WALL_STEPS = 0.5, 40_000
FINE_STEP = 0.002  # resolves the wall
FREE_STEP = 0.5  # a turn of 27 degrees
CHANGE = 1e-14  # relative, of each component of the momentum at the start: nearby starts
PARTED = 0.1  # in a component of the quaternion: another motion
SEED = 20061011
KEPT = 1e-11  # relative: up to 1e6 steps with errors of 1e-16 each, at worst all of one sign

TORQUES = heavy_top(0.0) + soft_wall("printed")


def contrast(kept: float, moved: float) -> Measured:
    """Hold if one value is kept to rounding, and another changes visibly."""
    return holds_if(kept < KEPT and moved > VISIBLE, kept, moved)


def torques(strength: float = 0.0, wall: float = 0.0) -> Model:
    """A top of strength ``strength`` with ``wall`` times the printed soft wall.

    All torques of the paper are one model with other numbers, so that each method is compiled once.
    """
    return replace(TORQUES, numbers=((float(strength),), (float(wall),)))


@dataclass(frozen=True)
class Example:
    """An example of section 5: a problem of the catalogue, its torque and its end."""

    title: str
    start: Callable[[], Problem]
    t_end: float
    fewest: int  # steps of the coarsest run drawn
    halvings: int
    strength: float = 0.0

    def problem(self) -> Problem:
        """Return the problem, with the shared model of all torques."""
        return under(self.start(), torques(self.strength))

    def reference(self, times: Any) -> tuple[np.ndarray, np.ndarray]:
        """(q, Π) at ``times``."""
        return reference.motion_of(self.start(), reference.top(self.strength), times)


EXAMPLES: Mapping[str, Example] = {
    "free": Example("Free body", problems.krysl_free, 100.0, 100, 6),
    "slow": Example("Slow Lagrange top", problems.slow_top, 20.0, 200, 7, 20.0),
    "fast": Example("Fast Lagrange top", problems.fast_top, 10.0, 200, 8, 20.0),
}


@dataclass(frozen=True)
class Convergence:
    """Errors at the end of an example, by quantity (Π or R) and method; NaN where a run stopped."""

    steps: np.ndarray  # falling
    errors: Mapping[str, Mapping[str, np.ndarray]]

    def orders(self, quantity: str) -> list[float]:
        """Return the slope over the last two halvings, for each method."""
        fine = self.steps <= 4.001 * self.steps[-1]
        return [slope(self.steps[fine], self.errors[quantity][name][fine]) for name in ALL]

    def ranking(self, quantity: str) -> dict[str, float]:
        """Return the errors at the smallest step, the best first."""
        last = ((name, float(error[-1])) for name, error in self.errors[quantity].items())
        return dict(sorted(last, key=lambda pair: pair[1]))


@dataclass(frozen=True)
class Drift:
    """Changes along a run, relative to its start."""

    momentum: float  # largest, in inertial axes; with a torque, of the component along e₃
    norm: float  # largest, of |Π|
    energy: np.ndarray  # over time

    @property
    def worst_energy(self) -> float:
        """The largest energy error."""
        return largest(self.energy)


def lowest(run: Trajectory) -> float:
    """Return the lowest R33 of a run."""
    return float(1 - 2 * (run.q[:, 1] ** 2 + run.q[:, 2] ** 2).max())


def drift(run: Trajectory, vertical: bool = False) -> Drift:
    """Return the drift of a run; with ``vertical``, of the momentum only the component along e₃."""
    momentum = run.angular_momentum_inertial
    change = momentum - momentum[0]
    moved = np.abs(change[:, 2]) if vertical else np.linalg.norm(change, axis=1)
    norm = np.linalg.norm(run.angular_momentum, axis=1)
    largest_norm = largest(relative_change(norm))
    return Drift(float(moved.max() / norm[0]), largest_norm, relative_change(run.energy))


@dataclass(frozen=True)
class Nearby:
    """The run of figure 4 or 5 and others of the same method, from starts ``CHANGE`` away."""

    hamiltonian: np.ndarray  # H/H0, a row for each run, that of the figure first
    apart: np.ndarray  # how far the attitudes of the others are from its own, at most so far
    least_height: float  # the lowest R33 of all

    @property
    def extremes(self) -> np.ndarray:
        """The largest |H/H0 - 1| of each run."""
        return np.abs(self.hamiltonian - 1).max(axis=1)

    @property
    def rms(self) -> np.ndarray:
        """The root mean square of H/H0 - 1 of each run."""
        return np.sqrt(((self.hamiltonian - 1) ** 2).mean(axis=1))

    @property
    def parted_after(self) -> list[int]:
        """The steps after which each of the others has parted from the run of the figure."""
        return [int(np.argmax(row > PARTED)) for row in self.apart if row[-1] > PARTED]


class Laboratory(shared.Laboratory):
    """The runs of Krysl's paper.

    ``quick`` takes fewer steps in the convergence studies and shorter runs where something is
    conserved.
    """

    # ---- section 5.1 to 5.3
    @cached_property
    def references(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """(R, Π) at the end of each example."""
        self.progress("reference solutions by DOP853")
        ends = {name: example.reference(example.t_end) for name, example in EXAMPLES.items()}
        return {name: (matrix(q[-1]), m[-1]) for name, (q, m) in ends.items()}

    def error(self, name: str, run: Trajectory) -> tuple[float, float]:
        """(momentum, attitude) at the end of an example; the attitude in the spectral norm."""
        return shared.end_errors(run, self.references[name], norm=2)

    @cached_property
    def convergence(self) -> dict[str, Convergence]:
        """Every method on every example, at steps that are halved (quick) or divided by √2."""
        return {name: self._study(name, example) for name, example in EXAMPLES.items()}

    def _study(self, name: str, example: Example) -> Convergence:
        parts, halvings = (1, example.halvings - 1) if self.quick else (2, example.halvings)
        counts = [round(example.fewest * 2 ** (k / parts)) for k in range(parts * halvings + 1)]
        problem, t_end = example.problem(), example.t_end
        errors: dict[str, dict[str, np.ndarray]] = {"Π": {}, "R": {}}
        for method in ALL:
            self.progress(f"{example.title.lower()}: convergence of {method}")
            runs = (
                self.run(problem, method, t_end, t_end / n, WHOLE_RUN, may_stop=True)
                for n in counts
            )
            found = np.array([self.error(name, run) for run in runs])
            errors["Π"][method], errors["R"][method] = found.T
        return Convergence(t_end / np.array(counts), errors)

    # ---- conservation
    @cached_property
    def free_drifts(self) -> dict[str, Drift]:
        """The free body of 5.1 at a large step, for a long time."""
        count = 20_000 if self.quick else 500_000
        self.progress(f"free body: {count} steps of {FREE_STEP} by each method")
        problem = EXAMPLES["free"].problem()
        return {name: drift(self.run(problem, name, count * FREE_STEP, FREE_STEP)) for name in ALL}

    @cached_property
    def top_drifts(self) -> dict[str, dict[str, Drift]]:
        """Both tops, by example and method, for 10 times the time of the paper."""
        self.progress("tops: energy and vertical momentum by each method")
        found: dict[str, dict[str, Drift]] = {}
        for name, dt in (("slow", 0.01), ("fast", 0.005)):
            problem, t_end = EXAMPLES[name].problem(), 10 * EXAMPLES[name].t_end
            runs = {method: self.run(problem, method, t_end, dt) for method in ALL}
            found[name] = {method: drift(run, vertical=True) for method, run in runs.items()}
        return found

    def fast_round_trip(self, method: str) -> float:
        """Return the distance from the start after 1000 steps of the fast top and 1000 back."""
        given = EXAMPLES["fast"].problem()
        there = self.run(given, method, 1.0, 1e-3, WHOLE_RUN)
        back = Problem(
            given.body,
            given.model,
            there.q[-1],
            angular_momentum=there.angular_momentum[-1],
            scalar_first=True,
        )
        home = solve(back, (1.0, 0.0), method=method, dt=1e-3, save_every=WHOLE_RUN)
        start = there.angular_momentum[0]
        return max(
            largest(home.angular_momentum[-1] - start) / float(np.linalg.norm(start)),
            largest(matrix(home.q[-1]) - matrix(there.q[0])),
        )

    # ---- section 5.4
    def wall_problem(self, sign: float) -> Problem:
        """Return the soft wall: sign +1 as printed, -1 the attraction that the text describes."""
        return under(problems.soft_wall(), torques(0.0, sign))

    @cached_property
    def wall(self) -> dict[str, Trajectory]:
        """The runs of figures 4 and 5, printed sign."""
        self.progress(f"soft wall: {WALL_STEPS} steps of {WALL_STEP} by each method")
        problem, t_end = self.wall_problem(1.0), WALL_STEPS * WALL_STEP
        return {name: self.run(problem, name, t_end, WALL_STEP, may_stop=True) for name in ALL}

    @cached_property
    def hamiltonian(self) -> dict[str, np.ndarray]:
        """H/H0 of those runs."""
        energies = {name: np.asarray(run.energy) for name, run in self.wall.items()}
        return {name: energy / energy[0] for name, energy in energies.items()}

    @cached_property
    def nearby(self) -> dict[str, Nearby]:
        """Those runs again, and others from nearby starts."""
        count = 4 if self.quick else 16
        self.progress(f"soft wall: {count} starts {CHANGE:g} away by each method")
        return {name: self._nearby(name, count) for name in ALL}

    def _nearby(self, name: str, count: int) -> Nearby:
        given, run, rng = self.wall_problem(1.0), self.wall[name], np.random.default_rng(SEED)
        values, apart, height = [self.hamiltonian[name]], [], lowest(run)
        for _ in range(count):
            moved = 1 + CHANGE * rng.uniform(0.5, 1.0, 3) * rng.choice((-1, 1), 3)
            start = Problem(
                given.body,
                given.model,
                given.attitude,
                angular_momentum=given.angular_momentum * moved,
                scalar_first=True,
                name=given.name,
            )
            other = self.run(start, name, WALL_STEPS * WALL_STEP, WALL_STEP)
            energy = np.asarray(other.energy)
            values.append(energy / energy[0])
            apart.append(np.maximum.accumulate(np.abs(other.q - run.q).max(axis=1)))
            height = min(height, lowest(other))
        return Nearby(np.array(values), np.array(apart), height)

    @cached_property
    def wall_attractive(self) -> dict[float, dict[str, Trajectory]]:
        """The attraction with a wall, by step: the step of the paper, and one that resolves it."""
        self.progress("soft wall with the sign of the text")
        problem = self.wall_problem(-1.0)
        return {
            dt: {name: self.run(problem, name, 200.0, dt, may_stop=True) for name in ALL}
            for dt in (WALL_STEP, FINE_STEP)
        }
