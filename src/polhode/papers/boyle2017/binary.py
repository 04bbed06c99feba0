"""Claims of section VI of Boyle (2017): composed rotations, errors, the precessing binary."""

import numpy as np

from polhode.papers.boyle2017 import by_hand
from polhode.papers.boyle2017.by_hand import (
    CONE,
    OPENING,
    ORBIT,
    PRECESSION,
    binary,
    binary_rate,
    differentiate,
    exponential,
    frame,
    inverse,
    product,
    pure,
    rotate,
    times,
)
from polhode.papers.boyle2017.formulas import DIFFERENCE, EXACT, gap, samples
from polhode.papers.boyle2017.laboratory import (
    BINARY,
    BS,
    DP,
    EARLY,
    LABELS,
    RESET,
    ROTOR,
    TWO,
    Laboratory,
    Study,
    distance,
    frames,
    spread,
)
from polhode.papers.verdicts import Measured, judged
from polhode.problems.given_motions import about


# ---- section VI.A
def fixed_axis(_: Laboratory) -> Measured:
    v = pure(samples(1)[0])
    found = differentiate(lambda t: exponential(np.sin(t) * v), 0.4, 0.02)
    right = np.cos(0.4) * product(v, exponential(np.sin(0.4) * v))
    other = np.cos(0.4) * product(exponential(np.sin(0.4) * v), v)
    apart = max(gap(found, right), gap(found, other))
    return f"by differences: {apart:.0e}", judged(apart < DIFFERENCE)


def composed(_: Laboratory) -> Measured:
    v, w, t = pure(samples(1)[0]), pure(np.array([0.6, 0.0, -0.8])), 0.4

    def parts(t: float) -> tuple[np.ndarray, np.ndarray]:
        return exponential(np.sin(t) * v), exponential(t * t * w)

    def whole(t: float) -> np.ndarray:
        first, second = parts(t)
        return times(first, second, inverse(first))

    (first, second), total = parts(t), whole(t)
    f, g = np.cos(t), 2 * t
    slope = (
        f * product(v, total) + g * times(first, second, w, inverse(first)) - f * product(total, v)
    )
    apart = gap(differentiate(whole, t, 0.02), slope)
    same = gap(total, exponential(t * t * pure(rotate(first, w[1:]))))
    helper = about((0.6, 0.0, -0.8), lambda s: 2 * s * s, lambda s: 4 * s)
    library = gap(helper.attitude(t), second)
    text = (
        f"(24d) by differences {apart:.0e}, axis and angle {same:.0e}; the library's composed"
        f" rotations: {library:.0e}"
    )
    return text, judged(max(same, library) < EXACT and apart < DIFFERENCE)


def error_norm(lab: Laboratory) -> Measured:
    from scipy.spatial.transform import Rotation

    a, b = (Rotation.from_rotvec(v) for v in samples(2))
    first = float(distance(a.as_matrix(), b.as_matrix()))
    formula = abs(first - np.sqrt(8) * np.sin((a * b.inv()).magnitude() / 2))
    run = lab.study.runs[DP, TWO][0]
    u, _, v = np.linalg.svd(frames(TWO, run.y))
    nearest = float(distance(u @ v, frame(binary(run.t))).max())
    text = (
        f"two rotations: √8 sin(θ/2) to {formula:.0e}; two vectors, tolerance"
        f" {lab.tolerances[0]:.0e}: {run.worst:.1e}, after conversion to the nearest rotation"
        f" {nearest:.1e}"
    )
    return text, judged(formula < EXACT and nearest < 0.95 * run.worst)


def fewer_steps(lab: Laboratory) -> Measured:
    ratios = {
        e: lab.study.needed(DP, ROTOR, e, "steps") / lab.study.needed(BS, ROTOR, e, "steps")
        for e in lab.errors
    }
    few, tight = lab.large_steps, Study(tuple(lab.tight), {(DP, ROTOR): list(lab.tight.values())})
    ratios[few.worst] = tight.needed(DP, ROTOR, few.worst, "steps") / few.steps
    text = "rotor: " + ", ".join(
        f"{x:.1f} times for an error of {e:.0e}" for e, x in ratios.items()
    )
    return text, judged(min(ratios.values()) > 1.5 and max(ratios.values()) > 5)


