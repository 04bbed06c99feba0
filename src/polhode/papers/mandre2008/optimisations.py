"""Measurements of sections 7.2 to 7.6 of Mandre (2008): extrapolation, sub-steps, coupling."""

from fractions import Fraction

import numpy as np

from polhode import problems
from polhode.papers import reference
from polhode.papers.mandre2008 import by_hand
from polhode.papers.mandre2008.laboratory import (
    MOMENTS,
    SPAN,
    STEP,
    TUMBLING,
    Laboratory,
    angle,
    energy_error,
    extrapolation,
    march,
    tumbling_exact,
)
from polhode.papers.maps import EXACT
from polhode.papers.quaternions import Array, conjugate, inverse
from polhode.papers.verdicts import (
    Measured,
    above,
    added_if,
    below,
    holds_if,
    largest,
    near,
    slope,
)
from polhode.problems.problem import Problem
from polhode.results.trajectory import Trajectory
from polhode.solvers.exact import exact_free_motion

SEED = 20080226
COUNTS = 40, 80, 160  # steps of the runs of 7.3


# ---- 7.2
def momentum_constant(lab: Laboratory) -> Measured:
    q, omega = lab.tumbling_exact.q[::40], lab.tumbling_exact.omega[::40]
    momenta = by_hand.rotate(q, omega * MOMENTS)
    back = by_hand.rotate(conjugate(q), momenta[0]) / MOMENTS
    kept, found = largest(momenta - momenta[0]), largest(back - omega)
    return below(1e-12, kept, found)  # the error of elliptic functions at 100


def momentum_kept(lab: Laboratory) -> Measured:
    rng, gains = np.random.default_rng(SEED), []
    for _ in range(12 if lab.quick else 100):
        omega = rng.normal(size=3)
        problem = Problem(TUMBLING.body, omega=omega / np.linalg.norm(omega) * 1.7)
        runs = [lab.rkn4(problem, SPAN, STEP, keep_momentum=keep) for keep in (False, True)]
        exact = exact_free_motion(problem.body, None, problem.omega, runs[0].t).q
        errors = [(energy_error(run), run.frame_error(exact).max()) for run in runs]
        gains.append(np.divide(errors[0], errors[1]))
    middle, least, most = np.median(gains, axis=0), np.min(gains, axis=0), np.max(gains, axis=0)
    kept, plain = (lab.worst(f"q⁻¹, {n}", "momentum") for n in ("momentum kept", "every step"))
    shown = kept, plain, len(gains), *middle, *least, *most
    return holds_if(kept < EXACT < plain and middle.min() > 1, *shown)


# ---- 7.3
def when_asked(_: Laboratory) -> Measured:
    times: list[Fraction] = []

    def torque(t: Fraction, q: Array, omega: Array) -> Array:
        times.append(t)
        return omega

    one, moments = by_hand.fractions((1, 0, 0, 0)), by_hand.fractions((1, 2, 3))
    by_hand.spin_step(Fraction(0), Fraction(1), one, moments, torque, moments)
    printed = times == [0, Fraction(1, 2), Fraction(1, 2), 1]
    return holds_if(printed, len(times), ", ".join(map(str, times)))


def foretold(lab: Laboratory) -> Measured:
    studies = [lab.extrapolation_study(known, COUNTS) for known in (1, 2, 3)]
    found = [min(study.orders) for study in studies]
    errors = [float(study.errors[-1, 0]) for study in studies]
    good = all(near(p, k, 0.3) for k, p in enumerate(found, 1))
    return holds_if(good, *found, *errors, studies[0].steps[-1])


def how_far(lab: Laboratory) -> Measured:
    printed, right = (lab.extrapolation_study(3, COUNTS, sign) for sign in (-1.0, 1.0))
    orders = [min(study.orders) for study in (printed, right)]
    first, second = (near(order, 3, 0.3) for order in orders)
    worse = printed.errors[-1, 0] / right.errors[-1, 0]
    return holds_if(first, *orders, worse, right.steps[-1], corrected=second)


def formula(_: Laboratory) -> Measured:
    values = by_hand.fractions((5, -2, 7))
    off = largest(by_hand.extrapolate(values, np.array([-2, -1, 0])) - values)
    return holds_if(off == 0, off)


def cubic_lagrange(_: Laboratory) -> Measured:
    x = Fraction(1, 2)
    powers = (by_hand.fractions((-2, -1, 0)) ** n for n in range(4))
    off = [abs(float(by_hand.extrapolate(row, x) - x**n)) for n, row in enumerate(powers)]
    return holds_if(off[3] == 0, *off, corrected=max(off[:3]) == 0)


