"""Claims of the abstract, figures 2 and 3 and section VII of Boyle (2017): what costs what."""

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
)
from polhode.papers.verdicts import Measured, judged


# ---- abstract
def rotor_best(lab: Laboratory) -> Measured:
    found = {i: [lab.study.ratio(i, n, lab.errors) for n in (RESET, TWO, NAIVE)] for i in (DP, BS)}
    text = f"evaluations relative to the rotor at errors of {lab.error_range}: " + "; ".join(
        f"{LABELS[i]} reset generator {spread(a)}, two vectors {spread(b)}, generator {spread(c)}"
        for i, (a, b, c) in found.items()
    )
    return text, judged(min(float(np.min(ratios)) for ratios in found.values()) > 1)


def generator_rivals(lab: Laboratory) -> Measured:
    ratio = lab.study.ratio(DP, RESET, lab.errors)
    text = f"D-P: {spread(ratio)} times the evaluations of the rotor at equal error"
    return text, judged(float(ratio.max()) < 1.4)


def twice(lab: Laboratory) -> Measured:
    found = {
        "three vectors (matrix), D-P": lab.study.ratio(DP, THREE, lab.errors),
        "two vectors, D-P": lab.study.ratio(DP, TWO, lab.errors),
        "two vectors, B-S": lab.study.ratio(BS, TWO, lab.errors),
    }
    text = "evaluations relative to the rotor at equal error: " + ", ".join(
        f"{name} {spread(ratio)}" for name, ratio in found.items()
    )
    every = np.concatenate(list(found.values()))
    return text, judged(bool(every.min() > 1.5 and every.max() < 2.4))


# ---- figure 2
def convergence(lab: Laboratory) -> Measured:
    runs = dict(sorted(lab.rotor_runs.items(), reverse=True))
    gains = [
        (a.worst / b.worst) ** (1 / np.log10(x / y)) for (x, a), (y, b) in pairwise(runs.items())
    ]
    first, *_, last = runs
    text = (
        "factors for each power of ten: "
        + ", ".join(f"{x:.1f}" for x in gains)
        + f"; error {runs[first].worst:.0e} with {first:.0e} to {runs[last].worst:.0e} with"
        f" {last:.0e}"
    )
    return text, judged(min(gains[:-1]) > 4 and max(gains[:-1]) < 25)


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
    return text, judged(noisy and worst[1e-14] < 2e-10)


def precision(lab: Laboratory) -> Measured:
    run, tight = lab.integrate(BINARY, DP, ROTOR, 1e-10, lab.end), lab.tight[1e-14]
    text = (
        f"{lab.end / 1000:.0f} orbits, rotor by D-P: tolerance 1e-10, error {run.worst:.1e} in"
        f" {run.evaluations} evaluations; 1e-14, error {tight.worst:.1e}"
    )
    good = run.worst < 1e-7 and run.evaluations < 0.2 * lab.end and tight.worst < 2e-10
    return text, judged(good)


# ---- figure 3
def evaluations_per_step(lab: Laboratory, integrator: str) -> dict[str, np.ndarray]:
    return {
        name: np.array([run.evaluations / run.steps for run in lab.study.runs[integrator, name]])
        for name in FIGURE_3
    }


def twelve(lab: Laboratory) -> Measured:
    means = evaluations_per_step(lab, DP)
    text = ", ".join(f"{LABELS[name]} {spread(values)}" for name, values in means.items())
    usual = np.concatenate([means[ROTOR], means[TWO]])
    return text, judged(bool(usual.min() >= 12 and np.median(usual) < 14.5))


def twenty_to_ninety(lab: Laboratory) -> Measured:
    means = evaluations_per_step(lab, BS)
    text = ", ".join(
        f"{LABELS[name]} {values[0]:.0f} (tolerance 1e-4) to {values.max():.0f}"
        for name, values in means.items()
    )
    rises = all(values.max() > 1.2 * values[0] for values in means.values())
    tens = 10 * np.round(np.concatenate(list(means.values())) / 10)  # as the paper prints them
    return text, judged(bool(tens.min() >= 20 and tens.max() <= 90 and rises))


def large_steps(lab: Laboratory) -> Measured:
    run, count = lab.large_steps, lab.end / 1000
    text = (
        f"tolerance 1e-12: {run.steps} steps for {count:.0f} orbits, {run.steps / count:.1f} each,"
        f" error {run.worst:.1e}"
    )
    return text, judged(run.worst < 1e-9 and run.steps < 3 * count)


def counts_are_times(lab: Laboratory) -> Measured:
    each = {
        i: np.array(
            [
                np.median(
                    np.divide(*(lab.study.numbers(i, n, of) for of in ("seconds", "evaluations")))
                )
                for n in FIGURE_3
            ]
        )
        for i in (DP, BS)
    }
    unit = each[DP][FIGURE_3.index(ROTOR)]
    text = "time of an evaluation, in that of D-P with the rotor: " + "; ".join(
        f"{LABELS[i]} "
        + ", ".join(f"{LABELS[n]} {x / unit:.2f}" for n, x in zip(FIGURE_3, values, strict=True))
        for i, values in each.items()
    )
    values = np.concatenate(list(each.values()))
    return text, judged(bool(values.max() / values.min() < 2.5))


def ranking(lab: Laboratory) -> Measured:
    found = {i: [lab.study.ratio(i, name, lab.errors) for name in (TWO, NAIVE)] for i in (DP, BS)}
    text = f"evaluations relative to the rotor at errors of {lab.error_range}: " + "; ".join(
        f"{LABELS[i]} vectors {spread(a)}, generator {spread(b)}" for i, (a, b) in found.items()
    )
    return text, judged(all(bool((a > 1).all() and (b > a).all()) for a, b in found.values()))


def reset_d_p(lab: Laboratory) -> Measured:
    first = lab.study.ratio(DP, RESET, lab.errors)
    second, vectors = (lab.study.ratio(BS, name, lab.errors) for name in (RESET, TWO))
    text = (
        f"evaluations relative to the rotor: D-P {spread(first)}; B-S {spread(second)}, vectors"
        f" {spread(vectors)}"
    )
    good = first.max() < 1.4 and (second > 1).all() and (second < vectors).all()
    return text, judged(bool(good))


# ---- section VII
def within_two(lab: Laboratory) -> Measured:
    first, second = (
        lab.study.ratio(i, TWO, lab.errors)
        / np.min([lab.study.ratio(i, name, lab.errors) for name in FIGURE_3], axis=0)
        for i in (DP, BS)
    )
    text = f"evaluations at equal error: D-P {spread(first)}, B-S {spread(second)} times the best"
    return text, judged(max(first.max(), second.max()) < 2.2)


def fewer_steps_than_generator(lab: Laboratory) -> Measured:
    first, second = (lab.study.ratio(i, RESET, lab.errors, "steps") for i in (DP, BS))
    trials = lab.study.numbers(DP, RESET, "rejected"), lab.study.numbers(DP, ROTOR, "rejected")
    text = (
        f"steps of the reset generator at equal error: D-P {spread(first)}, B-S {spread(second)}"
        f" times those of the rotor; rejected by D-P: {trials[0].sum():.0f} against"
        f" {trials[1].sum():.0f}"
    )
    return text, judged(bool(first.min() > 0.8 and second.min() > 1.2))
