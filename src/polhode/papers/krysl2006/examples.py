"""Sections 5 and 6 of Krysl (2006): the examples and the conclusions."""

from collections.abc import Sequence

import numpy as np

from polhode.models import heavy_top, soft_wall
from polhode.papers import reference
from polhode.papers.krysl2006 import by_hand
from polhode.papers.krysl2006.algorithms import COMPOSED, composed_gap
from polhode.papers.krysl2006.laboratory import (
    ALL,
    CHANGE,
    COMPARED,
    EXAMPLES,
    FINE_STEP,
    FREE_STEP,
    KEPT,
    PRESENT,
    WALL_STEP,
    WALL_STEPS,
    Laboratory,
    contrast,
)
from polhode.papers.laboratory import WHOLE_RUN
from polhode.papers.maps import (
    EXACT,
    INERTIA,
    STEP,
    VISIBLE,
    asymmetry,
    march,
    states,
    step,
    torque_gap,
)
from polhode.papers.verdicts import (
    Check,
    Measured,
    added_if,
    below,
    between,
    holds_if,
    largest,
    listing,
    near,
    relative_change,
)
from polhode.results.trajectory import Trajectory

BALANCE = 0.01 ** (1 / 9)  # the x at which the two terms of the torque cancel: 0.599
SLOW = 500  # steps: periods that are long in a run of 40 000


def _second_order(lab: Laboratory, name: str) -> Measured:
    """Return the orders of all methods, from the last two halvings."""
    p, r = map(lab.convergence[name].orders, ("Π", "R"))
    return holds_if(all(near(x, 2) for x in (*p, *r)), min(p), max(p), min(r), max(r))


def _own_reference(lab: Laboratory, name: str, dt: float) -> Measured:
    """Return the error of a reference like the paper's, and of ours against another method."""
    example, study, ours = EXAMPLES[name], lab.convergence[name], ""
    run = lab.run(example.problem(), "imidm", example.t_end, dt, WHOLE_RUN)
    p, r = lab.error(name, run)
    smallest = min(float(e[-1]) for errors in study.errors.values() for e in errors.values())
    if not lab.quick:
        gauss = lab.run(example.problem(), "mkrk:gauss6", example.t_end, dt * 10, WHOLE_RUN)
        p6, r6 = lab.error(name, gauss)
        ours = f"; our DOP853 and Gauss of order 6 differ by {p6:.0e}, {r6:.0e}"
    return holds_if(max(p, r) < smallest, p, r, ours)


def _present_leads(lab: Laboratory, quantity: str) -> Measured:
    """Return whether one of the present algorithms is the most accurate for the slow top."""
    ranking = lab.convergence["slow"].ranking(quantity)
    return holds_if(next(iter(ranking)) in PRESENT, listing(ranking, ".1e"))


def _over_imid(lab: Laboratory, name: str, quantity: str) -> float:
    """Return the error of a method over that of IMID, for the free body."""
    ranking = lab.convergence["free"].ranking(quantity)
    return ranking[name] / ranking["imid"]


MEASUREMENTS: dict[str, Check] = {
    "free-order": lambda lab: _second_order(lab, "free"),
    "free-reference": lambda lab: _own_reference(lab, "free", 0.001),
    "free-imid-kept": lambda lab: contrast(
        lab.free_drifts["imid"].worst_energy, lab.free_drifts["imid"].momentum
    ),
    "free-akw-attitude": lambda lab: between(5, 50, _over_imid(lab, "akw", "R")),
    "free-trap-momentum": lambda lab: between(1, 3, _over_imid(lab, "trap", "Π")),
    "slow-torque": lambda _: below(
        EXACT,
        torque_gap(
            heavy_top(20.0), lambda r: -20 * np.cross(r[:, 2], [0.0, 0.0, 1.0]), inertial=True
        ),
    ),
    "slow-order": lambda lab: _second_order(lab, "slow"),
    "slow-reference": lambda lab: _own_reference(lab, "slow", 0.0001),
    "slow-attitude": lambda lab: _present_leads(lab, "R"),
    "slow-momentum": lambda lab: _present_leads(lab, "Π"),
    "fast-order": lambda lab: _second_order(lab, "fast"),
    "pairs": lambda _: below(EXACT, max(map(composed_gap, COMPOSED))),
    "first-pair-symmetric": lambda _: below(EXACT, *map(asymmetry, ("imid", "trap"))),
}


