"""What the claims and figures of Fukushima (1995) share, each made once when asked for.

The paper's orbits are not known; the bodies are those of ``celestial/model_orbits``, their truth
has 113 bits and was made by another method in other variables.  12th-order Adams with 128 steps a
revolution and plain sums, as in the paper.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf, log10, nan, sqrt
from typing import Any

import numpy as np

from polhode import loops
from polhode._join import Pursuit
from polhode._solve import solve
from polhode.celestial import rigid_earth_model, rigid_moon_model
from polhode.celestial.model_orbits import truth
from polhode.contracts import Coordinates, Formulation, Integrator, Status, slope
from polhode.formulations import COORDINATES, FORMULATIONS
from polhode.integrators import INTEGRATORS
from polhode.integrators._runge_kutta import moved
from polhode.integrators.adams import adams, extrapolation
from polhode.papers.claims import Untestable
from polhode.papers.maps import slope as exponent
from polhode.problem import Problem

Progress = Callable[[str], None]

EARTH, MOON = "Earth", "Moon"
BODIES: Mapping[str, Problem] = {EARTH: rigid_earth_model(), MOON: rigid_moon_model()}
A_TURN = 128  # steps

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
FLOOR = 1e-17  # of errors in logarithms


def formulation(name: str) -> Formulation | Coordinates:
    return COORDINATES.get(name) or FORMULATIONS[name]


def errors(q: Any, right: tuple[Fraction, ...]) -> tuple[float, float]:
    """The angles between attitudes and between figure axes; the second is known to many digits."""
    w, x, y, z = (Fraction(float(number)) for number in q)
    a, b, c, d = right
    apart = (  # vector part of q* right, in body axes
        float(w * b - x * a - y * d + z * c),
        float(w * c - y * a - z * b + x * d),
        float(w * d - z * a - x * c + y * b),
    )
    return 2 * sqrt(sum(x * x for x in apart)), 2 * sqrt(apart[0] ** 2 + apart[1] ** 2)


@dataclass(frozen=True)
class Run:
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
        """The exponent p of errors that grow as N^p."""
        kept = self.revolutions <= most
        values = np.maximum(self.orientation[kept], FLOOR)
        return exponent(self.revolutions[kept].tolist(), values.tolist())


def digits(run: Run, than: Run, what: str = "orientation") -> float:
    """By how many digits a run is better, as long as both last."""
    last = min(run.revolutions[-1], than.revolutions[-1])
    return log10(than.worst(what, last) / run.worst(what, last))


# ---- one-step methods besides that of the paper
_gragg = extrapolation(12, float)


def _extrapolated(t, h, y, carry, body, params):
    d, share = _gragg(t, h, y, slope(t, y, body, params), body, params)
    return moved(y, share, d), carry


class Plain:
    """A body in some variables, stepped in plain Python."""

    def __init__(self, problem: Problem, name: str, integrator: Integrator, step: Any = None):
        variables = formulation(name)
        parts = Pursuit(integrator, variables, problem.model, True, plain=True)
        template: Any = step or parts.integrator.step
        self.step = loops.bound(template, *parts.layers)
        self.params, body = problem.model.params, problem.body.data
        q, m = problem.attitude, problem.angular_momentum
        nominal = getattr(variables, "nominal", None)
        self.body = body if nominal is None else (*body, nominal(0.0, q, m, body))
        self._leave = variables.leave if isinstance(variables, Coordinates) else None
        self.y = variables.enter(0.0, q, m, self.body) if self._leave else (*q, *m)
        self.begin = parts.start

    def attitude(self, t: float, y: Any) -> Any:
        if self._leave is not None:
            return self._leave(t, y, self.body)[0]
        return np.array(y[:4]) / np.linalg.norm(y[:4])

    def errors(self, truths: Mapping[int, Any], revolutions: int, a_turn: int) -> Run:
        """After 1, 2, 4, … revolutions."""
        h, y, rows, ended = 1 / a_turn, self.y, [], nan
        carry = self.begin(0.0, h, y, self.body, self.params)
        for k in range(revolutions * a_turn):
            y, carry = self.step(k * h, h, y, carry, self.body, self.params)
            if not all(x - x == 0 for x in y):
                ended = k * h
                break
            turns, rest = divmod(k + 1, a_turn)
            if rest == 0 and turns in truths:
                rows.append((turns, *errors(self.attitude(float(turns), y), truths[turns][0])))
        table = np.array(rows, dtype=float).reshape(-1, 3)
        return Run(table[:, 0], table[:, 1], table[:, 2], ended)


class Laboratory:
    """All shared results.

    ``quick`` takes 16 revolutions instead of 33 000, in plain Python: compiling takes longer.
    """

    def __init__(self, quick: bool, progress: Progress):
        self.quick, self.progress = quick, progress
        self.revolutions = 16 if quick else 33_000
        self._runs: dict[tuple[str, str], Run] = {}

    @property
    def where(self) -> str:
        return f"{self.revolutions} revolutions"

    def run(self, body: str, scheme: str) -> Run:
        """12th-order Adams, 128 steps a revolution."""
        key = body, scheme
        if key not in self._runs:
            self.progress(f"{body}, {scheme}")
            make = self._plain if self.quick else self._compiled
            self._runs[key] = make(BODIES[body], SCHEMES[scheme], scheme == CARRIED)
        return self._runs[key]

    def _plain(self, problem: Problem, name: str, carried: bool) -> Run:
        integrator = adams(12, compensated=carried)
        return Plain(problem, name, integrator).errors(
            truth(problem.name), self.revolutions, A_TURN
        )

    def _compiled(self, problem: Problem, name: str, carried: bool) -> Run:
        run = solve(
            problem,
            (0.0, float(self.revolutions)),
            method="adams",
            dt=1 / A_TURN,
            formulation=name,
            save_every=A_TURN,
            options={"compensated": carried},
        )
        rows = [
            (turns, *errors(run.q[turns], right))
            for turns, (right, _) in truth(problem.name).items()
            if turns < len(run.t)
        ]
        if not rows:
            raise Untestable(f"{name} on {problem.name}: {run.message}")
        table = np.array(rows, dtype=float)
        ended = nan if run.status == Status.OK else float(run.t[-1])
        return Run(table[:, 0], table[:, 1], table[:, 2], ended)

    # ---- besides
    @cached_property
    def other_integrators(self) -> dict[tuple[str, str], Run]:
        """(integrator, scheme): by extrapolation and by RK4, in plain Python."""
        problem, count = BODIES[EARTH], 16 if self.quick else 64
        found = {}
        for scheme in (EULER, NEW):
            self.progress(f"other integrators, {scheme}")
            for name, step, a_turn in (("extrapolation", _extrapolated, 16), ("RK4", None, 64)):
                plain = Plain(problem, SCHEMES[scheme], INTEGRATORS["rk4"], step)
                found[name, scheme] = plain.errors(truth(problem.name), count, a_turn)
        return found

    @cached_property
    def andoyer_end(self) -> float:
        """When Serret and Andoyer's variables of the Moon cease to be defined, by RK4."""
        plain = Plain(BODIES[MOON], SCHEMES[ANDOYER], INTEGRATORS["rk4"])
        return plain.errors({}, 460, 16).ended
