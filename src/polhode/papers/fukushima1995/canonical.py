"""Measurements of section 4 of Fukushima (1995): canonical variables, nonrotating origins.

The paper does not define σ and ξ.  Here they are the outer angles of its (1),

    σ = arg(L_Z + i L_Y),    ξ = arg(L_C + i L_B)                                      (1)
    E = R₁(σ) R₂(-sin⁻¹ L_X/L) R₃(-f) R₂(sin⁻¹ L_A/L) R₁(-ξ)                           (2)

so that the set is that of Serret and Andoyer with X for Z and A for C, f being the angle between
the nodes.  With a potential V it has the Hamiltonian

    H = L_A²/2A + (L² - L_A²)(sin²ξ/2B + cos²ξ/2C) + V(E)                              (3)

An origin n on the great circle perpendicular to L is nonrotating, in inertial axes or in those of
the body, if it moves along L alone: n' = -(l'·n) l with l = L/|L|.  The angle θ from the one origin
to the other obeys

    L θ' = L·ω = L f' - L_X σ' + L_A ξ'                                                (4)

Derivatives are taken with an imaginary step and are exact to rounding.
"""

from math import pi
from typing import Any

import numpy as np

from polhode.papers.fukushima1995 import by_hand
from polhode.papers.fukushima1995.by_hand import TINY, Array, angle_rate, r1, r3
from polhode.papers.fukushima1995.laboratory import EARTH, NEW, Laboratory
from polhode.papers.maps import Matrices, symplectic_defect
from polhode.papers.rotations import matrix
from polhode.papers.verdicts import Measured, added_if, holds_if, largest

COUNT, EXACT = 100, 1e-12
ARCSECOND = pi / 180 / 3600
TILTED = 0.3  # rad: the least distance of the angles from their poles
STEP = 0.1
PAIRS = np.block([[np.zeros((3, 3)), np.eye(3)], [-np.eye(3), np.zeros((3, 3))]])
UNLIKE = np.diag([1.0, 1, 1, 1, -1, 1])  # σ for -σ


# ---- the variables u = (L, L_X, L_A, f, -σ, ξ)
def change(r: Any, m: Any) -> Array:
    """Return the change of u from the imaginary parts of r and m, by the definition."""
    outside = r @ m
    c, s, whole = by_hand.planes(r, m)
    turned = (c, s), (outside[2], -outside[1]), (m[2], m[1])
    first = whole.imag, outside[0].imag, m[0].imag
    return np.array([*first, *(angle_rate(*pair) for pair in turned)]) / TINY


def tilt(x: Any) -> Array:
    """R₂(-sin⁻¹ x)."""
    w = np.sqrt(1 - x * x)
    return np.array([[w, 0, x], [0, 1, 0], [-x, 0, w]])


def state_of(u: Any) -> tuple[Array, Array]:
    """(E, m) of (2)."""
    whole, x, a, f, h, xi = u
    e = r1(-h) @ tilt(x / whole) @ r3(-f) @ tilt(a / whole).T @ r1(-xi)
    w = np.sqrt(whole * whole - a * a)
    return e, np.array([a, w * np.sin(xi), w * np.cos(xi)])


def variables_of(r: Array, m: Array) -> Array:
    """u of real matrices."""
    outside, (whole, x, _, a, _, f) = r @ m, by_hand.variables(r, m)
    return np.array([whole, x, a, f, -np.arctan2(outside[1], outside[2]), np.arctan2(m[1], m[2])])


# ---- Euler's angles 3-1-3 and their momenta, as in textbooks
def by_euler(y: Any) -> tuple[Array, Array]:
    """(R, m) of (φ, θ, ψ, p_φ, p_θ, p_ψ)."""
    phi, theta, psi, p, q, s = y
    across = (p - s * np.cos(theta)) / np.sin(theta)
    c, d = np.cos(psi), np.sin(psi)
    m = np.array([q * c + across * d, across * c - q * d, s])
    return r3(-phi) @ r1(-theta) @ r3(-psi), m


def euler_states(count: int) -> list[Array]:
    """Generic states, L away from the axes X and A."""
    rng = np.random.default_rng(1994)
    found: list[Array] = []
    while len(found) < count:
        angles = rng.uniform([-pi, TILTED, -pi], [pi, pi - TILTED, pi])
        y = np.array([*angles, *rng.normal(size=3)])
        r, m = by_euler(y)
        whole = np.sqrt(m @ m)
        if whole > 0.5 and max(abs(m[0]), abs((r @ m)[0])) < 0.9 * whole:
            found.append(y)
    return found


def brackets(y: Array) -> Array:
    """Poisson's brackets {u_i, u_j}; -PAIRS if the variables are canonical."""
    columns = [change(*by_euler(y + 1j * TINY * e)) for e in np.eye(6)]
    jacobian = np.stack(columns, axis=1)
    return jacobian @ PAIRS @ jacobian.T


# ---- the motion
def potential(r: Any, k: Array) -> Any:
    return (k * r).sum()


def torque(r: Array, k: Array) -> Array:
    g = r.T @ k
    return -np.array([g[2, 1] - g[1, 2], g[0, 2] - g[2, 0], g[1, 0] - g[0, 1]])


def energy(u: Any, moments: Array, k: Array) -> Any:
    """(3)."""
    e, m = state_of(u)
    return (m * m / moments).sum() / 2 + potential(e, k)


