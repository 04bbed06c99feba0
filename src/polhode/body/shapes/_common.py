"""What the shapes share: symmetry about z, differences without cancellation, checks of sizes."""

import math
from typing import Any

import numpy as np

from polhode.body.shape import Shape, three
from polhode.contracts.checks import positive
from polhode.errors import InputError

ORIGIN = (0.0, 0.0, 0.0)
CUBES = (3, 1, 1), (1, 3, 1), (1, 1, 3)  # exponents of the second moments of boxes and ellipsoids


def symmetric(mass: float, across: float, along: float, height: float = 0.0) -> Shape:
    """A shape symmetric about z, its centre of mass at ``height``."""
    return Shape(mass, (0.0, 0.0, height), (across, across, along))


def fourth(r: float, s: float) -> float:
    """(r⁵ - s⁵)/(r - s)."""
    return r**4 + r**3 * s + r * r * s * s + r * s**3 + s**4


def difference(a: np.ndarray, s: np.ndarray, powers: tuple[int, ...]) -> float:
    """Π aᵢ^pᵢ - Π sᵢ^pᵢ, one factor after the other, exponents 1 and 3: no cancellation."""
    total = 0.0
    for k, power in enumerate(powers):
        step = a[k] - s[k]
        if power == 3:
            step *= a[k] * a[k] + a[k] * s[k] + s[k] * s[k]
        before = math.prod(s[i] ** powers[i] for i in range(k))
        after = math.prod(a[i] ** powers[i] for i in range(k + 1, 3))
        total += before * step * after
    return float(total)


def sizes(value: Any, argument: str) -> np.ndarray:
    """Three positive lengths."""
    lengths = three(value, argument)
    if (lengths <= 0).any():
        raise InputError(f"{argument} must be three positive numbers, got {value!r}")
    return lengths


def nested(radius: Any, inner: Any) -> tuple[float, float]:
    """The radii of a hollow shape, the outer and the inner one."""
    r, s = positive(radius, "radius"), positive(inner, "inner")
    if s >= r:
        raise InputError(f"inner must be less than radius = {r!r}, got {inner!r}")
    return r, s


def nested_sizes(value: Any, inner: Any, argument: str) -> tuple[np.ndarray, np.ndarray]:
    """The lengths of a hollow shape, the outer and the inner ones."""
    a, s = sizes(value, argument), sizes(inner, "inner")
    if (s > a).any() or (s == a).all():
        raise InputError(
            f"inner must be less than {argument} = {a.tolist()}, or equal in some places, got"
            f" {s.tolist()}"
        )
    return a, s
