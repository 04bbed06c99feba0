"""Section 5.4 of Krysl (2006): a body in a Coulomb potential with a soft wall."""

import numpy as np

from polhode.models import soft_wall
from polhode.papers import reference
from polhode.papers.krysl2006.laboratory import ALL, COMPARED, PRESENT, WALL_STEP, Laboratory
from polhode.papers.krysl2006.maps import torque_gap
from polhode.papers.maps import EXACT, VISIBLE
from polhode.papers.verdicts import Measured, between, judge, largest, listing, relative_change
from polhode.results.trajectory import Trajectory

BALANCE = 0.01 ** (1 / 9)  # the x at which the two terms of the torque cancel: 0.599
SLOW = 500  # steps: periods that are long in a run of 40 000
FINE_STEP = 0.002  # resolves the wall


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


def slowest_line(values: np.ndarray, period: float) -> float:
    """Return the period in steps of the strongest line among those slower than ``period``."""
    frequency, power = spectrum(values)
    slow = np.flatnonzero(frequency < 1 / period)[2:]
    return float(len(values) / slow[np.argmax(power[slow])])


def extremes(lab: Laboratory) -> dict[str, float]:
    """Return the largest |H/H0 - 1| of figures 4 and 5."""
    return {name: largest(h - 1) for name, h in lab.hamiltonian.items()}


def rms(lab: Laboratory) -> dict[str, float]:
    """Return the root mean square of H/H0 - 1 of figures 4 and 5."""
    return {name: float(np.sqrt(((h - 1) ** 2).mean())) for name, h in lab.hamiltonian.items()}


def wander(values: np.ndarray) -> float:
    """Return the range of the means of 20 stretches."""
    return float(np.ptp([part.mean() for part in np.array_split(values, 20)]))


# ---- measurements
def wall_sign(lab: Laboratory) -> Measured:
    def printed(r: np.ndarray) -> np.ndarray:
        return reference.wall(0.0, r[2, 2]) * np.array([-r[1, 2], r[0, 2], 0.0])

    found = torque_gap(soft_wall("printed"), printed)
    energies = [lab.run(lab.wall_problem(sign), "imidm", 1.0, 0.5).energy for sign in (1.0, -1.0)]
    h0 = [float(np.asarray(energy)[0]) for energy in energies]
    slopes = [sign * reference.wall(0.0, 0.9) for sign in (1.0, -1.0)]  # dV/dx at x = 2
    text = (
        f"H0 = {h0[0]:.4f} printed, {h0[1]:.4f} opposite; -dV/dx at x = 2: {-slopes[0]:+.2f}"
        f" printed (repels), {-slopes[1]:+.2f} opposite; model as printed to {found:.0e}"
    )
    right = found < EXACT and abs(h0[0] - 2.5873) < 1e-4 and abs(h0[1] - 1.6349) < 1e-4
    return text, judge(slopes[0] > 0, right and slopes[1] > 0)


def wall_knocks(lab: Laboratory) -> Measured:
    def knocks(x: np.ndarray) -> int:
        lowest = (x[1:-1] < x[:-2]) & (x[1:-1] <= x[2:])
        return int(np.count_nonzero(lowest & (x[1:-1] < BALANCE)))

    text_sign = wall_distance(lab.wall_attractive[FINE_STEP]["imidm"])
    printed = wall_distance(lab.run(lab.wall_problem(1.0), "imidm", 200.0, FINE_STEP))
    text = (
        f"in 200 s {knocks(text_sign)} knocks, x down to {text_sign.min():.3f}; printed sign:"
        f" {knocks(printed)}, x never below {printed.min():.3f} (the two terms balance at 0.599)"
    )
    return text, judge(knocks(printed) > 0, knocks(text_sign) > 10)


def wall_short_step(lab: Laboratory) -> Measured:
    long, short = (lab.wall_attractive[dt] for dt in (WALL_STEP, FINE_STEP))
    stopped = [run for run in long.values() if not run.success]
    finished = [run for run in short.values() if run.success]
    names = sorted({run.status.name for run in stopped})
    after = max((run.nsteps for run in stopped), default=0)
    worst = max((largest(relative_change(run.energy)) for run in finished), default=np.nan)
    text = (
        f"Δt = 0.5: {len(stopped)} of {len(ALL)} methods stop ({', '.join(names)}) within"
        f" {after + 1} steps; Δt = 0.002: {len(finished)} finish, H to {worst:.0e}"
    )
    return text, judge(len(stopped) == len(ALL) and len(finished) == len(ALL))


def wall_not_exact(lab: Laboratory) -> Measured:
    errors = extremes(lab)
    best = min(errors, key=lambda name: errors[name])
    text = f"the smallest maximum of |H/H0 - 1| is {errors[best]:.4f} ({best.upper()})"
    return text, judge(errors[best] > VISIBLE)


