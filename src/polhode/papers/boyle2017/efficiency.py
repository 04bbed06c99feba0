"""Measurements of Boyle (2017), abstract, figures 2 and 3, section VII: accuracy and cost."""

from itertools import pairwise

import numpy as np

from polhode.papers.boyle2017.laboratory import (
    BINARY,
    BS,
    DP,
    FIGURE_3,
    LABELS,
    NAIVE,
    RESET,
    ROTOR,
    THREE,
    TWO,
    Laboratory,
    spread,
    spreads,
)
from polhode.papers.verdicts import Measured, judge, listing, series


# ---- abstract
def rotor_best(lab: Laboratory) -> Measured:
    found = {i: {name: lab.ratio(i, name) for name in (RESET, TWO, NAIVE)} for i in (DP, BS)}
    text = f"evaluations relative to the rotor at errors of {lab.error_range}: " + "; ".join(
        f"{LABELS[i]} {spreads(ratios)}" for i, ratios in found.items()
    )
    return text, judge(min(np.min(list(ratios.values())) for ratios in found.values()) > 1)


def generator_rivals(lab: Laboratory) -> Measured:
    ratio = lab.ratio(DP, RESET)
    text = f"D-P: {spread(ratio)} times the evaluations of the rotor at equal error"
    return text, judge(float(ratio.max()) < 1.4)


def twice(lab: Laboratory) -> Measured:
    found = {
        "three vectors (matrix), D-P": lab.ratio(DP, THREE),
        "two vectors, D-P": lab.ratio(DP, TWO),
        "two vectors, B-S": lab.ratio(BS, TWO),
    }
    every = np.concatenate(list(found.values()))
    text = f"evaluations relative to the rotor at equal error: {spreads(found)}"
    return text, judge(bool(every.min() > 1.5 and every.max() < 2.4))


# ---- figure 2
def convergence(lab: Laboratory) -> Measured:
    runs = sorted(lab.rotor_runs.items(), reverse=True)
    gains = [(a.worst / b.worst) ** (1 / np.log10(x / y)) for (x, a), (y, b) in pairwise(runs)]
    (first, rough), *_, (last, fine) = runs
    text = (
        f"factors for each power of ten: {series(gains, '.1f')}; error {rough.worst:.0e} with"
        f" {first:.0e} to {fine.worst:.0e} with {last:.0e}"
    )
    return text, judge(min(gains[:-1]) > 4 and max(gains[:-1]) < 25)


def rounding(lab: Laboratory) -> Measured:
    rough, worst = {}, {tol: run.worst for tol, run in lab.tight.items()}
    for tol, run in lab.tight.items():
        late = run.error[run.t > lab.end / 20]
        rough[tol] = float(np.median(np.abs(np.diff(late, 2))) / np.median(late))
    text = (
        "second differences of the error from step to step, relative to it: "
        + ", ".join(f"{x:.0e} ({tol:.0e})" for tol, x in rough.items())
        + f"; the error falls {worst[1e-12] / worst[1e-13]:.1f} times from 1e-12 to 1e-13, then"
        f" {worst[1e-13] / worst[1e-14]:.1f} times, to {worst[1e-14]:.0e}"
    )
    noisy = rough[1e-13] > 2.5 * rough[1e-11] and rough[1e-14] > 10 * rough[1e-11]
    return text, judge(noisy and worst[1e-14] < 2e-10)


def precision(lab: Laboratory) -> Measured:
    run, tight = lab.integrate(BINARY, DP, ROTOR, 1e-10, lab.end), lab.tight[1e-14]
    text = (
        f"{lab.end / 1000:.0f} orbits, rotor by D-P: tolerance 1e-10, error {run.worst:.1e} in"
        f" {run.evaluations} evaluations; 1e-14, error {tight.worst:.1e}"
    )
    good = run.worst < 1e-7 and run.evaluations < 0.2 * lab.end and tight.worst < 2e-10
    return text, judge(good)