def error_after_blow(reset: bool, count: int = 40) -> float:
    """Return the error in ω at t = 2 if a torque jumps at t = 1, where the history may be reset."""
    values: list[Array] = []

    def blow(t: float) -> Array:
        early = t < 1.0 - 1e-9
        return np.array([0.3 + 0.1 * t, 0.0, -0.2] if early else [-8.0 + 0.1 * t, 5.0, 4.0])

    def guess(t: float, h: float, q: Array, omega: Array) -> tuple[Array, Array]:
        if reset and round(t / h) == count // 2:
            values.clear()
        values.append(blow(t))
        seen = extrapolation(values[-3:], t, h)
        return by_hand.spin_step(t, h, q, omega, seen, MOMENTS, inverse)

    def known(t: float, h: float, q: Array, omega: Array) -> tuple[Array, Array]:
        def seen(s: float, q: Array, omega: Array) -> Array:
            return blow(min(s, t + 0.999999 * h))

        return by_hand.spin_step(t, h, q, omega, seen, MOMENTS, inverse)

    start = (1.0, 0.0, 0.0, 0.0), (0.6, 1.1, -0.4)
    guessed, right = (march(step, 2.0, count, *start)[1] for step in (guess, known))
    return float(np.linalg.norm(guessed - right))


def haywire(_: Laboratory) -> Measured:
    over = [by_hand.extrapolate((0.0, 0.0, 1.0), x) for x in (0.5, 1.0)]
    lost, kept = error_after_blow(reset=False), error_after_blow(reset=True)
    return holds_if(over[1] > 2 and lost > 10 * kept, *over, lost, kept)


# ---- 7.4
def top_error(lab: Laboratory, dt: float, **options: float) -> tuple[float, int]:
    """(error of the attitude at t = 2 as an angle, evaluations) of the slow top."""
    problem = problems.slow_top()
    run = lab.rkn4(problem, 2.0, dt, **options)
    q, _ = reference.motion_of(problem, reference.top(20.0), 2.0)
    return angle(run.q[-1], q[-1]), run.nfev


def substeps(lab: Laboratory) -> Measured:
    counts = 2, 4, 8, 16
    errors = [top_error(lab, 0.1 / n)[0] for n in counts]
    rate, apart = -slope(counts, errors), abs(top_error(lab, 0.1, substeps=4)[0] - errors[1])
    return holds_if(apart < EXACT and rate > 3.8, apart, errors[0], errors[-1], rate)


def too_many(lab: Laboratory) -> Measured:
    errors = {4**k: top_error(lab, 0.1 / 4**k)[0] for k in range(1, 7 if lab.quick else 9)}
    best, last = min(errors, key=lambda n: errors[n]), max(errors)
    idle = errors[last] > 0.1 * errors[best] and last > best
    return holds_if(idle, errors[best], best, errors[last], last, last // best)


def see_whether(lab: Laboratory) -> Measured:
    found = {tol: top_error(lab, 0.1, tolerance=tol) for tol in (1e-4, 1e-7, 1e-10)}
    counts = [n for _, n in found.values()]
    fine = all(error < 20 * tol for tol, (error, _) in found.items())
    shown = [number for pair in found.values() for number in pair]
    return holds_if(fine and counts[0] < counts[1] < counts[2], *shown)


def fast_and_long(lab: Laboratory) -> Measured:
    turns, rows = (0.05, 0.1, 0.2), []
    for turn in turns:
        run = lab.rkn4(TUMBLING, 200 * turn, turn, normalise_every=0)
        wrong = angle(run.q[-1], tumbling_exact(run.t).q[-1])
        rows.append((abs(float(np.linalg.norm(run.q[-1])) - 1) / 200, wrong / 200))
    length, attitude = (slope(turns, errors) for errors in zip(*rows, strict=True))
    return above(3, length, attitude)


# ---- 7.5
def split_movement(lab: Laboratory) -> Measured:
    study, joint = lab.flights["apart"], lab.flights["spring"]
    worse = study.errors[-1, 0] / joint.errors[-1, 0]
    first = all(near(order, 1) for order in study.orders)
    return holds_if(first, *study.orders, worse, study.steps[-1])


def joined(lab: Laboratory) -> Measured:
    return above(3.85, *lab.flights["spring"].orders, *lab.flights["charge"].orders)


# ---- 7.6
def no_wobble(lab: Laboratory) -> Measured:
    run = lab.rkn4(TUMBLING, 20.0, STEP, gyroscopic=False)
    full = lab.tumbling["q⁻¹, every step"]
    still, moving = (largest(r.omega - r.omega[0]) for r in (run, full))
    momentum = run.angular_momentum_inertial
    lost = largest(momentum - momentum[0]) / float(np.linalg.norm(momentum[0]))
    good = still < 1e-6 and moving > 0.1 and lost > 0.01
    return holds_if(good, still, moving, 100 * lost, energy_error(run))


def precession(run: Trajectory) -> float:
    """Return the mean rate at which the axis of a top goes round the vertical."""
    axis = run.to_inertial([0.0, 0.0, 1.0])
    azimuth = np.unwrap(np.arctan2(axis[:, 1], axis[:, 0]))
    return float((azimuth[-1] - azimuth[0]) / (run.t[-1] - run.t[0]))


def gyroscopic(lab: Laboratory) -> Measured:
    given = problems.fast_top()
    full, without = (
        precession(lab.rkn4(given, 10.0, 0.001, **options))
        for options in ({}, {"gyroscopic": False})
    )
    moments = given.body.principal_moments
    share, left = float(moments[2] / moments[0]), without / full
    return added_if(abs(left / share - 1) < 0.1, share, full, without, left)
