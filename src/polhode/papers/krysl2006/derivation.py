"""Claims of sections 2, 3.1 to 3.4 and 3.6 of Krysl (2006): the steps and their compositions."""

import numpy as np

from polhode.papers.claims import CORRECTED, Measured, Statements, judged
from polhode.papers.krysl2006 import by_hand
from polhode.papers.krysl2006.laboratory import Laboratory
from polhode.papers.krysl2006.maps import composed_gap, orders_by_hand, page_gap, undone
from polhode.papers.maps import EXACT, INERTIA, STEP, VISIBLE, near, orders, states
from polhode.papers.rotations import exp, log, matrix

STATEMENTS = Statements()
claim = STATEMENTS.claim

PAIRS = (("forward-euler", "backward-euler"), ("forward-euler-m", "backward-euler-m"))
TABLEAUS = (("RK4", by_hand.RK4, (8, 16, 32)), ("Heun", by_hand.HEUN2, (32, 64, 128)))


# ---- section 2
@claim(
    "line-compositions",
    "2",
    "forward Euler (2) then backward Euler (3) with half steps is the trapezoidal rule (4);"
    " the other way round it is the midpoint rule (5)",
    claimed="identical",
    expected=CORRECTED,
    note="(5) needs Δt, not Δt/2, in the displacement",
)
def line_compositions(_: Laboratory) -> Measured:
    start = (0.3, 1.1)
    forward, backward = by_hand.line_forward_euler, by_hand.line_backward_euler

    def apart(a: by_hand.Line, b: by_hand.Line) -> float:
        return float(np.abs(np.subtract(a, b)).max())

    h = STEP / 2
    trapezoid = apart(backward(h, forward(h, start)), by_hand.line_trapezoid(STEP, start))
    middle = forward(h, backward(h, start))
    right = apart(middle, by_hand.line_midpoint(STEP, start))
    printed = apart(middle, by_hand.line_midpoint(STEP, start, 0.5))
    text = f"(4) {trapezoid:.0e}; (5) {right:.0e} with Δt, {printed:.0e} with Δt/2 (Δt = {STEP})"
    fine = max(trapezoid, right) < EXACT
    return text, judged(fine and printed < EXACT, fine and printed > VISIBLE)


# ---- section 3.1
@claim(
    "dexp",
    "3.1",
    "with R = exp Ψ, Ψ' = (dexp of -Ψ)⁻¹ I⁻¹Π (10), dexp as in (9)",
    claimed="identity",
    note="the sign matters: with +Ψ methods of order 2 keep their order, and are wrong",
)
def dexp(_: Laboratory) -> Measured:
    psi, rate, size = np.array([0.7, -0.4, 0.5]), np.array([0.2, 0.9, -0.3]), 1e-5
    change = exp(psi - size * rate).T @ exp(psi + size * rate)
    omega = log(change) / (2 * size)
    right, wrong = (float(np.abs(by_hand.dexp(s * psi) @ rate - omega).max()) for s in (-1, 1))
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
    return text, judged(right < accuracy < wrong and near(rates["RK4", -1.0], 4, 0.3))


# ---- section 3.2
@claim(
    "dexp-fixed",
    "3.2",
    "dexp_0 = 1 and dexp_Ψ Ψ = Ψ",
    claimed="identities",
)
def dexp_fixed(_: Laboratory) -> Measured:
    psi = np.array([0.7, -0.4, 0.5])
    zero = float(np.abs(by_hand.dexp(0 * psi) - np.eye(3)).max())
    found = float(np.abs(by_hand.dexp(psi) @ psi - psi).max())
    return f"differ by {zero:.0g} and {found:.0e}", judged(max(zero, found) < EXACT)


@claim(
    "line-adjoint",
    "3.2",
    "in a vector space forward and backward Euler are mutual adjoints",
    claimed="undo each other",
)
def line_adjoint(_: Laboratory) -> Measured:
    start, h = (0.3, 1.1), STEP
    forward, backward = by_hand.line_forward_euler, by_hand.line_backward_euler
    ends = backward(-h, forward(h, start)), forward(-h, backward(h, start))
    found = float(np.abs(np.subtract(ends, start)).max())
    return f"back to {found:.0e}", judged(found < EXACT)


@claim(
    "euler-orders",
    "3.2",
    "the steps (11), (12), and in 3.6 (18), (19), are forward and backward Euler methods",
    claimed="first order",
)
def euler_orders(_: Laboratory) -> Measured:
    found = {name: orders(name, "torque", (40, 80, 160)) for pair in PAIRS for name in pair}
    text = ", ".join(f"{name} {p:.2f} (Π) {r:.2f} (R)" for name, (p, r) in found.items())
    return text, judged(all(near(x, 1, 0.2) for pair in found.values() for x in pair))