# ---- figure 3
def twelve(lab: Laboratory) -> Measured:
    means = {name: lab.study.numbers(DP, name, "evaluations_per_step") for name in FIGURE_3}
    usual = np.concatenate([means[ROTOR], means[TWO]])
    return spreads(means), judge(bool(usual.min() >= 12 and np.median(usual) < 14.5))


def twenty_to_ninety(lab: Laboratory) -> Measured:
    means = {name: lab.study.numbers(BS, name, "evaluations_per_step") for name in FIGURE_3}
    text = ", ".join(
        f"{LABELS[name]} {values[0]:.0f} (tolerance 1e-4) to {values.max():.0f}"
        for name, values in means.items()
    )
    rises = all(values.max() > 1.2 * values[0] for values in means.values())
    tens = 10 * np.round(np.concatenate(list(means.values())) / 10)  # as the paper prints them
    return text, judge(bool(tens.min() >= 20 and tens.max() <= 90 and rises))


def large_steps(lab: Laboratory) -> Measured:
    run, count = lab.large_steps, lab.end / 1000
    text = (
        f"tolerance 1e-12: {run.steps} steps for {count:.0f} orbits, {run.steps / count:.1f} each,"
        f" error {run.worst:.1e}"
    )
    return text, judge(run.worst < 1e-9 and run.steps < 3 * count)


def counts_are_times(lab: Laboratory) -> Measured:
    def seconds(integrator: str, name: str) -> float:
        return float(np.median(lab.study.numbers(integrator, name, "seconds_per_evaluation")))

    unit = seconds(DP, ROTOR)
    found = {i: {LABELS[n]: seconds(i, n) / unit for n in FIGURE_3} for i in (DP, BS)}
    text = "time of an evaluation, in that of D-P with the rotor: " + "; ".join(
        f"{LABELS[i]} {listing(times, '.2f', str)}" for i, times in found.items()
    )
    every = [time for times in found.values() for time in times.values()]
    return text, judge(max(every) / min(every) < 2.5)


def ranking(lab: Laboratory) -> Measured:
    found = {i: [lab.ratio(i, name) for name in (TWO, NAIVE)] for i in (DP, BS)}
    text = f"evaluations relative to the rotor at errors of {lab.error_range}: " + "; ".join(
        f"{LABELS[i]} vectors {spread(a)}, generator {spread(b)}" for i, (a, b) in found.items()
    )
    return text, judge(all(bool((a > 1).all() and (b > a).all()) for a, b in found.values()))


def reset_d_p(lab: Laboratory) -> Measured:
    first, second, vectors = lab.ratio(DP, RESET), lab.ratio(BS, RESET), lab.ratio(BS, TWO)
    text = (
        f"evaluations relative to the rotor: D-P {spread(first)}; B-S {spread(second)}, vectors"
        f" {spread(vectors)}"
    )
    good = first.max() < 1.4 and (second > 1).all() and (second < vectors).all()
    return text, judge(bool(good))


# ---- section VII
def within_two(lab: Laboratory) -> Measured:
    first, second = (
        lab.ratio(i, TWO) / np.min([lab.ratio(i, name) for name in FIGURE_3], axis=0)
        for i in (DP, BS)
    )
    text = f"evaluations at equal error: D-P {spread(first)}, B-S {spread(second)} times the best"
    return text, judge(max(first.max(), second.max()) < 2.2)


def fewer_steps_than_generator(lab: Laboratory) -> Measured:
    first, second = (lab.ratio(i, RESET, "steps") for i in (DP, BS))
    trials = [lab.study.numbers(DP, name, "rejected").sum() for name in (RESET, ROTOR)]
    text = (
        f"steps of the reset generator at equal error: D-P {spread(first)}, B-S {spread(second)}"
        f" times those of the rotor; rejected by D-P: {trials[0]:.0f} against {trials[1]:.0f}"
    )
    return text, judge(bool(first.min() > 0.8 and second.min() > 1.2))
