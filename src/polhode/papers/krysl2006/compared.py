"""Section 4 of Krysl (2006): SWC1, AKW, BBTRAPWD and BBTRAP."""

from polhode.papers.krysl2006 import by_hand
from polhode.papers.krysl2006.laboratory import KEPT, Laboratory
from polhode.papers.krysl2006.maps import (
    asymmetry,
    energy_change,
    orders_by_hand,
    page_gap,
    torque_time,
)
from polhode.papers.maps import (
    EXACT,
    STEP,
    VISIBLE,
    gap,
    order_of,
    orders,
    states,
    step,
    step_difference,
)
from polhode.papers.verdicts import Check, Measured, below, judge, largest, near, of_order

COUNTS = (20, 40, 80)


def _kept(lab: Laboratory, name: str) -> Measured:
    """Momentum and energy, both exact."""
    drift = lab.free_drifts[name]
    return below(KEPT, "momentum {:.0e}, energy {:.0e}", drift.momentum, drift.worst_energy)


MEASUREMENTS: dict[str, Check] = {
    "swc1-kept": lambda lab: _kept(lab, "swc1"),
    "swc1-torque": lambda _: torque_time("swc1"),
    "akw-kept": lambda lab: _kept(lab, "akw"),
    "bbtrap-kept": lambda lab: _kept(lab, "bbtrap"),
    "truncation-order": lambda _: of_order(
        2,
        "BBTRAPWD {:.2f}, BBTRAP {:.2f}",
        *(min(orders(name, "torque", COUNTS)) for name in ("bbtrapwd", "bbtrap")),
    ),
}


def second_order_four(_: Laboratory) -> Measured:
    found = {name: orders(name, "torque", COUNTS) for name in ("swc1", "akw", "bbtrap")}
    text = ", ".join(f"{name.upper()} {p:.2f} (Π) {r:.2f} (R)" for name, (p, r) in found.items())
    return text, judge(all(near(x, 2) for pair in found.values() for x in pair))


def akw_top(lab: Laboratory) -> Measured:
    tops = lab.top_drifts.values()
    others = min(runs[name].worst_energy for runs in tops for name in runs if name != "akw")
    energy = max(runs["akw"].worst_energy for runs in tops)
    momentum = max(runs["akw"].momentum for runs in tops)
    text = (
        f"slow and fast top: energy {energy:.0e}, momentum about the vertical {momentum:.0e}"
        f" (energy of the other methods: {others:.0e} or more)"
    )
    return text, judge(max(energy, momentum) < KEPT)


def akw_cayley(_: Laboratory) -> Measured:
    right = min(orders_by_hand(by_hand.akw, "torque", COUNTS))
    other = orders_by_hand(by_hand.akw, "torque", COUNTS, half=1.0)[1]
    page = page_gap("akw")
    text = (
        f"order {right:.2f} (library: the same to {page:.0e}); with the other map {other:.2f} (R)"
    )
    return text, judge(False, near(right, 2) and page < EXACT and other < 0.5)


def truncation_energy(_: Laboratory) -> Measured:
    full, truncated = (largest(energy_change(name, 300)) for name in ("bbtrapwd", "bbtrap"))
    text = f"300 steps: BBTRAPWD {full:.0e}, BBTRAP {truncated:.0e}"
    return text, judge(truncated < KEPT and full > VISIBLE)


def bbtrapwd_neither(_: Laboratory) -> Measured:
    state, mapped = states(1)[0], step("bbtrapwd")
    order, _first = order_of(lambda h: gap(mapped(-h, mapped(h, state)), state))
    trip, mirror = asymmetry("bbtrapwd"), asymmetry("bbtrap")
    energy = energy_change("bbtrapwd", 600)
    text = (
        f"h then -h: {trip:.0e} from the start, O(h^{order:.1f}) (BBTRAP {mirror:.0e}); energy"
        f" {energy[300]:+.1e} after 300 steps, {energy[600]:+.1e} after 600"
    )
    drifts = abs(energy[600]) > 1.5 * abs(energy[300]) > VISIBLE
    return text, judge(False, trip > VISIBLE and drifts)


def bbtrap_swc1(_: Laboratory) -> Measured:
    free = max(gap(step("bbtrap")(STEP, state), step("swc1")(STEP, state)) for state in states())
    order, value = step_difference("bbtrap", "swc1")
    text = f"without torque {free:.0e}; with: {value:.0e} a step (h = 0.4), O(h^{order:.1f})"
    return text, judge(free < EXACT and near(order, 3, 0.3))


def bbtrap_trapm(lab: Laboratory) -> Measured:
    order, value = step_difference("bbtrap", "trapm")
    gain = {}
    for name, study in lab.convergence.items():
        errors = study.ranking(study.attitude)
        gain[name] = errors["bbtrap"] / errors["trapm"]
    text = (
        f"{value:.0e} a step (h = 0.4), O(h^{order:.1f}); error in R against TRAPM's:"
        f" {gain['free']:.1f}x (5.1), {gain['slow']:.1f}x (5.2), {gain['fast']:.1f}x (5.3)"
    )
    return text, judge(value > VISIBLE and near(order, 3, 0.3) and gain["fast"] > 2)
