"""Shapes with closed forms, and meshes: mass, centre of mass and inertia.

Every function takes ``mass=`` (kg) or ``density=`` (kg/m³ unless it says otherwise) and returns a
``Shape``, which can be moved, turned, added to others and subtracted from them.  Axes of symmetry
lie along z.  Shapes with a middle have it at the origin; ``cone``, ``frustum`` and ``hemisphere``
stand on the plane z = 0.  Formulas of hollow shapes are sums of positive terms: thin walls lose no
digits.
"""

import math
from typing import Any

import numpy as np

from polhode.body.inertia import spread
from polhode.body.mesh import mesh
from polhode.body.shape import Shape, positive, three, weighed
from polhode.errors import InputError

__all__ = [
    "Shape",
    "box",
    "capsule",
    "cone",
    "cylinder",
    "disc",
    "ellipsoid",
    "frustum",
    "hemisphere",
    "hollow_box",
    "hollow_ellipsoid",
    "hollow_sphere",
    "mesh",
    "point_mass",
    "rod",
    "shell",
    "sphere",
    "tetrahedron",
    "torus",
    "tube",
]

ORIGIN = (0.0, 0.0, 0.0)


# ---- round
def sphere(radius: float, *, mass: float | None = None, density: float | None = None) -> Shape:
    """A solid ball: I = 2/5 m r²."""
    r = positive(radius, "radius")
    m = weighed(4 / 3 * math.pi * r**3, mass, density)
    return _round(m, 0.4 * m * r * r, 0.4 * m * r * r)


def hollow_sphere(
    radius: float, inner: float, *, mass: float | None = None, density: float | None = None
) -> Shape:
    """A ball with a concentric hole of radius ``inner``: I = 2/5 m (r⁵ - s⁵)/(r³ - s³)."""
    r, s = _nested(radius, inner)
    squares = r * r + r * s + s * s
    m = weighed(4 / 3 * math.pi * (r - s) * squares, mass, density)
    i = 0.4 * m * _fourth(r, s) / squares
    return _round(m, i, i)


def shell(radius: float, *, mass: float | None = None, density: float | None = None) -> Shape:
    """A thin spherical shell, density in kg/m²: I = 2/3 m r²."""
    r = positive(radius, "radius")
    m = weighed(4 * math.pi * r * r, mass, density, "kg/m²")
    return _round(m, 2 / 3 * m * r * r, 2 / 3 * m * r * r)


def ellipsoid(semi_axes: Any, *, mass: float | None = None, density: float | None = None) -> Shape:
    """A solid ellipsoid with semi-axes (a, b, c): I₁ = m (b² + c²)/5."""
    a = _sizes(semi_axes, "semi_axes")
    m = weighed(4 / 3 * math.pi * float(a.prod()), mass, density)
    return Shape(m, ORIGIN, spread(np.diag(m / 5 * a * a)))


def hollow_ellipsoid(
    semi_axes: Any, inner: Any, *, mass: float | None = None, density: float | None = None
) -> Shape:
    """An ellipsoid with a concentric ellipsoidal hole of semi-axes ``inner``."""
    a, s = _nested_sizes(semi_axes, inner, "semi_axes")
    volume = 4 / 3 * math.pi * _difference(a, s, (1, 1, 1))
    m = weighed(volume, mass, density)
    squares = [_difference(a, s, powers) for powers in CUBES]
    return Shape(m, ORIGIN, spread(np.diag(squares) * (4 / 15 * math.pi * m / volume)))


def hemisphere(radius: float, *, mass: float | None = None, density: float | None = None) -> Shape:
    """A solid half ball on the plane z = 0; its centre of mass is 3/8 r above it."""
    r = positive(radius, "radius")
    m = weighed(2 / 3 * math.pi * r**3, mass, density)
    return _round(m, 83 / 320 * m * r * r, 0.4 * m * r * r, 3 / 8 * r)


