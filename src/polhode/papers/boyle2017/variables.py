"""Claims of Boyle (2017) about figure 4: how the variables of the binary move, and what follows."""

import numpy as np

from polhode.papers.boyle2017 import by_hand
from polhode.papers.boyle2017.by_hand import (
    ORBIT,
    binary,
    binary_rate,
    differentiate,
    exponential,
    frame,
    product,
    pure,
)
from polhode.papers.boyle2017.formulas import DIFFERENCE, gap, relative_speed
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
    distance,
    formulation,
    frames,
    spread,
)
from polhode.papers.verdicts import Measured, judged


# ---- figure 4
def _dominant(values: np.ndarray) -> float:
    """The strongest frequency of some curves, in cycles over their length."""
    power = (np.abs(np.fft.rfft(values - values.mean(0), axis=0)) ** 2).sum(1)
    return float(power.argmax())


def twice_as_fast(_: Laboratory) -> Measured:
    t = np.linspace(0.0, EARLY, 4096, endpoint=False)
    vectors = frame(binary(t))[:, :2].reshape(-1, 6)
    first, second = _dominant(vectors), _dominant(binary(t))
    text = f"strongest frequencies over 20 orbits: {first:.0f} and {second:.0f} cycles"
    return text, judged(abs(first / second - 2) < 0.1)


def twice_the_steps(lab: Laboratory) -> Measured:
    ratios = [lab.study.ratio(i, TWO, lab.errors, "steps") for i in (DP, BS)]
    text = f"at equal error D-P {spread(ratios[0])} times, B-S {spread(ratios[1])} times"
    return text, judged(bool(ratios[0].min() > 1.5 and ratios[0].max() < 2.4))


def sharp(lab: Laboratory) -> Measured:
    run = lab.early[NAIVE]
    size = np.linalg.norm(run.y, axis=1)
    rate = np.linalg.norm(by_hand.slope_of(run.y, binary_rate(run.t)), axis=1)
    near, far = size > 0.9 * np.pi, size < 0.6 * np.pi
    text = (
        f"|r'| relative to its median: up to {rate[near].max() / np.median(rate):.1f} beyond 0.9 π,"
        f" up to {rate[far].max() / np.median(rate):.1f} below 0.6 π; r reaches"
        f" {size.max() / np.pi:.2f} π"
    )
    return text, judged(bool(rate[near].max() > 5 * rate[far].max()))


def sensitive(_: Laboratory) -> Measured:
    t = np.linspace(0.0, EARLY, 40_001)
    found = []
    for extra in (0.0, -0.05, 0.05):
        rotor = product(exponential(extra * by_hand.X), binary(t))
        found.append(float(np.linalg.norm(rotor[:, 1:], axis=1).min()))
    text = (
        "closest to the identity in 20 orbits (half the angle): "
        + ", ".join(f"{x:.3f}" for x in found)
        + " rad, with R0 turned by 0, -0.1 and 0.1 rad: features as much sharper"
    )
    return text, judged(max(found) / min(found) > 2)


def once_an_orbit(lab: Laboratory) -> Measured:
    run = lab.early[RESET]
    jumps = int((np.linalg.norm(np.diff(run.y, axis=0), axis=1) > 1.0).sum())
    speed = relative_speed(run).max()
    text = f"{jumps} jumps in 20 orbits; |r'| at most {speed:.2f} |ω|/2"
    return text, judged(bool(18 <= jumps <= 22 and speed < 1.8))


def not_resolved(lab: Laboratory) -> Measured:
    study = lab.after_resets
    errors = study.numbers("dopri5", "stale", "worst")
    right = study.numbers("dopri5", RESET, "worst")
    error = float(np.sqrt(errors.min() * min(errors[-2], right[0])))
    stale = study.needed("dopri5", "stale", error) / study.needed("dopri5", RESET, error)
    anew = study.needed("dopri5", RESET, error) / study.needed("dopri5", ROTOR, error)
    text = (
        f"Dormand-Prince 5(4), error {error:.0e}: {anew:.2f} times the evaluations of the rotor if"
        f" it starts anew after a reset, {stale:.1f} times that if not"
    )
    return text, judged(stale < 1.2 and anew < 1.4, stale > 2 and anew < 1.4)


def past_the_reset(lab: Laboratory) -> Measured:
    past, short = (
        float(np.diff(lab.study.runs[i, RESET][2].t).max()) * ORBIT / 2 for i in (BS, DP)
    )
    text = (
        f"tolerance {lab.tolerances[2]:.0e}: half the turn of a step is up to {past / np.pi:.2f} π"
        f" by B-S, {short / np.pi:.2f} π by D-P"
    )
    return text, judged(past > np.pi / 2 > short)


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
    return text, judged(wrong < DIFFERENCE, good < 1e-8)


def slow_rate(_: Laboratory) -> Measured:
    t = np.linspace(100.0, EARLY, 400)
    slopes = differentiate(binary_rate, t, 25.0)
    ratio = 2 * np.linalg.norm(slopes, axis=1) / (binary_rate(t) ** 2).sum(1)
    text = f"the binary: 2|ω'|/ω² is {ratio.min():.2f} to {ratio.max():.2f}"
    return text, judged(float(ratio.max()) < 1)


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
    return text, judged(min(gains) > 1 and min(losses) > 1)
