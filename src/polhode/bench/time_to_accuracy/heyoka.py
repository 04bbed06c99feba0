"""heyoka's Taylor integrator in its best form: equations reduced by hand, ``fast_math=True``.

A heavy top moves by p' = p × ω + γ × weight, ω = I⁻¹ p, with the vertical γ; its attitude is a
quaternion, two inertial axes in the body, or the vertical and a quaternion.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from polhode.bench.peers import peer

FORMS = "quaternion", "axes", "vertical and quaternion"


# ---- equations
def top_equations(
    form: str,
    inverse: Any,
    weight: Any,
    differences: Any = None,
    axial: float | None = None,
    push: Callable | None = None,
) -> list:
    """The equations of a heavy top in one of ``FORMS``; the arguments are numbers or parameters.

    ``inverse`` is 1/I.  ``differences`` (1/I₃ - 1/I₂, …) save products, but their rounding turns a
    fast top by 3e-14.  ``axial`` is the constant p₃ of a Lagrange top.  ``push(ω, γ)`` is a further
    torque.
    """
    make = peer("heyoka").make_vars
    p1, p2, p3 = make("p1", "p2", "p3")
    if axial is not None:
        p3 = axial
    omega = w1, w2, w3 = p1 * inverse[0], p2 * inverse[1], p3 * inverse[2]
    w, x, y, z = make("w", "x", "y", "z")
    g1, g2, g3 = g = make("g1", "g2", "g3")
    if form == "quaternion":
        g1, g2, g3 = g = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w + z * z - x * x - y * y
    c1, c2, c3 = weight
    if axial is not None:
        spin = (inverse[2] - inverse[0]) * p3
        rates = [spin * p2 + c3 * g2, -spin * p1 - c3 * g1]
    else:
        free = [p2 * w3 - p3 * w2, p3 * w1 - p1 * w3, p1 * w2 - p2 * w1]
        if differences is not None:
            d1, d2, d3 = differences
            free = [d1 * (p2 * p3), d2 * (p3 * p1), d3 * (p1 * p2)]
        torque = c3 * g2 - c2 * g3, c1 * g3 - c3 * g1, c2 * g1 - c1 * g2
        rates = [a + b for a, b in zip(free, torque, strict=True)]
    if push is not None:
        rates = [a + b for a, b in zip(rates, push(omega, g), strict=True)]
    system = list(zip((p1, p2, p3), rates, strict=False))
    if form != "quaternion":
        system += turned_back(g, omega)
    if form == "axes":
        return system + turned_back(make("a1", "a2", "a3"), omega)
    return system + turned((w, x, y, z), omega)


def functions() -> dict[Callable, Callable]:
    """Return heyoka's functions in place of those of ``math``."""
    of = peer("heyoka")
    return {math.sin: of.sin, math.cos: of.cos, math.sqrt: of.sqrt}


def cross(u: Any, v: Any) -> tuple:
    """Return u × v."""
    (a, b, c), (v1, v2, v3) = u, v
    return b * v3 - c * v2, c * v1 - a * v3, a * v2 - b * v1


def turned_back(v: Any, omega: Any) -> list:
    """v' = v × ω of an inertial direction v seen from the body."""
    return list(zip(v, cross(v, omega), strict=True))


def turned(q: Any, omega: Any) -> list:
    """q' = q ω/2, with ω in body axes."""
    (w, x, y, z), (w1, w2, w3) = q, omega
    return [
        (w, -0.5 * (x * w1 + y * w2 + z * w3)),
        (x, 0.5 * (w * w1 + y * w3 - z * w2)),
        (y, 0.5 * (w * w2 + z * w1 - x * w3)),
        (z, 0.5 * (w * w3 + x * w2 - y * w1)),
    ]


