"""Sections 2 to 4 of Krysl (2006): the steps, their compositions, and what the algorithms keep.

The one-step maps have the bodies, torques and states of ``papers.maps``.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from polhode.papers.krysl2006 import by_hand
from polhode.papers.krysl2006.laboratory import KEPT, Laboratory, contrast
from polhode.papers.maps import (
    BOTH,
    EXACT,
    HALVINGS,
    INERTIA,
    STEP,
    T_END,
    VISIBLE,
    State,
    asymmetry,
    chain_gap,
    defect_order,
    gap,
    march,
    order_of,
    orders,
    orders_of_ends,
    states,
    step,
    step_difference,
    symplectic_defect,
    torque_by_hand,
)
from polhode.papers.rotations import exp, log, matrix
from polhode.papers.verdicts import (
    Check,
    Measured,
    above,
    added_if,
    below,
    holds_if,
    largest,
    near,
    of_order,
    relative_change,
)

COMPOSED = {  # the half steps of each method
    "trap": ("forward-euler", "backward-euler"),
    "imid": ("backward-euler", "forward-euler"),
    "trapm": ("forward-euler-m", "backward-euler-m"),
    "imidm": ("backward-euler-m", "forward-euler-m"),
}
COUNTS = 20, 40, 80  # steps, for orders
TABLEAUS = (by_hand.RK4, (8, 16, 32)), (by_hand.HEUN2, (32, 64, 128))  # with such counts
SECOND = "trapm", "imidm"  # the pair of section 3.6
FORWARD, BACKWARD = COMPOSED["trapm"]  # its steps (18) and (19)
PENDULUM = np.array([0.3, 1.1])  # (p, u)
PSI = np.array([0.7, -0.4, 0.5])


# ---- maps
def kinetic(state: State) -> float:
    """Return the kinetic energy."""
    m = np.array(state[1])
    return float(m @ (m / INERTIA)) / 2


def energy_change(method: str, count: int, h: float = STEP) -> np.ndarray:
    """Return the relative change of the kinetic energy along free steps of a method."""
    path = march(method, "free", count * h, count, states(1)[0])
    return relative_change([kinetic(state) for state in path])


# ---- differences
def same_step(one: str, other: str, models: Sequence[str] = BOTH) -> float:
    """Return the difference between a step of one method and a step of another."""
    return chain_gap([(one, STEP)], [(other, STEP)], models)


def composed_gap(whole: str, *halves: str) -> float:
    """Return the difference between a step and half steps of two methods, by default its own."""
    return chain_gap([(half, STEP / 2) for half in halves or COMPOSED[whole]], [(whole, STEP)])


def round_trip(first: str, second: str) -> float:
    """Return the distance from the start after a step of one method and a step back of another."""
    return chain_gap([(first, STEP), (second, -STEP)])


def conjugate_gap(midpoint: str, trapezoid: str) -> float:
    """Φᴹ against (Φᵇᴱ)⁻¹ Φᵀ Φᵇᴱ with half Euler steps, the inverse being Φᶠᴱ of -Δt/2."""
    backward, forward = COMPOSED[midpoint]
    pushed = [(backward, STEP / 2), (trapezoid, STEP), (forward, -STEP / 2)]
    return chain_gap([(midpoint, STEP)], pushed)


# ---- the page
def page_gap(method: str, **reading: Any) -> float:
    """Return the difference between a step of the library and the formula of the page."""
    formula, found = getattr(by_hand, method.partition(":")[0]), 0.0
    for state in states():
        start = matrix(state[0]), np.array(state[1])
        for model in BOTH:
            r, p = formula((0.0, STEP, start, INERTIA, torque_by_hand(model)), **reading)
            q, m = step(method, model)(STEP, state)
            size = float(np.linalg.norm(p))
            found = max(found, largest(matrix(q) - r), largest(np.array(m) - p) / size)
    return found


def orders_by_hand(
    method: str, model: str = "torque", counts: Sequence[int] = COUNTS, **reading: Any
) -> tuple[float, float]:
    """Return the orders in Π and R of the formula of the page, with a reading of it."""
    ends, acting = [], torque_by_hand(model)
    for n in counts:
        q, m = states(1)[0]
        state = matrix(q), np.array(m)
        for k in range(n):
            step_of = k * T_END / n, T_END / n, state, INERTIA, acting
            state = getattr(by_hand, method)(step_of, **reading)
        ends.append(state)
    return orders_of_ends(model, counts, ends)


def mkrk_orders(argument: str, readings: Sequence[Any]) -> list[float]:
    """Return the orders of MKRK with readings of an argument: of RK4, then of Heun's method."""
    return [
        min(orders_by_hand("mkrk", counts=counts, tableau=tableau, **{argument: reading}))
        for tableau, counts in TABLEAUS
        for reading in readings
    ]


