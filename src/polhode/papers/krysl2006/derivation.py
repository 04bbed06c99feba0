"""Sections 2, 3.1 to 3.4 and 3.6 of Krysl (2006): the steps and their compositions."""

import numpy as np

from polhode.papers.krysl2006 import by_hand
from polhode.papers.krysl2006.laboratory import Laboratory
from polhode.papers.krysl2006.maps import (
    composed_gap,
    orders_by_hand,
    page_gap,
    round_trip,
    torque_time,
)
from polhode.papers.maps import EXACT, INERTIA, STEP, VISIBLE, orders, states
from polhode.papers.rotations import exp, log, matrix
from polhode.papers.verdicts import Check, Measured, below, judge, largest, near

PAIRS = (("forward-euler", "backward-euler"), ("forward-euler-m", "backward-euler-m"))
TABLEAUS = (("RK4", by_hand.RK4, (8, 16, 32)), ("Heun", by_hand.HEUN2, (32, 64, 128)))
PENDULUM = 0.3, 1.1  # (p, u)

BACK = "back to {:.0e}, with and without torque (h = 0.2)"
MEASUREMENTS: dict[str, Check] = {
    "undo-forward": lambda _: below(EXACT, BACK, round_trip("forward-euler", "backward-euler")),
    "undo-backward": lambda _: below(EXACT, BACK, round_trip("backward-euler", "forward-euler")),
    "imid-composition": lambda _: below(
        EXACT,
        "composition {:.0e}, formulas of the page {:.0e}",
        composed_gap("imid", "backward-euler", "forward-euler"),
        page_gap("imid"),
    ),
    "imid-torque-time": lambda _: torque_time("imid"),
    "imidm-torque-time": lambda _: torque_time("imidm"),
}


# ---- section 2
def line_compositions(_: Laboratory) -> Measured:
    forward, backward = by_hand.line_forward_euler, by_hand.line_backward_euler
    h = STEP / 2
    trapezoid = largest(
        np.subtract(backward(h, forward(h, PENDULUM)), by_hand.line_trapezoid(STEP, PENDULUM))
    )
    middle = forward(h, backward(h, PENDULUM))
    right, printed = (
        largest(np.subtract(middle, by_hand.line_midpoint(STEP, PENDULUM, factor)))
        for factor in (1.0, 0.5)
    )
    text = f"(4) {trapezoid:.0e}; (5) {right:.0e} with Δt, {printed:.0e} with Δt/2 (Δt = {STEP})"
    fine = max(trapezoid, right) < EXACT
    return text, judge(fine and printed < EXACT, fine and printed > VISIBLE)


# ---- section 3.1
def dexp(_: Laboratory) -> Measured:
    psi, rate, size = np.array([0.7, -0.4, 0.5]), np.array([0.2, 0.9, -0.3]), 1e-5
    omega = log(exp(psi - size * rate).T @ exp(psi + size * rate)) / (2 * size)
    right, wrong = (largest(by_hand.dexp(s * psi) @ rate - omega) for s in (-1, 1))
    rates = {
        (name, sign): min(orders_by_hand(by_hand.mkrk, "torque", n, tableau=tableau, sign=sign))
        for name, tableau, n in TABLEAUS
        for sign in (-1.0, 1.0)
    }
    text = (
        f"differs by {right:.0e} (+Ψ: {wrong:.1f}); order of MKRK with -Ψ and +Ψ: RK4 tableau"
        f" {rates['RK4', -1.0]:.2f} and {rates['RK4', 1.0]:.2f}, Heun's"
        f" {rates['Heun', -1.0]:.2f} and {rates['Heun', 1.0]:.2f}"
    )
    accuracy = 1e-9  # of a central difference of 1e-5
    return text, judge(right < accuracy < wrong and near(rates["RK4", -1.0], 4, 0.3))


# ---- section 3.2
def dexp_fixed(_: Laboratory) -> Measured:
    psi = np.array([0.7, -0.4, 0.5])
    zero, found = largest(by_hand.dexp(0 * psi) - np.eye(3)), largest(by_hand.dexp(psi) @ psi - psi)
    return below(EXACT, "differ by {:.0g} and {:.0e}", zero, found)


def line_adjoint(_: Laboratory) -> Measured:
    forward, backward = by_hand.line_forward_euler, by_hand.line_backward_euler
    ends = backward(-STEP, forward(STEP, PENDULUM)), forward(-STEP, backward(STEP, PENDULUM))
    return below(EXACT, "back to {:.0e}", largest(np.subtract(ends, PENDULUM)))


def euler_orders(_: Laboratory) -> Measured:
    found = {name: orders(name, "torque", (40, 80, 160)) for pair in PAIRS for name in pair}
    text = ", ".join(f"{name} {p:.2f} (Π) {r:.2f} (R)" for name, (p, r) in found.items())
    return text, judge(all(near(x, 1, 0.2) for pair in found.values() for x in pair))


def undo_forward_printed(_: Laboratory) -> Measured:
    q, m = states(1)[0]
    turn = STEP * np.array(m) / INERTIA
    r = matrix(q)
    printed, right = (float(np.linalg.norm(r @ exp(turn) @ exp(s * turn) - r, 2)) for s in (1, -1))
    text = f"‖R₂ - R₀‖ = {printed:.2f} as printed, {right:.0e} with -h"
    return text, judge(printed < EXACT, right < EXACT)


# ---- section 3.3
def trap_composition(_: Laboratory) -> Measured:
    composed = composed_gap("trap", "forward-euler", "backward-euler")
    right, swapped = page_gap("trap"), page_gap("trap", swapped=True)
    order = min(orders_by_hand(by_hand.trap, "torque", (20, 40, 80), swapped=True))
    text = (
        f"composition {composed:.0e}, formulas of the page {right:.0e}; swapped exponentials differ"
        f" by {swapped:.0e} (order {order:.2f})"
    )
    return text, judge(max(composed, right) < EXACT and swapped > VISIBLE)


# ---- section 3.6
def momentum_compositions(_: Laboratory) -> Measured:
    trapm = composed_gap("trapm", "forward-euler-m", "backward-euler-m")
    imidm = composed_gap("imidm", "backward-euler-m", "forward-euler-m")
    page = page_gap("imidm")
    text = f"TRAPM {trapm:.0e}, IMIDM {imidm:.0e}, page with Ψ̃ = Ψ {page:.0e}"
    return text, judge(False, max(trapm, imidm, page) < EXACT)
