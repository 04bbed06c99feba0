"""Sections 4.2, 4.3 and 5 of Celledoni & Säfström (2006): the top and the satellite."""

import numpy as np

from polhode import problems
from polhode.papers.celledoni2006 import by_hand
from polhode.papers.celledoni2006.laboratory import (
    NEAR,
    SATELLITE_STEPS,
    THREE,
    TODAY,
    TOP_STEPS,
    Laboratory,
    mean_distance,
    short_label,
    swing,
    vertical,
)
from polhode.papers.celledoni2006.maps import ROUNDING, small
from polhode.papers.maps import EXACT, states
from polhode.papers.rotations import matrix
from polhode.papers.verdicts import Check, Measured, judge, largest, listing, near, series, slope
from polhode.problems.problem import Problem

EARTH = 6.371e6  # m, mean radius
GRAVITY, MASS = 6.6743e-11, 5.9722e24  # of the Earth, SI


def model_gap(problem: Problem, page: by_hand.Torque) -> float:
    """Return the relative difference between a model of the library and the torque of the page."""
    model, found = problem.model, 0.0
    for q, m in states():
        right = page(matrix(q).T)
        torque = model.torque(0.0, q, m, problem.body.data, model.params)
        found = max(found, largest(torque - right) / largest(right))
    return found


def by_step(values: dict[float, float], form: str) -> str:
    """Values with their step sizes, as text."""
    return ", ".join(f"{x:{form}} (h = {h})" for h, x in values.items())


def _satellite_energy(lab: Laboratory, h: float, factor: float) -> Measured:
    """Return whether SEJ and SEJ4 preserve the energy better than MR by a factor."""
    found = {n: lab.satellite.swing(n, h) for n in THREE}
    error = {n: s.largest / abs(s.start) for n, s in found.items()}
    text = f"largest relative energy error: {listing(error, '.1e', short_label)}"
    return text, judge(error["mr2"] > factor * max(error["sej"], error["sej4"]))


MEASUREMENTS: dict[str, Check] = {
    "figure7-energy": lambda lab: _satellite_energy(lab, 0.1, 100),
    "figure8-energy": lambda lab: _satellite_energy(lab, 0.05, 3),
}


# ---- 4.2, the model
def top_torque(_: Laboratory) -> Measured:
    given = problems.celledoni_heavy_top()
    gap = model_gap(given, by_hand.top)
    moments = given.body.data[0]
    same = moments == (1000.0, 5000.0, 6000.0) and tuple(given.omega) == (10.0, 10.0, 10.0)
    return f"the model heavy_top(1) differs by {small(gap)}", judge(gap < ROUNDING and same)


def centre(lab: Laboratory) -> Measured:
    attitude = lab.top.runs["strang", 0.01].rotation.as_matrix()
    u, mass = attitude[:, 2, :], attitude[:, :, 2]
    apart = float(np.linalg.norm(u - mass, axis=1).max())
    height = largest(u[:, 2] - mass[:, 2])
    text = (
        f"figure 4: u and Qᵀe3 are up to {apart:.2f} apart; their heights differ by {small(height)}"
    )
    return text, judge(apart < EXACT, height < EXACT)


# ---- 4.2, figure 3
def figure3_order(lab: Laboratory) -> Measured:
    study = lab.studies["top"]
    momentum, attitude = (
        study.orders(errors, THREE, last=3) for errors in (study.momentum, study.attitude)
    )
    text = (
        f"order in π {series(momentum.values(), '.2f')}; in Q {series(attitude.values(), '.2f')}"
        " (MR, SEJ, SEJ4)"
    )
    second = all(near(p, 2) for p in (*momentum.values(), attitude["mr2"], attitude["sej"]))
    return text, judge(second and near(attitude["sej4"], 2), second and near(attitude["sej4"], 4))


def figure3_sej4(lab: Laboratory) -> Measured:
    study = lab.studies["top"]
    gains = {}
    for aim in (1e-3, 1e-5):
        times = study.times_to(aim)
        gains[aim] = min(times["mr2"], times["sej"]) / times["sej4"]
    today = study.time_ratio(study.attitude, "sej4", TODAY, 1e-5)
    text = (
        f"time to an error in Q of 1e-3 and 1e-5: the better of MR and SEJ takes"
        f" {gains[1e-3]:.1f} and {gains[1e-5]:.1f} times that of SEJ4 (and SEJ4 {today:.0f} times"
        f" that of strang)"
    )
    return text, judge(gains[1e-3] > 1.2 and gains[1e-5] > 3)


def figure3_similar(lab: Laboratory) -> Measured:
    study = lab.studies["top"]
    time = study.time_ratio(study.attitude, "sej", "mr2", 1e-3)
    attitude, momentum = (
        float(errors["mr2"][-1] / errors["sej"][-1]) for errors in (study.attitude, study.momentum)
    )
    text = (
        f"at equal steps the error of MR in Q is {attitude:.1f} times, in π {momentum:.0e} times"
        f" that of SEJ; time of SEJ to 1e-3 in Q {time:.1f} times that of MR"
    )
    similar = 0.2 < time < 5 and 1 < attitude < 5
    return text, judge(similar and momentum < 5, similar)