def defects(method: str) -> tuple[float, float, float]:
    """(order of the defect of one free step, its value at the largest h, that of a control).

    The control is a symplectic splitting: its defect is the error of the measurement.
    """
    q, m = states(1)[0]
    control = symplectic_defect(
        lambda state: by_hand.axis_splitting(HALVINGS[0], state, INERTIA),
        (matrix(q), np.array(m)),
    )
    return *defect_order(method, "free"), control


def _torque_time(method: str) -> Measured:
    """Return the orders of the page and of the library with a torque that depends on time."""
    library = min(orders(method, "swinging", COUNTS))
    right, printed = (min(orders_by_hand(method, "swinging", late=late)) for late in (0.0, 1.0))
    corrected = near(library, 2) and near(right, 2)
    return holds_if(near(printed, 2), printed, right, library, corrected=corrected)


def _kept(lab: Laboratory, name: str) -> Measured:
    """Return whether momentum and energy are both exact."""
    drift = lab.free_drifts[name]
    return below(KEPT, drift.momentum, drift.worst_energy)


def _bounded(lab: Laboratory, name: str) -> Measured:
    """Return whether the largest energy error in each tenth of the run does not grow."""
    energy = lab.free_drifts[name].energy[1:]
    tenths = [largest(part) for part in np.array_split(energy, 10)]
    signs = int(np.count_nonzero(np.diff(np.sign(np.diff(energy)))))
    growth = tenths[-1] / tenths[0] - 1
    holds = abs(growth) < 0.02 and signs > len(energy) / 20
    return holds_if(holds, len(energy), signs, growth)


# ---- measurements
MEASUREMENTS: dict[str, Check] = {
    "dexp-fixed": lambda _: below(
        EXACT,
        largest(by_hand.dexp(0 * PSI) - np.eye(3)),
        largest(by_hand.dexp(PSI) @ PSI - PSI),
    ),
    "euler-orders": lambda _: of_order(
        1,
        *(
            order
            for method in ("trap", "trapm")
            for name in COMPOSED[method]
            for order in orders(name, "torque", (40, 80, 160))
        ),
        band=0.2,
    ),
    "undo-forward": lambda _: below(EXACT, round_trip("forward-euler", "backward-euler")),
    "undo-backward": lambda _: below(EXACT, round_trip("backward-euler", "forward-euler")),
    "imid-composition": lambda _: below(EXACT, composed_gap("imid"), page_gap("imid")),
    "imid-torque-time": lambda _: _torque_time("imid"),
    "trap-momentum": lambda lab: above(VISIBLE, lab.free_drifts["trap"].momentum),
    "imid-momentum": lambda lab: contrast(
        lab.free_drifts["imid"].norm, lab.free_drifts["imid"].momentum
    ),
    "rate-balance": lambda lab: below(KEPT, max(lab.free_drifts[n].momentum for n in SECOND)),
    "trap-energy": lambda lab: above(VISIBLE, lab.free_drifts["trap"].worst_energy),
    "trap-imid-conjugate": lambda _: below(EXACT, conjugate_gap("imid", "trap")),
    "imidm-torque-time": lambda _: _torque_time("imidm"),
    "trapm-imidm-energy": lambda lab: above(
        VISIBLE, *(lab.free_drifts[name].worst_energy for name in SECOND)
    ),
    "imidm-bounded": lambda lab: _bounded(lab, "imidm"),
    "trapm-imidm-conjugate": lambda _: below(EXACT, conjugate_gap("imidm", "trapm")),
    "trapm-bounded": lambda lab: _bounded(lab, "trapm"),
    "euler-mkrk": lambda _: below(
        EXACT,
        *(same_step(f"{kind}-euler-m", f"mkrk:{kind}-euler") for kind in ("forward", "backward")),
    ),
    "euler-m-adjoint": lambda _: below(
        EXACT, round_trip(FORWARD, BACKWARD), round_trip(BACKWARD, FORWARD)
    ),
    "trapm-symmetric": lambda _: below(EXACT, asymmetry("trapm")),
    "imidm-mkrk": lambda _: below(
        EXACT,
        composed_gap("imidm", "mkrk:backward-euler", "mkrk:forward-euler"),
        same_step("imidm", "mkrk:midpoint"),
    ),
    "bbtrapwd-mkrk": lambda _: below(EXACT, same_step("bbtrapwd", "mkrk:trapezoid")),
    "second-order-four": lambda _: of_order(
        2, *(p for name in ("swc1", "akw", "bbtrap") for p in orders(name, "torque", COUNTS))
    ),
    "swc1-kept": lambda lab: _kept(lab, "swc1"),
    "swc1-torque": lambda _: _torque_time("swc1"),
    "akw-kept": lambda lab: _kept(lab, "akw"),
    "bbtrap-kept": lambda lab: _kept(lab, "bbtrap"),
    "truncation-energy": lambda _: contrast(
        *(largest(energy_change(name, 300)) for name in ("bbtrap", "bbtrapwd"))
    ),
    "truncation-order": lambda _: of_order(
        2, *(min(orders(name, "torque", COUNTS)) for name in ("bbtrapwd", "bbtrap"))
    ),
}


