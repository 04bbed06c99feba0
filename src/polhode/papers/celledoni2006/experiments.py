"""Sections 4 and 5 of Celledoni & Säfström (2006): the free body, the top and the satellite."""

import numpy as np

from polhode import problems
from polhode.body import RigidBody
from polhode.papers.celledoni2006 import by_hand, reference
from polhode.papers.celledoni2006.laboratory import (
    NEAR,
    SATELLITE_STEPS,
    THREE,
    TODAY,
    TOP_STEPS,
    Laboratory,
    Swing,
    mean_distance,
    vertical,
)
from polhode.papers.celledoni2006.maps import DIFFERENCE, ROUNDING, page_gap
from polhode.papers.celledoni2006.method import FREE_BODY, FREE_MOMENTUM
from polhode.papers.laboratory import WHOLE_RUN
from polhode.papers.maps import (
    EXACT,
    HALVINGS,
    INERTIA,
    STEP,
    VISIBLE,
    asymmetry,
    defect,
    orders,
    states,
    torque_gap,
)
from polhode.papers.verdicts import (
    Check,
    Measured,
    above,
    below,
    between,
    holds_if,
    largest,
    near,
    slope,
)
from polhode.problems.problem import Problem

LONG = 100_000  # steps of 0.4 in which an error accumulates or does not
FIGURE_1 = "mr2", "mr4", "dmv2", "dmv4", "dmv6"  # its methods of an order
EARTH = 6.371e6  # m, mean radius
GRAVITY, MASS = 6.6743e-11, 5.9722e24  # of the Earth, SI


def _satellite_energy(lab: Laboratory, h: float, factor: float) -> Measured:
    """Return whether SEJ and SEJ4 preserve the energy better than MR by a factor."""
    mr, sej, sej4 = (lab.satellite.swing(name, h).relative for name in THREE)
    return holds_if(mr > factor * max(sej, sej4), mr, sej, sej4)


MEASUREMENTS: dict[str, Check] = {
    "je-error": lambda lab: below(2e-14, lab.studies["euler"].errors["π"]["je"].max()),
    "energy-mr2": lambda lab: between(3e-4, 3e-3, lab.free_swings["mr2"].amplitude),
    "figure2-momentum": lambda lab: below(
        ROUNDING, max(lab.studies["frb"].errors["π"][name].max() for name in ("jem2", "jem4"))
    ),
    "energy-consistently": lambda lab: above(100, *map(lab.top.energy_ratio, TOP_STEPS)),
    "satellite-energy": lambda lab: below(
        1e-8, Swing(lab.run(problems.satellite(), "strang6", 40.0, 0.01)).relative
    ),
    "figure7-energy": lambda lab: _satellite_energy(lab, 0.1, 100),
    "figure8-energy": lambda lab: _satellite_energy(lab, 0.05, 3),
}


# ---- 4
def four_parts(_: Laboratory) -> Measured:
    printed = 0.0
    for p in (np.array(m) for _, m in states()):
        turn = by_hand.exp(np.array([STEP * p[0] / INERTIA[0], 0.0, 0.0]))
        printed = max(printed, largest(by_hand.turn_x(STEP, p, INERTIA) - turn))
    return below(EXACT, printed, page_gap("mr2", "free", by_hand.mr))


def s2(_: Laboratory) -> Measured:
    turned = largest(by_hand.exp(0.2 * FREE_MOMENTUM / FREE_BODY) - np.eye(3))
    return holds_if(turned < EXACT, turned, corrected=turned > VISIBLE)


def mr_scheme(_: Laboratory) -> Measured:
    back = asymmetry("mr2", ["torque"])
    found = defect("mr2", "torque", HALVINGS[0])
    p, r = orders("mr2", "torque", (10, 20, 40, 80))
    holds = back < EXACT and found < DIFFERENCE and near(p, 2) and near(r, 2)
    return holds_if(holds, back, found, p, r)


def mr4(lab: Laboratory) -> Measured:
    found = [lab.studies["euler"].order("π", name) for name in ("mr4", "mr4s")]
    jump, suzuki = swings = [lab.free_swings[name].amplitude for name in ("mr4", "mr4s")]
    right = all(near(p, 4) for p in found) and 3e-6 < jump < 1e-4
    return holds_if(right and 3e-6 < suzuki < 1e-4, *found, *swings, corrected=right)