@claim(
    "undo-forward",
    "3.2",
    "backward Euler (12) with -h undoes forward Euler (11)",
    claimed="identity",
)
def undo_forward(_: Laboratory) -> Measured:
    found = undone("forward-euler", "backward-euler")
    return f"back to {found:.0e}, torque and none (h = {STEP})", judged(found < EXACT)


@claim(
    "undo-forward-printed",
    "3.2",
    "(13): R₂ = R₁ exp[h I⁻¹Π₂] = R₀ exp[h I⁻¹Π₀] exp[-h I⁻¹Π₂]",
    claimed="R₂ = R₀",
    expected=CORRECTED,
    note="the first exponent is -h I⁻¹Π₂, as in the second form",
)
def undo_forward_printed(_: Laboratory) -> Measured:
    q, m = states(1)[0]
    turn = STEP * np.array(m) / INERTIA
    r = matrix(q)
    printed, right = (float(np.linalg.norm(r @ exp(turn) @ exp(s * turn) - r, 2)) for s in (1, -1))
    text = f"‖R₂ - R₀‖ = {printed:.2f} as printed, {right:.0e} with -h"
    return text, judged(printed < EXACT, right < EXACT)


@claim(
    "undo-backward",
    "3.2",
    "forward Euler (11) with -h undoes backward Euler (12)",
    claimed="identity",
)
def undo_backward(_: Laboratory) -> Measured:
    found = undone("backward-euler", "forward-euler")
    return f"back to {found:.0e}, torque and none (h = {STEP})", judged(found < EXACT)


# ---- sections 3.3 and 3.4
@claim(
    "trap-composition",
    "3.3",
    "TRAP is half a step of forward Euler (11), then half a step of backward Euler (12);"
    " the attitude is R exp[Ψ(t+Δt/2)] exp[Ψ(t+Δt)], in this order",
    claimed="identical",
    note="with the exponentials in the other order the method still has order 2, and is another",
)
def trap_composition(_: Laboratory) -> Measured:
    composed = composed_gap("trap", "forward-euler", "backward-euler")

    right, swapped = page_gap("trap"), page_gap("trap", swapped=True)
    order = min(orders_by_hand(by_hand.trap, "torque", (20, 40, 80), swapped=True))
    text = (
        f"composition {composed:.0e}, formulas of the page {right:.0e}; swapped exponentials differ"
        f" by {swapped:.0e} (order {order:.2f})"
    )
    return text, judged(max(composed, right) < EXACT and swapped > VISIBLE)


@claim(
    "imid-composition",
    "3.4",
    "IMID is half a step of backward Euler (12), then half a step of forward Euler (11)",
    claimed="identical",
)
def imid_composition(_: Laboratory) -> Measured:
    composed = composed_gap("imid", "backward-euler", "forward-euler")
    page = page_gap("imid")
    text = f"composition {composed:.0e}, formulas of the page {page:.0e}"
    return text, judged(max(composed, page) < EXACT)


@claim(
    "imid-torque-time",
    "3.4",
    "IMID: T(n-1/2) is taken at t(n) + Δt/2",
    claimed="second order",
    expected=CORRECTED,
    note="the time is t(n-1) + Δt/2; the misprint shows only if the torque depends on time",
)
def imidtorque_time(_: Laboratory) -> Measured:
    return torque_time("imid")


def torque_time(method: str) -> Measured:
    """The orders of the page and of the library with a torque that depends on time."""
    counts = 20, 40, 80
    library = min(orders(method, "swinging", counts))
    right, printed = (
        min(orders_by_hand(getattr(by_hand, method), "swinging", counts, late=late))
        for late in (0.0, 1.0)
    )
    text = (
        f"top of strength 3 cos 2t: order {printed:.2f} as printed, {right:.2f} at t(n-1) + Δt/2"
        f" (library {library:.2f})"
    )
    return text, judged(near(printed, 2), near(library, 2) and near(right, 2))


# ---- section 3.6
@claim(
    "momentum-compositions",
    "3.6",
    "TRAPM is (18) then (19), IMIDM (19) then (18), with half steps",
    claimed="identical",
    expected=CORRECTED,
    note="IMIDM is printed with Ψ and Ψ̃, which are one and the same",
)
def momentum_compositions(_: Laboratory) -> Measured:
    trapm = composed_gap("trapm", "forward-euler-m", "backward-euler-m")
    imidm = composed_gap("imidm", "backward-euler-m", "forward-euler-m")
    page = page_gap("imidm")
    text = f"TRAPM {trapm:.0e}, IMIDM {imidm:.0e}, page with Ψ̃ = Ψ {page:.0e}"
    return text, judged(False, max(trapm, imidm, page) < EXACT)


@claim(
    "imidm-torque-time",
    "3.6",
    "IMIDM: T(n-1/2) is taken at t(n) + Δt/2",
    claimed="second order",
    expected=CORRECTED,
    note="the time is t(n-1) + Δt/2",
)
def imidmtorque_time(_: Laboratory) -> Measured:
    return torque_time("imidm")
