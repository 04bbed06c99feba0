"""Measurements of Boyle (2017), abstract, figures 2 and 3, section VII: accuracy and cost."""

from itertools import pairwise

import numpy as np

from polhode.papers.boyle2017.laboratory import (
    BINARY,
    BS,
    DP,
    FIGURE_3,
    NAIVE,
    RESET,
    ROTOR,
    THREE,
    TWO,
    Laboratory,
    spread,
)
from polhode.papers.timing import ranged
from polhode.papers.verdicts import Measured, holds_if, series


# ---- abstract
def rotor_best(lab: Laboratory) -> Measured:
    found = [lab.ratio(i, name) for i in (DP, BS) for name in (RESET, TWO, NAIVE)]
    return holds_if(np.min(found) > 1, lab.error_range, *map(spread, found))


def generator_rivals(lab: Laboratory) -> Measured:
    ratio = lab.ratio(DP, RESET)
    return holds_if(ratio.max() < 1.4, spread(ratio))


def twice(lab: Laboratory) -> Measured:
    found = [lab.ratio(*pair) for pair in ((DP, THREE), (DP, TWO), (BS, TWO))]
    return holds_if(np.min(found) > 1.5 and np.max(found) < 2.4, *map(spread, found))


# ---- figure 2
def convergence(lab: Laboratory) -> Measured:
    runs = sorted(lab.rotor_runs.items(), reverse=True)
    gains = [(a.worst / b.worst) ** (1 / np.log10(x / y)) for (x, a), (y, b) in pairwise(runs)]
    (first, rough), *_, (last, fine) = runs
    good = min(gains[:-1]) > 4 and max(gains[:-1]) < 25
    return holds_if(good, series(gains, ".1f"), rough.worst, first, fine.worst, last)


def rounding(lab: Laboratory) -> Measured:
    rough, worst = [], [run.worst for run in lab.tight.values()]
    for run in lab.tight.values():
        late = run.error[run.t > lab.end / 20]
        rough.append(float(np.median(np.abs(np.diff(late, 2))) / np.median(late)))
    noisy = rough[2] > 2.5 * rough[0] and rough[3] > 10 * rough[0]
    falls = worst[1] / worst[2], worst[2] / worst[3]
    return holds_if(noisy and worst[3] < 2e-10, *rough, *falls, worst[3])


def precision(lab: Laboratory) -> Measured:
    run, tight = lab.integrate(BINARY, DP, ROTOR, 1e-10, lab.end), lab.tight[1e-14]
    good = run.worst < 1e-7 and run.evaluations < 0.2 * lab.end and tight.worst < 2e-10
    return holds_if(good, lab.end / 1000, run.worst, run.evaluations, tight.worst)


# ---- figure 3
def twelve(lab: Laboratory) -> Measured:
    means = [lab.study.numbers(DP, name, "evaluations_per_step") for name in FIGURE_3]
    usual = np.concatenate(means[:2])  # of rotor and vectors
    return holds_if(usual.min() >= 12 and np.median(usual) < 14.5, *map(spread, means))


def twenty_to_ninety(lab: Laboratory) -> Measured:
    means = [lab.study.numbers(BS, name, "evaluations_per_step") for name in FIGURE_3]
    shown = [number for values in means for number in (values[0], values.max())]
    rises = all(values.max() > 1.2 * values[0] for values in means)
    tens = 10 * np.round(np.concatenate(means) / 10)  # as the paper prints them
    return holds_if(tens.min() >= 20 and tens.max() <= 90 and rises, *shown)


def large_steps(lab: Laboratory) -> Measured:
    run, count = lab.large_steps, lab.end / 1000
    few = run.steps < 3 * count
    return holds_if(run.worst < 1e-9 and few, run.steps, count, run.steps / count, run.worst)


def counts_are_times(lab: Laboratory) -> Measured:
    pairs = [(i, name) for i in (DP, BS) for name in FIGURE_3]
    work, seconds = (
        np.array([np.median(lab.study.numbers(*pair, f"{of}_per_evaluation")) for pair in pairs])
        for of in ("work", "seconds")
    )
    found = work / work[0]
    return holds_if(found.max() / found.min() < 2.5, *found, ranged(seconds / seconds[0]))


def ranking(lab: Laboratory) -> Measured:
    found = [lab.ratio(i, name) for i in (DP, BS) for name in (TWO, NAIVE)]
    pairs = found[:2], found[2:]
    good = all((a > 1).all() and (b > a).all() for a, b in pairs)
    return holds_if(good, lab.error_range, *map(spread, found))


def reset_d_p(lab: Laboratory) -> Measured:
    first, second, vectors = lab.ratio(DP, RESET), lab.ratio(BS, RESET), lab.ratio(BS, TWO)
    good = first.max() < 1.4 and second.min() > 1 and (second - vectors).max() < 0
    return holds_if(good, *map(spread, [first, second, vectors]))


# ---- section VII
def within_two(lab: Laboratory) -> Measured:
    found = [
        lab.ratio(i, TWO) / np.min([lab.ratio(i, name) for name in FIGURE_3], axis=0)
        for i in (DP, BS)
    ]
    return holds_if(np.max(found) < 2.2, *map(spread, found))


def fewer_steps_than_generator(lab: Laboratory) -> Measured:
    first, second = (lab.ratio(i, RESET, "steps") for i in (DP, BS))
    trials = [lab.study.numbers(DP, name, "rejected").sum() for name in (RESET, ROTOR)]
    fewer = first.min() > 0.8 and second.min() > 1.2
    return holds_if(fewer, *map(spread, [first, second]), *trials)
