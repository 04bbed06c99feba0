"""Section 5.4 of Krysl (2006): a body in a Coulomb potential with a soft wall."""

from collections.abc import Sequence

import numpy as np

from polhode.models import soft_wall
from polhode.papers import reference
from polhode.papers.krysl2006.laboratory import (
    ALL,
    COMPARED,
    FINE_STEP,
    PRESENT,
    WALL_STEP,
    Laboratory,
)
from polhode.papers.maps import EXACT, VISIBLE, torque_gap
from polhode.papers.verdicts import (
    Measured,
    between,
    holds_if,
    largest,
    listing,
    relative_change,
)
from polhode.results.trajectory import Trajectory

BALANCE = 0.01 ** (1 / 9)  # the x at which the two terms of the torque cancel: 0.599
SLOW = 500  # steps: periods that are long in a run of 40 000


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


def extremes(lab: Laboratory, names: Sequence[str] = ALL) -> dict[str, float]:
    """Return the largest |H/H0 - 1| of figures 4 and 5."""
    return {name: largest(lab.hamiltonian[name] - 1) for name in names}


def rms(lab: Laboratory, names: Sequence[str] = ALL) -> dict[str, float]:
    """Return the root mean square of H/H0 - 1 of figures 4 and 5."""
    return {name: float(np.sqrt(((lab.hamiltonian[name] - 1) ** 2).mean())) for name in names}


def wander(lab: Laboratory, names: Sequence[str]) -> list[float]:
    """Return the ranges of the means of 20 stretches of H/H0."""
    stretches = (np.array_split(lab.hamiltonian[name][1:], 20) for name in names)
    return [float(np.ptp([part.mean() for part in parts])) for parts in stretches]


# ---- measurements
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
    error, name = min((error, name) for name, error in extremes(lab).items())
    return holds_if(error > VISIBLE, error, name.upper())


def wall_angle(lab: Laboratory) -> Measured:
    rotations = (lab.wall[name][:4001].rotation for name in ALL)
    angles = [np.degrees((r[:-1].inv() * r[1:]).magnitude()) for r in rotations]
    mean, most = [turn.mean() for turn in angles], [turn.max() for turn in angles]
    least = min(turn.min() for turn in angles)
    holds = min(mean) > 30 and min(most) > 35
    return holds_if(holds, min(mean), max(mean), min(most), max(most), least)


def wall_poorly(lab: Laboratory) -> Measured:
    nearest = min(float(wall_distance(lab.wall[name]).min()) for name in ALL)
    met = largest([reference.wall(0.0, x - 1.1) for x in np.linspace(nearest, 2.1, 500)])
    closest = float(wall_distance(lab.wall_attractive[FINE_STEP]["imidm"]).min())
    wall = abs(reference.wall(0.0, closest - 1.1))
    stopped = sum(not run.success for run in lab.wall_attractive[WALL_STEP].values())
    corrected = met < 5 < wall and stopped == len(ALL)
    return holds_if(nearest < BALANCE, nearest, met, wall, stopped, len(ALL), corrected=corrected)


def wall_no_blow_up(lab: Laboratory) -> Measured:
    errors = extremes(lab, COMPARED)
    finished = all(lab.wall[name].success for name in COMPARED)
    return holds_if(finished and max(errors.values()) < 0.2, listing(errors, ".3f"))


def wall_irregular(lab: Laboratory) -> Measured:
    share = min(slow_share(lab.hamiltonian[name][1:], SLOW) for name in COMPARED)
    span = min(wander(lab, COMPARED))
    return holds_if(share > 0.5 and span > 0.01, share, SLOW, span)


def wall_scale(lab: Laboratory) -> Measured:
    four, five = (max(extremes(lab, names).values()) for names in (COMPARED, PRESENT))
    return holds_if(3 < four / five < 8, four, five, four / five)


def wall_smaller(lab: Laboratory) -> Measured:
    compared, present = (rms(lab, names).values() for names in (COMPARED, PRESENT))
    ranges = min(compared), max(compared), min(present), max(present)
    ratios = min(compared) / max(present), max(compared) / min(present)
    return holds_if(min(compared) > 2 * max(present), *ranges, *ratios)


def wall_clean(lab: Laboratory) -> Measured:
    growth = []
    for name in PRESENT:
        first, second = map(largest, np.array_split(lab.hamiltonian[name][1:] - 1, 2))
        growth.append(second / first - 1)
    span = max(wander(lab, PRESENT))
    return holds_if(largest(growth) < 0.05 and span < 0.002, largest(growth), span)


def wall_periodic(lab: Laboratory) -> Measured:
    shares = {name: slow_share(lab.hamiltonian[name][1:], 100) for name in PRESENT}
    frequency, power = spectrum(lab.hamiltonian["trapm"][1:])
    lines = np.flatnonzero(frequency < 1 / 100)[2:]
    period = (len(lab.hamiltonian["trapm"]) - 1) / lines[np.argmax(power[lines])]
    slow, fast = min(shares["trap"], shares["trapm"]), max(shares["imid"], shares["imidm"])
    return holds_if(slow > 3 * fast, listing(shares, ".1%"), period)


def wall_trapezoid_error(lab: Laboratory) -> Measured:
    error = rms(lab)
    return between(1, 4, error["trap"] / error["imid"], error["trapm"] / error["imidm"])


def wall_superior(lab: Laboratory) -> Measured:
    (worst, best), (peak, other) = (
        (max(error(lab, PRESENT).values()), min(error(lab, COMPARED).values()))
        for error in (rms, extremes)
    )
    return holds_if(worst < best and peak < other, worst, best, peak, other)
