"""Sections 3.5 and 3.7 of Krysl (2006): what the two pairs of algorithms conserve."""

import numpy as np

from polhode.papers.krysl2006 import by_hand
from polhode.papers.krysl2006.derivation import PAIRS, TABLEAUS
from polhode.papers.krysl2006.laboratory import KEPT, Laboratory
from polhode.papers.krysl2006.maps import (
    asymmetry,
    composed_gap,
    defects,
    energy_change,
    kinetic,
    orders_by_hand,
    page_gap,
    round_trip,
    same_step,
    worst,
)
from polhode.papers.maps import (
    EXACT,
    INERTIA,
    STEP,
    VISIBLE,
    State,
    gap,
    march,
    order_of,
    states,
    step,
    step_difference,
)
from polhode.papers.verdicts import (
    Check,
    Measured,
    above,
    below,
    judge,
    largest,
    near,
    relative_change,
)

SECOND = "trapm", "imidm"  # the pair of section 3.6
FORWARD, BACKWARD = PAIRS[1]  # its steps (18) and (19)


def _conjugate(midpoint: str, trapezoid: str, forward: str, backward: str) -> float:
    """Φᴹ against (Φᵇᴱ)⁻¹ Φᵀ Φᵇᴱ with half Euler steps, the inverse being Φᶠᴱ of -Δt/2."""

    def difference(state: State, model: str) -> float:
        h = STEP / 2
        inside = step(trapezoid, model)(STEP, step(backward, model)(h, state))
        return gap(step(midpoint, model)(STEP, state), step(forward, model)(-h, inside))

    return worst(difference)


def _bounded(lab: Laboratory, name: str) -> Measured:
    """The largest energy error in each tenth of the run: no growth."""
    energy = lab.free_drifts[name].energy[1:]
    tenths = [largest(part) for part in np.array_split(energy, 10)]
    signs = int(np.count_nonzero(np.diff(np.sign(np.diff(energy)))))
    growth = tenths[-1] / tenths[0] - 1
    text = (
        f"{len(energy)} steps: {signs} turning points, the largest error of the last tenth differs"
        f" from that of the first by {growth:+.1%}"
    )
    return text, judge(abs(growth) < 0.02 and signs > len(energy) / 20)


DIFFERS = "differs by {:.0e}, with and without torque"
MEASUREMENTS: dict[str, Check] = {
    "trap-momentum": lambda lab: above(
        VISIBLE,
        "changes by up to {:.1%} of its size (5.1, Δt = 0.5)",
        lab.free_drifts["trap"].momentum,
    ),
    "rate-balance": lambda lab: below(
        KEPT,
        "the same compositions of the integral form: {:.0e}",
        max(lab.free_drifts[name].momentum for name in SECOND),
    ),
    "trap-energy": lambda lab: above(
        VISIBLE, "changes by up to {:.1%} (5.1, Δt = 0.5)", lab.free_drifts["trap"].worst_energy
    ),
    "trap-imid-conjugate": lambda _: below(EXACT, DIFFERS, _conjugate("imid", "trap", *PAIRS[0])),
    "trapm-imidm-energy": lambda lab: above(
        VISIBLE,
        "up to {:.1e} (TRAPM), {:.1e} (IMIDM), Δt = 0.5",
        *(lab.free_drifts[name].worst_energy for name in SECOND),
    ),
    "imidm-bounded": lambda lab: _bounded(lab, "imidm"),
    "trapm-imidm-conjugate": lambda _: below(
        EXACT, DIFFERS, _conjugate("imidm", "trapm", *PAIRS[1])
    ),
    "trapm-bounded": lambda lab: _bounded(lab, "trapm"),
    "euler-mkrk": lambda _: below(
        EXACT,
        "forward {:.0g}, backward {:.0e}, with and without torque",
        *(same_step(f"{kind}-euler-m", f"mkrk:{kind}-euler") for kind in ("forward", "backward")),
    ),
    "euler-m-adjoint": lambda _: below(
        EXACT,
        "back to {:.0e} and {:.0e}",
        round_trip(FORWARD, BACKWARD),
        round_trip(BACKWARD, FORWARD),
    ),
    "trapm-symmetric": lambda _: below(EXACT, "h then -h: back to {:.0e}", asymmetry("trapm")),
    "imidm-mkrk": lambda _: below(
        EXACT,
        "composition {:.0e}, midpoint tableau {:.0e}, with and without torque",
        composed_gap("imidm", "mkrk:backward-euler", "mkrk:forward-euler"),
        same_step("imidm", "mkrk:midpoint"),
    ),
    "bbtrapwd-mkrk": lambda _: below(EXACT, DIFFERS, same_step("bbtrapwd", "mkrk:trapezoid")),
}


# ---- section 3.5
def imid_momentum(lab: Laboratory) -> Measured:
    found = lab.free_drifts["imid"]
    text = f"changes by up to {found.momentum:.1%} of its size; |Π| by {found.norm:.0e}"
    return text, judge(found.momentum > VISIBLE and found.norm < KEPT)


