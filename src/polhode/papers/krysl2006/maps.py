"""One-step maps of Krysl (2006): compositions, inverses, the formulas of the page.

Bodies, torques and states are those of ``papers.maps``.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from polhode.papers.krysl2006 import by_hand
from polhode.papers.krysl2006.laboratory import KEPT
from polhode.papers.maps import (
    BOTH,
    HALVINGS,
    INERTIA,
    STEP,
    T_END,
    VISIBLE,
    State,
    chain_gap,
    defect_order,
    march,
    orders,
    orders_of_ends,
    states,
    step,
    symplectic_defect,
    torque_by_hand,
)
from polhode.papers.rotations import matrix
from polhode.papers.verdicts import Measured, holds_if, largest, near, relative_change

COMPOSED = {  # the half steps of each method
    "trap": ("forward-euler", "backward-euler"),
    "imid": ("backward-euler", "forward-euler"),
    "trapm": ("forward-euler-m", "backward-euler-m"),
    "imidm": ("backward-euler-m", "forward-euler-m"),
}
COUNTS = 20, 40, 80  # steps, for orders
TABLEAUS = (by_hand.RK4, (8, 16, 32)), (by_hand.HEUN2, (32, 64, 128))  # with such counts


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


def contrast(kept: float, moved: float) -> Measured:
    """Hold if one value is kept to rounding, and another changes visibly."""
    return holds_if(kept < KEPT and moved > VISIBLE, kept, moved)


def torque_time(method: str) -> Measured:
    """Return the orders of the page and of the library with a torque that depends on time."""
    library = min(orders(method, "swinging", COUNTS))
    right, printed = (min(orders_by_hand(method, "swinging", late=late)) for late in (0.0, 1.0))
    corrected = near(library, 2) and near(right, 2)
    return holds_if(near(printed, 2), printed, right, library, corrected=corrected)