def torus(
    radius: float, tube: float, *, mass: float | None = None, density: float | None = None
) -> Shape:
    """A solid ring: a disc of radius ``tube`` whose centre goes round on a circle of ``radius``."""
    r, s = positive(radius, "radius"), positive(tube, "tube")
    if s > r:
        raise InputError(f"tube must be at most radius = {r!r}, got {tube!r}")
    m = weighed(2 * math.pi**2 * r * s * s, mass, density)
    return _round(m, m * (r * r / 2 + 5 / 8 * s * s), m * (r * r + 3 / 4 * s * s))


# ---- along an axis
def cylinder(
    radius: float, length: float, *, mass: float | None = None, density: float | None = None
) -> Shape:
    """A solid cylinder: I₃ = m r²/2, I₁ = m (3 r² + l²)/12."""
    r, length = positive(radius, "radius"), positive(length, "length")
    m = weighed(math.pi * r * r * length, mass, density)
    return _round(m, m * (3 * r * r + length * length) / 12, m * r * r / 2)


def tube(
    radius: float,
    inner: float,
    length: float,
    *,
    mass: float | None = None,
    density: float | None = None,
) -> Shape:
    """A cylinder with a coaxial hole of radius ``inner``."""
    r, s = _nested(radius, inner)
    length = positive(length, "length")
    m = weighed(math.pi * (r - s) * (r + s) * length, mass, density)
    squares = r * r + s * s
    return _round(m, m * (3 * squares + length * length) / 12, m * squares / 2)


def capsule(
    radius: float, length: float, *, mass: float | None = None, density: float | None = None
) -> Shape:
    """A cylinder of ``length`` between two half balls; it is ``length + 2 radius`` long."""
    r, length = positive(radius, "radius"), positive(length, "length")
    m = weighed(math.pi * r * r * (length + 4 / 3 * r), mass, density)
    middle = m * length / (length + 4 / 3 * r)
    ends = m * 4 / 3 * r / (length + 4 / 3 * r)
    across = middle * (3 * r * r + length * length) / 12 + ends * (
        0.4 * r * r + 3 / 8 * r * length + length * length / 4
    )
    return _round(m, across, middle * r * r / 2 + ends * 0.4 * r * r)


def cone(
    radius: float, height: float, *, mass: float | None = None, density: float | None = None
) -> Shape:
    """A solid cone on the plane z = 0, its tip at z = height, its centre of mass at height/4.

    About that, I₃ = 3/10 m r², I₁ = 3/80 m (4 r² + h²).
    """
    r, h = positive(radius, "radius"), positive(height, "height")
    m = weighed(math.pi / 3 * r * r * h, mass, density)
    return _round(m, 3 / 80 * m * (4 * r * r + h * h), 0.3 * m * r * r, h / 4)


def frustum(
    radius: float,
    top: float,
    height: float,
    *,
    mass: float | None = None,
    density: float | None = None,
) -> Shape:
    """A cone cut off: ``radius`` on the plane z = 0, ``top`` (which may be larger) at z = height.

    With p = r² + r s + s², the centre of mass is at h (r² + 2 r s + 3 s²)/(4 p), and about it
    I₃ = 3/10 m (r⁴ + r³ s + r² s² + r s³ + s⁴)/p,
    I₁ = I₃/2 + 3/80 m h² (r⁴ + 4 r³ s + 10 r² s² + 4 r s³ + s⁴)/p².
    """
    r, s, h = positive(radius, "radius"), positive(top, "top"), positive(height, "height")
    p = r * r + r * s + s * s
    m = weighed(math.pi / 3 * h * p, mass, density)
    along = 0.3 * m * _fourth(r, s) / p
    quartic = r**4 + 4 * r**3 * s + 10 * r * r * s * s + 4 * r * s**3 + s**4
    across = along / 2 + 3 / 80 * m * h * h * quartic / (p * p)
    return _round(m, across, along, h * (r * r + 2 * r * s + 3 * s * s) / (4 * p))


def rod(length: float, *, mass: float | None = None, density: float | None = None) -> Shape:
    """A thin rod, density in kg/m: I₁ = m l²/12, and 0 about itself."""
    length = positive(length, "length")
    m = weighed(length, mass, density, "kg/m")
    return _round(m, m * length * length / 12, 0.0)


