"""``Shape``: the mass properties of a part: mass, centre of mass, inertia about it.

Parts with masses mᵢ at cᵢ, each with its inertia Iᵢ about its own centre, make a body with

    M = Σ mᵢ,    c = c₀ + Σ mᵢ (cᵢ - c₀)/M                                              (1)
    I = Σ [Iᵢ + mᵢ (rᵢ·rᵢ 1 - rᵢ ⊗ rᵢ)],    rᵢ = cᵢ - c                                 (2)

(Mandre 2008, section 3); holes have negative mass.  Distances between parts are computed before
anything is squared, and a centre carries its rounding error, so that a body far from the origin
loses no digits.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from polhode.body.geometry import Geometry, Part, Surface, assemble
from polhode.body.inertia import EPS, TOLERANCE, second_moment, spread, tensor_of
from polhode.contracts import checks
from polhode.contracts.checks import positive
from polhode.errors import InputError


@dataclass(frozen=True, eq=False, repr=False)
class Shape:
    """A part of a body, in the axes and coordinates of the whole body.

    Parameters
    ----------
    mass : kg
    centre : position of its centre of mass, three numbers (m)
    inertia : three moments or a 3×3 tensor about its own centre (kg m²); a point has 0

    Shapes can be added (``box + wheel.moved([0, 0.4, 0])``) and subtracted, for holes.
    ``ph.shapes`` has shapes with closed forms, and meshes.
    """

    mass: float
    centre: Any  # (3,)
    inertia: Any  # (3, 3)
    rounding: float = 0.0  # of the inertia, estimated: kg m²
    _rest: tuple[float, ...] = (0.0, 0.0, 0.0)  # the rounding error of the centre
    _parts: tuple[Part, ...] = field(default=(), init=False)  # its surface, as it is made

    def __post_init__(self):
        mass = positive(self.mass, "mass")
        centre, inertia = three(self.centre, "centre"), tensor_of(self.inertia)
        _check(inertia, self.rounding)
        for array in (centre, inertia):
            array.setflags(write=False)
        rounding = max(float(self.rounding), EPS * float(np.trace(inertia)))
        values = {"mass": mass, "centre": centre, "inertia": inertia, "rounding": rounding}
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def moved(self, by: Any) -> "Shape":
        """Return the same shape, displaced ``by`` three numbers (m)."""
        step = three(by, "by")
        there = [c + Fraction(d) for c, d in zip(self._exact, step, strict=True)]
        parts = (part.moved(step) for part in self._parts)
        return _with_parts(self._with(there, self.inertia), parts)

    def turned(self, rotation: Any) -> "Shape":
        """Return the shape rotated about the origin (not about its centre: move it afterwards).

        ``rotation`` is a SciPy ``Rotation`` or a proper 3×3 matrix.
        """
        turn = _matrix(rotation)
        there = [
            sum((Fraction(a) * c for a, c in zip(row, self._exact, strict=True)), Fraction(0))
            for row in turn.tolist()
        ]
        # without the middle moment: a ball, or a top turned about its axis, keeps its tensor
        middle = float(np.median(np.diag(self.inertia))) * np.eye(3)
        inertia = middle + turn @ (self.inertia - middle) @ turn.T
        parts = (part.turned(turn) for part in self._parts)
        return _with_parts(self._with(there, (inertia + inertia.T) / 2), parts)

    def __add__(self, other: "Shape") -> "Shape":
        return combined((self, other), (1.0, 1.0)) if isinstance(other, Shape) else NotImplemented

    def __radd__(self, other: Any) -> "Shape":
        return self if isinstance(other, int) and other == 0 else NotImplemented  # for sum()

    def __sub__(self, hole: "Shape") -> "Shape":
        return combined((self, hole), (1.0, -1.0)) if isinstance(hole, Shape) else NotImplemented

    def __repr__(self) -> str:
        return (
            f"Shape(mass={self.mass!r}, centre={self.centre.tolist()},"
            f" inertia={self.inertia.tolist()})"
        )

    @property
    def geometry(self) -> Geometry | None:
        """Triangles of its surface, made each time; None if it was given by numbers alone.

        Parts lie side by side, and holes are inside out; nothing is cut where they overlap.
        """
        return assemble(self._parts)

    @property
    def _exact(self) -> list[Fraction]:
        """The centre with its rounding error."""
        pairs = zip(self.centre.tolist(), self._rest, strict=True)
        return [Fraction(c) + Fraction(rest) for c, rest in pairs]

    def _with(self, centre: Sequence[Fraction], inertia: np.ndarray) -> "Shape":
        return at(centre, self.mass, inertia, self.rounding)


def at(centre: Sequence[Fraction], mass: float, inertia: Any, rounding: float) -> Shape:
    """Make a shape whose centre is known to more than double precision."""
    near = [float(c) for c in centre]
    rest = tuple(float(c - Fraction(n)) for c, n in zip(centre, near, strict=True))
    return Shape(mass, np.array(near), inertia, rounding, rest)


def combined(shapes: Sequence[Shape], signs: Sequence[float]) -> Shape:
    """Return the sum of all shapes, those of sign -1 as holes."""
    sign = np.array(signs)
    m = sign * [shape.mass for shape in shapes]
    mass = math.fsum(m)
    if mass <= 8 * EPS * np.abs(m).sum():
        raise InputError(
            f"a hole of {-m[m < 0].sum():.10g} kg in a body of {m[m > 0].sum():.10g} kg leaves"
            " nothing; check sizes and densities"
        )
    centre = np.array([shape.centre for shape in shapes])
    rest = np.array([shape._rest for shape in shapes])
    d = (centre - centre[0]) + (rest - rest[0])
    mean = m @ d / mass
    r = d - mean
    inertia = np.einsum("i,ijk->jk", sign, np.array([shape.inertia for shape in shapes]))
    inertia = inertia + spread((m[:, None] * r).T @ r)  # (2)
    rounding = sum(shape.rounding for shape in shapes) + 2 * EPS * float(np.abs(m) @ (r * r).sum(1))
    there = [c + Fraction(step) for c, step in zip(shapes[0]._exact, mean.tolist(), strict=True)]
    parts = (
        part if plus > 0 else part.cut()
        for shape, plus in zip(shapes, signs, strict=True)
        for part in shape._parts
    )
    return _with_parts(at(there, mass, inertia, rounding), parts)


def with_surface(
    shape: Shape, surface: Callable[..., Surface], *sizes: Any, kind: str = "shapes"
) -> Shape:
    """Return a new shape that knows how to make its surface: ``surface(*sizes)``."""
    return _with_parts(shape, (Part(surface, sizes, kind),))


def parts_of(shape: Shape) -> tuple[Part, ...]:
    """Return the surface of a shape, as it is made; nothing for bare numbers."""
    return shape._parts


def _with_parts(shape: Shape, parts: Iterable[Part]) -> Shape:
    object.__setattr__(shape, "_parts", tuple(parts))
    return shape


# ---- arguments
def weighed(
    measure: float, mass: float | None, density: float | None, unit: str = "kg/m³"
) -> float:
    """Return the mass of a volume (area, length) from whichever of mass and density is given."""
    if (mass is None) == (density is None):
        got = "neither" if mass is None else "both"
        raise InputError(f"give mass= in kg or density= in {unit}; got {got}")
    if mass is not None:
        return positive(mass, "mass")
    return positive(density, "density") * measure


def three(value: Any, argument: str) -> np.ndarray:
    """Return three finite numbers as an array."""
    return np.array(checks.three(value, argument))


def check_proper(turn: np.ndarray, argument: str) -> float:
    """Refuse a matrix that is not a proper rotation; return how far R Rᵀ is from 1."""
    worst = float(np.abs(turn @ turn.T - np.eye(3)).max())
    if worst > 1e-6 or np.linalg.det(turn) < 0:
        raise InputError(
            f"{argument} must be a proper rotation matrix: R Rᵀ differs from 1 by {worst:.3g}, its"
            f" determinant is {np.linalg.det(turn):.6g}"
        )
    return worst


def _matrix(rotation: Any) -> np.ndarray:
    given = rotation.as_matrix() if hasattr(rotation, "as_matrix") else rotation
    try:
        turn = np.array(given, dtype=float)
    except (TypeError, ValueError):
        turn = np.empty(0)
    if turn.shape != (3, 3) or not np.isfinite(turn).all():
        raise InputError(
            f"rotation must be one SciPy Rotation or a finite 3×3 matrix, got {rotation!r}"
        )
    if check_proper(turn, "rotation") > 4 * EPS:  # a rotation to rounding keeps its bits
        from scipy.spatial.transform import Rotation

        turn = Rotation.from_matrix(turn).as_matrix()
    return turn


def _check(inertia: np.ndarray, rounding: float) -> None:
    """Refuse inertia that no distribution of mass has: a negative second moment."""
    least = np.linalg.eigvalsh(second_moment(inertia)).min()
    if least < -max(TOLERANCE * np.trace(inertia), 8 * rounding):
        shown = ", ".join(f"{moment:.10g}" for moment in np.linalg.eigvalsh(inertia))
        raise InputError(
            f"no body has the moments ({shown}); if a hole was cut, it is not inside the body, or"
            " denser than it"
        )
