"""Section 4, its introduction and 4.1, of Celledoni & Säfström (2006)."""

import numpy as np

from polhode import problems
from polhode.body import RigidBody
from polhode.papers.celledoni2006 import by_hand, reference
from polhode.papers.celledoni2006.elliptic import FREE_BODY, FREE_MOMENTUM
from polhode.papers.celledoni2006.laboratory import Laboratory, label, swing
from polhode.papers.celledoni2006.maps import DIFFERENCE, ROUNDING, page_gap
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
)
from polhode.papers.verdicts import (
    Check,
    Measured,
    below,
    between,
    holds_if,
    largest,
    listing,
    near,
)
from polhode.problems.problem import Problem

LONG = 100_000  # steps of 0.4 in which an error accumulates or does not
FIGURE_1 = "mr2", "mr4", "dmv2", "dmv4", "dmv6"  # its methods of an order

MEASUREMENTS: dict[str, Check] = {
    "je-error": lambda lab: below(2e-14, lab.studies["euler"].errors["π"]["je"].max()),
    "energy-mr2": lambda lab: between(3e-4, 3e-3, lab.free_swings["mr2"].amplitude),
    "figure2-momentum": lambda lab: below(
        ROUNDING, max(lab.studies["frb"].errors["π"][name].max() for name in ("jem2", "jem4"))
    ),
}


# ---- section 4
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
    found = lab.studies["euler"].orders("π", ("mr4", "mr4s")).values()
    jump, suzuki = swings = [lab.free_swings[name].amplitude for name in ("mr4", "mr4s")]
    right = all(near(p, 4) for p in found) and 3e-6 < jump < 1e-4
    return holds_if(right and 3e-6 < suzuki < 1e-4, *found, *swings, corrected=right)


# ---- section 4.1, figure 1
def figure1_orders(lab: Laboratory) -> Measured:
    found = lab.studies["euler"].orders("π", FIGURE_1)
    return holds_if(all(near(p, int(n[-1])) for n, p in found.items()), *found.values())


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
    time = study.time_ratio("π", "dmv2", "mr2", 1e-5)
    holds = ratio.min() > 1 and ratio.max() < 2 and 0.3 < time < 3
    return holds_if(holds, ratio.min(), ratio.max(), time)


def order4(lab: Laboratory) -> Measured:
    study = lab.studies["euler"]
    ratio, other = study.error_ratio("π", "mr4", "dmv4"), study.error_ratio("π", "dmv4", "mr4s")
    jump, suzuki = (study.time_ratio("π", n, "dmv4", 1e-9) for n in ("mr4", "mr4s"))
    right = ratio.min() > 1 and ratio.max() < 2
    values = ratio.min(), ratio.max(), jump, other.mean(), suzuki
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
    cost = study.cost_of("je")
    gains = {name: study.time_ratio("π", name, "je", 1e-10) for name in names}
    holds = min(gains["mr4"], gains["dmv4"]) > 2 and cost < 6
    return holds_if(holds, cost, listing(gains, ".2g", label))


# ---- section 4.1, energy
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
    return holds_if(found < 3e-13, found, loose)


def energy_je(lab: Laboratory) -> Measured:
    once, each = (lab.free_swings[n].largest for n in ("je", "sej"))
    omega = FREE_MOMENTUM / FREE_BODY
    start, page = float(FREE_BODY @ omega**2) / 2, 0.0
    for _step in range(1000):
        omega = by_hand.closed_form(FREE_BODY, omega, 0.4)[0]
        page = max(page, abs(float(FREE_BODY @ omega**2) / 2 - start))
    count, problem = LONG if lab.quick else 10 * LONG, problems.celledoni_free()
    runs = (lab.run(problem, name, 0.4 * count, 0.4, count // 100) for name in ("je", "sej"))
    later = [swing(run).largest for run in runs]
    right = max(once, later[0]) < 1e-15
    return holds_if(right and page < 1e-15, once, page, each, count, *later, corrected=right)


# ---- section 4.1, figure 2
def figure2(lab: Laboratory) -> Measured:
    study = lab.studies["frb"]
    errors = [float(study.error_ratio("both", f"mr{p}", f"jem{p}").mean()) for p in (2, 4)]
    second, fourth = (
        study.time_ratio("both", f"mr{p}", f"jem{p}", aim) for p, aim in ((2, 1e-4), (4, 1e-7))
    )
    holds = min(errors) > 3 and fourth > 1 and second > 0.4
    return holds_if(holds, *errors, second, fourth)
