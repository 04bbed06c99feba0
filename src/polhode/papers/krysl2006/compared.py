"""Claims of section 4 of Krysl (2006): SWC1, AKW, BBTRAPWD and BBTRAP."""

import numpy as np

from polhode.papers.krysl2006 import by_hand
from polhode.papers.krysl2006.laboratory import KEPT, Laboratory
from polhode.papers.krysl2006.maps import asymmetry, kinetic, orders_by_hand, page_gap, torque_time
from polhode.papers.maps import (
    EXACT,
    STEP,
    VISIBLE,
    gap,
    march,
    near,
    order_of,
    orders,
    states,
    step,
    step_difference,
)
from polhode.papers.verdicts import Measured, judged

COUNTS = (20, 40, 80)


def _kept(lab: Laboratory, name: str) -> Measured:
    """Momentum and energy, both exact."""
    momentum, energy = lab.free_drifts[name].momentum, lab.free_drifts[name].worst_energy
    return f"momentum {momentum:.0e}, energy {energy:.0e}", judged(max(momentum, energy) < KEPT)


def second_order_four(_: Laboratory) -> Measured:
    found = {name: orders(name, "torque", COUNTS) for name in ("swc1", "akw", "bbtrap")}
    text = ", ".join(f"{name.upper()} {p:.2f} (Π) {r:.2f} (R)" for name, (p, r) in found.items())
    return text, judged(all(near(x, 2) for pair in found.values() for x in pair))


def swc1_kept(lab: Laboratory) -> Measured:
    return _kept(lab, "swc1")


def swc1_torque(_: Laboratory) -> Measured:
    return torque_time("swc1")


def akw_kept(lab: Laboratory) -> Measured:
    return _kept(lab, "akw")


def akw_top(lab: Laboratory) -> Measured:
    found = {name: runs["akw"] for name, runs in lab.top_drifts.items()}
    others = min(
        runs[name].worst_energy
        for runs in lab.top_drifts.values()
        for name in runs
        if name != "akw"
    )
    energy = max(drift.worst_energy for drift in found.values())
    momentum = max(drift.momentum for drift in found.values())
    text = (
        f"slow and fast top: energy {energy:.0e}, momentum about the vertical {momentum:.0e}"
        f" (energy of the other methods: {others:.0e} or more)"
    )
    return text, judged(max(energy, momentum) < KEPT)


def akw_cayley(_: Laboratory) -> Measured:
    right = min(orders_by_hand(by_hand.akw, "torque", COUNTS))
    other = orders_by_hand(by_hand.akw, "torque", COUNTS, half=1.0)[1]
    page = page_gap("akw")
    text = (
        f"order {right:.2f} (library: the same to {page:.0e}); with the other map {other:.2f} (R)"
    )
    return text, judged(False, near(right, 2) and page < EXACT and other < 0.5)


def bbtrap_kept(lab: Laboratory) -> Measured:
    return _kept(lab, "bbtrap")


def _energy_error(method: str) -> float:
    """The largest energy error of 300 free steps."""
    path = march(method, "free", 300 * STEP, 300, states(1)[0])
    energy = np.array([kinetic(s) for s in path])
    return float(np.abs(energy / energy[0] - 1).max())


def truncation_energy(_: Laboratory) -> Measured:
    full, truncated = _energy_error("bbtrapwd"), _energy_error("bbtrap")
    text = f"300 steps: BBTRAPWD {full:.0e}, BBTRAP {truncated:.0e}"
    return text, judged(truncated < KEPT and full > VISIBLE)


def truncation_order(_: Laboratory) -> Measured:
    found = [min(orders(name, "torque", COUNTS)) for name in ("bbtrapwd", "bbtrap")]
    text = f"BBTRAPWD {found[0]:.2f}, BBTRAP {found[1]:.2f}"
    return text, judged(all(near(x, 2) for x in found))


def bbtrapwd_neither(_: Laboratory) -> Measured:
    state = states(1)[0]

    def back(h: float) -> float:
        there = step("bbtrapwd")(h, state)
        return gap(step("bbtrapwd")(-h, there), state)

    order, _first = order_of(back)
    trip, mirror = asymmetry("bbtrapwd"), asymmetry("bbtrap")
    path = march("bbtrapwd", "free", 600 * STEP, 600, state)
    energy = np.array([kinetic(s) for s in path]) / kinetic(state) - 1
    text = (
        f"h then -h: {trip:.0e} from the start, O(h^{order:.1f}) (BBTRAP {mirror:.0e}); energy"
        f" {energy[300]:+.1e} after 300 steps, {energy[600]:+.1e} after 600"
    )
    drifts = abs(energy[600]) > 1.5 * abs(energy[300]) > VISIBLE
    return text, judged(False, trip > VISIBLE and drifts)


def bbtrap_swc1(_: Laboratory) -> Measured:
    free = max(gap(step("bbtrap")(STEP, state), step("swc1")(STEP, state)) for state in states())
    order, value = step_difference("bbtrap", "swc1")
    text = f"without torque {free:.0e}; with: {value:.0e} a step (h = 0.4), O(h^{order:.1f})"
    return text, judged(free < EXACT and near(order, 3, 0.3))


def bbtrap_trapm(lab: Laboratory) -> Measured:
    order, value = step_difference("bbtrap", "trapm")
    ranking = {name: study.ranking(study.attitude) for name, study in lab.convergence.items()}
    gain = {name: ranks["bbtrap"] / ranks["trapm"] for name, ranks in ranking.items()}
    text = (
        f"{value:.0e} a step (h = 0.4), O(h^{order:.1f}); error in R against TRAPM's:"
        f" {gain['free']:.1f}x (5.1), {gain['slow']:.1f}x (5.2), {gain['fast']:.1f}x (5.3)"
    )
    return text, judged(value > VISIBLE and near(order, 3, 0.3) and gain["fast"] > 2)