def hamilton(u: Array, moments: Array, k: Array) -> Array:
    """u' by Hamilton's equations."""
    slopes = [energy(u + 1j * TINY * e, moments, k).imag / TINY for e in np.eye(6)]
    return np.array([-slopes[3], -slopes[4], -slopes[5], *slopes[:3]])


def bodies(count: int) -> list[tuple[Array, Array, Array, Array]]:
    """(R, m, moments, coefficients of a potential), all of order 1."""
    rng = np.random.default_rng(60)
    cases = by_hand.states(count, upward=False)
    return [(r, m, moments, rng.normal(size=(3, 3))) for r, m, moments, _ in cases]


# ---- origins
def origin_rate(r: Array, m: Array, moments: Array, n: Array) -> float:
    """θ' between two nonrotating origins, taken anywhere on the circle, by their definition."""
    later, momentum = by_hand.along(r, m, moments, n)
    outside, inside = unit(later @ momentum), unit(momentum)
    o, b = nonrotating(outside), later @ nonrotating(inside)
    return angle_rate(o @ b, outside @ np.cross(o, b)) / TINY


def unit(v: Any) -> Any:
    return v / np.sqrt(v @ v)


def nonrotating(axis: Any) -> Any:
    """A nonrotating origin perpendicular to an axis that moves by its imaginary part."""
    n = unit(np.cross(axis.real, [0.6, 0.0, 0.8]))
    return n - 1j * (axis.imag @ n) * axis.real


def equator(lab: Laboratory) -> tuple[float, float]:
    """∫ (L_X/L) dσ and ∫ (L_Z/L) dh of the Earth, h being the longitude of the ecliptic's node."""
    course = lab.course(EARTH, NEW)
    states = [course.state(n) for n in range(course.turns + 1)]
    q, m = (np.array(part, dtype=float) for part in zip(*states, strict=True))
    axes = np.einsum("nij,nj->ni", matrix(q), m)
    x, y, z = (axes / np.linalg.norm(axes, axis=1, keepdims=True)).T
    return _sweep(x, np.arctan2(y, z)), _sweep(z, np.unwrap(np.arctan2(x, -y)))


def _sweep(weight: Array, angle: Array) -> float:
    """Return the largest |∫ weight d(angle)|."""
    return largest(np.cumsum(0.5 * (weight[1:] + weight[:-1]) * np.diff(angle)))


# ---- 4
def canonical(_: Laboratory) -> Measured:
    found, back = [brackets(y) for y in euler_states(COUNT)], 0.0
    off = max(largest(b + PAIRS) for b in found)
    unlike = min(largest(UNLIKE @ b @ UNLIKE + PAIRS) for b in found)
    for r, m, _moments, _k in bodies(COUNT):
        e, momentum = state_of(variables_of(r, m))
        back = max(back, largest(e - r), largest(momentum - m))
    return holds_if(max(off, back) < EXACT and unlike > 1, off, unlike, back)


def hamilton_(_: Laboratory) -> Measured:
    off = free = 0.0
    for r, m, moments, k in bodies(COUNT):
        u = variables_of(r, m)
        right = change(*by_hand.along(r, m, moments, torque(r, k)))
        off = max(off, largest(hamilton(u, moments, k) - right))
        printed = by_hand.printed_angle_rate(r, m, moments, by_hand.ORIGIN)
        free = max(free, abs(hamilton(u, moments, 0 * k)[3] - printed))
    return added_if(max(off, free) < EXACT, off, free)


def defect(r: Array, m: Array, moments: Array, k: Array, implicit: bool) -> float:
    """Return the change of the symplectic form by a step; the form does not use these variables."""

    def move(state: Matrices) -> Matrices:
        return state_of(midpoint(variables_of(*state), STEP, moments, k, implicit))

    return symplectic_defect(move, (r, m))


def midpoint(u: Array, h: float, moments: Array, k: Array, implicit: bool) -> Array:
    """A step of the midpoint rule, implicit or explicit."""
    d = 0.5 * h * hamilton(u, moments, k)
    if not implicit:
        return u + h * hamilton(u + d, moments, k)
    for _ in range(60):
        before, d = d, 0.5 * h * hamilton(u + d, moments, k)
        if largest(d - before) < 1e-14:
            break
    return u + 2 * d


def sidereal(lab: Laboratory) -> Measured:
    own, node = equator(lab)
    return holds_if(own < 1e-3 * node, lab.revolutions, own / ARCSECOND, node / ARCSECOND)


def relation(_: Laboratory) -> Measured:
    off = spin = 0.0
    wrong = []
    for r, m, moments, n in by_hand.states(COUNT, upward=True):
        whole, x, a = variables_of(r, m)[:3]
        f, h, xi = change(*by_hand.along(r, m, moments, n))[3:]  # h = -σ
        theta = origin_rate(r, m, moments, n)
        printed = by_hand.printed_angle_rate(r, m, moments, n)
        off = max(off, abs(whole * (f - theta) + x * h + a * xi))
        spin = max(spin, abs(whole * theta - m @ (m / moments)))
        wrong.append(abs(whole * (printed - theta) + x * h + a * xi))
    return added_if(max(off, spin) < EXACT, off, spin, np.median(wrong))
