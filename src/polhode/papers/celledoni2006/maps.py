"""One-step maps, taken apart: return, orders, symplectic and Lie-Poisson structure.

The steps are the library's own, as plain Python, on the body and the torques of
``krysl2006.maps``: three different moments, without torque ("free") or with ("torque").
"""

from collections.abc import Callable

import numpy as np

from polhode.papers.celledoni2006 import by_hand
from polhode.papers.krysl2006.maps import (
    HALVINGS,
    INERTIA,
    STEP,
    State,
    gap,
    matrix,
    slope,
    states,
    step,
    symplectic_defect,
)

EXACT = 1e-13  # of one to four steps with errors of a few 1e-16 each
VISIBLE = 1e-5  # far above any rounding
ROUNDING = 1e-14  # of a number made by some tens of operations
DIFFERENCE = 1e-9  # of derivatives by differences


def small(value: float) -> str:
    """A difference in words: its size, or 0."""
    return f"{value:.0e}" if value else "0"


def returned(method: str, model: str) -> float:
    """How far a step there and a step back end from the start, relative."""
    mapped = step(method, model)
    return max(gap(mapped(-STEP, mapped(STEP, state), STEP), state) for state in states())


def defect(method: str, model: str, h: float) -> float:
    """|Jᵀ Ω' J - Ω| of one step, in the coordinates of the cotangent bundle."""
    from scipy.spatial.transform import Rotation

    q, m = states(1)[0]

    def move(state: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        q = tuple(Rotation.from_matrix(state[0]).as_quat(scalar_first=True).tolist())
        q, m = step(method, model)(h, (q, tuple(state[1].tolist())))
        return matrix(q), np.array(m)

    return symplectic_defect(move, (matrix(q), np.array(m)))


def defect_order(method: str, model: str) -> tuple[float, float]:
    """(order in h, value at the largest h) of the symplectic defect of one step."""
    values = [defect(method, model, h) for h in HALVINGS]
    return slope(HALVINGS, values), values[0]


def poisson_defect(move: Callable[[np.ndarray], np.ndarray], p: np.ndarray) -> float:
    """|J skew(π) Jᵀ - skew(π')| of a map of momenta, J by differences of fourth order."""
    size = 1e-3 * float(np.linalg.norm(p))

    def moved(direction: np.ndarray, factor: float) -> np.ndarray:
        return move(p + factor * size * direction)

    columns = [
        (8 * (moved(e, 1) - moved(e, -1)) - (moved(e, 2) - moved(e, -2))) / (12 * size)
        for e in np.eye(3)
    ]
    jacobian = np.stack(columns, axis=1)
    defect = jacobian @ by_hand.skew(p) @ jacobian.T - by_hand.skew(move(p))
    return float(np.abs(defect).max() / np.linalg.norm(p))


def momentum_map(method: str, h: float) -> Callable[[np.ndarray], np.ndarray]:
    """π after one free step of a method."""

    def move(p: np.ndarray) -> np.ndarray:
        state: State = ((1.0, 0.0, 0.0, 0.0), tuple(p.tolist()))
        return np.array(step(method)(h, state)[1])

    return move


def bodies(count: int, seed: int = 20060424) -> list[tuple[np.ndarray, np.ndarray]]:
    """Seeded asymmetric bodies, moments in any order, and rates: (I, ω)."""
    rng = np.random.default_rng(seed)
    made: list[tuple[np.ndarray, np.ndarray]] = []
    while len(made) < count:
        moments = rng.uniform(1.0, 5.0, 3)
        if 2 * moments.max() <= moments.sum() and np.ptp(np.sort(moments)[:2]) > 0.2:
            made.append((moments, rng.normal(size=3)))
    return made


def free_error(inertia: np.ndarray, omega: np.ndarray, t: float, **reading: bool) -> float:
    """How far the closed form of section 3 is from DOP853, relative to |ω|."""
    from polhode.papers.celledoni2006 import reference

    _, m = reference.solution(
        inertia.tolist(), (1.0, 0.0, 0.0, 0.0), (inertia * omega).tolist(), reference.none, t
    )
    found = by_hand.closed_form(inertia, omega, t, **reading)[0]
    return float(np.linalg.norm(found - m[-1] / inertia) / np.linalg.norm(omega))


__all__ = [
    "DIFFERENCE",
    "EXACT",
    "HALVINGS",
    "INERTIA",
    "ROUNDING",
    "STEP",
    "VISIBLE",
    "bodies",
    "defect",
    "defect_order",
    "free_error",
    "momentum_map",
    "poisson_defect",
    "returned",
    "small",
]