def disc(radius: float, *, mass: float | None = None, density: float | None = None) -> Shape:
    """A thin disc across z, density in kg/m²: I₃ = m r²/2."""
    r = positive(radius, "radius")
    m = weighed(math.pi * r * r, mass, density, "kg/m²")
    return _round(m, m * r * r / 4, m * r * r / 2)


# ---- with corners
def box(size: Any, *, mass: float | None = None, density: float | None = None) -> Shape:
    """A solid box of edges (a, b, c) along the axes: I₁ = m (b² + c²)/12."""
    a = _sizes(size, "size")
    m = weighed(float(a.prod()), mass, density)
    return Shape(m, ORIGIN, spread(np.diag(m / 12 * a * a)))


def hollow_box(
    size: Any, inner: Any, *, mass: float | None = None, density: float | None = None
) -> Shape:
    """A box with a concentric hole of edges ``inner``; equal edges make it open at both ends."""
    a, s = _nested_sizes(size, inner, "size")
    volume = _difference(a, s, (1, 1, 1))
    m = weighed(volume, mass, density)
    squares = [_difference(a, s, powers) for powers in CUBES]
    return Shape(m, ORIGIN, spread(np.diag(squares) * (m / volume / 12)))


def tetrahedron(vertices: Any, *, mass: float | None = None, density: float | None = None) -> Shape:
    """The solid between four points, where they are: S = m/20 Σ rᵢ ⊗ rᵢ from their mean."""
    try:
        points = np.array(vertices, dtype=float)
    except (TypeError, ValueError):
        points = np.empty(0)
    if points.shape != (4, 3) or not np.isfinite(points).all():
        raise InputError(f"vertices must be four points of three numbers, got {vertices!r}")
    edges = points - points[0]
    mean = edges.sum(axis=0) / 4
    r = edges - mean
    volume = abs(float(np.linalg.det(edges[1:]))) / 6
    if volume <= 1e-14 * float(np.prod(np.linalg.norm(edges[1:], axis=1))):
        raise InputError(f"vertices lie in one plane, got {points.tolist()}")
    m = weighed(volume, mass, density)
    return Shape(m, mean, spread(m / 20 * (r.T @ r))).moved(points[0])


def point_mass(mass: float, at: Any = ORIGIN) -> Shape:
    """All mass in one point."""
    return Shape(mass, three(at, "at"), (0.0, 0.0, 0.0))


# ---- what they share
CUBES = (3, 1, 1), (1, 3, 1), (1, 1, 3)  # exponents of the second moments of boxes and ellipsoids


def _round(mass: float, across: float, along: float, height: float = 0.0) -> Shape:
    return Shape(mass, (0.0, 0.0, height), (across, across, along))


def _fourth(r: float, s: float) -> float:
    """(r⁵ - s⁵)/(r - s)."""
    return r**4 + r**3 * s + r * r * s * s + r * s**3 + s**4


def _difference(a: np.ndarray, s: np.ndarray, powers: tuple[int, ...]) -> float:
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


def _sizes(value: Any, argument: str) -> np.ndarray:
    sizes = three(value, argument)
    if (sizes <= 0).any():
        raise InputError(f"{argument} must be three positive numbers, got {value!r}")
    return sizes


def _nested(radius: Any, inner: Any) -> tuple[float, float]:
    r, s = positive(radius, "radius"), positive(inner, "inner")
    if s >= r:
        raise InputError(f"inner must be less than radius = {r!r}, got {inner!r}")
    return r, s


def _nested_sizes(value: Any, inner: Any, argument: str) -> tuple[np.ndarray, np.ndarray]:
    a, s = _sizes(value, argument), _sizes(inner, "inner")
    if (s > a).any() or (s == a).all():
        raise InputError(
            f"inner must be less than {argument} = {a.tolist()}, or equal in some places, got"
            f" {s.tolist()}"
        )
    return a, s
