"""Claims of sections 3.5 and 3.7 of Krysl (2006): what the two pairs of algorithms keep."""

import numpy as np

from polhode.papers.krysl2006 import by_hand
from polhode.papers.krysl2006.derivation import PAIRS, TABLEAUS
from polhode.papers.krysl2006.laboratory import KEPT, Laboratory
from polhode.papers.krysl2006.maps import (
    asymmetry,
    composed_gap,
    defects,
    kinetic,
    orders_by_hand,
    page_gap,
    same_step,
    undone,
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
    near,
    order_of,
    states,
    step,
    step_difference,
)
from polhode.papers.verdicts import Measured, judged


# ---- section 3.5
def trap_momentum(lab: Laboratory) -> Measured:
    found = lab.free_drifts["trap"].momentum
    return f"changes by up to {found:.1%} of its size (5.1, Δt = 0.5)", judged(found > VISIBLE)


def imid_momentum(lab: Laboratory) -> Measured:
    found = lab.free_drifts["imid"]
    text = f"changes by up to {found.momentum:.1%} of its size; |Π| by {found.norm:.0e}"
    return text, judged(found.momentum > VISIBLE and found.norm < KEPT)


def rate_balance(lab: Laboratory) -> Measured:
    worst_m = max(lab.free_drifts[name].momentum for name in ("trapm", "imidm"))
    text = f"the same compositions of the integral form: {worst_m:.0e}"
    return text, judged(worst_m < KEPT)


def imid_energy(lab: Laboratory) -> Measured:
    drift = lab.free_drifts["imid"]
    text = f"{drift.worst_energy:.0e} in {len(drift.energy) - 1} steps"
    return text, judged(drift.worst_energy < KEPT)


def imid_mean(_: Laboratory) -> Measured:
    mean_gap = product = 0.0
    for state in states():
        middle = step("backward-euler")(STEP / 2, state)  # its momentum is Π̄
        end = step("imid")(STEP, state)
        mean, old, new = (np.array(s[1]) for s in (middle, state, end))
        size = float(np.linalg.norm(old))
        mean_gap = max(mean_gap, float(np.abs(new - 2 * mean + old).max()) / size)
        product = max(product, abs(float(mean / INERTIA @ (mean - old))) / size**2)
    text = f"{mean_gap:.0e} and {product:.0e}, relative to |Π| and |Π|²"
    return text, judged(max(mean_gap, product) < EXACT)


def trap_energy(lab: Laboratory) -> Measured:
    found = lab.free_drifts["trap"].worst_energy
    return f"changes by up to {found:.1%} (5.1, Δt = 0.5)", judged(found > VISIBLE)


def _conjugate(midpoint: str, trapezoid: str, forward: str, backward: str) -> float:
    """Φᴹ against (Φᵇᴱ)⁻¹ Φᵀ Φᵇᴱ with half Euler steps, the inverse being Φᶠᴱ of -Δt/2."""

    def difference(state: State, model: str) -> float:
        h = STEP / 2
        inside = step(trapezoid, model)(STEP, step(backward, model)(h, state))
        return gap(step(midpoint, model)(STEP, state), step(forward, model)(-h, inside))

    return worst(difference)


def trap_imid_conjugate(_: Laboratory) -> Measured:
    found = _conjugate("imid", "trap", "forward-euler", "backward-euler")
    return f"differs by {found:.0e}, torque and none", judged(found < EXACT)


def trap_push(_: Laboratory) -> Measured:
    start, count, pushes = states(1)[0], 200, []
    for model in ("free", "torque"):
        push = step("forward-euler", model)
        path = march("trap", model, count * STEP, count, start)
        other = march("imid", model, count * STEP, count, push(STEP / 2, start))
        pushes.append(max(gap(push(STEP / 2, a), b) for a, b in zip(path, other, strict=True)))
    text = f"{count} steps: differ by {pushes[0]:.0e} without torque, {pushes[1]:.0e} with"
    return text, judged(max(pushes) < KEPT)


def trap_midpoint_energy(_: Laboratory) -> Measured:
    path = march("trap", "free", 500 * STEP, 500, states(1)[0])
    ends = np.array([kinetic(s) for s in path])
    middle = np.array([kinetic(step("forward-euler")(STEP / 2, s)) for s in path])
    pushed, stations = (float(np.abs(e / e[0] - 1).max()) for e in (middle, ends))
    text = f"500 steps: {pushed:.0e} half a step on, {stations:.0e} at the stations"
    return text, judged(pushed < KEPT and stations > VISIBLE)


# ---- section 3.7
def trapm_imidm_momentum(lab: Laboratory) -> Measured:
    found = {name: lab.free_drifts[name].momentum for name in ("trapm", "imidm")}
    count = len(lab.free_drifts["trapm"].energy) - 1
    text = f"TRAPM {found['trapm']:.0e}, IMIDM {found['imidm']:.0e} in {count} steps"
    return text, judged(max(found.values()) < KEPT)


