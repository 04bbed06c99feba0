"""Measurements of the appendix of Boyle (2017), on stand-ins for Zupan and Saje's examples."""

from functools import partial

import numpy as np

from polhode.papers.boyle2017 import by_hand
from polhode.papers.boyle2017.formulas import EXACT, gap
from polhode.papers.boyle2017.laboratory import (
    BS,
    DP,
    LABELS,
    NAIVE,
    RESET,
    ROTOR,
    STAND_INS,
    TWO,
    Laboratory,
    distance,
    spread,
    spreads,
)
from polhode.papers.verdicts import Measured, Untestable, judge, listing
from polhode.problems import GivenRate
from polhode.problems.given_motions import regular, regular_slope

REGULAR, VIBRATING, STRONGLY, UNBOUNDED = STAND_INS
ERRORS = 1e-4, 1e-5, 1e-6, 1e-7


def _ratios(lab: Laboratory, integrator: str, name: str) -> dict[str, np.ndarray]:
    """Evaluations relative to the rotor, by the short name of the stand-in."""
    return {
        _short(p.name): lab.stand_ins[p.name].ratio(integrator, name, ERRORS) for p in STAND_INS
    }


def _short(name: str) -> str:
    return name.removeprefix("zupan-saje-").replace("-", " ")


def _rates(problem: GivenRate, times: np.ndarray) -> np.ndarray:
    return np.array([problem.omega(t) for t in times])


def rotation_vector(_: Laboratory) -> Measured:
    t = np.linspace(0.1, 20.0, 50)
    r, slope = (by_hand.pure(np.array([f(s) for s in t])) / 2 for f in (regular, regular_slope))
    rates = gap([REGULAR.omega(s) for s in t], by_hand.rate_of(r, slope)[:, 1:])
    frames = gap(by_hand.frame(REGULAR.exact(t)), by_hand.frame(by_hand.exponential(r)))
    text = f"the library's ω differs by {rates:.0e}, its frames by {frames:.0e}"
    return text, judge(rates < EXACT and frames < EXACT)


def vibrations(_: Laboratory) -> Measured:
    found = {}
    for problem, h in zip(STAND_INS, (0.02, 0.004, 0.0004, 0.005), strict=True):
        times = np.linspace(0.2, 0.9 * problem.span[1], 200)
        slopes = by_hand.differentiate(partial(_rates, problem), times, h)
        ratio = 2 * np.linalg.norm(slopes, axis=1) / (_rates(problem, times) ** 2).sum(1)
        found[_short(problem.name)] = float(np.median(ratio))
    regular, vibrating, strongly, unbounded = found.values()
    good = min(vibrating, strongly) > 5 and max(regular, unbounded) < 3
    return f"median of 2|ω'|/ω²: {listing(found, '.2g', str)}", judge(good)


def smaller_advantage(lab: Laboratory) -> Measured:
    found = _ratios(lab, DP, TWO)
    regular, vibrating, strongly, unbounded = (float(x.mean()) for x in found.values())
    small = vibrating, strongly
    text = "evaluations of vectors relative to the rotor, D-P, errors 1e-4 … 1e-7:"
    good = min(small) > 1 and max(small) < min(regular, unbounded)
    return f"{text} {spreads(found)}", judge(good)


def identity(_: Laboratory) -> Measured:
    end = UNBOUNDED.span[1]
    times = np.sqrt(2 * np.pi * np.arange(1, int(end**2 / (2 * np.pi)) + 1))
    off = gap(by_hand.frame(UNBOUNDED.exact(times)), np.eye(3))
    text = (
        f"{len(times)} times in 0 … {end:g}, the first after {times[0]:.2f}, the last two"
        f" {times[-1] - times[-2]:.2f} apart; to {off:.0e}"
    )
    return text, judge(off < 1e-12 and len(times) > 10)


