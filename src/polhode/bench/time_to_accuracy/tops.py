"""Heavy tops of the sets ``precision`` and ``highorder``, for this library and for heyoka."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.bench.angles import angle
from polhode.bench.peers import peer
from polhode.bench.time_to_accuracy import heyoka
from polhode.bench.time_to_accuracy.race import Variant

TOLERANCES = 10.0 ** -np.arange(4.0, 17.01, 0.5)  # heyoka's
SWAY, PUSH, DRAG = 0.1, 0.3, 0.002
SPREAD = 0.05  # of starts, in radians and radians per second
Triple = tuple[float, float, float]


def swaying(t, q, omega, params):
    """A user's torque: a swaying weight, a turning push, and a drag that grows with the rate."""
    w, x, y, z = q
    (c1, c2, c3), sway, push, drag = params
    f = 1.0 + sway * math.sin(3.0 * t)
    g1, g2, g3 = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w**2 + z**2 - x**2 - y**2
    d = drag * math.sqrt(1.0 + omega[0] ** 2 + omega[1] ** 2 + omega[2] ** 2)
    return (
        f * (g2 * c3 - g3 * c2) - d * omega[0] + push * math.cos(2.0 * t),
        f * (g3 * c1 - g1 * c3) - d * omega[1],
        f * (g1 * c2 - g2 * c1) - d * omega[2],
    )


@dataclass(frozen=True)
class Top:
    """A heavy top, its start, and the ratios claimed for it at the errors of its set."""

    title: str
    inertia: Triple
    weight: Triple  # times the centre of mass, in body axes
    omega: Triple
    least: tuple[float, ...] = ()
    turn: Triple = (0.3, 0.0, 0.0)
    end: float = 10.0
    sways: bool = False
    others: int = 0  # further starts: errors are then root mean squares over all of them

    @cached_property
    def starts(self) -> list["Top"]:
        """The top, and others that start nearby."""
        found = [replace(self, others=0)]
        shifts = SPREAD * np.random.default_rng(3).normal(size=(1 + self.others, 2, 3))
        for turn, omega in shifts[1:]:
            turns, rates = np.array(self.turn) + turn, np.array(self.omega) + omega
            found.append(replace(found[0], turn=triple(turns), omega=triple(rates)))
        return found

    @property
    def problem(self) -> ph.Problem:
        if self.sways:
            model = ph.torque(swaying, (self.weight, SWAY, PUSH, DRAG))
        elif any(self.weight[:2]):
            model = ph.models.heavy_top(1.0, centre=self.weight)
        else:
            model = ph.models.heavy_top(self.weight[2])
        return ph.Problem(
            ph.RigidBody(self.inertia),
            model,
            attitude=Rotation.from_rotvec(self.turn),
            omega=self.omega,
            name=self.title,
        )

    @property
    def is_lagrange(self) -> bool:
        return self.inertia[0] == self.inertia[1] and not any(self.weight[:2])

    # ---- for heyoka
    def equations(self, form: str, reduced: bool = True) -> list:
        """The equations in a form; not ``reduced``: without differences of moments."""
        a, b, c = inverse = [1.0 / moment for moment in self.inertia]
        given: dict[str, Any] = {}
        if reduced and self.is_lagrange:
            given["axial"] = self.inertia[2] * self.omega[2]
        elif reduced:
            given["differences"] = c - b, a - c, b - a
        if self.sways:
            given["push"] = self._push
        return heyoka.top_equations(form, inverse, self.weight, **given)

    def _push(self, omega: Any, g: Any) -> tuple:
        """What ``swaying`` adds to the weight."""
        of, (c1, c2, c3) = peer("heyoka"), self.weight
        sway = SWAY * of.sin(3.0 * of.time)
        d = DRAG * of.sqrt(1.0 + omega[0] ** 2.0 + omega[1] ** 2.0 + omega[2] ** 2.0)
        return (
            sway * (g[1] * c3 - g[2] * c2) - d * omega[0] + PUSH * of.cos(2.0 * of.time),
            sway * (g[2] * c1 - g[0] * c3) - d * omega[1],
            sway * (g[0] * c2 - g[1] * c1) - d * omega[2],
        )

    def start(self, form: str, reduced: bool = True) -> np.ndarray:
        problem = self.problem
        momentum = problem.angular_momentum[: 2 if reduced and self.is_lagrange else 3]
        return heyoka.state(form, np.array(momentum), np.array(problem.attitude))

    def extended(self) -> np.ndarray:
        """Return the attitudes at the ends of all starts by heyoka in extended precision."""
        form = "quaternion"
        first = np.stack([each.start(form, False) for each in self.starts], axis=1)
        return heyoka.extended(self.equations(form, False), first, self.end)[-4:].T

    def error(self, ends: Iterable[np.ndarray], right: np.ndarray) -> float:
        """Return the root mean square of the angles between attitudes and the right ones."""
        angles = [angle(q, other) for q, other in zip(ends, right, strict=True)]
        return float(np.sqrt(np.mean(np.square(angles))))

    def heyoka_variants(self, right: np.ndarray, quick: bool) -> list[Variant]:
        """Return a run for every form and tolerance."""
        found = []
        for form in heyoka.FORMS:
            for tolerance in TOLERANCES[:: 6 if quick else 1]:
                firsts = [each.start(form) for each in self.starts]
                call = heyoka.taylor(self.equations(form), firsts[0], tolerance)
                ends = [heyoka.attitude(form, call(self.end, first)[0]) for first in firsts]
                error, name = self.error(ends, right), f"heyoka, {form}, tol {tolerance:.0e}"
                runs = [partial(call, self.end, first) for first in firsts]
                found.append(Variant(form, name, error, one_by_one(runs)))
        return found


def triple(v: np.ndarray) -> Triple:
    x, y, z = v.tolist()
    return x, y, z


def one_by_one(calls: Sequence[Callable]) -> Callable:
    """Return a function that makes all calls, or the call itself if there is only one."""
    if len(calls) == 1:
        return calls[0]

    def run() -> None:
        for call in calls:
            call()

    return run


ASYMMETRIC: dict[str, Any] = {
    "inertia": (2.0, 3.0, 4.5),
    "weight": (1.0, 2.0, 5.0),
    "omega": (2.0, 3.0, 10.0),
}
