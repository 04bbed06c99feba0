"""Measurements of section VI of Boyle (2017): errors, the binary, and its variables (figure 4)."""

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
from polhode.papers.boyle2017.formulas import DIFFERENCE, EXACT, gap, relative_speed, samples
from polhode.papers.boyle2017.laboratory import (
    BINARY,
    BS,
    DP,
    EARLY,
    NAIVE,
    RESET,
    ROTOR,
    TWO,
    Laboratory,
    Study,
    distance,
    formulation,
    frames,
    spread,
    spreads,
)
from polhode.papers.verdicts import Measured, judge, series, slope
from polhode.problems.given_motions import about


# ---- section VI.A
def fixed_axis(_: Laboratory) -> Measured:
    v = pure(samples(1)[0])
    found = differentiate(lambda t: exponential(np.sin(t) * v), 0.4, 0.02)
    right = np.cos(0.4) * product(v, exponential(np.sin(0.4) * v))
    other = np.cos(0.4) * product(exponential(np.sin(0.4) * v), v)
    apart = max(gap(found, right), gap(found, other))
    return f"by differences: {apart:.0e}", judge(apart < DIFFERENCE)


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
    return text, judge(max(same, library) < EXACT and apart < DIFFERENCE)


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
    return text, judge(formula < EXACT and nearest < 0.95 * run.worst)


def fewer_steps(lab: Laboratory) -> Measured:
    few, tight = lab.large_steps, Study(tuple(lab.tight), {(DP, ROTOR): list(lab.tight.values())})
    d_p, b_s = ([lab.study.cost(i, ROTOR, e, "steps") for e in lab.errors] for i in (DP, BS))
    d_p.append(tight.cost(DP, ROTOR, few.worst, "steps"))
    ratios = np.divide(d_p, [*b_s, few.steps])
    text = "rotor: " + ", ".join(
        f"{x:.1f} times for an error of {e:.0e}"
        for x, e in zip(ratios, (*lab.errors, few.worst), strict=True)
    )
    return text, judge(bool(ratios.min() > 1.5 and ratios.max() > 5))


def b_s_slower(lab: Laboratory) -> Measured:
    ratios = {}
    for name in (ROTOR, TWO, RESET):
        b_s, d_p = ([lab.study.cost(i, name, e, "seconds") for e in lab.errors] for i in (BS, DP))
        ratios[name] = np.divide(b_s, d_p)
    every = np.concatenate(list(ratios.values()))
    text = f"{lab.form}, times of B-S relative to D-P at errors of {lab.error_range}:"
    return f"{text} {spreads(ratios)}", judge(bool((every > 1).mean() > 0.5))


def grows(lab: Laboratory) -> Measured:
    tolerance, end = 1e-7, 4 * lab.end if lab.quick else lab.end
    run = lab.integrate(BINARY, DP, ROTOR, tolerance, end)
    late = run.t > end / 20
    highest = np.maximum.accumulate(run.error)
    power = slope(run.t[late].tolist(), highest[late].tolist())
    share = run.worst / (tolerance * run.steps)
    text = (
        f"tolerance {tolerance:.0e}, {run.steps} steps: error {run.worst:.1e} = {share:.3f}"
        f" tolerance x steps, growing as t^{power:.2f}"
    )
    return text, judge(0.6 < power < 1.5 and run.worst > 3 * tolerance)


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
    return text, judge(apart < DIFFERENCE and turn < EXACT and rate < 1e-12)


def orbits(_: Laboratory) -> Measured:
    first, second = (BINARY.span[1] * rate / (2 * np.pi) for rate in (ORBIT, PRECESSION))
    text = f"{first:.1f} orbits, {second:.1f} cycles"
    return text, judge(abs(first - 1000) < 1e-6 and abs(second - 100) < 1e-6)


def cone(_: Laboratory) -> Measured:
    end = BINARY.span[1]
    ratio, tenth = (1 + OPENING * t / CONE for t in (end, end / 10))
    text = f"{ratio:.1f} times after 1 000 000 units, {tenth:.1f} after 100 000"
    return text, judge(abs(ratio - 3) < 0.1)


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
    return text, judge(bool(good))


# ---- figure 4
def _dominant(values: np.ndarray) -> float:
    """Return the strongest frequency of some curves, in cycles over their length."""
    power = (np.abs(np.fft.rfft(values - values.mean(0), axis=0)) ** 2).sum(1)
    return float(power.argmax())


def twice_as_fast(_: Laboratory) -> Measured:
    t = np.linspace(0.0, EARLY, 4096, endpoint=False)
    vectors = frame(binary(t))[:, :2].reshape(-1, 6)
    first, second = _dominant(vectors), _dominant(binary(t))
    text = f"strongest frequencies over 20 orbits: {first:.0f} and {second:.0f} cycles"
    return text, judge(abs(first / second - 2) < 0.1)


def twice_the_steps(lab: Laboratory) -> Measured:
    first, second = (lab.ratio(i, TWO, "steps") for i in (DP, BS))
    text = f"at equal error D-P {spread(first)} times, B-S {spread(second)} times"
    return text, judge(bool(first.min() > 1.5 and first.max() < 2.4))


