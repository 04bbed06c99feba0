"""Section 6 of Krysl (2006): the conclusions."""

import numpy as np

from polhode.papers.krysl2006 import by_hand
from polhode.papers.krysl2006.laboratory import (
    COMPARED,
    EXAMPLES,
    FREE_STEP,
    KEPT,
    PRESENT,
    WALL_STEP,
    WALL_STEPS,
    Laboratory,
)
from polhode.papers.krysl2006.maps import COMPOSED, composed_gap
from polhode.papers.maps import EXACT, INERTIA, VISIBLE, asymmetry, march
from polhode.papers.verdicts import Check, Measured, below, holds_if, largest, relative_change

MEASUREMENTS: dict[str, Check] = {
    "pairs": lambda _: below(EXACT, max(map(composed_gap, COMPOSED))),
    "first-pair-symmetric": lambda _: below(EXACT, *map(asymmetry, ("imid", "trap"))),
}


def first_pair(lab: Laboratory) -> Measured:
    energy = lab.free_drifts["imid"].worst_energy
    run = lab.run(EXAMPLES["free"].problem(), "trap", 20_000 * FREE_STEP, FREE_STEP)
    m = run.angular_momentum
    half = m + FREE_STEP / 2 * np.cross(m, run.omega)  # half a step of forward Euler
    pushed = np.einsum("ij,ij->i", half, half / run.body.principal_moments)
    middle = largest(relative_change(pushed))
    moved = min(lab.free_drifts[name].momentum for name in ("imid", "trap"))
    return holds_if(max(energy, middle) < KEPT and moved > VISIBLE, energy, middle, moved)


def second_pair(lab: Laboratory) -> Measured:
    kept = max(lab.free_drifts[name].momentum for name in ("imidm", "trapm"))
    back = max(map(asymmetry, ("imidm", "trapm")))
    return holds_if(kept < KEPT and back < EXACT, kept, back)


def accuracy(lab: Laboratory) -> Measured:
    lost = []
    for section, study in zip(("5.1", "5.2", "5.3"), lab.convergence.values(), strict=True):
        for quantity in study.errors:
            ranking = study.ranking(quantity)
            best, present = min(ranking.values()), min(ranking[name] for name in PRESENT)
            if present > 1.001 * best:  # AKW and IMID tie in 5.1
                lost.append(f"{section} in {quantity}, by {present / best:.1f}")
    return holds_if(len(lost) <= 1, 6 - len(lost), "; ".join(lost))


def large_steps(lab: Laboratory) -> Measured:
    problem = EXAMPLES["free"].problem()
    runs = {
        name: lab.run(problem, name, 10_000.0, 2.0, may_stop=True) for name in (*PRESENT, *COMPARED)
    }
    angle = float(np.degrees(2.0 * np.linalg.norm(problem.omega)))
    worst = max(largest(relative_change(runs[name].kinetic_energy)) for name in PRESENT)
    stopped = [name for name, run in runs.items() if not run.success]
    holds = not set(PRESENT) & set(stopped) and worst < 0.5
    return holds_if(holds, angle, worst, ", ".join(map(str.upper, stopped)) or "none")


def long_times(lab: Laboratory) -> Measured:
    count = WALL_STEPS if lab.quick else 25 * WALL_STEPS
    problem, worst, growth = lab.wall_problem(1.0), 0.0, 0.0
    for name in PRESENT:
        run = lab.run(problem, name, count * WALL_STEP, WALL_STEP)
        first, last = map(largest, np.array_split(relative_change(run.energy), 2))
        worst = max(worst, first, last)
        growth = max(growth, last / first - 1)
    return holds_if(worst < 0.05 and growth < 0.05, count, worst, growth)


def newmark(_: Laboratory) -> Measured:
    angle, rate, h, count = 0.4, 1.3, 0.2, 100
    c, s = float(np.cos(angle / 2)), float(np.sin(angle / 2))
    start = (c, s, 0.0, 0.0), (rate * float(INERTIA[0]), 0.0, 0.0)  # about body axis 1

    def acceleration(u: float) -> float:
        """Return the torque of ``maps`` about that axis: c(R33) sin u, R33 = cos u."""
        x = 1.1 + np.cos(u)
        return float((-3.0 - x**-2 + 0.01 * x**-11) * np.sin(u) / INERTIA[0])

    found = 0.0
    for q, m in march("trapm", "torque", count * h, count, start)[1:]:
        angle, rate = by_hand.newmark(h, angle, rate, acceleration)
        turned = 2 * np.arctan2(q[1], q[0])
        found = max(found, abs(np.sin((turned - angle) / 2)), abs(m[0] / INERTIA[0] - rate))
    return below(KEPT, found)