# ---- 4.2, figures 4 and 5
def small_steps(lab: Laboratory) -> Measured:
    found = {h: mean_distance(lab.top.path("sej", h), lab.top.path("mr2", h)) for h in TOP_STEPS}
    given = problems.celledoni_heavy_top()
    last = mean_distance(*(vertical(lab.run(given, n, 100.0, 0.001, 10)) for n in ("sej", "mr2")))
    curves = lab.curve_errors()
    text = (
        f"mean distance of u {by_step(found, '.2f')}, {last:.4f} (h = 0.001); our exact curves and"
        f" DOP853: {curves[0]:.0e} (top), {curves[1]:.0e} (satellite)"
    )
    a, b, c = found.values()
    return text, judge(a > b > c > 10 * last and max(curves) < 1e-4)


def distance(lab: Laboratory) -> Measured:
    sej, mr, fourth = (lab.top.path(n, 0.01) for n in ("sej", "mr2", "sej4"))
    found = float(np.linalg.norm(sej - mr, axis=1)[1:].mean())
    errors = [mean_distance(u, lab.top.curve) for u in (sej, mr, fourth)]
    text = (
        f"{found:.2f}; from the exact trajectory: SEJ {errors[0]:.2f}, MR {errors[1]:.2f}, SEJ4"
        f" {errors[2]:.4f}"
    )
    return text, judge(0.03 < found < 0.5)


def energy_factor(lab: Laboratory) -> Measured:
    sej, mr = (lab.top.swing(n, 0.01).largest for n in ("sej", "mr2"))
    return f"{sej:.1e} / {mr:.0f} = {sej / mr:.1e}", judge(3e-5 < sej / mr < 3e-4)


def energy_steps(lab: Laboratory) -> Measured:
    sej, mr = ([lab.top.swing(n, h).amplitude for h in TOP_STEPS] for n in ("sej", "mr2"))
    text = f"amplitudes at h = 0.1, 0.05, 0.01: SEJ: {series(sej, '.1g')}; MR: {series(mr, '.1g')}"
    return text, judge(all(a > b > c for a, b, c in (sej, mr)))


def energy_consistently(lab: Laboratory) -> Measured:
    ratios = {h: lab.top.energy_ratio(h) for h in TOP_STEPS}
    return f"MR over SEJ: {by_step(ratios, '.0e')}", judge(min(ratios.values()) > 100)


def mr_trajectory(lab: Laboratory) -> Measured:
    far = {h: lab.top.farthest("mr2", h) for h in TOP_STEPS}
    away = np.mean(lab.top.astray("mr2", 0.1) > NEAR)
    text = (
        f"farthest from the exact curve: {by_step(far, '.2f')}; {away:.0%} of the points of h = 0.1"
        f" are more than {NEAR} away"
    )
    return text, judge(far[0.1] > 3 * NEAR and far[0.01] < 0.1)


def sej_trajectory(lab: Laboratory) -> Measured:
    far = {h: lab.top.farthest("sej", h) for h in TOP_STEPS}
    text = (
        f"farthest from the exact curve: {by_step(far, '.2f')}; SEJ4"
        f" {lab.top.farthest('sej4', 0.1):.2f} (h = 0.1)"
    )
    return text, judge(max(far.values()) < NEAR)


# ---- 4.2, figure 6
def figure6(lab: Laboratory) -> Measured:
    text, smaller = [], []
    for panel, errors in lab.alpha_errors.items():
        ratio = errors["mr2"] / errors["sej"]
        smaller.append(bool((ratio > 1).any()))
        text.append(
            f"({panel}) {np.count_nonzero(ratio > 1)} of {len(ratio)} values of α, MR over SEJ"
            f" {ratio.min():.2f} to {ratio.max():.1e}"
        )
    return "; ".join(text), judge(all(smaller))


def figure6_when(lab: Laboratory) -> Measured:
    found, right = [], []
    for panel, errors in lab.alpha_errors.items():
        alpha, ratio = lab.alphas[panel], errors["mr2"] / errors["sej"]
        large = alpha > 1.5
        right.append(bool((ratio[large] > 1).all() and (ratio[alpha < 0.8] < 1.2).all()))
        power = slope(alpha[alpha > 5].tolist(), ratio[alpha > 5].tolist())
        found.append(f"({panel}) {ratio[large].min():.1f} or more above α = 1.5, ~ α^{power:.1f}")
    return "MR over SEJ: " + "; ".join(found), judge(all(right))


