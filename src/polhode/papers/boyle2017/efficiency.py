"""Measurements of Boyle (2017), abstract, figures 2 and 3, section VII: accuracy and cost."""

from itertools import pairwise

import numpy as np

from polhode.papers.boyle2017.courses import Course, in_words
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

NEAR_ROUNDING = 1e-10  # errors below are a few times those that rounding leaves


# ---- abstract
def rotor_best(lab: Laboratory) -> Measured:
    pairs = [(i, name) for i in (DP, BS) for name in (RESET, TWO, NAIVE)]
    found = [lab.ratio(*pair) for pair in pairs]
    best = [min(lab.study.numbers(DP, name, "worst")) for name in (ROTOR, RESET, TWO)]
    always = all(course.least > 1 for course in found) and min(best) == best[0]
    above = all(course.down_to(NEAR_ROUNDING).least > 1 for course in found)
    close = best[0] < 3 * min(best)
    shown = in_words(found[0].errors), in_words(found[-1].errors), *found, *best
    return holds_if(always, *shown, corrected=above and close)


def generator_rivals(lab: Laboratory) -> Measured:
    course = lab.ratio(DP, RESET)
    first, *_ = course.ratios
    shown = in_words(course.errors), course, course.mean, first, course.errors[0]
    return holds_if(course.most < 1.6 and course.mean < 1.3, *shown)


def twice(lab: Laboratory) -> Measured:
    found = [lab.ratio(*pair) for pair in ((DP, THREE), (DP, TWO), (BS, TWO))]
    good = all(1.6 < x.mean < 2.2 and x.least > 1.4 and x.most < 2.4 for x in found)
    shown = (part for course in found for part in (course, course.mean))
    return holds_if(good, in_words(found[0].errors), in_words(found[-1].errors), *shown)


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
    errors, steps = (lab.study.numbers(BS, ROTOR, of) for of in ("worst", "steps"))
    least, reached = errors.min(), lab.study.cost(BS, ROTOR, 1e-9, "steps")
    few = run.steps < 3 * count and run.worst < 1e-9
    shown = run.steps, count, run.steps / count, run.worst, reached
    more = least, run.worst / least, steps[errors.argmin()]
    return holds_if(few and run.worst < 2 * least, *shown, *more, corrected=few)


def counts_are_times(lab: Laboratory) -> Measured:
    pairs = [(i, name) for i in (DP, BS) for name in FIGURE_3]
    work, seconds = (
        np.array([np.median(lab.study.numbers(*pair, f"{of}_per_evaluation")) for pair in pairs])
        for of in ("work", "seconds")
    )
    found = work / work[0]
    return holds_if(found.max() / found.min() < 2.5, *found, ranged(seconds / seconds[0]))


def fewer_evaluations(lab: Laboratory) -> Measured:
    found = [lab.study.bs_to_dp(name) for name in (ROTOR, TWO, RESET, NAIVE)]
    usually = all(course.share_above > 0.5 for course in found)
    large = all(course.down_to(1e-7).least > 1 for course in found)
    return holds_if(usually and large, in_words(found[0].errors), *found)


def ranking(lab: Laboratory) -> Measured:
    found = [lab.ratio(i, name) for i in (DP, BS) for name in (TWO, NAIVE)]
    vectors, generators = found[::2], found[1::2]
    rotor_first = all(course.least > 1 for course in vectors)
    pairs = zip(generators, vectors, strict=True)
    counts = [generator / vector for generator, vector in pairs]
    steps = lab.ratio(DP, NAIVE, "steps") / lab.ratio(DP, TWO, "steps")
    far = lab.far.course((DP, NAIVE), (DP, TWO), lab.far.whole(*lab.far.runs))
    always = rotor_first and all(course.least > 1 for course in (*counts, steps, far))
    mostly = all(course.share_above > 0.9 for course in counts) and far.most < 1
    ranges = in_words(found[0].errors), in_words(found[-1].errors)
    shown = *ranges, *vectors, *counts, steps, in_words(far.errors), far
    return holds_if(always, *shown, corrected=rotor_first and mostly)


def reset_d_p(lab: Laboratory) -> Measured:
    first, second, vectors = lab.ratio(DP, RESET), lab.ratio(BS, RESET), lab.ratio(BS, TWO)
    between = second.least > 1 and (second / vectors).most < 1
    shown = in_words(first.errors), first, first.mean, in_words(second.errors), second, vectors
    return holds_if(first.mean < 1.25 and between, *shown)


# ---- section VII
def within_two(lab: Laboratory) -> Measured:
    found = []
    for i in (DP, BS):
        courses = [lab.ratio(i, name) for name in FIGURE_3]
        best = Course(courses[0].errors, np.min([course.ratios for course in courses], axis=0))
        found.append(lab.ratio(i, TWO) / best)
    most = max(course.most for course in found)
    shown = (part for course in found for part in (in_words(course.errors), course))
    return holds_if(most <= 2, *shown, corrected=most < 2.3)


def fewer_steps_than_generator(lab: Laboratory) -> Measured:
    first, second = (lab.ratio(i, RESET, "steps") for i in (DP, BS))
    trials = [lab.study.numbers(DP, name, "rejected").sum() for name in (RESET, ROTOR)]
    fewer = first.least > 0.8 and second.least > 1 and second.mean > 1.2
    shown = in_words(first.errors), first, in_words(second.errors), second
    return holds_if(fewer, *shown, *trials)
