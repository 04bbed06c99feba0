"""Claims of section 1 of Celledoni & Säfström (2006): what others do, what is compared."""

import numpy as np

from polhode import problems
from polhode.papers.celledoni2006 import by_hand
from polhode.papers.celledoni2006.elliptic import FREE_BODY, FREE_MOMENTUM, TOP_BODY, TOP_RATE
from polhode.papers.celledoni2006.laboratory import (
    NEAR,
    SATELLITE_STEPS,
    TOP_STEPS,
    Laboratory,
    astray,
    shown,
    vertical,
)
from polhode.papers.celledoni2006.maps import (
    DIFFERENCE,
    ROUNDING,
    bodies,
    momentum_map,
    poisson_defect,
    returned,
    small,
    truth,
)
from polhode.papers.maps import EXACT, HALVINGS, defect, defect_order, near
from polhode.papers.verdicts import Measured, judged


def constants(_: Laboratory) -> Measured:
    omega = truth(TOP_BODY, TOP_RATE, np.linspace(0.1, 2.0, 20))
    energy, square = omega**2 @ TOP_BODY, omega**2 @ TOP_BODY**2
    kept = [
        float(np.abs(values / start - 1).max())
        for values, start in (
            (energy, TOP_RATE**2 @ TOP_BODY),
            (square, TOP_RATE**2 @ TOP_BODY**2),
        )
    ]
    return f"to {kept[0]:.0e} and {kept[1]:.0e} along DOP853", judged(max(kept) < 1e-12)


def lie_poisson(_: Laboratory) -> Measured:
    def flow(p: np.ndarray) -> np.ndarray:
        return by_hand.closed_form(FREE_BODY, p / FREE_BODY, 1.0)[0] * FREE_BODY

    found = poisson_defect(flow, np.array([-1.0, 0.3, 2.0]))
    text = f"|J skew(π)Jᵀ - skew(π')| = {found:.0e} |π| for the flow over t = 1"
    return text, judged(found < DIFFERENCE)


def fields(_: Laboratory) -> Measured:
    total, bracket = 0.0, 0.0
    for inertia, omega in bodies(10):
        parts = by_hand.fields(inertia, omega)
        right = by_hand.euler(inertia, omega)
        total = max(total, float(np.abs(parts.sum(axis=0) - right).max()))
        for axis in range(3):
            gradient = np.eye(3)[axis] * omega[axis]
            field = np.cross(inertia * omega, gradient)
            bracket = max(bracket, float(np.abs(parts[axis] - field).max()))
    text = f"10 bodies: the sum to {total:.0e}, the Hamiltonian fields to {bracket:.0e}"
    return text, judged(max(total, bracket) < ROUNDING)


