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
from polhode.papers.celledoni2006.maps import ROUNDING
from polhode.papers.maps import EXACT, torque_gap
from polhode.papers.verdicts import (
    Check,
    Measured,
    above,
    below,
    holds_if,
    largest,
    listing,
    near,
    slope,
)

EARTH = 6.371e6  # m, mean radius
GRAVITY, MASS = 6.6743e-11, 5.9722e24  # of the Earth, SI


def _satellite_energy(lab: Laboratory, h: float, factor: float) -> Measured:
    """Return whether SEJ and SEJ4 preserve the energy better than MR by a factor."""
    error = {name: lab.satellite.swing(name, h).relative for name in THREE}
    holds = error["mr2"] > factor * max(error["sej"], error["sej4"])
    return holds_if(holds, listing(error, ".1e", short_label))


MEASUREMENTS: dict[str, Check] = {
    "energy-consistently": lambda lab: above(100, *map(lab.top.energy_ratio, TOP_STEPS)),
    "satellite-energy": lambda lab: below(
        1e-8, swing(lab.run(problems.satellite(), "strang6", 40.0, 0.01)).relative
    ),
    "figure7-energy": lambda lab: _satellite_energy(lab, 0.1, 100),
    "figure8-energy": lambda lab: _satellite_energy(lab, 0.05, 3),
}


# ---- 4.2, the model
def top_torque(_: Laboratory) -> Measured:
    given = problems.celledoni_heavy_top()
    gap = torque_gap(given.model, lambda r: by_hand.top(r.T), given.body)
    moments = given.body.data[0]
    same = moments == (1000.0, 5000.0, 6000.0) and tuple(given.omega) == (10.0, 10.0, 10.0)
    return holds_if(gap < ROUNDING and same, gap)


def centre(lab: Laboratory) -> Measured:
    attitude = lab.top.runs["strang", 0.01].rotation.as_matrix()
    u, mass = attitude[:, 2, :], attitude[:, :, 2]
    apart = float(np.linalg.norm(u - mass, axis=1).max())
    height = largest(u[:, 2] - mass[:, 2])
    return holds_if(apart < EXACT, apart, height, corrected=height < EXACT)


# ---- 4.2, figure 3
def figure3_order(lab: Laboratory) -> Measured:
    momentum, attitude = (
        list(lab.studies["top"].orders(quantity, THREE, last=3).values()) for quantity in "πQ"
    )
    *others, fourth = *momentum, *attitude
    second = all(near(p, 2) for p in others)
    corrected = second and near(fourth, 4)
    return holds_if(second and near(fourth, 2), *momentum, *attitude, corrected=corrected)


def figure3_sej4(lab: Laboratory) -> Measured:
    study = lab.studies["top"]
    low, high = (
        min(study.time_ratio("Q", name, "sej4", aim) for name in ("mr2", "sej"))
        for aim in (1e-3, 1e-5)
    )
    return holds_if(low > 1.2 and high > 3, low, high, study.time_ratio("Q", "sej4", TODAY, 1e-5))


def figure3_similar(lab: Laboratory) -> Measured:
    study = lab.studies["top"]
    time = study.time_ratio("Q", "sej", "mr2", 1e-3)
    attitude, momentum = (float(study.error_ratio(name, "mr2", "sej")[-1]) for name in "Qπ")
    similar = 0.2 < time < 5 and 1 < attitude < 5
    return holds_if(similar and momentum < 5, attitude, momentum, time, corrected=similar)


# ---- 4.2, figures 4 and 5
def small_steps(lab: Laboratory) -> Measured:
    a, b, c = (mean_distance(lab.top.path("sej", h), lab.top.path("mr2", h)) for h in TOP_STEPS)
    given = problems.celledoni_heavy_top()
    last = mean_distance(*(vertical(lab.run(given, n, 100.0, 0.001, 10)) for n in ("sej", "mr2")))
    curves = lab.curve_errors()
    return holds_if(a > b > c > 10 * last and max(curves) < 1e-4, a, b, c, last, *curves)


def distance(lab: Laboratory) -> Measured:
    paths = sej, mr, _ = [lab.top.path(n, 0.01) for n in ("sej", "mr2", "sej4")]
    found = mean_distance(sej[1:], mr[1:])
    return holds_if(0.03 < found < 0.5, found, *(mean_distance(u, lab.top.curve) for u in paths))


def energy_factor(lab: Laboratory) -> Measured:
    sej, mr = (lab.top.swing(n, 0.01).largest for n in ("sej", "mr2"))
    return holds_if(3e-5 < sej / mr < 3e-4, sej, mr, sej / mr)


def energy_steps(lab: Laboratory) -> Measured:
    sej, mr = ([lab.top.swing(n, h).amplitude for h in TOP_STEPS] for n in ("sej", "mr2"))
    return holds_if(all(a > b > c for a, b, c in (sej, mr)), *sej, *mr)


