"""Reference solutions that are independent of the methods under test.

SciPy's DOP853 integrates

    q' = q ω/2,    m' = m × ω + T(t, u),    ω = I⁻¹ m,    u = Rᵀ e₃                           (1)

with a relative tolerance of 1e-13, m in units of its initial length; q is the attitude R as a
quaternion, m the momentum in body axes.  The torques of the papers depend on time and on u alone;
they are written out from the page.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from polhode.problems.problem import Problem

Vector = tuple[float, float, float]
Law = Callable[[float, float, float, float], Vector]  # T(t, u1, u2, u3), in body axes


# ---- torques
def none(t: float, u1: float, u2: float, u3: float) -> Vector:
    """No torque."""
    return 0.0, 0.0, 0.0


def tilting(strength: Callable[[float, float], float]) -> Law:
    """T = c(t, u3) u × e₃."""

    def law(t: float, u1: float, u2: float, u3: float) -> Vector:
        c = strength(t, u3)
        return c * u2, -c * u1, 0.0

    return law


def top(strength: float = 1.0) -> Law:
    """A heavy top.  Krysl (2006), 5.2 and 5.3, with 20; Celledoni & Säfström (2006), 4.2."""
    return tilting(lambda t, z: strength)


def wall(t: float, z: float) -> float:
    """c of Krysl (2006), 5.4, as printed: -(1.1 + R33)⁻² + 0.01 (1.1 + R33)⁻¹¹."""
    return -((1.1 + z) ** -2) + 0.01 * (1.1 + z) ** -11


# ---- motions
def motion_of(problem: Problem, law: Law, times: Any) -> tuple[np.ndarray, np.ndarray]:
    """``motion`` of the body of a problem, from its start."""
    start = problem.attitude, problem.angular_momentum
    return motion(problem.body.data[0], *start, law, times)


def solution(
    rates: Callable[[float, np.ndarray], Any], t_end: float, start: Any, atol: float = 1e-14
) -> np.ndarray:
    """Return the solution of y' = rates(t, y) at ``t_end``, by DOP853."""
    from scipy.integrate import solve_ivp

    found = solve_ivp(rates, (0.0, t_end), start, method="DOP853", rtol=1e-13, atol=atol)
    return found.y[:, -1]


def motion(
    inertia: Sequence[float], q: Sequence[float], m: Sequence[float], law: Law, times: Any
) -> tuple[np.ndarray, np.ndarray]:
    """(q, m) at ``times``: unit quaternions (body to inertial) and body momenta, in rows."""
    from scipy.integrate import solve_ivp

    i1, i2, i3 = inertia
    size = float(np.linalg.norm(m))

    def rates(t: float, state: np.ndarray) -> tuple[float, ...]:
        w, x, y, z, m1, m2, m3 = state.tolist()
        m1, m2, m3 = m1 * size, m2 * size, m3 * size
        o1, o2, o3 = m1 / i1, m2 / i2, m3 / i3
        f1, f2, f3 = law(t, 2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z)
        return (
            -0.5 * (x * o1 + y * o2 + z * o3),
            0.5 * (w * o1 + y * o3 - z * o2),
            0.5 * (w * o2 + z * o1 - x * o3),
            0.5 * (w * o3 + x * o2 - y * o1),
            (m2 * o3 - m3 * o2 + f1) / size,
            (m3 * o1 - m1 * o3 + f2) / size,
            (m1 * o2 - m2 * o1 + f3) / size,
        )

    times = np.atleast_1d(times)
    start = [*q, *(np.asarray(m) / size)]
    found = solve_ivp(
        rates, (0.0, times[-1]), start, method="DOP853", t_eval=times, rtol=1e-13, atol=1e-14
    )
    attitude = found.y[:4].T
    return attitude / np.linalg.norm(attitude, axis=1)[:, None], found.y[4:].T * size