def wall_angle(lab: Laboratory) -> Measured:
    mean, most, least = [], [], []
    for name in ALL:
        rotation = lab.wall[name][:4001].rotation
        angles = np.degrees((rotation[:-1].inv() * rotation[1:]).magnitude())
        mean.append(angles.mean())
        most.append(angles.max())
        least.append(angles.min())
    text = (
        f"mean {min(mean):.0f}° to {max(mean):.0f}°, largest {min(most):.0f}° to"
        f" {max(most):.0f}°, smallest {min(least):.0f}°"
    )
    return text, judge(min(mean) > 30 and min(most) > 35)


def wall_poorly(lab: Laboratory) -> Measured:
    nearest = min(float(wall_distance(lab.wall[name]).min()) for name in ALL)
    met = largest([reference.wall(0.0, x - 1.1) for x in np.linspace(nearest, 2.1, 500)])
    closest = float(wall_distance(lab.wall_attractive[FINE_STEP]["imidm"]).min())
    wall = abs(reference.wall(0.0, closest - 1.1))
    stopped = sum(not run.success for run in lab.wall_attractive[WALL_STEP].values())
    text = (
        f"printed sign: x stays above {nearest:.3f} and |t| below {met:.1f}; sign of the text: |t|"
        f" reaches {wall:.0f} at the wall, and {stopped} of {len(ALL)} methods stop there"
    )
    return text, judge(nearest < BALANCE, met < 5 < wall and stopped == len(ALL))


def wall_no_blow_up(lab: Laboratory) -> Measured:
    errors = {name: error for name, error in extremes(lab).items() if name in COMPARED}
    finished = all(lab.wall[name].success for name in COMPARED)
    text = f"largest |H/H0 - 1|: {listing(errors, '.3f')}"
    return text, judge(finished and max(errors.values()) < 0.2)


def wall_irregular(lab: Laboratory) -> Measured:
    shares = [slow_share(lab.hamiltonian[name][1:], SLOW) for name in COMPARED]
    spans = [wander(lab.hamiltonian[name][1:]) for name in COMPARED]
    text = (
        f"{min(shares):.0%} or more of the variance of H has periods over {SLOW} steps;"
        f" means of 20 stretches wander by {min(spans):.3f} or more"
    )
    return text, judge(min(shares) > 0.5 and min(spans) > 0.01)


def wall_scale(lab: Laboratory) -> Measured:
    errors = extremes(lab)
    four, five = (max(errors[name] for name in names) for names in (COMPARED, PRESENT))
    text = (
        f"largest |H/H0 - 1|: {four:.3f} in figure 4, {five:.4f} in figure 5: 1/{four / five:.1f}"
    )
    return text, judge(3 < four / five < 8)


def wall_smaller(lab: Laboratory) -> Measured:
    error = rms(lab)
    compared, present = ([error[name] for name in names] for names in (COMPARED, PRESENT))
    text = (
        f"rms of H/H0 - 1: {min(compared):.4f} to {max(compared):.4f} in figure 4,"
        f" {min(present):.4f} to {max(present):.4f} in figure 5; ratio"
        f" {min(compared) / max(present):.1f} to {max(compared) / min(present):.0f}"
    )
    return text, judge(min(compared) > 2 * max(present))


def wall_clean(lab: Laboratory) -> Measured:
    growth = []
    for name in PRESENT:
        first, second = map(largest, np.array_split(lab.hamiltonian[name][1:] - 1, 2))
        growth.append(second / first - 1)
    spans = [wander(lab.hamiltonian[name][1:]) for name in PRESENT]
    text = (
        f"largest error of the second half within {largest(growth):.1%} of the first's; means"
        f" of 20 stretches wander by {max(spans):.4f} at most"
    )
    return text, judge(largest(growth) < 0.05 and max(spans) < 0.002)


def wall_periodic(lab: Laboratory) -> Measured:
    shares = {name: slow_share(lab.hamiltonian[name][1:], 100) for name in PRESENT}
    line = slowest_line(lab.hamiltonian["trapm"][1:], 100)
    text = (
        f"variance of H with periods over 100 steps: {listing(shares, '.1%')} (TRAPM's main line:"
        f" {line:.0f} steps)"
    )
    slow, fast = min(shares["trap"], shares["trapm"]), max(shares["imid"], shares["imidm"])
    return text, judge(slow > 3 * fast)


def wall_trapezoid_error(lab: Laboratory) -> Measured:
    error = rms(lab)
    text = "rms of H/H0 - 1: TRAP/IMID {:.1f}, TRAPM/IMIDM {:.1f}"
    return between(1, 4, text, error["trap"] / error["imid"], error["trapm"] / error["imidm"])


def wall_superior(lab: Laboratory) -> Measured:
    error, errors = rms(lab), extremes(lab)
    worst, best = max(error[n] for n in PRESENT), min(error[n] for n in COMPARED)
    peak, other = max(errors[n] for n in PRESENT), min(errors[n] for n in COMPARED)
    text = f"worst present against best compared: rms {worst:.4f} / {best:.4f}, largest {peak:.4f}"
    return f"{text} / {other:.4f}", judge(worst < best and peak < other)
