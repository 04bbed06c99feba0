"""The runs that the claims and figures of Fukushima (1995) share.

The paper does not give its orbits; the bodies are those of ``celestial/model_orbits``, whose
reference solutions have 113 bits and were computed by another method in other variables.  The
integrator is 12th-order Adams with 128 steps a revolution and plain sums, as in the paper.

The full form runs 33 000 revolutions through ``solve``.  The quick form runs fewer through a loop
of its own, which takes only steps with a full history and compiles in a third of the time.  Errors
of schemes that round L or its angle grow as N^1.5, those of departures hardly at all: the quick
form sees 1.5 log₁₀(33 000/N) digits less.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf, log10, nan, sqrt
from typing import Any

import numpy as np

from polhode import loops
from polhode.celestial import rigid_earth_model, rigid_moon_model
from polhode.celestial.model_orbits import truth
from polhode.compiler.machine import CompiledOrPlain, put, take
from polhode.compiler.tree import flat
from polhode.contracts import Coordinates, Formulation, Integrator, Status, reset, slope, step
from polhode.formulations import COORDINATES, FORMULATIONS
from polhode.integrators import INTEGRATORS
from polhode.integrators._runge_kutta import accumulated, moved
from polhode.integrators.adams import adams, correction, extrapolation, minus, plainly
from polhode.loops.join import BoundIntegrator, zeros
from polhode.papers.laboratory import Laboratory as Base
from polhode.papers.laboratory import Progress
from polhode.papers.verdicts import Untestable
from polhode.papers.verdicts import slope as exponent
from polhode.problems.problem import Problem

Variables = Formulation | Coordinates

EARTH, MOON = "Earth", "Moon"
BODIES: Mapping[str, Problem] = {EARTH: rigid_earth_model(), MOON: rigid_moon_model()}
A_TURN, ORDER = 128, 12  # steps, and the order of Adams's method
FULL, QUICK, OTHERS = 33_000, 2048, 256  # revolutions
GROWTH = 1.5  # errors of a random walk of the momentum grow as N to this power

NEW, EULER, ANDOYER = "departures", "Euler", "Serret-Andoyer"
SAME, QUATERNION, ENCKE = "new variables", "quaternion", "Encke quaternion"
ENCKE_EULER, CARRIED = "Encke Euler", "quaternion, sums carried"
SCHEMES = {
    EULER: "euler-angles",
    ANDOYER: "serret-andoyer",
    NEW: "fukushima-departures",
    SAME: "fukushima",
    QUATERNION: "quaternion",
    ENCKE: "encke-quaternion",
    ENCKE_EULER: "encke-euler",
    CARRIED: "quaternion",
}
FLOOR = 1e-17  # the smallest error in logarithms


def formulation(name: str) -> Variables:
    return COORDINATES.get(name) or FORMULATIONS[name]


def errors(q: Any, right: tuple[Fraction, ...]) -> tuple[float, float]:
    """The angles between two attitudes and between their figure axes; ``right`` has many digits."""
    w, x, y, z = (Fraction(float(number)) for number in q)
    a, b, c, d = right
    apart = (  # vector part of q* right, in body axes
        float(w * b - x * a - y * d + z * c),
        float(w * c - y * a - z * b + x * d),
        float(w * d - z * a - x * c + y * b),
    )
    return 2 * sqrt(sum(x * x for x in apart)), 2 * sqrt(apart[0] ** 2 + apart[1] ** 2)


@dataclass(frozen=True)
class Errors:
    """Errors after some revolutions; ``ended`` is where the variables ceased to be defined."""

    revolutions: np.ndarray
    orientation: np.ndarray
    axis: np.ndarray
    ended: float = nan

    @property
    def whole(self) -> bool:
        return self.ended != self.ended

    def worst(self, what: str = "orientation", most: float = inf) -> float:
        return max(float(getattr(self, what)[self.revolutions <= most].max()), FLOOR)

    def growth(self, most: float = 1e4) -> float:
        """Return the exponent p of errors that grow as N^p."""
        kept = self.revolutions <= most
        values = np.maximum(self.orientation[kept], FLOOR)
        return exponent(self.revolutions[kept].tolist(), values.tolist())


def digits(errors: Errors, than: Errors, what: str = "orientation") -> float:
    """Return how many digits better the first are, as long as both last."""
    last = min(errors.revolutions[-1], than.revolutions[-1])
    return log10(than.worst(what, last) / errors.worst(what, last))


# ---- steps
def adams_step(summed: Callable) -> Callable:
    """A step of Adams's method with a full history, as in ``integrators/adams``."""

    def step(t, h, y, carry, body, params):
        size, known, f, past, low = carry
        d, scale = _corrected(t, h, y, f, past, body, params)
        y, low = summed(y, low, scale, d)
        rate = slope(t + h, y, body, params)
        change = minus(rate, f)
        return y, (size, known, rate, (*past[:-1], minus(change, past[-1]), change)[1:], low)

    return step