# ---- section 2
def line_compositions(_: Laboratory) -> Measured:
    forward, backward, h = by_hand.line_forward_euler, by_hand.line_backward_euler, STEP / 2
    ends = backward(h, forward(h, PENDULUM)), forward(h, backward(h, PENDULUM))
    trapezoid = largest(ends[0] - by_hand.line_trapezoid(STEP, PENDULUM))
    right, printed = (
        largest(ends[1] - by_hand.line_midpoint(STEP, PENDULUM, factor)) for factor in (1.0, 0.5)
    )
    fine = max(trapezoid, right) < EXACT
    corrected = fine and printed > VISIBLE
    return holds_if(fine and printed < EXACT, trapezoid, right, printed, corrected=corrected)


# ---- section 3.1
def dexp(_: Laboratory) -> Measured:
    rate, size = np.array([0.2, 0.9, -0.3]), 1e-5
    omega = log(exp(PSI - size * rate).T @ exp(PSI + size * rate)) / (2 * size)
    right, wrong = (largest(by_hand.dexp(s * PSI) @ rate - omega) for s in (-1, 1))
    rates = mkrk_orders("sign", (-1.0, 1.0))
    accuracy = 1e-9  # of a central difference of 1e-5
    return holds_if(right < accuracy < wrong and near(rates[0], 4, 0.3), right, wrong, *rates)


# ---- section 3.2
def line_adjoint(_: Laboratory) -> Measured:
    forward, backward = by_hand.line_forward_euler, by_hand.line_backward_euler
    ends = backward(-STEP, forward(STEP, PENDULUM)), forward(-STEP, backward(STEP, PENDULUM))
    return below(EXACT, largest(ends - PENDULUM))


def undo_forward_printed(_: Laboratory) -> Measured:
    q, m = states(1)[0]
    r, turn = matrix(q), STEP * np.array(m) / INERTIA
    printed, right = (float(np.linalg.norm(r @ exp(turn) @ exp(s * turn) - r, 2)) for s in (1, -1))
    return holds_if(printed < EXACT, printed, right, corrected=right < EXACT)


# ---- section 3.3
def trap_composition(_: Laboratory) -> Measured:
    composed, right, swapped = (
        composed_gap("trap"),
        page_gap("trap"),
        page_gap("trap", swapped=True),
    )
    order = min(orders_by_hand("trap", swapped=True))
    holds = max(composed, right) < EXACT and swapped > VISIBLE
    return holds_if(holds, composed, right, swapped, order)


# ---- section 3.5
def imid_energy(lab: Laboratory) -> Measured:
    drift = lab.free_drifts["imid"]
    return holds_if(drift.worst_energy < KEPT, drift.worst_energy, len(drift.energy) - 1)


def imid_mean(_: Laboratory) -> Measured:
    mean_gap = product = 0.0
    for state in states():
        middle = step("backward-euler")(STEP / 2, state)  # its momentum is Π̄
        end = step("imid")(STEP, state)
        mean, old, new = (np.array(s[1]) for s in (middle, state, end))
        size = float(np.linalg.norm(old))
        mean_gap = max(mean_gap, largest(new - 2 * mean + old) / size)
        product = max(product, abs(float(mean / INERTIA @ (mean - old))) / size**2)
    return below(EXACT, mean_gap, product)


def trap_push(_: Laboratory) -> Measured:
    start, count, pushes = states(1)[0], 200, []
    for model in ("free", "torque"):
        push = step("forward-euler", model)
        path = march("trap", model, count * STEP, count, start)
        other = march("imid", model, count * STEP, count, push(STEP / 2, start))
        pushes.append(max(gap(push(STEP / 2, a), b) for a, b in zip(path, other, strict=True)))
    return below(KEPT, *pushes)