# ---- 4.1, figure 1
def figure1_orders(lab: Laboratory) -> Measured:
    found = [lab.studies["euler"].order("π", name) for name in FIGURE_1]
    return holds_if(all(map(near, found, (2, 4, 2, 4, 6))), *found)


def reference_(lab: Laboratory) -> Measured:
    from scipy.integrate import solve_ivp

    found = solve_ivp(
        lambda t, p: by_hand.euler(FREE_BODY, p / FREE_BODY),
        (0.0, 1.0),
        FREE_MOMENTUM,
        method="RK45",
        rtol=2.3e-14,  # as small as it may be
        atol=1e-14,
    )
    error = float(np.linalg.norm(found.y[:, -1] - reference.FREE_PI))
    errors = lab.studies["euler"].errors["π"]
    smallest = min(float(errors[name].min()) for name in errors if name != "je")
    return holds_if(error < smallest, error, len(found.t) - 1, smallest)


def order2(lab: Laboratory) -> Measured:
    study = lab.studies["euler"]
    ratio = study.error_ratio("π", "dmv2", "mr2")
    work = study.work_ratio("π", "dmv2", "mr2", 1e-5)
    holds = ratio.min() > 1 and ratio.max() < 2 and 0.5 < work < 2
    time = study.time_ratio("π", "dmv2", "mr2", 1e-5)
    return holds_if(holds, ratio.min(), ratio.max(), work, time)


def order4(lab: Laboratory) -> Measured:
    study = lab.studies["euler"]
    ratio, other = study.error_ratio("π", "mr4", "dmv4"), study.error_ratio("π", "dmv4", "mr4s")
    jump, suzuki = (study.work_ratio("π", n, "dmv4", 1e-9) for n in ("mr4", "mr4s"))
    times = [study.time_ratio("π", n, "dmv4", 1e-9) for n in ("mr4", "mr4s")]
    right = ratio.min() > 1 and ratio.max() < 2
    values = ratio.min(), ratio.max(), jump, times[0], other.mean(), suzuki, times[1]
    return holds_if(right and other.max() < 1, *values, corrected=right)


def pi0(lab: Laboratory) -> Measured:
    other = Problem(RigidBody([5.0, 4.0, 3.0]), angular_momentum=[1.0, 0.0, 2.0])
    errors, apart = lab.studies["euler"].errors["π"], 0.0
    end = np.array(reference.FREE_PI) * [-1, -1, 1]
    for name in FIGURE_1:
        run = lab.run(other, name, 1.0, 1 / 4, WHOLE_RUN)
        error = float(np.linalg.norm(run.angular_momentum[-1] - end))
        apart = max(apart, abs(error / float(errors[name][0]) - 1))
    return holds_if(False, apart, corrected=apart < 1e-6)


def je_performance(lab: Laboratory) -> Measured:
    study, names = lab.studies["euler"], ("mr4", "dmv4", "dmv6", "mr2")
    cost, gains = study.work_of("je"), [study.work_ratio("π", n, "je", 1e-10) for n in names]
    times = [study.time_ratio("π", n, "je", 1e-10) for n in names]
    good = min(gains) > 2 and cost < 2
    return holds_if(good, cost, study.times_of("je"), *gains, *times)


# ---- 4.1, energy
def energy_oscillates(lab: Laboratory) -> Measured:
    found: list[float] = []
    turns, growth = [], []
    for name in ("mr2", "mr4"):
        error = lab.free_swings[name].error
        first, second = map(largest, np.array_split(error[1:], 2))
        turns.append(int(np.count_nonzero(np.diff(np.sign(np.diff(error))))))
        growth.append(second / first - 1)
        found += error.min(), error.max(), turns[-1], growth[-1]
    return holds_if(min(turns) > 20 and largest(growth) < 0.05, *found)


def energy_mr4(lab: Laboratory) -> Measured:
    jump, suzuki = (lab.free_swings[n].amplitude for n in ("mr4", "mr4s"))
    right = 3e-6 < jump < 1e-4
    return holds_if(right and suzuki > 3e-6, jump, suzuki, corrected=right)


