"""Reference solutions that no method under test had a part in.

SciPy's DOP853 integrates (4) and (5) of Celledoni & Säfström (2006), a quaternion standing for Qᵀ,
at a relative tolerance of 1e-13.  The torques of the paper depend on u = Q e3 alone; they are
written out from the page.  The free body of section 4.1 is also known to 20 digits.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Law = Callable[[float, float, float], tuple[float, float, float]]  # f(u1, u2, u3)


def none(u1: float, u2: float, u3: float) -> tuple[float, float, float]:
    return 0.0, 0.0, 0.0


def top(u1: float, u2: float, u3: float) -> tuple[float, float, float]:
    """Section 4.2."""
    return u2, -u1, 0.0


def satellite(inertia: Sequence[float], mu: float = 3.986e14, r: float = 1.5e5) -> Law:
    """Section 4.3."""
    i1, i2, i3 = inertia
    c = 3 * mu / r**3

    def law(u1: float, u2: float, u3: float) -> tuple[float, float, float]:
        return c * (i3 - i2) * u2 * u3, c * (i1 - i3) * u3 * u1, c * (i2 - i1) * u1 * u2

    return law


def solution(
    inertia: Sequence[float], q: Sequence[float], m: Sequence[float], law: Law, times: Any
) -> tuple[np.ndarray, np.ndarray]:
    """(q, π) at ``times``, of unit quaternions (body to inertial) and body momenta in rows."""
    from scipy.integrate import solve_ivp

    i1, i2, i3 = inertia
    size = float(np.linalg.norm(m))

    def rates(t: float, state: np.ndarray) -> tuple[float, ...]:
        w, x, y, z, m1, m2, m3 = state.tolist()
        m1, m2, m3 = m1 * size, m2 * size, m3 * size
        o1, o2, o3 = m1 / i1, m2 / i2, m3 / i3
        f1, f2, f3 = law(2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z)
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


# The free body of section 4.1 at t = 1, from Q = 1 and π = (-1, 0, 2): mpmath's Taylor series at 40
# digits (``odefun``, tolerance 1e-32); tests make it again.
FREE_Q = (
    0.9401105466448127659915,
    -0.09908951637437092771807,
    0.01636676794741462564513,
    0.3257384790577251983335,
)
FREE_PI = (-0.9779085024010544331616, 0.2644086562326639590748, 1.993434980991595785446)
