"""Section 4, its introduction and 4.1, of Celledoni & Säfström (2006)."""

import numpy as np

from polhode import problems
from polhode.body import RigidBody
from polhode.papers.celledoni2006 import by_hand, reference
from polhode.papers.celledoni2006.elliptic import FREE_BODY, FREE_MOMENTUM
from polhode.papers.celledoni2006.laboratory import Laboratory, label, swing
from polhode.papers.celledoni2006.maps import DIFFERENCE, ROUNDING, round_trip, small
from polhode.papers.laboratory import WHOLE_RUN
from polhode.papers.maps import (
    EXACT,
    HALVINGS,
    INERTIA,
    STEP,
    VISIBLE,
    defect,
    orders,
    states,
    step,
)
from polhode.papers.rotations import matrix
from polhode.papers.verdicts import Check, Measured, between, judge, largest, listing, near
from polhode.problems.problem import Problem

LONG = 100_000  # steps of 0.4 in which an error accumulates or does not

MEASUREMENTS: dict[str, Check] = {
    "energy-mr2": lambda lab: between(3e-4, 3e-3, "{:.1e}", lab.free_swings["mr2"].amplitude)
}


# ---- section 4
def four_parts(_: Laboratory) -> Measured:
    printed, page = 0.0, 0.0
    for q, m in states():
        p = np.array(m)
        turn = by_hand.exp(np.array([STEP * p[0] / INERTIA[0], 0.0, 0.0]))
        printed = max(printed, largest(by_hand.turn_x(STEP, p, INERTIA) - turn))
        attitude, momentum = by_hand.mr(STEP, (matrix(q).T, p), INERTIA, by_hand.no_torque)
        new, found = step("mr2")(STEP, (q, m))
        page = max(page, largest(matrix(new).T - attitude), largest(found - momentum))
    text = f"R_x(h) is exp(skew) to {small(printed)}; Φ_M of the page and mr2 differ by {page:.0e}"
    return text, judge(max(printed, page) < EXACT)


def s2(_: Laboratory) -> Measured:
    h = 0.2
    turned = largest(by_hand.exp(h * FREE_MOMENTUM / FREE_BODY) - np.eye(3))
    text = f"(7) leaves Q as it is (to 0); in h = {h} (5) turns it by {turned:.2f}"
    return text, judge(turned < EXACT, turned > VISIBLE)


def mr_scheme(_: Laboratory) -> Measured:
    back = round_trip("mr2", "torque")
    found = defect("mr2", "torque", HALVINGS[0])
    p, r = orders("mr2", "torque", (10, 20, 40, 80))
    text = (
        f"with torque: h then -h back to {back:.0e}; |JᵀΩ'J - Ω| = {found:.0e} (h = 0.4); order"
        f" {p:.2f} (π), {r:.2f} (Q)"
    )
    return text, judge(back < EXACT and found < DIFFERENCE and near(p, 2) and near(r, 2))


def mr4(lab: Laboratory) -> Measured:
    study = lab.studies["euler"]
    found = study.orders(study.momentum, ("mr4", "mr4s"))
    swings = {n: lab.free_swings[n].amplitude for n in found}
    text = (
        f"order: triple jump {found['mr4']:.2f}, Suzuki {found['mr4s']:.2f}; amplitude of the"
        f" energy (1e-5 in the paper): {swings['mr4']:.0e}, {swings['mr4s']:.0e}"
    )
    fits = {n: 3e-6 < x < 1e-4 for n, x in swings.items()}
    fourth = all(near(p, 4) for p in found.values())
    return text, judge(fourth and all(fits.values()), fourth and fits["mr4"])


# ---- section 4.1, figure 1
def figure1_orders(lab: Laboratory) -> Measured:
    study = lab.studies["euler"]
    found = study.orders(study.momentum, ("mr2", "mr4", "dmv2", "dmv4", "dmv6"))
    text = f"order in π {listing(found, '.2f', label)}"
    return text, judge(all(near(p, int(n[-1])) for n, p in found.items()))


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
    smallest = min(float(e.min()) for n, e in lab.studies["euler"].momentum.items() if n != "je")
    text = f"its error is {error:.0e}, in {len(found.t) - 1} steps; the smallest of MR and DMV:"
    return f"{text} {smallest:.0e}", judge(error < smallest)


def je_error(lab: Laboratory) -> Measured:
    worst = float(lab.studies["euler"].momentum["je"].max())
    return f"{small(worst)} at most, h = 1/4 to 1/64", judge(worst < 2e-14)


def order2(lab: Laboratory) -> Measured:
    study = lab.studies["euler"]
    ratio = study.momentum["dmv2"] / study.momentum["mr2"]
    time = study.time_ratio(study.momentum, "dmv2", "mr2", 1e-5)
    text = (
        f"error of DMV2 {ratio.min():.2f} to {ratio.max():.2f} times that of MR2; time to 1e-5"
        f" {time:.2f} times"
    )
    return text, judge(ratio.min() > 1 and ratio.max() < 2 and 0.3 < time < 3)


def order4(lab: Laboratory) -> Measured:
    study = lab.studies["euler"]
    ratio = study.momentum["mr4"] / study.momentum["dmv4"]
    other = study.momentum["dmv4"] / study.momentum["mr4s"]
    jump, suzuki = (study.time_ratio(study.momentum, n, "dmv4", 1e-9) for n in ("mr4", "mr4s"))
    text = (
        f"triple jump: error {ratio.min():.2f} to {ratio.max():.2f} times that of DMV4, time to"
        f" 1e-9 {jump:.1f} times; Suzuki: 1/{other.mean():.0f} of its error, time"
        f" {suzuki:.1f} times"
    )
    right = ratio.min() > 1 and ratio.max() < 2
    return text, judge(right and other.max() < 1, right)