# ---- 5.1
def free_best_momentum(lab: Laboratory) -> Measured:
    study = lab.convergence["free"]
    ranking = study.ranking("Π")
    others = min(error for name, error in ranking.items() if name not in ("imid", "akw"))
    return holds_if(ranking["imid"] < others, listing(ranking, ".1e"), study.steps[-1])


def free_best_attitude(lab: Laboratory) -> Measured:
    ranking = lab.convergence["free"].ranking("R")
    lead = 1 - ranking["trap"] / ranking["imid"]
    return holds_if(next(iter(ranking)) == "imid", listing(ranking, ".1e"), lead)


def free_akw_momentum(lab: Laboratory) -> Measured:
    errors = lab.convergence["free"].errors["Π"]
    ratio = errors["akw"] / errors["imid"]
    off = largest(ratio - 1)  # rounding: 1e-16 · 1e4 steps / errors of 1e-4
    return holds_if(off < 1e-6, off, len(ratio))


def free_half_step(_: Laboratory) -> Measured:
    start, count = states(1)[0], 200
    shifted = step("forward-euler")(STEP / 2, start)
    trap, imid, late = (
        march(name, "free", count * STEP, count, first)[-1]
        for name, first in (("trap", start), ("imid", start), ("imid", shifted))
    )
    unshifted = step("backward-euler")(-STEP / 2, late)  # the inverse of the shift
    apart, left = (largest(np.subtract(trap[1], end[1])) for end in (imid, unshifted))
    return contrast(left, apart)


def free_pair(lab: Laboratory) -> Measured:
    ranking = lab.convergence["free"].ranking("Π")
    ratio = min(ranking[name] / ranking["imid"] for name in ("bbtrap", "swc1"))
    last = set(list(ranking)[-2:]) == {"bbtrap", "swc1"}
    return holds_if(last and ratio > 10, ratio, ratio * ranking["imid"] / ranking["imidm"])


# ---- 5.3
def fast_kinetic(lab: Laboratory) -> Measured:
    run = lab.run(EXAMPLES["fast"].problem(), "imidm", 10.0, 1e-3)
    ratio = run.kinetic_energy / np.abs(np.asarray(run.potential_energy))
    return holds_if(ratio.min() > 20, ratio.min())


def fast_frequencies(_: Laboratory) -> Measured:
    times = np.linspace(0.0, 10.0, 4001)
    q, _m = EXAMPLES["fast"].reference(times)
    w, x, y, z = q.T
    azimuth = np.unwrap(np.arctan2(2 * (y * z - w * x), 2 * (x * z + w * y)))
    height = 1 - 2 * (x * x + y * y)
    turns = np.flatnonzero(np.diff(np.sign(np.diff(height)))) + 1
    span = times[turns[-1]] - times[turns[0]]
    nutation = np.pi * (len(turns) - 1) / span
    precession = abs(azimuth[turns[-1]] - azimuth[turns[0]]) / span
    return holds_if(nutation > 5 * precession, precession, nutation, nutation / precession)


def fast_accuracy(lab: Laboratory) -> Measured:
    ratios = []
    for ranking in map(lab.convergence["fast"].ranking, ("Π", "R")):
        others = min(error for name, error in ranking.items() if name not in ("imidm", "trapm"))
        ratios.append(others / max(ranking["imidm"], ranking["trapm"]))
    return holds_if(min(ratios) > 3, *ratios)


def fast_reason(lab: Laboratory) -> Measured:
    others, present = ("swc1", "bbtrap"), ("trapm", "imidm")
    trips = [max(map(lab.fast_round_trip, names)) for names in (others, present)]
    kept = max(lab.top_drifts["fast"][name].momentum for name in (*others, *present))
    errors = lab.convergence["fast"].ranking("R")
    ratio = min(errors[name] for name in others) / max(errors[name] for name in present)
    return holds_if(not (max(*trips, kept) < KEPT and ratio > 2), *trips, kept, ratio)


# ---- 5.4
def wall_distance(run: Trajectory) -> np.ndarray:
    """x = 1.1 + R33 along a run."""
    return 1.1 + 1 - 2 * (run.q[:, 1] ** 2 + run.q[:, 2] ** 2)


