"""One-step maps of Krysl (2006): compositions, inverses, the formulas of the page.

Bodies, torques and states are those of ``papers.maps``.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from polhode.contracts import Model
from polhode.papers.krysl2006 import by_hand
from polhode.papers.maps import (
    BODY,
    HALVINGS,
    INERTIA,
    STEP,
    T_END,
    State,
    defect_order,
    gap,
    march,
    orders,
    orders_of_ends,
    states,
    step,
    symplectic_defect,
    torque_by_hand,
)
from polhode.papers.rotations import matrix
from polhode.papers.verdicts import Measured, judge, largest, near, relative_change


def kinetic(state: State) -> float:
    """Return the kinetic energy."""
    m = np.array(state[1])
    return float(m @ (m / INERTIA)) / 2


def energy_change(method: str, count: int, h: float = STEP) -> np.ndarray:
    """Return the relative change of the kinetic energy along free steps of a method."""
    path = march(method, "free", count * h, count, states(1)[0])
    return relative_change([kinetic(state) for state in path])


# ---- differences
def worst(difference: Callable[[State, str], float]) -> float:
    """Return the largest of a difference over several states, with and without torque."""
    return max(difference(state, model) for state in states() for model in ("free", "torque"))


def same_step(one: str, other: str) -> float:
    """Return the difference between a step of one method and a step of another."""

    def difference(state: State, model: str) -> float:
        return gap(step(one, model)(STEP, state), step(other, model)(STEP, state))

    return worst(difference)


def composed_gap(whole: str, first: str, second: str) -> float:
    """Return the difference between a step of one method and half steps of two others."""

    def difference(state: State, model: str) -> float:
        middle = step(first, model)(STEP / 2, state)
        end = step(second, model)(STEP / 2, middle, STEP / 2)
        return gap(end, step(whole, model)(STEP, state))

    return worst(difference)


def round_trip(first: str, second: str, h: float = STEP) -> float:
    """Return the distance from the start after a step of one method and a step back of another."""

    def difference(state: State, model: str) -> float:
        there = step(first, model)(h, state)
        return gap(step(second, model)(-h, there, h), state)

    return worst(difference)


def asymmetry(method: str) -> float:
    """Return the distance from the start after a step forward and a step back."""
    return round_trip(method, method)


# ---- the page
def page_gap(method: str, **reading: Any) -> float:
    """Return the difference between a step of the library and the formula of the page."""
    formula = getattr(by_hand, method.partition(":")[0])

    def difference(state: State, model: str) -> float:
        start = matrix(state[0]), np.array(state[1])
        r, p = formula(0.0, STEP, start, INERTIA, torque_by_hand(model), **reading)
        q, m = step(method, model)(STEP, state)
        return max(largest(matrix(q) - r), largest(np.array(m) - p) / float(np.linalg.norm(p)))

    return worst(difference)


def torque_gap(model: Model, printed: Callable[[np.ndarray], np.ndarray]) -> float:
    """The relative difference between a model and the inertial torque of the page, given R."""
    found = 0.0
    for q, m in states():
        r = matrix(q)
        library = r @ np.array(model.torque(0.0, q, m, BODY.data, model.params))
        right = printed(r)
        found = max(found, largest(library - right) / largest(right))
    return found


def orders_by_hand(
    formula: Callable[..., by_hand.State], model: str, counts: Sequence[int], **reading: Any
) -> tuple[float, float]:
    """Return the orders in Π and R of a formula of the page, with a reading of it."""
    ends, acting = [], torque_by_hand(model)
    for n in counts:
        q, m = states(1)[0]
        state = matrix(q), np.array(m)
        for k in range(n):
            state = formula(k * T_END / n, T_END / n, state, INERTIA, acting, **reading)
        ends.append(state)
    return orders_of_ends(model, counts, ends)


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


def torque_time(method: str) -> Measured:
    """Return the orders of the page and of the library with a torque that depends on time."""
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
    return text, judge(near(printed, 2), near(library, 2) and near(right, 2))
