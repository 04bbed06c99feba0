"""Measurements of the appendix of Boyle (2017), on stand-ins for Zupan and Saje's examples."""

from collections.abc import Callable
from functools import partial

import numpy as np

from polhode.papers.boyle2017 import by_hand
from polhode.papers.boyle2017.courses import Course, in_words
from polhode.papers.boyle2017.formulas import EXACT, gap
from polhode.papers.boyle2017.laboratory import (
    BS,
    DP,
    NAIVE,
    RESET,
    ROTOR,
    STAND_INS,
    TWO,
    Laboratory,
    distance,
    rates,
    spread,
)
from polhode.papers.quaternions import product, pure
from polhode.papers.verdicts import Measured, Untestable, below, holds_if
from polhode.problems import GivenRate
from polhode.problems.given_motions import regular, regular_slope

REGULAR, VIBRATING, STRONGLY, UNBOUNDED = STAND_INS


def _ratios(lab: Laboratory, integrator: str, name: str, of: str = "evaluations") -> list[Course]:
    """Costs relative to the rotor, over the whole range of figure 5, for each of the stand-ins."""
    return [study.ratio(integrator, name, of) for study in lab.stand_ins.values()]


def _reset_ratios(lab: Laboratory, problem: GivenRate, of: str = "evaluations") -> list[Course]:
    """Costs of the reset generator relative to the rotor, by D-P and by B-S."""
    return [lab.stand_ins[problem].ratio(i, RESET, of) for i in (DP, BS)]


def rotation_vector(_: Laboratory) -> Measured:
    t = np.linspace(0.1, 20.0, 50)
    r, slope = (pure(np.array([f(s) for s in t])) / 2 for f in (regular, regular_slope))
    apart = gap(rates(REGULAR, t), by_hand.rate_of(r, slope)[:, 1:])
    frames = gap(by_hand.frame(REGULAR.exact(t)), by_hand.frame(by_hand.exponential(r)))
    return below(EXACT, apart, frames)


def vibrations(_: Laboratory) -> Measured:
    found = []
    for problem, h in zip(STAND_INS, (0.02, 0.004, 0.0004, 0.005), strict=True):
        times = np.linspace(0.2, 0.9 * problem.span[1], 200)
        change = by_hand.change_of_rate(partial(rates, problem), times, h)
        found.append(float(np.median(change)))
    regular, vibrating, strongly, unbounded = found
    return holds_if(min(vibrating, strongly) > 5 and max(regular, unbounded) < 3, *found)


def smaller_advantage(lab: Laboratory) -> Measured:
    d_p, b_s = (_ratios(lab, i, TWO) for i in (DP, BS))
    regular, *small, unbounded = d_p
    smaller = max(x.mean for x in small) < min(regular.mean, unbounded.mean)
    slightly = all(x.mean > 1 for x in b_s[1:3]) and all(x.least > 1 for x in small)
    d_p_words = (part for x in d_p for part in (in_words(x.errors), x))
    b_s_words = (part for x in b_s[1:3] for part in (x, x.mean))
    return holds_if(smaller and slightly, *d_p_words, *b_s_words)


def identity(_: Laboratory) -> Measured:
    end = UNBOUNDED.span[1]
    times = np.sqrt(2 * np.pi * np.arange(1, int(end**2 / (2 * np.pi)) + 1))
    off = gap(by_hand.frame(UNBOUNDED.exact(times)), np.eye(3))
    shown = len(times), end, times[0], times[-1] - times[-2], off
    return holds_if(off < 1e-12 and len(times) > 10, *shown)


def breaks_down(lab: Laboratory) -> Measured:
    end, most = 4.0, 1_000 if lab.quick else 100_000
    rotor, found = lab.integrate(UNBOUNDED, DP, ROTOR, 1e-10, end), []
    for tol in (1e-4, 1e-10):
        try:
            found.append(str(lab.integrate(UNBOUNDED, DP, NAIVE, tol, end, most=most).steps))
        except Untestable:
            found.append(f"given up after {most}")
    return holds_if("given up" in found[-1], end, *found, rotor.steps)


def reset_wins(lab: Laboratory) -> Measured:
    found, steps = (_reset_ratios(lab, UNBOUNDED, of) for of in ("evaluations", "steps"))
    wins = max(x.mean for x in found) < 1 or max(x.mean for x in steps) < 1
    return holds_if(wins, *map(in_words, (x.errors for x in found)), *found, *steps)


def same_behaviour(lab: Laboratory) -> Measured:
    resets, vectors = (_ratios(lab, DP, name) for name in (RESET, TWO))
    comparable = all(0.7 < x.mean < 1.4 for x in resets)
    heavy = all(x.mean > 1.5 for x in (vectors[0], vectors[-1]))  # no vibrations
    pairs = zip(resets, vectors, strict=True)
    shown = (x for pair in pairs for x in (in_words(pair[0].errors), *pair))
    return holds_if(comparable and heavy, *shown)


def small_rotations(lab: Laboratory) -> Measured:
    d_p, b_s = _reset_ratios(lab, STRONGLY)
    good = min(d_p.mean, b_s.mean) < 1.01 and max(d_p.mean, b_s.mean) < 1.1
    return holds_if(good, in_words(d_p.errors), d_p, d_p.mean, b_s, b_s.mean)


def low_order(lab: Laboratory) -> Measured:
    end = lab.span(REGULAR)
    high = lab.integrate(REGULAR, DP, ROTOR, 1e-11, end)
    found = [
        _error_of_steps(step, end, high.evaluations // evaluations)
        for step, evaluations in ((_kutta_step, 4), (_midpoint_step, 1))
    ]
    return holds_if(min(found) > 1000 * high.worst, high.evaluations, high.worst, *found)


def _error_of_steps(step: Callable, end: float, count: int) -> float:
    """Return the largest error of the regular motion in ``count`` equal steps."""
    h, q, rows = end / count, np.array(REGULAR.attitude), []
    for t in h * np.arange(count):
        q = step(t, h, q)
        rows.append(q)
    exact = by_hand.frame(REGULAR.exact(h * np.arange(1, count + 1)))
    return float(distance(by_hand.frame(np.array(rows)), exact).max())


def _rate(t: float) -> np.ndarray:
    return pure(np.array(REGULAR.omega(t))) / 2


def _kutta_step(t: float, h: float, q: np.ndarray) -> np.ndarray:
    k1 = product(_rate(t), q)
    k2 = product(_rate(t + h / 2), q + h / 2 * k1)
    k3 = product(_rate(t + h / 2), q + h / 2 * k2)
    k4 = product(_rate(t + h), q + h * k3)
    return q + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def _midpoint_step(t: float, h: float, q: np.ndarray) -> np.ndarray:
    """Take a step of the second order that keeps q a rotation, as special methods do."""
    return product(by_hand.exponential(h * _rate(t + h / 2)), q)


def typical(lab: Laboratory) -> Measured:
    found = []
    for study in (lab.study, *lab.stand_ins.values()):
        kept = [tolerance for tolerance in study.tolerances if tolerance >= 0.9e-10]
        decades = np.log10(kept[0] / kept[-1])
        found.append(
            [
                (runs[0].worst / runs[len(kept) - 1].worst) ** (1 / decades)
                for (integrator, _), runs in study.runs.items()
                if integrator == DP
            ]
        )
    return holds_if(all(min(g) > 4 and max(g) < 25 for g in found), *map(spread, found))