def b_s_slower(lab: Laboratory) -> Measured:
    ratios = {}
    for name in (ROTOR, TWO, RESET):
        b_s, d_p = ([lab.study.needed(i, name, e, "seconds") for e in lab.errors] for i in (BS, DP))
        ratios[name] = np.divide(b_s, d_p)
    text = f"{lab.form}, times of B-S relative to D-P at errors of {lab.error_range}: " + ", ".join(
        f"{LABELS[name]} {spread(values)}" for name, values in ratios.items()
    )
    every = np.concatenate(list(ratios.values()))
    return text, judged(bool((every > 1).mean() > 0.5))


def grows(lab: Laboratory) -> Measured:
    tolerance, end = 1e-7, 4 * lab.end if lab.quick else lab.end
    run = lab.integrate(BINARY, DP, ROTOR, tolerance, end)
    highest = np.maximum.accumulate(run.error)
    late = run.t > end / 20
    power = float(np.polyfit(np.log(run.t[late]), np.log(highest[late]), 1)[0])
    share = run.worst / (tolerance * run.steps)
    text = (
        f"tolerance {tolerance:.0e}, {run.steps} steps: error {run.worst:.1e} = {share:.3f}"
        f" tolerance x steps, growing as t^{power:.2f}"
    )
    return text, judged(0.6 < power < 1.5 and run.worst > 3 * tolerance)


# ---- section VI.B, the motion
def motion(_: Laboratory) -> Measured:
    t = np.linspace(0.0, EARLY, 41)
    slope = differentiate(lambda s: binary(np.array(s)), 1234.5, 25.0)
    apart = gap(slope, by_hand.binary_slope(np.array(1234.5)))
    rate = gap([BINARY.omega(s) for s in t], binary_rate(t)) / ORBIT
    turn = gap(frame(BINARY.exact(t)), frame(binary(t)))
    text = (
        f"(28) by differences: {apart:.0e}; the library's attitude and ω differ from the page by"
        f" {turn:.0e} and {rate:.0e} Ω"
    )
    return text, judged(apart < DIFFERENCE and turn < EXACT and rate < 1e-12)


def orbits(_: Laboratory) -> Measured:
    first, second = (BINARY.span[1] * rate / (2 * np.pi) for rate in (ORBIT, PRECESSION))
    text = f"{first:.1f} orbits, {second:.1f} cycles"
    return text, judged(abs(first - 1000) < 1e-6 and abs(second - 100) < 1e-6)


def cone(_: Laboratory) -> Measured:
    end = BINARY.span[1]
    ratio, tenth = (1 + OPENING * t / CONE for t in (end, end / 10))
    text = f"{ratio:.1f} times after 1 000 000 units, {tenth:.1f} after 100 000"
    return text, judged(abs(ratio - 3) < 0.1)


def figure_1(_: Laboratory) -> Measured:
    t = np.linspace(0.0, EARLY, 20_001)
    x, z = (rotate(binary(t), np.eye(3)[k]) for k in (0, 2))
    z = rotate(inverse(exponential(by_hand.TILT * by_hand.X)), z)
    height = np.arccos(np.clip(z[:, 2], -1, 1))
    turns = int((np.diff(np.sign(np.diff(height))) > 0).sum())
    count, cycles = (
        np.ptp(np.unwrap(np.arctan2(v[:, 1], v[:, 0]))[[0, -1]]) / (2 * np.pi) for v in (x, z)
    )
    first, last = height[:10_001].mean(), height[10_001:].mean()
    text = (
        f"20 000 units: {count:.1f} orbits of x, {cycles:.1f} turns of z, {turns} scallops; mean"
        f" opening {np.degrees(first):.1f}° in the first cycle, {np.degrees(last):.1f}° in the"
        " second"
    )
    good = abs(count - 20) < 1 and abs(cycles - 2) < 0.2 and 16 <= turns <= 22 and last > first
    return text, judged(bool(good))
