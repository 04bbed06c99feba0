"""One-step maps of Celledoni & Säfström (2006): time symmetry, Lie-Poisson structure, exact flows.

Bodies, torques and states are those of ``papers.maps``.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from polhode.papers.celledoni2006 import by_hand
from polhode.papers.maps import STEP, State, derivatives, gap, states, step
from polhode.papers.reference import motion, none
from polhode.papers.verdicts import largest

ROUNDING = 1e-14  # of a number after some tens of operations
DIFFERENCE = 1e-9  # of derivatives by finite differences


def small(value: float) -> str:
    """A difference as text: its order of magnitude, or 0."""
    return f"{value:.0e}" if value else "0"


def round_trip(method: str, model: str) -> float:
    """Return the relative distance from the start after a step forward and a step back."""
    mapped = step(method, model)
    return max(gap(mapped(-STEP, mapped(STEP, state), STEP), state) for state in states())


def poisson_defect(move: Callable[[np.ndarray], np.ndarray], p: np.ndarray) -> float:
    """|J skew(π) Jᵀ - skew(π')| of a map of momenta, J by differences of fourth order."""
    size = 1e-3 * float(np.linalg.norm(p))
    jacobian = derivatives(lambda change: move(p + change), size, 3)
    defect = jacobian @ by_hand.skew(p) @ jacobian.T - by_hand.skew(move(p))
    return largest(defect) / float(np.linalg.norm(p))


def momentum_map(method: str, h: float) -> Callable[[np.ndarray], np.ndarray]:
    """π after one free step of a method."""

    def move(p: np.ndarray) -> np.ndarray:
        state: State = ((1.0, 0.0, 0.0, 0.0), tuple(p.tolist()))
        return np.array(step(method)(h, state)[1])

    return move


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
    start = (inertia * omega).tolist()
    _, m = motion(inertia.tolist(), (1.0, 0.0, 0.0, 0.0), start, none, times)
    return m / inertia


def free_error(inertia: np.ndarray, omega: np.ndarray, t: float, **reading: bool) -> float:
    """Return the error of the closed form of section 3 against DOP853, relative to |ω|."""
    found = by_hand.closed_form(inertia, omega, t, **reading)[0]
    return float(np.linalg.norm(found - truth(inertia, omega, t)[-1]) / np.linalg.norm(omega))