# ---- 4.3, the model
def satellite_torque(_: Laboratory) -> Measured:
    given = problems.satellite()
    gap = model_gap(given, by_hand.satellite(np.array(given.body.data[0])))
    same = given.body.data[0] == (1.7e4, 3.7e4, 5.4e4)
    text = f"3μ/r³ (Qe3) × (TQe3) and the model gravity_gradient differ by {gap:.0e}; in (4)"
    return text, judge(False, gap < ROUNDING and same)


def satellite_energy(lab: Laboratory) -> Measured:
    found = swing(lab.run(problems.satellite(), "strang6", 40.0, 0.01))
    error = found.largest / abs(found.start)
    return f"to {error:.0e} along the exact curve (40 s)", judge(error < 1e-8)


def radius(_: Laboratory) -> Measured:
    share, product = by_hand.RADIUS / EARTH, GRAVITY * MASS
    weaker = (by_hand.RADIUS / 7e6) ** 3
    text = (
        f"GM = {product:.4g}; r is {share:.3f} of the Earth's radius; at r = 7e6 the torque would"
        f" be {weaker:.0e} of it"
    )
    return text, judge(share > 1, abs(product / by_hand.MU - 1) < 1e-3)


# ---- 4.3, figures 7 and 8
def figure7_best(lab: Laboratory) -> Measured:
    far = {n: lab.satellite.farthest(n, 0.1) for n in THREE}
    text = f"Qe3 farthest from the exact curve: {listing(far, '.2f', short_label)}"
    text += f" (strang {lab.satellite.farthest(TODAY, 0.1):.2f})"
    return text, judge(far["sej4"] < NEAR and far["sej4"] < 0.3 * min(far["mr2"], far["sej"]))


def figure8_similar(lab: Laboratory) -> Measured:
    far = {n: lab.satellite.farthest(n, 0.05) for n in THREE}
    exact = lab.satellite.curve[::5]
    mean = {n: mean_distance(lab.satellite.path(n, 0.05), exact) for n in (*THREE, TODAY)}
    text = (
        f"farthest from the exact curve: {listing(far, '.2f', short_label)}; mean error of Qe3"
        f" {mean['mr2']:.1f}, {mean['sej']:.1f}, {mean['sej4']:.1f} (strang {mean[TODAY]:.1f})"
    )
    return text, judge(max(far.values()) < NEAR)


def orderings(lab: Laboratory) -> Measured:
    found = {name: list(errors.values()) for name, errors in lab.orderings.items()}
    text = "energy errors of the six orders, relative: " + "; ".join(
        f"{name} {min(errors):.1e} to {max(errors):.1e} ({errors[0]:.1e} as printed)"
        for name, errors in found.items()
    )
    return text, judge(all(max(errors) < 3 * min(errors) for errors in found.values()))


def better_orderings(lab: Laboratory) -> Measured:
    gains = {name: errors[0, 1, 2] / min(errors.values()) for name, errors in lab.orderings.items()}
    text = "the best order has 1/" + ", 1/".join(f"{x:.1f} ({n})" for n, x in gains.items())
    return f"{text} of the energy error of the one printed", judge(max(gains.values()) > 2)


# ---- 5
def efficient(lab: Laboratory) -> Measured:
    study = lab.studies["top"]
    times = [study.times_to(aim) for aim in (1e-2, 1e-3, 1e-4, 1e-5)]
    wins = {n: sum(t["mr2"] > t[n] for t in times) for n in ("sej", "sej4")}
    gain = np.sqrt(lab.top.energy_ratio(0.01)) / study.cost_of("sej")  # both errors are O(h²)
    text = (
        f"heavy top: to 4 errors in Q, 1e-2 to 1e-5, SEJ4 is faster than MR in {wins['sej4']}, SEJ"
        f" in {wins['sej']}; to the same energy error SEJ by a factor of {gain:.0f}"
    )
    return text, judge(wins["sej"] == 4, wins["sej4"] >= 3 and gain > 3)


def energy_many(lab: Laboratory) -> Measured:
    better = [ratio > 1 for ratio in lab.energy_ratios]
    runs = len(TOP_STEPS) + len(SATELLITE_STEPS)
    text = (
        f"in {sum(better[:runs])} of {runs} runs of figures 4, 5, 7 and 8, and"
        f" {sum(better[runs:])} of {len(better) - runs} of figure 6"
    )
    return text, judge(sum(better) > len(better) / 2)


def large_inertia(lab: Laboratory) -> Measured:
    alpha, errors = lab.alphas["b"], lab.alpha_errors["b"]
    large = alpha > 5
    mr, sej = (slope(alpha[large].tolist(), errors[n][large].tolist()) for n in ("mr2", "sej"))
    ratio = float(errors["mr2"][-1] / errors["sej"][-1])
    text = (
        f"figure 6(b): the error of MR ~ α^{mr:.2f}, of SEJ ~ α^{sej:.2f}; {ratio:.0f}"
        f" to 1 at α = {alpha[-1]:.0f}"
    )
    return text, judge(near(mr, 1, 0.2) and near(sej, 0, 0.2) and ratio > 100)
