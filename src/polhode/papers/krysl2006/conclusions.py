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
from polhode.papers.krysl2006.maps import asymmetry, composed_gap
from polhode.papers.maps import EXACT, INERTIA, VISIBLE, march
from polhode.papers.verdicts import Check, Measured, below, judge, largest, relative_change

MEASUREMENTS: dict[str, Check] = {
    "first-pair-symmetric": lambda _: below(
        EXACT,
        "h then -h: back to {:.0e} (IMID), {:.0e} (TRAP)",
        *map(asymmetry, ("imid", "trap")),
    )
}


def pairs(_: Laboratory) -> Measured:
    found = []
    for ending in ("", "-m"):
        forward, backward, kind = f"forward-euler{ending}", f"backward-euler{ending}", ending[1:]
        found.append(composed_gap(f"trap{kind}", forward, backward))
        found.append(composed_gap(f"imid{kind}", backward, forward))
    return below(EXACT, "all four to {:.0e}, with and without torque", max(found))


def first_pair(lab: Laboratory) -> Measured:
    energy = lab.free_drifts["imid"].worst_energy
    run = lab.run(EXAMPLES["free"].problem(), "trap", 20_000 * FREE_STEP, FREE_STEP)
    m = run.angular_momentum
    half = m + FREE_STEP / 2 * np.cross(m, run.omega)  # half a step of forward Euler
    pushed = np.einsum("ij,ij->i", half, half / run.body.principal_moments)
    middle = largest(relative_change(pushed))
    moved = min(lab.free_drifts[name].momentum for name in ("imid", "trap"))
    text = f"energy: IMID {energy:.0e}, TRAP at the midpoint {middle:.0e}; momentum {moved:.1e}"
    return text, judge(max(energy, middle) < KEPT and moved > VISIBLE)


def second_pair(lab: Laboratory) -> Measured:
    kept = max(lab.free_drifts[name].momentum for name in ("imidm", "trapm"))
    back = max(asymmetry(name) for name in ("imidm", "trapm"))
    text = f"momentum {kept:.0e}; h then -h: back to {back:.0e}"
    return text, judge(kept < KEPT and back < EXACT)


def accuracy(lab: Laboratory) -> Measured:
    lost = []
    for section, study in zip(("5.1", "5.2", "5.3"), lab.convergence.values(), strict=True):
        for letter, errors in (("Π", study.momentum), ("R", study.attitude)):
            ranking = study.ranking(errors)
            best, present = min(ranking.values()), min(ranking[name] for name in PRESENT)
            if present > 1.001 * best:  # AKW and IMID tie in 5.1
                lost.append(f"{section} in {letter}, by {present / best:.1f}")
    text = f"a present algorithm leads {6 - len(lost)} of 6 rankings (not: {'; '.join(lost)})"
    return text, judge(len(lost) <= 1)


def large_steps(lab: Laboratory) -> Measured:
    problem = EXAMPLES["free"].problem()
    runs = {
        name: lab.run(problem, name, 10_000.0, 2.0, may_stop=True) for name in (*PRESENT, *COMPARED)
    }
    angle = float(np.degrees(2.0 * np.linalg.norm(problem.omega)))
    worst = max(largest(relative_change(runs[name].kinetic_energy)) for name in PRESENT)
    stopped = [name for name in (*PRESENT, *COMPARED) if not runs[name].success]
    text = (
        f"free body at Δt = 2 ({angle:.0f}° a step), 5000 steps: the four finish, energy within"
        f" {worst:.0%}; the equations stop converging for:"
        f" {', '.join(map(str.upper, stopped)) or 'none'}"
    )
    return text, judge(not set(PRESENT) & set(stopped) and worst < 0.5)


def long_times(lab: Laboratory) -> Measured:
    count = WALL_STEPS if lab.quick else 25 * WALL_STEPS
    problem, worst, growth = lab.wall_problem(1.0), 0.0, 0.0
    for name in PRESENT:
        run = lab.run(problem, name, count * WALL_STEP, WALL_STEP)
        first, last = map(largest, np.array_split(relative_change(run.energy), 2))
        worst = max(worst, first, last)
        growth = max(growth, last / first - 1)
    text = f"{count} steps: |H/H0 - 1| <= {worst:.4f}, second half {growth:+.1%} above the first"
    return text, judge(worst < 0.05 and growth < 0.05)


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
    text = "a body turning about a fixed axis under torque, 100 steps: differ by {:.0e}"
    return below(KEPT, text, found)
