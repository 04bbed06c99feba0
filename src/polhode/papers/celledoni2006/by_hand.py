"""The formulas of Celledoni & Säfström (2006) in NumPy, from the page, without the library.

A state is (Q, π): Q takes inertial to body axes, the transpose of the library's attitude matrix,
and π is the momentum in body axes.  Where the page has a misprint or leaves something open, an
argument selects the reading, so that both can be measured.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.papers import rotations

Array = np.ndarray
State = tuple[Array, Array]  # (Q, π)
Torque = Callable[[Array], Array]  # f(Q), in body axes

EPS = float(np.finfo(float).eps)


# ---- rotations
def skew(v: Any) -> Array:
    """Section 2: skew(v) x = x × v, the opposite sign of most books."""
    return rotations.skew(-np.asarray(v))


def exp(v: Array) -> Array:
    """Rodrigues' formula for exp(skew(v))."""
    return rotations.exp(-v)


def euler(inertia: Array, omega: Array) -> Array:
    """Return the right-hand side of (1)."""
    (i1, i2, i3), (w1, w2, w3) = inertia, omega
    return np.array([(i2 - i3) * w2 * w3, (i3 - i1) * w3 * w1, (i1 - i2) * w1 * w2])


def fields(inertia: Array, omega: Array) -> Array:
    """f1, f2, f3 of (3), in rows."""
    (i1, i2, i3), (w1, w2, w3) = inertia, omega
    return np.array(
        [
            [0.0, i3 * w3 * w1, -i2 * w1 * w2],
            [-i3 * w2 * w3, 0.0, i1 * w1 * w2],
            [i2 * w2 * w3, -i1 * w3 * w1, 0.0],
        ]
    )


# ---- elliptic functions, section 3
def means(mc: float) -> list[tuple[float, float, float]]:
    """(a, b, c) of the arithmetic-geometric mean (18) of 1 and √mc, mc = 1 - k², until c < eps."""
    rows = [(1.0, float(np.sqrt(mc)), float(np.sqrt(1.0 - mc)))]
    while rows[-1][2] > EPS and len(rows) < 40:
        a, b, _ = rows[-1]
        rows.append(((a + b) / 2, float(np.sqrt(a * b)), (a - b) / 2))
    return rows


def recursions(mc: float) -> int:
    """Return the number of steps of (18)."""
    return len(means(mc)) - 1


def integral(phi: float, mc: float, branch: bool = True) -> float:
    """F(φ | k²) by (19); without ``branch`` the arctangent keeps its principal value."""
    rows = means(mc)
    for a, b, _ in rows:
        if branch:
            turn = float(np.arctan2(b * np.sin(phi), a * np.cos(phi)))
            phi += turn + 2 * np.pi * round((phi - turn) / (2 * np.pi))  # the branch next to φ
        else:
            phi += float(np.arctan(b / a * np.tan(phi)))
    a, b, _ = rows[-1]
    return phi / (2.0 ** len(rows) * (a + b) / 2)


def functions(u: float, mc: float) -> tuple[float, float, float]:
    """cn, sn, dn of u, down the same means (Abramowitz & Stegun 16.4)."""
    rows = means(mc)
    phi = 2.0 ** (len(rows) - 1) * rows[-1][0] * u
    for a, _, c in rows[:0:-1]:
        phi = (phi + float(np.arcsin(c / a * np.sin(phi)))) / 2
    sn, cn = float(np.sin(phi)), float(np.cos(phi))
    return cn, sn, float(np.sqrt(cn * cn + mc * sn * sn))


@dataclass(frozen=True)
class Constants:
    """(12) and k² of a body in axes for which (13) is written."""

    a1: float  # squares, all four
    a3: float
    b1: float
    b3: float

    @property
    def modulus(self) -> float:
        """k²."""
        return self.b3 * self.a1 / (self.b1 * self.a3)

    def amplitudes(self, inertia: Array) -> Array:
        """Return the factors of cn, sn and dn in (13)."""
        i1, _, i3 = inertia
        squares = self.a1 / (i1 * (i3 - i1)), self.a1 / self.b1, self.a3 / (i3 * (i3 - i1))
        return np.sqrt(squares)


def constants(inertia: Array, omega: Array, printed: bool = False, half: bool = True) -> Constants:
    """(12); ``printed`` takes b1² = I2 (I3 - I1), without ``half`` the E of (2) goes into 2E."""
    i1, i2, i3 = inertia
    energy = float(inertia @ omega**2) * (0.5 if half else 1.0)
    square = float(inertia**2 @ omega**2)
    return Constants(
        2 * energy * i3 - square,
        square - 2 * energy * i1,
        i2 * (i3 - (i1 if printed else i2)),
        i2 * (i2 - i1),
    )


def arrangement(inertia: Array, omega: Array, proper: bool = True) -> Array:
    """Return the signed permutation to axes for which (13) is written; unsigned if not ``proper``.

    The third axis has the largest moment, or, in the second family, the smallest.
    """
    order = np.argsort(inertia)
    if inertia**2 @ omega**2 < inertia @ omega**2 * inertia[order[1]]:
        order = order[::-1]
    turn = np.eye(3)[order]
    if proper and np.linalg.det(turn) < 0:
        turn[1] *= -1
    return turn