def spectrum(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(frequency per step, power) of a series, with a Hann window."""
    centred = (values - values.mean()) * np.hanning(len(values))
    return np.fft.rfftfreq(len(values)), np.abs(np.fft.rfft(centred)) ** 2


def slow_share(values: np.ndarray, period: float) -> float:
    """Return the part of the variance with periods of more than ``period`` steps."""
    frequency, power = spectrum(values)
    return float(power[frequency < 1 / period].sum() / power.sum())


def extremes(lab: Laboratory, names: Sequence[str] = ALL) -> np.ndarray:
    """Return the largest |H/H0 - 1| by method, of each of the runs from nearby starts."""
    return np.array([lab.nearby[name].extremes for name in names])


def rms(lab: Laboratory, names: Sequence[str] = ALL) -> np.ndarray:
    """Return the same of the root mean squares."""
    return np.array([lab.nearby[name].rms for name in names])


def wander(values: np.ndarray) -> float:
    """Return the range of the means of 20 stretches of a series."""
    return float(np.ptp([part.mean() for part in np.array_split(values, 20)]))


def wall_sign(lab: Laboratory) -> Measured:
    def printed(r: np.ndarray) -> np.ndarray:
        return reference.wall(0.0, r[2, 2]) * np.array([-r[1, 2], r[0, 2], 0.0])

    found = torque_gap(soft_wall("printed"), printed, inertial=True)
    runs = [lab.run(lab.wall_problem(sign), "imidm", 1.0, 0.5) for sign in (1.0, -1.0)]
    h0 = [float(np.asarray(run.energy)[0]) for run in runs]
    slopes = [sign * reference.wall(0.0, 0.9) for sign in (1.0, -1.0)]  # dV/dx at x = 2
    right = found < EXACT and abs(h0[0] - 2.5873) < 1e-4 and abs(h0[1] - 1.6349) < 1e-4
    corrected = right and slopes[1] > 0
    return holds_if(slopes[0] > 0, *h0, -slopes[0], -slopes[1], found, corrected=corrected)


def wall_knocks(lab: Laboratory) -> Measured:
    def knocks(x: np.ndarray) -> int:
        lowest = (x[1:-1] < x[:-2]) & (x[1:-1] <= x[2:])
        return int(np.count_nonzero(lowest & (x[1:-1] < BALANCE)))

    runs = (
        lab.wall_attractive[FINE_STEP]["imidm"],
        lab.run(lab.wall_problem(1.0), "imidm", 200.0, FINE_STEP),
    )
    (text, nearest), (printed, least) = ((knocks(x), x.min()) for x in map(wall_distance, runs))
    return holds_if(printed > 0, text, nearest, printed, least, corrected=text > 10)


def wall_short_step(lab: Laboratory) -> Measured:
    long, short = (lab.wall_attractive[dt].values() for dt in (WALL_STEP, FINE_STEP))
    stopped = [run for run in long if not run.success]
    finished = [run for run in short if run.success]
    names = ", ".join(sorted({run.status.name for run in stopped}))
    after = max((run.nsteps for run in stopped), default=0) + 1
    worst = max((largest(relative_change(run.energy)) for run in finished), default=np.nan)
    holds = len(stopped) == len(ALL) and len(finished) == len(ALL)
    return holds_if(holds, len(stopped), len(ALL), names, after, len(finished), worst)


def wall_not_exact(lab: Laboratory) -> Measured:
    found = extremes(lab).min(axis=1)
    return holds_if(found.min() > VISIBLE, found.min(), ALL[int(found.argmin())].upper())


def wall_angle(lab: Laboratory) -> Measured:
    rotations = (lab.wall[name][:4001].rotation for name in ALL)
    angles = [np.degrees((r[:-1].inv() * r[1:]).magnitude()) for r in rotations]
    mean, most = [turn.mean() for turn in angles], [turn.max() for turn in angles]
    least = min(turn.min() for turn in angles)
    shown = min(mean), max(mean), min(most), max(most), least
    return holds_if(least > 30, *shown, corrected=min(mean) > 30 and min(most) > 35)


def wall_poorly(lab: Laboratory) -> Measured:
    nearest = 1.1 + min(lab.nearby[name].least_height for name in ALL)
    met = largest([reference.wall(0.0, x - 1.1) for x in np.linspace(nearest, 2.1, 500)])
    closest = float(wall_distance(lab.wall_attractive[FINE_STEP]["imidm"]).min())
    wall = abs(reference.wall(0.0, closest - 1.1))
    stopped = sum(not run.success for run in lab.wall_attractive[WALL_STEP].values())
    corrected = met < 5 < wall and stopped == len(ALL)
    return holds_if(nearest < BALANCE, nearest, met, wall, stopped, len(ALL), corrected=corrected)


def wall_no_blow_up(lab: Laboratory) -> Measured:
    errors = extremes(lab, COMPARED)
    finished = all(lab.wall[name].success for name in COMPARED)
    ranges = np.stack([errors.min(axis=1), errors.max(axis=1)], axis=1).ravel()
    return holds_if(finished and errors.max() < 0.2, errors.shape[1], *ranges)


def wall_irregular(lab: Laboratory) -> Measured:
    runs = [row[1:] for name in COMPARED for row in lab.nearby[name].hamiltonian]
    share, span = min(slow_share(row, SLOW) for row in runs), min(map(wander, runs))
    return holds_if(share > 0.5 and span > 0.01, share, SLOW, span)


def wall_chaotic(lab: Laboratory) -> Measured:
    parted = [k for name in COMPARED for k in lab.nearby[name].parted_after]
    pairs = sum(len(lab.nearby[name].apart) for name in COMPARED)
    moved, kept = (np.ptp(extremes(lab, names), axis=1) for names in (COMPARED, PRESENT))
    still = max(float(lab.nearby[name].apart[:, -1].max()) for name in PRESENT)
    shares = moved / extremes(lab, COMPARED)[:, 0]
    alike = max(still, float(kept.max())) < VISIBLE
    found = len(parted) == pairs and shares.min() > 0.05 and alike
    shown = CHANGE, len(parted), pairs, min(parted), max(parted), *shares
    return added_if(found, *shown, still, kept.max())


def wall_scale(lab: Laboratory) -> Measured:
    four, five = (extremes(lab, names).max(axis=0) for names in (COMPARED, PRESENT))
    ratio = four / five
    shown = four.min(), four.max(), five.max(), ratio.min(), ratio.max()
    return holds_if(ratio.min() > 3 and ratio.max() < 8, *shown)


def wall_smaller(lab: Laboratory) -> Measured:
    compared, present = (rms(lab, names) for names in (COMPARED, PRESENT))
    ranges = compared.min(), compared.max(), present.min(), present.max()
    ratios = compared.min() / present.max(), compared.max() / present.min()
    middle = np.median(compared, axis=1).min() / present.max()
    return holds_if(middle > 2, *ranges, *ratios, middle)


def wall_clean(lab: Laboratory) -> Measured:
    growth = []
    for name in PRESENT:
        first, second = map(largest, np.array_split(lab.hamiltonian[name][1:] - 1, 2))
        growth.append(second / first - 1)
    span = max(wander(lab.hamiltonian[name][1:]) for name in PRESENT)
    return holds_if(largest(growth) < 0.05 and span < 0.002, largest(growth), span)


def wall_periodic(lab: Laboratory) -> Measured:
    shares = [slow_share(lab.hamiltonian[name][1:], 100) for name in PRESENT]
    frequency, power = spectrum(lab.hamiltonian["trapm"][1:])
    lines = np.flatnonzero(frequency < 1 / 100)[2:]
    period = (len(lab.hamiltonian["trapm"]) - 1) / lines[np.argmax(power[lines])]
    slow, fast = min(shares[::2]), max(shares[1::2])  # trapezoidal rules, midpoint rules
    return holds_if(slow > 3 * fast, *shares, period)


def wall_trapezoid_error(lab: Laboratory) -> Measured:
    trap, imid, trapm, imidm = rms(lab, PRESENT)[:, 0]
    return between(1, 4, trap / imid, trapm / imidm)


def wall_superior(lab: Laboratory) -> Measured:
    (worst, best), (peak, other) = (
        (error(lab, PRESENT).max(), error(lab, COMPARED).min()) for error in (rms, extremes)
    )
    return holds_if(worst < best and peak < other, worst, best, peak, other)


# ---- 6
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
