"""The formulas of Boyle (2017) in NumPy, quaternions (w, x, y, z) along the last axis.

They are written from the page, independently of the library's kernels.
"""

from collections.abc import Callable
from math import comb
from typing import Any

import numpy as np

from polhode.papers.quaternions import inverse, product, pure, square, times

X, Y, Z = np.eye(4)[1:]
ONE = np.eye(4)[0]
ORBIT, PRECESSION = 2 * np.pi / 1000, 2 * np.pi / 10000  # (27a), (27b)
CONE = np.pi / 8  # (27c)
OPENING = 2 * CONE / 100000  # (27d)
NUTATION = np.pi / 80  # (27e)
TILT = -3 * CONE / 10  # of (27f)


# ---- quaternions
def exponential(r: np.ndarray) -> np.ndarray:
    """e^r of a pure quaternion."""
    size = np.sqrt(square(r))
    return np.cos(size) * ONE + np.sinc(size / np.pi) * r


def rotate(rotor: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(4) for a vector v."""
    return times(rotor, pure(v), inverse(rotor))[..., 1:]


def frame(rotor: np.ndarray) -> np.ndarray:
    """Return the rotated x, y and z: rows of the last two axes."""
    return rotate(np.asarray(rotor, float)[..., None, :], np.eye(3))


def bracket(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return product(a, b) - product(b, a)


# ---- section IV
def powers(p: np.ndarray, q: np.ndarray, k: int) -> np.ndarray:
    """ad_p^k q, by (14)."""
    for _ in range(k):
        q = bracket(p, q)
    return q


def power_closed(p: np.ndarray, q: np.ndarray, k: int) -> np.ndarray:
    """(16), p in its last factor the magnitude."""
    size = 2 * np.sqrt(square(p))
    if k == 0:
        return q
    if k % 2:
        return (-1) ** ((k - 1) // 2) * bracket(p, q) * size ** (k - 1)
    return (-1) ** ((k - 2) // 2) * bracket(p, bracket(p, q)) * size ** (k - 2)


def rate_of(r: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """(17): ω from the generator and its derivative."""
    size = np.sqrt(square(r))
    first = bracket(r, slope)
    sine = np.sinc(size / np.pi)
    third = (size - np.sin(size) * np.cos(size)) / (2 * size**3)
    return 2 * slope + sine**2 * first + third * bracket(r, first)


def slope_of(r: np.ndarray, omega: np.ndarray) -> np.ndarray:
    """(18) as printed, for vectors."""
    size = np.linalg.norm(r, axis=-1, keepdims=True)
    cotangent = size / np.tan(size)
    along = (r * omega).sum(-1, keepdims=True) / (2 * size**2)
    return 0.5 * np.cross(omega, r) + omega * cotangent / 2 + r * along * (1 - cotangent)


def enveloping_power(p: np.ndarray, q: np.ndarray, k: int) -> np.ndarray:
    """(21), with matrices."""
    power = np.linalg.matrix_power
    return sum(
        ((-1) ** (j + k) * comb(k, j) * power(p, j) @ q @ power(p, k - j) for j in range(k + 1)),
        start=np.zeros_like(p),
    )


# ---- section VI
def rotors(t: Any) -> tuple[np.ndarray, ...]:
    """R₀ … R₄, (27)."""
    t = np.asarray(t, float)[..., None]
    return (
        exponential(TILT * X),
        exponential(0.5 * ORBIT * t * Z),
        exponential(0.5 * (CONE + OPENING * t) * X),
        exponential(0.5 * PRECESSION * t * Z),
        exponential(0.5 * NUTATION * X),
    )


def binary(t: Any) -> np.ndarray:
    """(26)."""
    r0, r1, r2, r3, r4 = rotors(t)
    return times(r0, r1, r4, inverse(r1), r3, r2, inverse(r3), r1)


def binary_slope(t: Any) -> np.ndarray:
    """dR/dt by the product rule (23), (28) and (5)."""
    r0, r1, r2, r3, r4 = rotors(t)
    turns = (r1, ORBIT * Z), (r2, OPENING * X), (r3, PRECESSION * Z)
    s1, s2, s3 = (product(r, turn / 2) for r, turn in turns)  # (28)
    i1, i3 = inverse(r1), inverse(r3)
    j1, j3 = (-times(i, s, i) for i, s in ((i1, s1), (i3, s3)))  # (5)
    factors = [r0, r1, r4, i1, r3, r2, i3, r1]
    slopes = {1: s1, 3: j1, 4: s3, 5: s2, 6: j3, 7: s1}
    terms = (times(*factors[:k], slope, *factors[k + 1 :]) for k, slope in slopes.items())
    return sum(terms, start=np.zeros_like(r1))


def binary_rate(t: Any) -> np.ndarray:
    """ω = 2 R' R⁻¹, (9)."""
    return 2 * product(binary_slope(t), inverse(binary(t)))[..., 1:]


# ---- measuring
STENCIL = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280])


def differentiate(f: Callable[[Any], np.ndarray], t: Any, h: float) -> np.ndarray:
    """f'(t) by differences of order 8."""
    values = np.array([f(t + k * h) for k in range(-4, 5)])
    return np.tensordot(STENCIL, values, 1) / h


def change_of_rate(rate: Callable[[Any], np.ndarray], t: Any, h: float) -> np.ndarray:
    """2|ω'|/ω² at some times."""
    slopes = differentiate(rate, t, h)
    return 2 * np.linalg.norm(slopes, axis=1) / (rate(t) ** 2).sum(1)