def fields_flow(_: Laboratory) -> Measured:
    from scipy.integrate import solve_ivp

    inertia, p = FREE_BODY, np.array([-1.0, 0.5, 2.0])
    worst = 0.0
    for axis in range(3):

        def field(t: float, x: np.ndarray, axis: int = axis) -> np.ndarray:
            return by_hand.fields(inertia, x / inertia)[axis]

        end = solve_ivp(field, (0.0, 1.0), p, method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
        turn = by_hand.exp(np.eye(3)[axis] * p[axis] / inertia[axis])
        worst = max(worst, float(np.abs(turn @ p - end).max()))
    text = f"a turn about the axis is the flow over t = 1 to {worst:.0e}"
    return text, judged(worst < EXACT)


def mr_poisson(_: Laboratory) -> Measured:
    found = poisson_defect(momentum_map("mr2", 0.4), np.array([-1.0, 1.5, 2.0]))
    text = f"one step of MR2, h = 0.4: |J skew(π)Jᵀ - skew(π')| = {found:.0e} |π|"
    return text, judged(found < DIFFERENCE)


def not_symplectic(_: Laboratory) -> Measured:
    back = max(returned(name, "torque") for name in ("sej", "sej4"))
    (p2, d2), (p4, d4) = (defect_order(name, "torque") for name in ("sej", "sej4"))
    control = defect("strang", "torque", HALVINGS[0])
    text = (
        f"h then -h: back to {back:.0e}; |JᵀΩ'J - Ω| at h = 0.4: SEJ {d2:.0e} (O(h^{p2:.1f})), SEJ4"
        f" {d4:.0e} (O(h^{p4:.1f})); the same splitting with the exact flow {control:.0e}"
    )
    return text, judged(back < EXACT and min(d2, d4) > 1e4 * control)


def better_energy(lab: Laboratory) -> Measured:
    ratios = lab.energy_ratios
    better = sum(ratio > 1 for ratio in ratios)
    text = (
        f"{better} of {len(ratios)} experiments of figures 4 to 8: the error of MR is"
        f" {min(ratios):.1g} to {max(ratios):.1g} times that of SEJ"
    )
    return text, judged(better > len(ratios) / 2)


def better_behaviour(lab: Laboratory) -> Measured:
    far = {
        name: [
            float(astray(vertical(runs[name, h]), curve).max())
            for runs, curve, steps in (
                (lab.top_runs, lab.top_curve, TOP_STEPS),
                (lab.satellite_runs, lab.satellite_curve, SATELLITE_STEPS),
            )
            for h in steps
        ]
        for name in ("mr2", "sej", "sej4")
    }
    left = {name: sum(x > NEAR for x in values) for name, values in far.items()}
    text = (
        f"of 5 runs of figures 4, 5, 7 and 8, those that leave the exact curve by more than {NEAR}:"
        f" MR {left['mr2']}, SEJ {left['sej']}, SEJ4 {left['sej4']}"
    )
    return text, judged(left["sej4"] == 0 and left["sej"] < left["mr2"])


def dmv_preserves(lab: Laboratory) -> Measured:
    names = ("dmv2", "dmv4", "dmv6")
    energy = max(lab.free_swings[name].largest for name in names)
    moved = 0.0
    for name in names:
        run = lab.run(problems.celledoni_free(), name, 400.0, 0.4)
        momentum = run.angular_momentum_inertial
        moved = max(moved, float(np.abs(momentum - momentum[0]).max()))
    p = np.array([-1.0, 1.5, 2.0])
    structure = max(poisson_defect(momentum_map(name, 0.3), p) for name in names)
    text = (
        f"1000 steps of 0.4: energy to {energy:.0e}, momentum to {moved:.0e}; structure to"
        f" {structure:.0e}"
    )
    return text, judged(max(energy, moved) < 1e-12 and structure < DIFFERENCE)


def dmv_orders(lab: Laboratory) -> Measured:
    study = lab.studies["euler"]
    found = {n: study.order(study.momentum, n) for n in ("dmv2", "dmv4", "dmv6")}
    attitude = [study.order(study.attitude, n) for n in ("dmv4", "dmv6")]
    text = "order in π " + ", ".join(f"{shown(n)} {p:.2f}" for n, p in found.items())
    text += f"; in Q {attitude[0]:.2f} and {attitude[1]:.2f}"
    right = all(near(found[f"dmv{p}"], p) for p in (2, 4, 6))
    return text, judged(right and all(near(p, 2) for p in attitude))


def dmv_once(lab: Laboratory) -> Measured:
    h, apart = 1 / 8, 0.0
    problem = problems.celledoni_free()
    for order in (4, 6):
        scale = by_hand.scale(h, FREE_MOMENTUM, FREE_BODY, order)
        p = FREE_MOMENTUM * scale
        for _step in range(8):
            p = by_hand.dmv(h, p, FREE_BODY)
        run = lab.run(problem, f"dmv{order}", 1.0, h)
        apart = max(apart, float(np.abs(p / scale - run.angular_momentum[-1]).max()))
    text = f"scaled once, and at every step (library): π(1) differs by {apart:.0e}"
    return text, judged(apart < EXACT)


def dmv_cost(lab: Laboratory) -> Measured:
    study = lab.studies["euler"]
    base = float(np.median(study.cost["dmv2"]))
    ratio = {n: float(np.median(study.cost[n])) / base for n in ("dmv4", "dmv6")}
    newton = [study.iterations[n] for n in ("dmv2", "dmv4", "dmv6")]
    text = (
        f"a step takes {ratio['dmv4']:.2f} and {ratio['dmv6']:.2f} times that of DMV2, and"
        f" {newton[1]:.2f}, {newton[2]:.2f} Newton iterations (DMV2 {newton[0]:.2f})"
    )
    same = max(newton) < 1.1 * min(newton)
    return text, judged(same and max(ratio.values()) < 2)


def je_dmv(lab: Laboratory) -> Measured:
    study = lab.studies["euler"]
    cost = float(np.median(study.cost["je"]) / np.median(study.cost["dmv6"]))
    k = 2
    errors = [float(study.momentum[n][k]) for n in ("je", "dmv6")]
    gain = study.time_to(study.momentum, "dmv6", 1e-13) / float(study.time("je")[0])
    text = (
        f"a step of JE takes {cost:.1f} times that of DMV6; errors at h = 1/16: {small(errors[0])}"
        f" and {errors[1]:.0e}; DMV6 to 1e-13 takes {gain:.1f} times the time of JE with 4 steps"
    )
    return text, judged(errors[0] < 1e-3 * errors[1] and cost < 6)


def extra_cost(lab: Laboratory) -> Measured:
    study = lab.studies["frb"]
    once, each = (float(np.median(study.cost[n])) for n in ("jem2", "sej"))
    text = (
        f"free body: a step takes {each:.1f} steps of MR2 with τ found anew (SEJ), {once:.1f} with"
        f" τ found once (JEM2): {each / once - 1:+.0%}"
    )
    return text, judged(each > once)


def torqued(lab: Laboratory) -> Measured:
    study = lab.studies["top"]
    aim = 1e-3
    times = {n: study.time_to(study.attitude, n, aim) for n in ("mr2", "sej", "sej4")}
    text = (
        f"heavy top, time to an error of {aim} in Q: MR takes {times['mr2'] / times['sej']:.2f}"
        f" times that of SEJ, {times['mr2'] / times['sej4']:.1f} times that of SEJ4"
    )
    return text, judged(times["mr2"] > times["sej4"])