def pi0(lab: Laboratory) -> Measured:
    other = Problem(RigidBody([5.0, 4.0, 3.0]), angular_momentum=[1.0, 0.0, 2.0])
    study, apart = lab.studies["euler"], 0.0
    end = np.array(reference.FREE_PI) * [-1, -1, 1]
    for name in ("mr2", "mr4", "dmv2", "dmv4", "dmv6"):
        run = lab.run(other, name, 1.0, 1 / 4, WHOLE_RUN)
        error = float(np.linalg.norm(run.angular_momentum[-1] - end))
        apart = max(apart, abs(error / float(study.momentum[name][0]) - 1))
    text = f"errors of MR and DMV from the two starts: the same to {small(apart)}, h = 1/4"
    return text, judge(False, apart < 1e-6)


def je_performance(lab: Laboratory) -> Measured:
    study = lab.studies["euler"]
    cost, base = study.cost_of("je"), float(study.time("je")[0])
    gains = {
        n: study.time_to(study.momentum, n, 1e-10) / base for n in ("mr4", "dmv4", "dmv6", "mr2")
    }
    text = (
        f"a step takes {cost:.1f} steps of MR2; to 1e-10 the others take"
        f" {listing(gains, '.2g', label)} times as long as JE with 4 steps"
    )
    return text, judge(min(gains["mr4"], gains["dmv4"]) > 2 and cost < 6)


# ---- section 4.1, energy
def energy_oscillates(lab: Laboratory) -> Measured:
    text, turns, growth = [], [], []
    for name in ("mr2", "mr4"):
        error = lab.free_swings[name].error
        first, second = map(largest, np.array_split(error[1:], 2))
        turns.append(int(np.count_nonzero(np.diff(np.sign(np.diff(error))))))
        growth.append(second / first - 1)
        text.append(
            f"{label(name)} {small(error.min())} to {error.max():.1e}, {turns[-1]} turning points,"
            f" second half {growth[-1]:+.1%}"
        )
    return ", ".join(text), judge(min(turns) > 20 and largest(growth) < 0.05)


def energy_mr4(lab: Laboratory) -> Measured:
    jump, suzuki = (lab.free_swings[n].amplitude for n in ("mr4", "mr4s"))
    text = f"{jump:.1e} with the triple jump, {suzuki:.1e} with Suzuki's"
    right = 3e-6 < jump < 1e-4
    return text, judge(right and suzuki > 3e-6, right)


def energy_dmv(lab: Laboratory) -> Measured:
    found = max(lab.free_swings[n].largest for n in ("dmv2", "dmv4", "dmv6"))
    p = FREE_MOMENTUM
    for _step in range(1000):
        p = by_hand.dmv(0.4, p, FREE_BODY, tolerance=1e-13)
    loose = abs(float(p @ (p / FREE_BODY) - FREE_MOMENTUM @ (FREE_MOMENTUM / FREE_BODY))) / 2
    text = f"{found:.0e} solved to rounding; {loose:.0e} with a fixed point to 1e-13"
    return text, judge(found < 3e-13)


def energy_je(lab: Laboratory) -> Measured:
    once, each = (lab.free_swings[n].largest for n in ("je", "sej"))
    omega = FREE_MOMENTUM / FREE_BODY
    start, page = float(FREE_BODY @ omega**2) / 2, 0.0
    for _step in range(1000):
        omega = by_hand.closed_form(FREE_BODY, omega, 0.4)[0]
        page = max(page, abs(float(FREE_BODY @ omega**2) / 2 - start))
    count = LONG if lab.quick else 10 * LONG
    problem = problems.celledoni_free()
    later = [
        swing(lab.run(problem, n, 0.4 * count, 0.4, count // 100)).largest for n in ("je", "sej")
    ]
    text = (
        f"{once:.0e}; with τ at every step {page:.0e} by the page, {each:.0e} by SEJ; after"
        f" {count:.0e} steps {later[0]:.0e} and, SEJ, {later[1]:.0e}"
    )
    right = max(once, later[0]) < 1e-15
    return text, judge(right and page < 1e-15, right)


# ---- section 4.1, figure 2
def figure2(lab: Laboratory) -> Measured:
    study = lab.studies["frb"]
    both = {n: study.both(n) for n in study.momentum}
    errors = [float((both[f"mr{p}"] / both[f"jem{p}"]).mean()) for p in (2, 4)]
    times = [study.time_ratio(both, f"mr{p}", f"jem{p}", aim) for p, aim in ((2, 1e-4), (4, 1e-7))]
    text = (
        f"error of MR2 {errors[0]:.0f} times that of JEM2, of MR4 {errors[1]:.0f} times that of"
        f" JEM4; times to 1e-4 and 1e-7: {times[0]:.1f} and {times[1]:.1f} times"
    )
    return text, judge(min(errors) > 3 and times[1] > 1 and times[0] > 0.4)


def figure2_momentum(lab: Laboratory) -> Measured:
    study = lab.studies["frb"]
    worst = max(float(study.momentum[n].max()) for n in ("jem2", "jem4"))
    return f"error in π {small(worst)} at every step size", judge(worst < ROUNDING)
