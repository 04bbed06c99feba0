"""``method="auto"``: choose the cheapest method that was measured to be accurate enough.

``work_precision.csv`` beside this file is what ``design/work_precision.py`` measured: for
bodies and torques of several kinds, how many steps each method takes over ``TURN`` radians to end
with a given error of the attitude, and what they cost.  The problem is assigned to one of these
kinds; its step, in radians of the faster of rotation and torque,

    x = h f,    f² = |ω|² + |T| / I,    I = |m| / |ω|                                  (1)

then gives the error that each method made in the benchmark.  Of the methods below the requested
accuracy the one with the cheapest step is taken, or the most accurate one if there is none.  Only
symplectic methods are considered, unless the torque depends on the rate: the run may be longer than
the benchmark, and their energy does not drift.

A new method needs a new measurement, and nothing here.  (Motion with six degrees of freedom is not
measured: it gets the method of its rotation, or RKN4, of order 4 on the joint state, where forces
depend on velocities.  A model with variables of its own gets ``rk4`` on the joint state.)
"""

import csv
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from polhode import loops
from polhode.contracts import Method, whole
from polhode.contracts import torque as torque_stub
from polhode.contracts import wrench as wrench_stub
from polhode.kernels.quaternion import product
from polhode.loops.join import try_wrench
from polhode.methods import METHODS
from polhode.problems.problem import Problem

DATA = Path(__file__).with_name("work_precision.csv")
TURN = 40.0  # radians of every case of the benchmark
ACCURACY = 1e-6  # the default accuracy
LIMITS = {"weak": 0.1, "equal": 10.0, "strong": math.inf}  # of the torque over I ω²
INTEGRATOR = "extrapolation", "measured the fastest for smooth torques, whatever the tolerance"
BESIDE = "rk4", "it integrates the body and the variables of its model together, to order 4"
HALF = math.sqrt(0.5), math.cos(math.pi / 8), math.sin(math.pi / 8)


@dataclass(frozen=True)
class Measured:
    """Measurements of a method: (error, longest step in radians, cost of a step)."""

    method: str
    levels: tuple[tuple[float, float, float], ...]

    def at(self, step: float) -> tuple[float, float]:
        """Return (error, cost) of a step in radians; the error is infinite beyond the data."""
        good = [(error, cost) for error, longest, cost in self.levels if step <= longest]
        return min(good, default=(math.inf, self.levels[0][2]))


def choose(
    problem: Problem, dt: float, accuracy: float, compensated: bool | None = None
) -> tuple[Method, str]:
    """Return the method and the reason; one with compensated sums if requested."""
    model = problem.model
    if problem.moves and not compensated and (model.depends_on_omega or model.depends_on_velocity):
        return METHODS["rkn4"], "the forces depend on velocities, on the joint state of the body"
    ratio, rate = strength(problem)
    size = next(name for name, limit in LIMITS.items() if ratio < limit or limit == math.inf)
    body = "asymmetric" if problem.body.symmetry_axis is None else "symmetric"
    torques = ("rate",) if model.depends_on_omega else ("linear", "quadratic")
    cases, step = [(body, torque, size) for torque in torques], dt * rate
    ranking = []
    for name, method in METHODS.items():
        if (method.symplectic or model.depends_on_omega) and (
            method.compensates or not compensated
        ):
            error, cost = worst(name, cases, step)
            ranking.append((max(error, accuracy), cost, name))
    error, _, name = next(row for row in sorted(ranking) if METHODS[row[2]].takes(model))
    if error <= accuracy:
        why = f"the cheapest measured to reach {accuracy:.0e} with steps of {step:.2g} rad"
    elif error < math.inf:
        why = f"the most accurate with steps of {step:.2g} rad, too long for {accuracy:.0e}"
    else:
        why = f"steps of {step:.2g} rad are longer than any that was measured"
    kind = f"{body} body, {size} torque{' that depends on the rate' if len(torques) == 1 else ''}"
    return METHODS[name], f"{why} ({kind})"


def worst(name: str, cases: list[tuple[str, str, str]], step: float) -> tuple[float, float]:
    """Return the largest error and cost of a method in several kinds of problem."""
    found = [m.at(step) for case in cases for m in measured()[case] if m.method == name]
    if len(found) < len(cases):
        return math.inf, math.inf
    return max(error for error, _ in found), max(cost for _, cost in found)


def strength(problem: Problem) -> tuple[float, float]:
    """Return (torque over I ω², rate f of (1)), for the largest torque at several attitudes."""
    body, model, state, params = problem.body, problem.model, problem.state, problem.model.params
    pieces = loops.model_pieces(model, body.is_aligned)
    wrench, torque = pieces[wrench_stub], pieces[torque_stub]
    if model.user:
        try_wrench(wrench, model, model.params, state, body.data)
    q, m, x, p = whole(state)
    largest = 0.0
    for turn in turns():
        there = product(q, turn)
        try:
            if model.wrench is wrench_stub:  # no force
                given = torque(0.0, there, m, body.data, params)
            else:
                given, _ = wrench(0.0, there, m, x, p, body.data, params)
        except (ArithmeticError, ValueError):
            continue  # not defined there, and perhaps never reached
        size = math.hypot(*given)
        largest = max(largest, size) if math.isfinite(size) else largest
    momentum, rate = math.hypot(*m), math.hypot(*problem.omega)
    if rate == 0.0:
        return math.inf, math.sqrt(3.0 * largest / sum(body.data[0]))
    inertia = momentum / rate
    return largest / (momentum * rate), math.sqrt(rate * rate + largest / inertia)


def turns() -> Iterator[tuple[float, ...]]:
    """Yield no turn, a quarter turn about each axis, and an eighth of a turn both ways."""
    root, c, s = HALF
    yield 1.0, 0.0, 0.0, 0.0
    for w, v in ((root, root), (c, s), (c, -s)):
        yield w, v, 0.0, 0.0
        yield w, 0.0, v, 0.0
        yield w, 0.0, 0.0, v


@cache
def measured() -> dict[tuple[str, str, str], list[Measured]]:
    """Return the measurements by (body, torque, strength)."""
    table: dict[tuple[str, str, str], list[Measured]] = {}
    with DATA.open(newline="", encoding="ascii") as file:
        for row in csv.DictReader(file):
            levels = []
            for key, steps in row.items():
                if key.startswith("steps_") and steps:
                    error, count = key.removeprefix("steps_"), int(steps)
                    levels.append((float(error), TURN / count, float(row[f"cost_{error}"]) / count))
            if levels:
                case = row["body"], row["torque"], row["strength"]
                table.setdefault(case, []).append(Measured(row["method"], tuple(levels)))
    return table