def sharp(lab: Laboratory) -> Measured:
    run = lab.early[NAIVE]
    size = np.linalg.norm(run.y, axis=1) / np.pi
    rate = np.linalg.norm(by_hand.slope_of(run.y, binary_rate(run.t)), axis=1)
    near, far = rate[size > 0.9].max(), rate[size < 0.6].max()
    text = (
        f"|r'| relative to its median: up to {near / np.median(rate):.1f} beyond 0.9 π,"
        f" up to {far / np.median(rate):.1f} below 0.6 π; r reaches {size.max():.2f} π"
    )
    return text, judge(bool(near > 5 * far))


def sensitive(_: Laboratory) -> Measured:
    path = binary(np.linspace(0.0, EARLY, 40_001))
    rotors = (product(exponential(extra * by_hand.X), path) for extra in (0.0, -0.05, 0.05))
    found = [float(np.linalg.norm(rotor[:, 1:], axis=1).min()) for rotor in rotors]
    text = (
        f"closest to the identity in 20 orbits (half the angle): {series(found, '.3f')}"
        " rad, with R0 turned by 0, -0.1 and 0.1 rad: features as much sharper"
    )
    return text, judge(max(found) / min(found) > 2)


def once_an_orbit(lab: Laboratory) -> Measured:
    run = lab.early[RESET]
    jumps = int((np.linalg.norm(np.diff(run.y, axis=0), axis=1) > 1.0).sum())
    speed = relative_speed(run).max()
    text = f"{jumps} jumps in 20 orbits; |r'| at most {speed:.2f} |ω|/2"
    return text, judge(bool(18 <= jumps <= 22 and speed < 1.8))


def not_resolved(lab: Laboratory) -> Measured:
    study = lab.after_resets
    errors, right = (study.numbers("dopri5", name, "worst") for name in ("stale", RESET))
    error = float(np.sqrt(errors.min() * min(errors[-2], right[0])))
    stale, reset, rotor = (study.cost("dopri5", n, error) for n in ("stale", RESET, ROTOR))
    lost, extra = stale / reset, reset / rotor
    text = (
        f"Dormand-Prince 5(4), error {error:.0e}: {extra:.2f} times the evaluations of the rotor if"
        f" it restarts after a reset, {lost:.1f} times that if not"
    )
    return text, judge(lost < 1.2 and extra < 1.4, lost > 2 and extra < 1.4)


def past_the_reset(lab: Laboratory) -> Measured:
    past, short = (
        float(np.diff(lab.study.runs[i, RESET][2].t).max()) * ORBIT / 2 for i in (BS, DP)
    )
    text = (
        f"tolerance {lab.tolerances[2]:.0e}: half the turn of a step is up to {past / np.pi:.2f} π"
        f" by B-S, {short / np.pi:.2f} π by D-P"
    )
    return text, judge(past > np.pi / 2 > short)


def second_derivative(_: Laboratory) -> Measured:
    t, h = 1234.5, 25.0
    rotor, omega = binary(np.array(t)), pure(binary_rate(np.array(t)))
    slope = differentiate(lambda s: pure(binary_rate(np.array(s))), t, h)
    second = differentiate(lambda s: by_hand.binary_slope(np.array(s)), t, h)
    good, wrong = (
        gap(second, product(slope, rotor) / 2 + sign * float(omega @ omega) * rotor / 4) / ORBIT**2
        for sign in (-1, 1)
    )
    text = f"off by {good:.0e} Ω² with -|ω|², by {wrong:.1f} Ω² with +|ω|²"
    return text, judge(wrong < DIFFERENCE, good < 1e-8)


def slow_rate(_: Laboratory) -> Measured:
    t = np.linspace(100.0, EARLY, 400)
    slopes = differentiate(binary_rate, t, 25.0)
    ratio = 2 * np.linalg.norm(slopes, axis=1) / (binary_rate(t) ** 2).sum(1)
    text = f"the binary: 2|ω'|/ω² is {ratio.min():.2f} to {ratio.max():.2f}"
    return text, judge(float(ratio.max()) < 1)


def lsoda(lab: Laboratory) -> Measured:
    from scipy.integrate import solve_ivp

    strong, span = formulation("strong"), (0.0, 2_000.0)
    rows = []
    for tol in (1e-4, 1e-6):
        found = solve_ivp(
            lambda t, y: strong.rate(tuple(y), BINARY.omega(t)),
            span,
            np.array(strong.enter(BINARY.attitude)),
            method="LSODA",
            rtol=1e-13,
            atol=tol,
        )
        run, plain = (lab.integrate(BINARY, DP, name, tol, span[1]) for name in ("strong", TWO))
        worst = float(distance(frames(TWO, found.y.T), frame(binary(found.t))).max())
        rows.append(
            (run.evaluations / found.nfev, found.nfev / plain.evaluations, worst / plain.worst)
        )
    gains, losses, errors = zip(*rows, strict=True)
    text = (
        f"λ = μ = 1, 2 orbits, tolerances 1e-4 and 1e-6: lsoda takes 1/{gains[0]:.1f} and"
        f" 1/{gains[1]:.1f} of the evaluations of D-P, {losses[0]:.1f} and {losses[1]:.1f} times"
        f" those of vectors without damping (its error {errors[0]:.2f} and {errors[1]:.2f} of"
        " theirs)"
    )
    return text, judge(min(gains) > 1 and min(losses) > 1)