def energy_dmv(lab: Laboratory) -> Measured:
    found = max(lab.free_swings[n].largest for n in ("dmv2", "dmv4", "dmv6"))
    p = FREE_MOMENTUM
    for _step in range(1000):
        p = by_hand.dmv(0.4, p, FREE_BODY, tolerance=1e-13)
    loose = abs(float(p @ (p / FREE_BODY) - FREE_MOMENTUM @ (FREE_MOMENTUM / FREE_BODY))) / 2
    size = 1e-14, 1e-12
    printed, corrected = (size[0] < error < size[1] for error in (found, loose))
    return holds_if(printed, found, loose, corrected=corrected)


def energy_je(lab: Laboratory) -> Measured:
    once, each = (lab.free_swings[n].largest for n in ("je", "sej"))
    omega = FREE_MOMENTUM / FREE_BODY
    start, page = float(FREE_BODY @ omega**2) / 2, 0.0
    for _step in range(1000):
        omega = by_hand.closed_form(FREE_BODY, omega, 0.4)[0]
        page = max(page, abs(float(FREE_BODY @ omega**2) / 2 - start))
    count, problem = LONG if lab.quick else 10 * LONG, problems.celledoni_free()
    runs = (lab.run(problem, name, 0.4 * count, 0.4, count // 100) for name in ("je", "sej"))
    later = [Swing(run).largest for run in runs]
    right = max(once, later[0]) < 1e-15
    return holds_if(right and page < 1e-15, once, page, each, count, *later, corrected=right)


# ---- 4.1, figure 2
def figure2(lab: Laboratory) -> Measured:
    study = lab.studies["frb"]
    errors = [float(study.error_ratio("both", f"mr{p}", f"jem{p}").mean()) for p in (2, 4)]
    pairs = [("both", f"mr{p}", f"jem{p}", aim) for p, aim in ((2, 1e-4), (4, 1e-7))]
    second, fourth = (study.work_ratio(*pair) for pair in pairs)
    holds = min(errors) > 3 and fourth > 2 and second > 0.8
    times = (study.time_ratio(*pair) for pair in pairs)
    return holds_if(holds, *errors, second, fourth, *times)


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
    study = lab.studies["top"]
    found = [study.order(quantity, name, last=3) for quantity in "πQ" for name in THREE]
    second, fourth = all(near(p, 2) for p in found[:-1]), found[-1]
    return holds_if(second and near(fourth, 2), *found, corrected=second and near(fourth, 4))


def figure3_sej4(lab: Laboratory) -> Measured:
    study = lab.studies["top"]
    low, high = (
        min(study.work_ratio("Q", name, "sej4", aim) for name in ("mr2", "sej"))
        for aim in (1e-3, 1e-5)
    )
    times = [study.time_ratio("Q", "mr2", "sej4", aim) for aim in (1e-3, 1e-5)]
    today = study.work_ratio("Q", "sej4", TODAY, 1e-5), study.time_ratio("Q", "sej4", TODAY, 1e-5)
    return holds_if(low > 1.5 and high > 4, low, high, *times, *today)


def figure3_similar(lab: Laboratory) -> Measured:
    study, pair = lab.studies["top"], ("sej", "mr2")
    work, time = study.work_ratio("Q", *pair, 1e-3), study.time_ratio("Q", *pair, 1e-3)
    attitude, momentum = (float(study.error_ratio(name, "mr2", "sej")[-1]) for name in "Qπ")
    similar = 1 / 3 < work < 3 and 1 < attitude < 5
    return holds_if(similar and momentum < 5, attitude, momentum, work, time, corrected=similar)


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
        sum(study.work_ratio("Q", "mr2", name, aim) > 1.2 for aim in aims)
        for name in ("sej4", "sej")
    )
    gain = np.sqrt(lab.top.energy_ratio(0.01)) / study.work_of("sej")  # both errors are O(h²)
    times = [study.time_ratio("Q", "mr2", name, 1e-3) for name in ("sej4", "sej")]
    return holds_if(sej == 4, sej4, sej, gain, *times, corrected=sej4 >= 3 and gain > 3)


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