def closed_form(
    inertia: Array, omega: Array, times: Any, proper: bool = True, branch: bool = True
) -> Array:
    """ω at ``times`` by (12) to (19), from ω at 0; b1² = I2 (I3 - I2), any order of the moments."""
    turn = arrangement(inertia, omega, proper)
    moments, start = np.abs(turn) @ inertia, turn @ omega
    i1, i2, i3 = moments
    c = constants(moments, start)
    size = c.amplitudes(moments)  # signs cancel in the second family
    size[2] = np.copysign(size[2], start[2])
    rate = (i3 - i1) / i2 * size[2] * size[0] / size[1]  # λ with its sign
    mc = 1.0 - c.modulus
    phi = float(np.arctan2(start[1] / size[1], start[0] / size[0]))
    shift = integral(phi, mc, branch)  # -λτ, (16)
    made = []
    for t in np.atleast_1d(times):
        cn, sn, dn = functions(rate * float(t) + shift, mc)
        made.append(turn.T @ (size * np.array([cn, sn, dn])))
    return np.array(made)


# ---- maps
def magnus(inertia: Array, omega: Array, h: float, order: int, swapped: bool = False) -> Array:
    """The rotation of one step by the truncated series; ``swapped`` takes c1 = 1/2 + √3/6."""
    if order == 2:
        return exp(h * closed_form(inertia, omega, h / 2)[0])  # (9)
    nodes = (0.5 + np.sqrt(3) / 6 * np.array([-1.0, 1.0])) * (-1 if swapped else 1) + swapped
    w1, w2 = closed_form(inertia, omega, h * nodes)
    x1, x2 = skew(w1), skew(w2)
    bracket = x2 @ x1 - x1 @ x2
    series = h / 2 * (x1 + x2) + np.sqrt(3) / 12 * h * h * bracket
    return exp(np.array([series[1, 2], series[2, 0], series[0, 1]]))


def sej(
    h: float, state: State, inertia: Array, torque: Torque, order: int = 2, swapped: bool = False
) -> State:
    """(10) between two halves of (11)."""
    q, p = state
    p = p + h / 2 * torque(q)
    omega = p / inertia
    turn = magnus(inertia, omega, h, order, swapped)
    p = inertia * closed_form(inertia, omega, h)[0]
    q = turn @ q
    return q, p + h / 2 * torque(q)


def mr(h: float, state: State, inertia: Array, torque: Torque) -> State:
    """Φ_M of section 4."""
    q, p = state
    p = p + h / 2 * torque(q)
    for axis, part in ((0, h / 2), (1, h / 2), (2, h), (1, h / 2), (0, h / 2)):
        turn = exp(np.eye(3)[axis] * (part * p[axis] / inertia[axis]))
        q, p = turn @ q, turn @ p
    return q, p + h / 2 * torque(q)


def turn_x(h: float, p: Array, inertia: Array) -> Array:
    """R_x(h) of section 4, as printed."""
    angle = p[0] / inertia[0] * h
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, s], [0.0, -s, c]])


# ---- the discrete Moser-Veselov algorithm (the paper refers to McLachlan & Zanna for it)
def dmv(h: float, p: Array, inertia: Array, tolerance: float = 0.0) -> Array:
    """One step of π; the equations are solved by fixed-point iteration until c is stationary."""
    turn = np.roll(inertia, -1) - np.roll(inertia, 1)
    c = h / 2 * p / inertia
    for _ in range(500):
        products = np.roll(c, -1) * np.roll(c, 1)
        new = (1 + c @ c) * h / 2 * p / inertia + turn / inertia * products
        change = float(np.abs(new - c).max())
        c = new
        if change <= max(tolerance, 1e-17):
            break
    return p + 4 / h * turn * (np.roll(c, -1) * np.roll(c, 1)) / (1 + c @ c)


def scale(h: float, p: Array, inertia: Array, order: int) -> float:
    """Return the factor of π0 for order 4 or 6; π is divided by it at the end."""
    energy, size = float(p @ (p / inertia)) / 2, float(p @ p) / 2
    volume = float(np.prod(inertia))
    s1, s2 = float(inertia.sum()), float((inertia**2).sum())
    x1, x2 = float((1 / inertia).sum()), float((1 / inertia**2).sum())
    cross = sum((s1 - i) / i for i in inertia.tolist())
    t3 = energy * x1 / 3 - size * s1 / (6 * volume)
    t5 = (
        (0.3 * x2 + 0.45 * s1 / volume) * energy**2
        - (3 * cross + 7) / (10 * volume) * energy * size
        + (s2 / (20 * volume**2) + x1 / (5 * volume)) * size**2
    )
    return 1 - t3 * h**2 + (3 * t3**2 - t5) * h**4 * (order == 6)


# ---- torques
def top(q: Array) -> Array:
    """Section 4.2: f = (u2, -u1, 0), u = Q u0."""
    return np.array([q[1, 2], -q[0, 2], 0.0])


def top_potential(q: Array) -> float:
    """Section 4.2: V = e3ᵀ Q u0, u0 = e3."""
    return float(q[2, 2])


MU, RADIUS = 3.986e14, 1.5e5


def satellite(inertia: Array) -> Torque:
    """Section 4.3: f = 3μ/r³ (Q e3) × (T Q e3)."""
    return lambda q: 3 * MU / RADIUS**3 * np.cross(q[:, 2], inertia * q[:, 2])


def satellite_potential(inertia: Array) -> Callable[[Array], float]:
    """Section 4.3: V = 3μ/(2r³) (Q e3)ᵀ T Q e3."""
    return lambda q: float(1.5 * MU / RADIUS**3 * (q[:, 2] @ (inertia * q[:, 2])))