def mr_trajectory(lab: Laboratory) -> Measured:
    far = [lab.top.farthest("mr2", h) for h in TOP_STEPS]
    away = np.mean(lab.top.astray("mr2", 0.1) > NEAR)
    return holds_if(far[0] > 3 * NEAR and far[-1] < 0.1, *far, away, NEAR)


def sej_trajectory(lab: Laboratory) -> Measured:
    far = [lab.top.farthest("sej", h) for h in TOP_STEPS]
    return holds_if(max(far) < NEAR, *far, lab.top.farthest("sej4", 0.1))


# ---- 4.2, figure 6
def figure6(lab: Laboratory) -> Measured:
    found: list[float] = []
    for ratio in lab.alpha_ratios.values():
        found += int(np.count_nonzero(ratio > 1)), len(ratio), ratio.min(), ratio.max()
    return holds_if(all((ratio > 1).any() for ratio in lab.alpha_ratios.values()), *found)


def figure6_when(lab: Laboratory) -> Measured:
    found: list[float] = []
    right = []
    for panel, ratio in lab.alpha_ratios.items():
        alpha = lab.alphas[panel]
        large, larger = alpha > 1.5, alpha > 5
        right.append((ratio[large] > 1).all() and (ratio[alpha < 0.8] < 1.2).all())
        found += ratio[large].min(), slope(alpha[larger].tolist(), ratio[larger].tolist())
    return holds_if(all(right), *found)


# ---- 4.3, the model
def satellite_torque(_: Laboratory) -> Measured:
    given = problems.satellite()
    page = by_hand.satellite(np.array(given.body.data[0]))
    gap = torque_gap(given.model, lambda r: page(r.T), given.body)
    same = given.body.data[0] == (1.7e4, 3.7e4, 5.4e4)
    return holds_if(False, gap, corrected=gap < ROUNDING and same)


def radius(_: Laboratory) -> Measured:
    share, product = by_hand.RADIUS / EARTH, GRAVITY * MASS
    weaker, corrected = (by_hand.RADIUS / 7e6) ** 3, abs(product / by_hand.MU - 1) < 1e-3
    return holds_if(share > 1, product, share, weaker, corrected=corrected)


# ---- 4.3, figures 7 and 8
def figure7_best(lab: Laboratory) -> Measured:
    mr, sej, sej4, today = (lab.satellite.farthest(name, 0.1) for name in (*THREE, TODAY))
    return holds_if(sej4 < NEAR and sej4 < 0.3 * min(mr, sej), mr, sej, sej4, today)


def figure8_similar(lab: Laboratory) -> Measured:
    far = [lab.satellite.farthest(name, 0.05) for name in THREE]
    exact = lab.satellite.curve[::5]
    paths = (lab.satellite.path(name, 0.05) for name in (*THREE, TODAY))
    return holds_if(max(far) < NEAR, *far, *(mean_distance(path, exact) for path in paths))


def orderings(lab: Laboratory) -> Measured:
    found = [(min(errors), max(errors), errors[0]) for errors in lab.orderings]
    alike = all(most < 3 * least for least, most, _ in found)
    return holds_if(alike, *(value for case in found for value in case))


def better_orderings(lab: Laboratory) -> Measured:
    gains = [errors[0] / min(errors) for errors in lab.orderings]
    return holds_if(max(gains) > 2, *gains)


# ---- 5
def efficient(lab: Laboratory) -> Measured:
    study, aims = lab.studies["top"], (1e-2, 1e-3, 1e-4, 1e-5)
    sej4, sej = (
        sum(study.time_ratio("Q", "mr2", name, aim) > 1 for aim in aims) for name in ("sej4", "sej")
    )
    gain = np.sqrt(lab.top.energy_ratio(0.01)) / study.cost_of("sej")  # both errors are O(h²)
    return holds_if(sej == 4, sej4, sej, gain, corrected=sej4 >= 3 and gain > 3)


def energy_many(lab: Laboratory) -> Measured:
    better = [ratio > 1 for ratio in lab.energy_ratios]
    runs = len(TOP_STEPS) + len(SATELLITE_STEPS)
    counts = sum(better[:runs]), runs, sum(better[runs:]), len(better) - runs
    return holds_if(sum(better) > len(better) / 2, *counts)


def large_inertia(lab: Laboratory) -> Measured:
    alpha, errors = lab.alphas["b"], lab.alpha_errors["b"]
    large, ratio = alpha > 5, float(lab.alpha_ratios["b"][-1])
    mr, sej = (slope(alpha[large].tolist(), errors[n][large].tolist()) for n in ("mr2", "sej"))
    holds = near(mr, 1, 0.2) and near(sej, 0, 0.2) and ratio > 100
    return holds_if(holds, mr, sej, ratio, alpha[-1])
