"""Quaternions in NumPy, to check the papers' formulas independently of the library.

They are (w, x, y, z) along the last axis; the numbers may be floats, fractions, or anything else
that adds and multiplies.
"""

from typing import Any

import numpy as np

Array = np.ndarray
SIGNS = np.array([1, -1, -1, -1])
NEXT, LAST = [1, 2, 0], [2, 0, 1]  # the components after and before each


def cross(a: Array, b: Array) -> Array:
    """a × b."""
    return a[..., NEXT] * b[..., LAST] - a[..., LAST] * b[..., NEXT]


def product(a: Any, b: Any) -> Array:
    """Return the product of two quaternions."""
    a, b = np.asarray(a), np.asarray(b)
    s, r, u, v = a[..., :1], a[..., 1:], b[..., :1], b[..., 1:]
    dot = (r * v).sum(-1, keepdims=True)
    return np.concatenate([s * u - dot, s * v + u * r + cross(r, v)], -1)


def times(*factors: Array) -> Array:
    """Return the product of several quaternions, from the left."""
    total = factors[0]
    for factor in factors[1:]:
        total = product(total, factor)
    return total


def conjugate(a: Array) -> Array:
    """(w, -x, -y, -z)."""
    return a * SIGNS


def square(a: Array) -> Array:
    """|a|²."""
    return (a * a).sum(-1, keepdims=True)


def inverse(a: Array) -> Array:
    """Return the conjugate over |a|²."""
    return conjugate(a) / square(a)


def pure(v: Any) -> Array:
    """Return the quaternion of a vector."""
    v = np.asarray(v)
    return np.concatenate([np.zeros_like(v[..., :1]), v], -1)
