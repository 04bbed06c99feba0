"""Section 1 of Celledoni & Säfström (2006): what others do, what is compared."""

import numpy as np

from polhode import problems
from polhode.papers.celledoni2006 import by_hand
from polhode.papers.celledoni2006.elliptic import FREE_BODY, FREE_MOMENTUM, TOP_BODY, TOP_RATE
from polhode.papers.celledoni2006.laboratory import (
    NEAR,
    SATELLITE_STEPS,
    THREE,
    TOP_STEPS,
    Laboratory,
    label,
    short_label,
)
from polhode.papers.celledoni2006.maps import (
    DIFFERENCE,
    ROUNDING,
    bodies,
    momentum_map,
    poisson_defect,
    round_trip,
    small,
    truth,
)
from polhode.papers.maps import EXACT, HALVINGS, defect, defect_order
from polhode.papers.reference import solution
from polhode.papers.verdicts import Check, Measured, below, judge, largest, listing, near

START = np.array([-1.0, 1.5, 2.0])  # a momentum away from all axes
MOVING = "dmv2", "dmv4", "dmv6"

MEASUREMENTS: dict[str, Check] = {
    "mr-poisson": lambda _: below(
        DIFFERENCE,
        "one step of MR2, h = 0.4: |J skew(π)Jᵀ - skew(π')| = {:.0e} |π|",
        poisson_defect(momentum_map("mr2", 0.4), START),
    )
}


def constants(_: Laboratory) -> Measured:
    omega = truth(TOP_BODY, TOP_RATE, np.linspace(0.1, 2.0, 20))
    kept = [
        largest(omega**2 @ weight / (TOP_RATE**2 @ weight) - 1)
        for weight in (TOP_BODY, TOP_BODY**2)
    ]
    return below(1e-12, "to {:.0e} and {:.0e} along DOP853", *kept)


def lie_poisson(_: Laboratory) -> Measured:
    def flow(p: np.ndarray) -> np.ndarray:
        return by_hand.closed_form(FREE_BODY, p / FREE_BODY, 1.0)[0] * FREE_BODY

    text = "|J skew(π)Jᵀ - skew(π')| = {:.0e} |π| for the flow over t = 1"
    return below(DIFFERENCE, text, poisson_defect(flow, np.array([-1.0, 0.3, 2.0])))


def fields(_: Laboratory) -> Measured:
    total, bracket = 0.0, 0.0
    for inertia, omega in bodies(10):
        parts = by_hand.fields(inertia, omega)
        total = max(total, largest(parts.sum(axis=0) - by_hand.euler(inertia, omega)))
        hamiltonian = [np.cross(inertia * omega, e * omega) for e in np.eye(3)]
        bracket = max(bracket, largest(parts - hamiltonian))
    text = "10 bodies: the sum to {:.0e}, the Hamiltonian fields to {:.0e}"
    return below(ROUNDING, text, total, bracket)


def fields_flow(_: Laboratory) -> Measured:
    p, worst = np.array([-1.0, 0.5, 2.0]), 0.0
    for axis in range(3):

        def field(t: float, x: np.ndarray, axis: int = axis) -> np.ndarray:
            return by_hand.fields(FREE_BODY, x / FREE_BODY)[axis]

        turn = by_hand.exp(np.eye(3)[axis] * p[axis] / FREE_BODY[axis])
        worst = max(worst, largest(turn @ p - solution(field, 1.0, p)))
    return below(EXACT, "a turn about the axis is the flow over t = 1 to {:.0e}", worst)


def not_symplectic(_: Laboratory) -> Measured:
    back = max(round_trip(name, "torque") for name in ("sej", "sej4"))
    (p2, d2), (p4, d4) = (defect_order(name, "torque") for name in ("sej", "sej4"))
    control = defect("strang", "torque", HALVINGS[0])
    text = (
        f"h then -h: back to {back:.0e}; |JᵀΩ'J - Ω| at h = 0.4: SEJ {d2:.0e} (O(h^{p2:.1f})), SEJ4"
        f" {d4:.0e} (O(h^{p4:.1f})); the same splitting with the exact flow {control:.0e}"
    )
    return text, judge(back < EXACT and min(d2, d4) > 1e4 * control)


def better_energy(lab: Laboratory) -> Measured:
    ratios = lab.energy_ratios
    better = sum(ratio > 1 for ratio in ratios)
    text = (
        f"{better} of {len(ratios)} experiments of figures 4 to 8: the error of MR is"
        f" {min(ratios):.1g} to {max(ratios):.1g} times that of SEJ"
    )
    return text, judge(better > len(ratios) / 2)