def imid_energy(lab: Laboratory) -> Measured:
    drift = lab.free_drifts["imid"]
    return below(KEPT, f"{{:.0e}} in {len(drift.energy) - 1} steps", drift.worst_energy)


def imid_mean(_: Laboratory) -> Measured:
    mean_gap = product = 0.0
    for state in states():
        middle = step("backward-euler")(STEP / 2, state)  # its momentum is Π̄
        end = step("imid")(STEP, state)
        mean, old, new = (np.array(s[1]) for s in (middle, state, end))
        size = float(np.linalg.norm(old))
        mean_gap = max(mean_gap, largest(new - 2 * mean + old) / size)
        product = max(product, abs(float(mean / INERTIA @ (mean - old))) / size**2)
    return below(EXACT, "{:.0e} and {:.0e}, relative to |Π| and |Π|²", mean_gap, product)


def trap_push(_: Laboratory) -> Measured:
    start, count, pushes = states(1)[0], 200, []
    for model in ("free", "torque"):
        push = step("forward-euler", model)
        path = march("trap", model, count * STEP, count, start)
        other = march("imid", model, count * STEP, count, push(STEP / 2, start))
        pushes.append(max(gap(push(STEP / 2, a), b) for a, b in zip(path, other, strict=True)))
    return below(KEPT, "200 steps: differ by {:.0e} without torque, {:.0e} with", *pushes)


def trap_midpoint_energy(_: Laboratory) -> Measured:
    path = march("trap", "free", 500 * STEP, 500, states(1)[0])
    stations = largest(relative_change([kinetic(s) for s in path]))
    middle = [kinetic(step("forward-euler")(STEP / 2, s)) for s in path]
    pushed = largest(relative_change(middle))
    text = f"500 steps: {pushed:.0e} half a step on, {stations:.0e} at the stations"
    return text, judge(pushed < KEPT and stations > VISIBLE)


# ---- section 3.7
def trapm_imidm_momentum(lab: Laboratory) -> Measured:
    count = len(lab.free_drifts["trapm"].energy) - 1
    text = f"TRAPM {{:.0e}}, IMIDM {{:.0e}} in {count} steps"
    return below(KEPT, text, *(lab.free_drifts[name].momentum for name in SECOND))


def imidm_energy_scaling(_: Laboratory) -> Measured:
    order, first = order_of(lambda h: largest(energy_change("imidm", round(20.0 / h), h)))
    return f"Δt^{order:.2f} ({first:.1e} at Δt = 0.4)", judge(near(order, 2))


def imidm_symplectic(_: Laboratory) -> Measured:
    order, first, control = defects("imidm")
    text = (
        f"|JᵀΩ'J - Ω| of one free step = {first:.1e} at h = 0.4 and O(h^{order:.2f});"
        f" a symplectic splitting has {control:.0e} in the same test"
    )
    return text, judge(first < 100 * control)


def trapm_symplectic(_: Laboratory) -> Measured:
    order, first, control = defects("trapm")
    text = f"defect {first:.1e} at h = 0.4, O(h^{order:.2f}); symplectic control {control:.0e}"
    return text, judge(False, first > 100 * control and near(order, 3, 0.3))


def mkrk_torque(_: Laboratory) -> Measured:
    rates = {
        (name, own): min(orders_by_hand(by_hand.mkrk, "torque", n, tableau=tableau, own_torque=own))
        for name, tableau, n in TABLEAUS
        for own in (True, False)
    }
    library = page_gap("mkrk:rk4")
    text = (
        f"order with T(k) and T(j): RK4 tableau {rates['RK4', True]:.2f} and"
        f" {rates['RK4', False]:.2f}, Heun's {rates['Heun', True]:.2f} and"
        f" {rates['Heun', False]:.2f}; the library has T(j), to {library:.0e}"
    )
    right = near(rates["RK4", False], 4, 0.3) and library < EXACT
    return text, judge(near(rates["RK4", True], 4, 0.3), right)


def imidm_symmetric(_: Laboratory) -> Measured:
    def stays(state: State, model: str) -> float:
        half = step(BACKWARD, model)(STEP / 2, state)
        return gap(step(FORWARD, model)(-STEP / 2, half), state)

    found, printed = asymmetry("imidm"), worst(stays)
    composed = composed_gap("imidm", BACKWARD, FORWARD)
    text = (
        f"h then -h: back to {found:.0e}; the printed composition moves nothing ({printed:.0e}),"
        f" with +Δt/2 it is IMIDM to {composed:.0e}"
    )
    return text, judge(printed > VISIBLE, max(found, composed) < EXACT)


def trapm_mkrk(_: Laboratory) -> Measured:
    found = {name: step_difference("trapm", f"mkrk:{name}") for name in ("trapezoid", "midpoint")}
    text = "one step differs by " + ", ".join(
        f"{value:.0e} from mkrk:{name} (h = 0.4; O(h^{order:.1f}))"
        for name, (order, value) in found.items()
    )
    return text, judge(min(value for _, value in found.values()) > VISIBLE)
