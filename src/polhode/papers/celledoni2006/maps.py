"""One-step maps of Celledoni & Säfström (2006): Lie-Poisson structure, exact flows, the page.

Bodies, torques and states are those of ``papers.maps``.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from polhode.papers.celledoni2006 import by_hand
from polhode.papers.maps import INERTIA, STEP, derivatives, states, step, torque_by_hand
from polhode.papers.reference import motion, none
from polhode.papers.rotations import matrix
from polhode.papers.verdicts import largest

ROUNDING = 1e-14  # of a number after some tens of operations
DIFFERENCE = 1e-9  # of derivatives by finite differences
UNTURNED = 1.0, 0.0, 0.0, 0.0


def page_gap(method: str, model: str, formula: Callable[..., by_hand.State]) -> float:
    """Return the difference between a step of the library and a formula of the page."""
    apart = 0.0
    for q, m in states():
        start = matrix(q).T, np.array(m)
        attitude, p = formula(
            STEP, start, INERTIA, lambda turned: torque_by_hand(model)(0.0, turned.T)
        )
        new, found = step(method, model)(STEP, (q, m))
        apart = max(apart, largest(matrix(new).T - attitude), largest(found - p))
    return apart


def poisson_defect(move: Callable[[np.ndarray], np.ndarray], p: np.ndarray) -> float:
    """|J skew(π) Jᵀ - skew(π')| of a map of momenta, J by differences of fourth order."""
    size = 1e-3 * float(np.linalg.norm(p))
    jacobian = derivatives(lambda change: move(p + change), size, 3)
    defect = jacobian @ by_hand.skew(p) @ jacobian.T - by_hand.skew(move(p))
    return largest(defect) / float(np.linalg.norm(p))


def momentum_map(method: str, h: float) -> Callable[[np.ndarray], np.ndarray]:
    """π after one free step of a method."""
    return lambda p: np.array(step(method)(h, (UNTURNED, tuple(p.tolist())))[1])


def bodies(count: int, seed: int = 20060424) -> list[tuple[np.ndarray, np.ndarray]]:
    """Seeded asymmetric bodies, their moments in any order: (I, ω)."""
    rng = np.random.default_rng(seed)
    made: list[tuple[np.ndarray, np.ndarray]] = []
    while len(made) < count:
        moments = rng.uniform(1.0, 5.0, 3)
        if 2 * moments.max() <= moments.sum() and np.ptp(np.sort(moments)[:2]) > 0.2:
            made.append((moments, rng.normal(size=3)))
    return made


def truth(inertia: np.ndarray, omega: np.ndarray, times: Any) -> np.ndarray:
    """ω at ``times`` by DOP853."""
    _, m = motion(inertia.tolist(), UNTURNED, (inertia * omega).tolist(), none, times)
    return m / inertia


def free_error(inertia: np.ndarray, omega: np.ndarray, t: float) -> float:
    """Return the error of the closed form of section 3 against DOP853, relative to |ω|."""
    off = by_hand.closed_form(inertia, omega, t)[0] - truth(inertia, omega, t)[-1]
    return float(np.linalg.norm(off) / np.linalg.norm(omega))