def breaks_down(lab: Laboratory) -> Measured:
    end, most = 4.0, 1_000 if lab.quick else 100_000
    rotor, found = lab.integrate(UNBOUNDED, DP, ROTOR, 1e-10, end), []
    for tol in (1e-4, 1e-10):
        try:
            found.append(str(lab.integrate(UNBOUNDED, DP, NAIVE, tol, end, most=most).steps))
        except Untestable:
            found.append(f"given up after {most}")
    text = (
        f"t = 0 … {end:g}, past the identity twice: steps of D-P with tolerance 1e-4: {found[0]},"
        f" with 1e-10: {found[1]} (rotor {rotor.steps})"
    )
    return text, judge("given up" in found[-1])


def reset_wins(lab: Laboratory) -> Measured:
    found = {i: lab.stand_ins[UNBOUNDED.name].ratio(i, RESET, ERRORS) for i in (DP, BS)}
    good = bool(max(x.mean() for x in found.values()) < 1)
    return f"evaluations relative to the rotor: {spreads(found)}", judge(good)


def same_behaviour(lab: Laboratory) -> Measured:
    resets, vectors = _ratios(lab, DP, RESET), _ratios(lab, DP, TWO)
    text = "D-P, evaluations relative to the rotor: " + "; ".join(
        f"{name}: reset generator {spread(resets[name])}, vectors {spread(vectors[name])}"
        for name in resets
    )
    comparable = all(0.7 < x.mean() < 1.4 for x in resets.values())
    heavy = all(vectors[_short(p.name)].mean() > 1.5 for p in (REGULAR, UNBOUNDED))
    return text, judge(comparable and heavy)


def small_rotations(lab: Laboratory) -> Measured:
    found = {i: lab.stand_ins[STRONGLY.name].ratio(i, RESET, ERRORS) for i in (DP, BS)}
    means = {i: float(x.mean()) for i, x in found.items()}
    text = "evaluations relative to the rotor: " + ", ".join(
        f"{LABELS[i]} {spread(x)}, {means[i]:.2f} in the mean" for i, x in found.items()
    )
    return text, judge(min(means.values()) < 1.01 and max(means.values()) < 1.1)


def low_order(lab: Laboratory) -> Measured:
    end = lab.span(REGULAR)
    high = lab.integrate(REGULAR, DP, ROTOR, 1e-11, end)
    count = high.evaluations // 4
    h, q, rows = end / count, np.array(REGULAR.attitude), []

    def slope(t: float, q: np.ndarray) -> np.ndarray:
        return by_hand.product(by_hand.pure(np.array(REGULAR.omega(t))), q) / 2

    for t in h * np.arange(count):
        k1 = slope(t, q)
        k2 = slope(t + h / 2, q + h / 2 * k1)
        k3 = slope(t + h / 2, q + h / 2 * k2)
        k4 = slope(t + h, q + h * k3)
        q = q + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        rows.append(q)
    exact = by_hand.frame(REGULAR.exact(h * np.arange(1, count + 1)))
    low = float(distance(by_hand.frame(np.array(rows)), exact).max())
    text = (
        f"regular, {high.evaluations} evaluations: D-P {high.worst:.0e}, Runge-Kutta of order 4"
        f" {low:.0e}"
    )
    return text, judge(False, low > 1000 * high.worst)


def typical(lab: Laboratory) -> Measured:
    found = {}
    for name, study in {"binary": lab.study, **lab.stand_ins}.items():
        kept = [tolerance for tolerance in study.tolerances if tolerance >= 0.9e-10]
        decades = np.log10(kept[0] / kept[-1])
        found[_short(name)] = [
            (runs[0].worst / runs[len(kept) - 1].worst) ** (1 / decades)
            for (integrator, _), runs in study.runs.items()
            if integrator == DP
        ]
    text = "D-P, all formulations, error falls for each power of ten of the tolerance by:"
    good = all(min(gains) > 4 and max(gains) < 25 for gains in found.values())
    return f"{text} {spreads(found)}", judge(good)