def extrapolation_step(t, h, y, carry, body, params):
    """A step of Gragg's extrapolation."""
    d, share = _gragg(t, h, y, slope(t, y, body, params), body, params)
    return moved(y, share, d), carry


_corrected, _gragg = correction(ORDER, float), extrapolation(ORDER, float)
PLAIN_STEP, COMPENSATED_STEP = adams_step(plainly), adams_step(accumulated)


def revolution_loop(pattern: tuple) -> Callable:
    """The loop; the row ``data`` holds (variables, carry, body, numbers) as ``pattern`` does."""

    def run(data, h, k, count, a_turn, out):
        y, carry, body, numbers = take(data, 0, 0, pattern)
        for i in range(k, count):
            y, carry = step(i * h, h, y, carry, body, (numbers, ()))
            if (i + 1) % a_turn == 0:
                put(out, (i + 1) // a_turn, y)

    return run


def needs_reset(t, y, body):
    """Return whether the variables must be reset, which ``revolution_loop`` does not do."""
    return reset(t, y, body)[1]


# ---- paths
@dataclass(frozen=True)
class Course:
    """The states of a body after every revolution, as long as its variables are defined."""

    body: str
    state: Callable[[int], tuple[Any, Any]]  # (q, m) after n revolutions
    turns: int
    ended: float = nan

    @cached_property
    def errors(self) -> Errors:
        rows = [
            (turns, *errors(self.state(turns)[0], right))
            for turns, (right, _) in truth(self.body).items()
            if turns <= self.turns
        ]
        if not rows:
            raise Untestable(f"the variables of {self.body} are not defined after {self.ended}")
        turns, orientation, axis = np.array(rows, dtype=float).T
        return Errors(turns, orientation, axis, self.ended)


def enter(problem: Problem, variables: Variables) -> tuple[tuple, tuple]:
    """The variables at the start, and the constants of the body as the equations use them."""
    q, m, body = problem.attitude, problem.angular_momentum, problem.body.data
    if not isinstance(variables, Coordinates):
        return (*q, *m), body
    if variables.nominal is not None:
        body = *body, variables.nominal(0.0, q, m, body)
    return variables.enter(0.0, q, m, body), body


def course(
    problem: Problem,
    variables: Variables,
    one_step: Callable,
    turns: int,
    a_turn: int,
    start: Integrator | None = None,
    plain: bool = False,
) -> Course:
    """Return the path by ``a_turn`` steps a revolution, compiled unless ``plain``.

    ``start`` takes the first steps in plain Python, until its history is full.
    """
    parts = BoundIntegrator(start or INTEGRATORS["rk4"], variables, problem.model, True, plain=True)
    (y, body), h, k = enter(problem, variables), 1 / a_turn, 0
    rest = body, problem.model.params
    carry = parts.start(0.0, h, y, *rest)
    out = np.full((turns + 1, len(y)), nan)
    out[0] = y
    if start is not None and start.step is not None:
        first: Any = loops.bound(start.step, *parts.layers)
        for k in range(ORDER - 1):
            y, carry = first(k * h, h, y, carry, *rest)
        k = ORDER - 1
    everything = y, carry, body, problem.model.numbers
    layers = {step: one_step}, *parts.layers[1:]
    loop: Any = loops.bound(revolution_loop(zeros(everything)), *layers)
    if not plain:
        loop = CompiledOrPlain(loop, "the torque")
    loop(np.array([flat(everything)]), h, k, turns * a_turn, a_turn, out)
    good = int(np.isfinite(out).all(axis=1).sum()) - 1

    changes = loops.bound(needs_reset, *layers)
    if any(changes(float(n), tuple(out[n].tolist()), body) for n in {*range(0, good, 64), good}):
        raise Untestable(f"{variables.name} on {problem.name}: the variables must be reset")

    def state(n: int) -> tuple[Any, Any]:
        row = tuple(out[n].tolist())
        if isinstance(variables, Coordinates):
            return variables.leave(float(n), row, body)
        return np.array(row[:4]) / np.linalg.norm(row[:4]), row[4:]

    return Course(problem.name, state, good, nan if good == turns else float(good))


class Laboratory(Base):
    """The runs of figure 1; ``quick`` takes 2048 revolutions instead of 33 000."""

    def __init__(self, quick: bool, progress: Progress):
        super().__init__(quick, progress)
        self.revolutions = QUICK if quick else FULL
        self._courses: dict[tuple[str, str], Course] = {}

    @property
    def fewer(self) -> float:
        """How many digits less the schemes differ by than after 33 000 revolutions."""
        return GROWTH * log10(FULL / self.revolutions)

    def course(self, body: str, scheme: str) -> Course:
        """12th-order Adams, 128 steps a revolution."""
        key = body, scheme
        if key not in self._courses:
            self.progress(f"{body}, {scheme}")
            move = self._by_loop if self.quick else self._by_solve
            self._courses[key] = move(BODIES[body], formulation(SCHEMES[scheme]), scheme == CARRIED)
        return self._courses[key]

    def errors(self, body: str, scheme: str) -> Errors:
        return self.course(body, scheme).errors

    def _by_loop(self, problem: Problem, variables: Variables, compensated: bool) -> Course:
        one_step = COMPENSATED_STEP if compensated else PLAIN_STEP
        start = adams(ORDER, compensated=compensated)
        return course(problem, variables, one_step, self.revolutions, A_TURN, start)

    def _by_solve(self, problem: Problem, variables: Variables, compensated: bool) -> Course:
        plan = problem, "adams", float(self.revolutions), 1 / A_TURN, A_TURN
        options = {"compensated": compensated}
        run = self.run(*plan, may_stop=True, formulation=variables, options=options)
        q, m, last = run.q, run.angular_momentum, len(run.t) - 1
        ended = nan if run.status == Status.OK else float(run.t[-1])
        return Course(problem.name, lambda n: (q[n], m[n]), last, ended)

    @cached_property
    def other_integrators(self) -> dict[str, list[Errors]]:
        """Euler's angles and departures by RK4 and, in the full form, by extrapolation."""
        steps: dict[str, tuple[Any, int]] = {"RK4, 64 steps": (INTEGRATORS["rk4"].step, 64)}
        if not self.quick:
            title = "extrapolation of order 14, 16 steps a revolution"
            steps = {title: (extrapolation_step, 16), **steps}
        turns, found = 32 if self.quick else OTHERS, {}
        for name, (one_step, a_turn) in steps.items():
            self.progress(f"other integrators, {name}")
            found[name] = [
                course(BODIES[EARTH], variables, one_step, turns, a_turn, plain=self.quick).errors
                for variables in (formulation(SCHEMES[scheme]) for scheme in (EULER, NEW))
            ]
        return found
