"""The formulas of Fukushima (1995), with and without their misprint, and the definitions.

Plain matrices.  Derivatives along the motion are taken with an imaginary step and are exact to
rounding:

    R' = R [ω],    m' = m x ω + N,    ω = m / (A, B, C)                                (1)
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from polhode.papers.rotations import Array, skew
from polhode.papers.verdicts import largest

TINY = 1e-30  # an imaginary step: f(x + iεy) = f(x) + iε f'(x) y
ORIGIN = np.zeros(3)


# ---- rotations of the axes by an angle, as astronomers write them
def rotation(axis: int, a: float) -> Array:
    """R₁, R₂ or R₃ of an angle."""
    c, s = np.cos(a), np.sin(a)
    return np.roll([[c, s, 0], [-s, c, 0], [0, 0, 1]], (axis, axis), (0, 1))


r1, r2, r3 = (partial(rotation, axis) for axis in (1, 2, 3))


def q12(x: float, y: float) -> Array:
    """As printed, in components."""
    w, z = np.sqrt(1 - x * x), np.sqrt(1 - (x * x + y * y))
    return np.array([[w, 0, x], [-x * y / w, z / w, y], [-x * z / w, -y / w, z]])


def q12_rotations(x: float, y: float) -> Array:
    """As printed, as a product."""
    z = np.sqrt(1 - (x * x + y * y))
    return r1(np.arctan(y / z)) @ r2(-np.arcsin(x))


def orientation(variables: Any) -> Array:
    """(1) of the paper: body to inertial."""
    whole, x, y, a, b, f = variables
    return q12(x / whole, y / whole) @ r3(-f) @ q12(a / whole, b / whole).T


# ---- the variables by their definition
def variables(r: Array, m: Array) -> Array:
    """(L, L_X, L_Y, L_A, L_B, f) of real matrices."""
    outside = r @ m
    c, s, whole = planes(r, m)
    return np.array([whole, outside[0], outside[1], m[0], m[1], np.arctan2(s, c)])


def planes(r: Any, m: Any) -> tuple[Any, Any, Any]:
    """(a cos, a sin, L) of the angle between the planes of L and X and of L and A, a > 0."""
    outside = r @ m
    whole = np.sqrt(m @ m)
    up = outside / whole
    x, a = np.array([1.0, 0, 0]), r[:, 0]
    x, a = x - (x @ up) * up, a - (a @ up) * up
    return x @ a, up @ np.cross(x, a), whole


# ---- along the motion
def along(r: Array, m: Array, moments: Array, torque: Array) -> tuple[Array, Array]:
    """(r, m) an imaginary step later."""
    omega = m / moments
    return r + 1j * TINY * (r @ skew(omega)), m + 1j * TINY * (np.cross(m, omega) + torque)


def angle_rate(c: Any, s: Any) -> float:
    """Return the increment of arg(c + i s) from the imaginary parts of c and s."""
    return float((c.real * s.imag - s.real * c.imag) / (c.real**2 + s.real**2))


def definition_rates(r: Array, m: Array, moments: Array, torque: Array) -> Array:
    """Derivatives of the six variables, from the definition."""
    later, momentum = along(r, m, moments, torque)
    c, s, whole = planes(later, momentum)
    outside = later @ momentum
    first = np.array([whole, outside[0], outside[1], momentum[0], momentum[1]]).imag
    return np.append(first, angle_rate(c, s)) / TINY


def printed_rates(r: Array, m: Array, moments: Array, torque: Array) -> Array:
    """The paper's of the first five variables: the conservation law in both frames."""
    n, inside = r @ torque, np.cross(m, m / moments) + torque
    return np.array([torque @ m / np.sqrt(m @ m), *n[:2], *inside[:2]])


def printed_angle_rate(r: Array, m: Array, moments: Array, n: Array, sign: float = 1.0) -> float:
    """f' of (2) under the torque n, with ΔL + L₀ = L; -1 is the right sign of its torque terms."""
    (a, b, c), (x, y, z), (_, n_y, n_z), whole = m, r @ m, r @ n, np.sqrt(m @ m)
    body = a * (c * n[1] - b * n[2]) / (whole * (whole**2 - a**2))
    space = x * (z * n_y - y * n_z) / (whole * (whole**2 - x**2))
    free = whole / moments[2] + (1 / moments[1] - 1 / moments[2]) * whole * b**2 / (whole**2 - a**2)
    return float(free + sign * (body - space))


# ---- states
def states(count: int, upward: bool, seed: int = 1995) -> list[tuple[Array, Array, Array, Array]]:
    """(R, m, moments, torque) of generic bodies, all of order 1.

    ``upward``: with L_C and L_Z positive, and L away from the axes A and X.
    """
    rng = np.random.default_rng(seed)
    found: list[tuple[Array, Array, Array, Array]] = []
    while len(found) < count:
        q, m = rng.normal(size=4), rng.normal(size=3)
        r = matrix(q / np.linalg.norm(q))
        outside, whole = r @ m, np.linalg.norm(m)
        steep = max(abs(m[0]), abs(outside[0])) > 0.9 * whole
        if steep or (upward and min(m[2], outside[2]) < 0.1 * whole):
            continue
        found.append((r, m, rng.uniform(1, 2, size=3), rng.normal(size=3)))
    return found


def matrix(q: Any) -> Array:
    """Return the attitude matrix of a quaternion."""
    w, v = q[0], np.array(q[1:])
    cross = np.cross(np.eye(3), v)
    return (w * w - v @ v) * np.eye(3) + 2 * np.outer(v, v) - 2 * w * cross


def worst(difference: Callable[..., Any], cases: Iterable[Any]) -> float:
    """Return the largest difference over all cases."""
    return max(largest(difference(*case)) for case in cases)