def trapm_imidm_energy(lab: Laboratory) -> Measured:
    found = {name: lab.free_drifts[name].worst_energy for name in ("trapm", "imidm")}
    text = f"up to {found['trapm']:.1e} (TRAPM), {found['imidm']:.1e} (IMIDM), Δt = 0.5"
    return text, judged(min(found.values()) > VISIBLE)


def _bounded(lab: Laboratory, name: str) -> Measured:
    """The largest energy error in each tenth of the run: no growth."""
    energy = lab.free_drifts[name].energy[1:]
    tenths = [float(np.abs(part).max()) for part in np.array_split(energy, 10)]
    signs = int(np.count_nonzero(np.diff(np.sign(np.diff(energy)))))
    growth = tenths[-1] / tenths[0] - 1
    text = (
        f"{len(energy)} steps: {signs} turning points, the largest error of the last tenth differs"
        f" from that of the first by {growth:+.1%}"
    )
    return text, judged(abs(growth) < 0.02 and signs > len(energy) / 20)


def imidm_bounded(lab: Laboratory) -> Measured:
    return _bounded(lab, "imidm")


def imidm_energy_scaling(_: Laboratory) -> Measured:
    def error(h: float) -> float:
        path = march("imidm", "free", 20.0, round(20.0 / h), states(1)[0])
        energy = np.array([kinetic(s) for s in path])
        return float(np.abs(energy / energy[0] - 1).max())

    order, first = order_of(error)
    return f"Δt^{order:.2f} ({first:.1e} at Δt = 0.4)", judged(near(order, 2))


def imidm_symplectic(_: Laboratory) -> Measured:
    order, first, control = defects("imidm")
    text = (
        f"|JᵀΩ'J - Ω| of one free step = {first:.1e} at h = 0.4 and O(h^{order:.2f});"
        f" a symplectic splitting has {control:.0e} in the same test"
    )
    return text, judged(first < 100 * control)


def trapm_imidm_conjugate(_: Laboratory) -> Measured:
    found = _conjugate("imidm", "trapm", "forward-euler-m", "backward-euler-m")
    return f"differs by {found:.0e}, torque and none", judged(found < EXACT)


def trapm_symplectic(_: Laboratory) -> Measured:
    order, first, control = defects("trapm")
    text = f"defect {first:.1e} at h = 0.4, O(h^{order:.2f}); symplectic control {control:.0e}"
    return text, judged(False, first > 100 * control and near(order, 3, 0.3))


def trapm_bounded(lab: Laboratory) -> Measured:
    return _bounded(lab, "trapm")


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
    return text, judged(near(rates["RK4", True], 4, 0.3), right)


def euler_mkrk(_: Laboratory) -> Measured:
    found = [same_step(f"{kind}-euler-m", f"mkrk:{kind}-euler") for kind in ("forward", "backward")]
    text = f"forward {found[0]:.0g}, backward {found[1]:.0e}, torque and none"
    return text, judged(max(found) < EXACT)


def euler_m_adjoint(_: Laboratory) -> Measured:
    forward, backward = PAIRS[1]
    found = undone(forward, backward), undone(backward, forward)
    return f"back to {found[0]:.0e} and {found[1]:.0e}", judged(max(found) < EXACT)


def imidm_symmetric(_: Laboratory) -> Measured:
    found = asymmetry("imidm")
    forward, backward = PAIRS[1]

    def stays(state: State, model: str) -> float:
        half = step(backward, model)(STEP / 2, state)
        return gap(step(forward, model)(-STEP / 2, half), state)

    printed = worst(stays)
    composed = composed_gap("imidm", backward, forward)
    text = (
        f"h then -h: back to {found:.0e}; the composition printed moves nothing ({printed:.0e}),"
        f" with +Δt/2 it is IMIDM to {composed:.0e}"
    )
    return text, judged(printed > VISIBLE, max(found, composed) < EXACT)


def trapm_symmetric(_: Laboratory) -> Measured:
    found = asymmetry("trapm")
    return f"h then -h: back to {found:.0e}", judged(found < EXACT)


def imidm_mkrk(_: Laboratory) -> Measured:
    composed = composed_gap("imidm", "mkrk:backward-euler", "mkrk:forward-euler")
    found = same_step("imidm", "mkrk:midpoint")
    text = f"composition {composed:.0e}, midpoint tableau {found:.0e}, torque and none"
    return text, judged(max(composed, found) < EXACT)


def trapm_mkrk(_: Laboratory) -> Measured:
    found = {name: step_difference("trapm", f"mkrk:{name}") for name in ("trapezoid", "midpoint")}
    text = "one step differs by " + ", ".join(
        f"{value:.0e} from mkrk:{name} (h = 0.4; O(h^{order:.1f}))"
        for name, (order, value) in found.items()
    )
    return text, judged(min(value for _, value in found.values()) > VISIBLE)


def bbtrapwd_mkrk(_: Laboratory) -> Measured:
    found = same_step("bbtrapwd", "mkrk:trapezoid")
    return f"differs by {found:.0e}, torque and none", judged(found < EXACT)