def trap_midpoint_energy(_: Laboratory) -> Measured:
    path = march("trap", "free", 500 * STEP, 500, states(1)[0])
    middle = [step("forward-euler")(STEP / 2, state) for state in path]
    energies = ([kinetic(state) for state in part] for part in (middle, path))
    return contrast(*(largest(relative_change(energy)) for energy in energies))


# ---- section 3.6
def momentum_compositions(_: Laboratory) -> Measured:
    found = *map(composed_gap, SECOND), page_gap("imidm")
    return holds_if(False, *found, corrected=max(found) < EXACT)


# ---- section 3.7
def trapm_imidm_momentum(lab: Laboratory) -> Measured:
    found = [lab.free_drifts[name].momentum for name in SECOND]
    return holds_if(max(found) < KEPT, *found, len(lab.free_drifts["trapm"].energy) - 1)


def imidm_energy_scaling(_: Laboratory) -> Measured:
    order, first = order_of(lambda h: largest(energy_change("imidm", round(20.0 / h), h)))
    return holds_if(near(order, 2), order, first)


def imidm_symplectic(_: Laboratory) -> Measured:
    order, first, control = defects("imidm")
    return holds_if(first < 100 * control, first, order, control)


def trapm_symplectic(_: Laboratory) -> Measured:
    order, first, control = defects("trapm")
    return added_if(first > 100 * control and near(order, 3, 0.3), first, order, control)


def mkrk_torque(_: Laboratory) -> Measured:
    rates, library = mkrk_orders("own_torque", (True, False)), page_gap("mkrk:rk4")
    corrected = near(rates[1], 4, 0.3) and library < EXACT
    return holds_if(near(rates[0], 4, 0.3), *rates, library, corrected=corrected)


def imidm_symmetric(_: Laboratory) -> Measured:
    found, composed = asymmetry("imidm"), composed_gap("imidm")
    printed = chain_gap([(BACKWARD, STEP / 2), (FORWARD, -STEP / 2)])
    corrected = max(found, composed) < EXACT
    return holds_if(printed > VISIBLE, found, printed, composed, corrected=corrected)


def trapm_mkrk(_: Laboratory) -> Measured:
    (p, trapezoid), (q, midpoint) = (
        step_difference("trapm", f"mkrk:{name}") for name in ("trapezoid", "midpoint")
    )
    return holds_if(min(trapezoid, midpoint) > VISIBLE, trapezoid, p, midpoint, q)


# ---- section 4
def akw_top(lab: Laboratory) -> Measured:
    tops = lab.top_drifts.values()
    others = min(runs[name].worst_energy for runs in tops for name in runs if name != "akw")
    energy = max(runs["akw"].worst_energy for runs in tops)
    momentum = max(runs["akw"].momentum for runs in tops)
    return holds_if(max(energy, momentum) < KEPT, energy, momentum, others)


def akw_cayley(_: Laboratory) -> Measured:
    right, other = min(orders_by_hand("akw")), orders_by_hand("akw", half=1.0)[1]
    page = page_gap("akw")
    corrected = near(right, 2) and page < EXACT and other < 0.5
    return holds_if(False, right, page, other, corrected=corrected)


def bbtrapwd_neither(_: Laboratory) -> Measured:
    state, mapped = states(1)[0], step("bbtrapwd")
    order, _first = order_of(lambda h: gap(mapped(-h, mapped(h, state)), state))
    trip, mirror = asymmetry("bbtrapwd"), asymmetry("bbtrap")
    early, late = energy_change("bbtrapwd", 600)[[300, 600]]
    found = trip > VISIBLE and abs(late) > 1.5 * abs(early) > VISIBLE
    return added_if(found, trip, order, mirror, early, late)


def bbtrap_swc1(_: Laboratory) -> Measured:
    free = same_step("bbtrap", "swc1", ["free"])
    order, value = step_difference("bbtrap", "swc1")
    return holds_if(free < EXACT and near(order, 3, 0.3), free, value, order)


def bbtrap_trapm(lab: Laboratory) -> Measured:
    order, value = step_difference("bbtrap", "trapm")
    errors = [study.ranking("R") for study in lab.convergence.values()]
    gain = [error["bbtrap"] / error["trapm"] for error in errors]
    holds = value > VISIBLE and near(order, 3, 0.3) and gain[-1] > 2
    return holds_if(holds, value, order, *gain)