def better_behaviour(lab: Laboratory) -> Measured:
    cases = [(lab.top, h) for h in TOP_STEPS] + [(lab.satellite, h) for h in SATELLITE_STEPS]
    left = {name: sum(case.farthest(name, h) > NEAR for case, h in cases) for name in THREE}
    text = (
        f"of 5 runs of figures 4, 5, 7 and 8, those that leave the exact curve by more than {NEAR}:"
        f" {listing(left, 'd', short_label)}"
    )
    return text, judge(left["sej4"] == 0 and left["sej"] < left["mr2"])


def dmv_preserves(lab: Laboratory) -> Measured:
    energy = max(lab.free_swings[name].largest for name in MOVING)
    moved = 0.0
    for name in MOVING:
        run = lab.run(problems.celledoni_free(), name, 400.0, 0.4)
        momentum = run.angular_momentum_inertial
        moved = max(moved, largest(momentum - momentum[0]))
    structure = max(poisson_defect(momentum_map(name, 0.3), START) for name in MOVING)
    text = (
        f"1000 steps of 0.4: energy to {energy:.0e}, momentum to {moved:.0e}; structure to"
        f" {structure:.0e}"
    )
    return text, judge(max(energy, moved) < 1e-12 and structure < DIFFERENCE)


def dmv_orders(lab: Laboratory) -> Measured:
    study = lab.studies["euler"]
    found = study.orders(study.momentum, MOVING)
    fourth, sixth = study.orders(study.attitude, MOVING[1:]).values()
    text = f"order in π {listing(found, '.2f', label)}; in Q {fourth:.2f} and {sixth:.2f}"
    right = all(near(found[f"dmv{p}"], p) for p in (2, 4, 6))
    return text, judge(right and near(fourth, 2) and near(sixth, 2))


def dmv_once(lab: Laboratory) -> Measured:
    h, apart = 1 / 8, 0.0
    for order in (4, 6):
        scale = by_hand.scale(h, FREE_MOMENTUM, FREE_BODY, order)
        p = FREE_MOMENTUM * scale
        for _step in range(8):
            p = by_hand.dmv(h, p, FREE_BODY)
        run = lab.run(problems.celledoni_free(), f"dmv{order}", 1.0, h)
        apart = max(apart, largest(p / scale - run.angular_momentum[-1]))
    text = "scaled once, and at every step (library): π(1) differs by {:.0e}"
    return below(EXACT, text, apart)


def dmv_cost(lab: Laboratory) -> Measured:
    study = lab.studies["euler"]
    ratio = [study.cost_of(n) / study.cost_of("dmv2") for n in ("dmv4", "dmv6")]
    newton = [study.iterations[n] for n in MOVING]
    text = (
        f"a step takes {ratio[0]:.2f} and {ratio[1]:.2f} times that of DMV2, and"
        f" {newton[1]:.2f}, {newton[2]:.2f} Newton iterations (DMV2 {newton[0]:.2f})"
    )
    return text, judge(max(newton) < 1.1 * min(newton) and max(ratio) < 2)


def je_dmv(lab: Laboratory) -> Measured:
    study, k = lab.studies["euler"], 2
    cost = study.cost_of("je") / study.cost_of("dmv6")
    errors = [float(study.momentum[n][k]) for n in ("je", "dmv6")]
    gain = study.time_to(study.momentum, "dmv6", 1e-13) / float(study.time("je")[0])
    text = (
        f"a step of JE takes {cost:.1f} times that of DMV6; errors at h = 1/16: {small(errors[0])}"
        f" and {errors[1]:.0e}; DMV6 to 1e-13 takes {gain:.1f} times the time of JE with 4 steps"
    )
    return text, judge(errors[0] < 1e-3 * errors[1] and cost < 6)


def extra_cost(lab: Laboratory) -> Measured:
    once, each = (lab.studies["frb"].cost_of(n) for n in ("jem2", "sej"))
    text = (
        f"free body: a step takes {each:.1f} steps of MR2 with τ computed at every step (SEJ),"
        f" {once:.1f} with τ computed once (JEM2): {each / once - 1:+.0%}"
    )
    return text, judge(each > once)


def torqued(lab: Laboratory) -> Measured:
    aim = 1e-3
    times = lab.studies["top"].times_to(aim)
    text = (
        f"heavy top, time to an error of {aim} in Q: MR takes {times['mr2'] / times['sej']:.2f}"
        f" times that of SEJ, {times['mr2'] / times['sej4']:.1f} times that of SEJ4"
    )
    return text, judge(times["mr2"] > times["sej4"])