# ---- states: columns, or one of them
def state(form: str, m: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return the variables of a form, from momenta and quaternions."""
    matrix = Rotation.from_quat(q.T, scalar_first=True).as_matrix()
    vertical, first = matrix[..., 2, :].T, matrix[..., 0, :].T
    parts = {"quaternion": (q,), "axes": (vertical, first)}
    return np.concatenate([m, *parts.get(form, (vertical, q))])


def attitude(form: str, state: np.ndarray) -> np.ndarray:
    """Return the quaternions of a state."""
    if form != "axes":
        return state[-4:]
    vertical, first = state[-6:-3], state[-3:]
    vertical = vertical / np.linalg.norm(vertical, axis=0)
    first = first - vertical * np.sum(vertical * first, axis=0)
    first = first / np.linalg.norm(first, axis=0)
    matrix = np.array([first, np.cross(vertical, first, axis=0), vertical])
    quaternions = Rotation.from_matrix(np.moveaxis(matrix, (0, 1), (-2, -1)))
    return np.asarray(quaternions.as_quat(scalar_first=True).T)


# ---- integrators
def taylor(
    system: list, first: np.ndarray, tolerance: float, fast: bool = True
) -> Callable[..., tuple]:
    """Return a call that integrates from the first state, or another, at 0 to a time.

    It returns (state, steps).
    """
    solver = peer("heyoka").taylor_adaptive(
        system, first.copy(), tol=float(tolerance), fast_math=fast
    )

    def call(end: float, start: np.ndarray = first) -> tuple:
        solver.time = 0.0
        solver.state[:] = start
        steps = solver.propagate_until(end)[3]
        return solver.state, steps

    return call


def batches(
    system: list,
    first: np.ndarray,
    parameters: np.ndarray,
    size: int,
    tolerance: float,
    end: float,
    **options: Any,
) -> Callable[[], np.ndarray]:
    """A call that integrates columns in batches up to the end, and returns the states there."""
    solver = peer("heyoka").taylor_adaptive_batch(
        system,
        first[:, :size].copy(),
        pars=parameters[:, :size].copy(),
        tol=float(tolerance),
        **options,
    )
    out = np.empty_like(first)

    def call() -> np.ndarray:
        for k in range(0, first.shape[1], size):
            solver.set_time(0.0)
            solver.state[:] = first[:, k : k + size]
            solver.pars[:] = parameters[:, k : k + size]
            solver.propagate_until(end)
            out[:, k : k + size] = solver.state
        return out

    return call


def extended(
    system: list, first: np.ndarray, end: float, parameters: np.ndarray | None = None
) -> np.ndarray:
    """The state at the end, in columns as the first states and the parameters are, with 80 bits."""
    kind = np.longdouble
    states = first.astype(kind).reshape(len(first), -1)
    given = np.empty((0, states.shape[1]), kind) if parameters is None else parameters
    few: dict[str, Any] = {
        "compact_mode": True,
        "opt_level": 0,
    }  # compiles ten times as fast, runs slower
    solver = peer("heyoka").taylor_adaptive(
        *(system, states[:, 0]),
        pars=given[:, 0],
        tol=kind(1e-20),
        fp_type=kind,
        **(few if states.shape[1] < 100 else {}),
    )
    for k in range(states.shape[1]):
        solver.time = kind(0.0)
        solver.state[:], solver.pars[:] = states[:, k], given[:, k]
        solver.propagate_until(kind(end))
        states[:, k] = solver.state
    return states.reshape(first.shape).astype(float)


def extended_course(system: list, first: np.ndarray, times: Sequence[float]) -> np.ndarray:
    """Rows of states at increasing times, from one state at 0, with 80 bits.

    Without optimisation: one run is far shorter than the time to compile it well.
    """
    kind = np.longdouble
    slow = {"compact_mode": True, "opt_level": 0}
    solver = peer("heyoka").taylor_adaptive(
        system, first.astype(kind), tol=kind(1e-20), fp_type=kind, **slow
    )
    rows = []
    for time in times:
        solver.propagate_until(kind(time))
        rows.append(solver.state.astype(float))
    return np.array(rows)
