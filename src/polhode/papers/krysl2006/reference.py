"""Reference solutions that no method under test had a part in.

SciPy's DOP853 integrates equation (7) of Krysl (2006), the quaternion standing for R, at a relative
tolerance of 1e-13.  The torques of the paper are all c(t, R33)·(Rᵀe₃ x e₃) in body axes; c is
written out from the page.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Law = Callable[[float, float], float]  # c(t, R33)


def top(strength: float) -> Law:
    """Sections 5.2 and 5.3: t = -20 R(:, 3) x [0; 0; 1], and none for strength 0."""
    return lambda t, z: strength


def wall(t: float, z: float) -> float:
    """Section 5.4, as printed: t = (-(1.1 + R33)⁻² + 0.01 (1.1 + R33)⁻¹¹) [-R23; R13; 0]."""
    return -((1.1 + z) ** -2) + 0.01 * (1.1 + z) ** -11


def solution(
    inertia: Sequence[float], q: Sequence[float], m: Sequence[float], law: Law, times: Any
) -> tuple[np.ndarray, np.ndarray]:
    """(q, Π) at ``times``, of unit quaternions in rows and body momenta in rows."""
    from scipy.integrate import solve_ivp

    i1, i2, i3 = inertia

    def rates(t: float, state: np.ndarray) -> tuple[float, ...]:
        w, x, y, z, m1, m2, m3 = state.tolist()
        o1, o2, o3 = m1 / i1, m2 / i2, m3 / i3
        c = law(t, w * w - x * x - y * y + z * z)
        return (
            -0.5 * (x * o1 + y * o2 + z * o3),
            0.5 * (w * o1 + y * o3 - z * o2),
            0.5 * (w * o2 + z * o1 - x * o3),
            0.5 * (w * o3 + x * o2 - y * o1),
            m2 * o3 - m3 * o2 + 2 * c * (y * z + w * x),
            m3 * o1 - m1 * o3 - 2 * c * (x * z - w * y),
            m1 * o2 - m2 * o1,
        )

    times = np.atleast_1d(times)
    found = solve_ivp(
        rates, (0.0, times[-1]), [*q, *m], method="DOP853", t_eval=times, rtol=1e-13, atol=1e-14
    )
    attitude = found.y[:4].T
    return attitude / np.linalg.norm(attitude, axis=1)[:, None], found.y[4:].T
