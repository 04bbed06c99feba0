"""A thin ring-shaped surface."""

import math

from polhode.body.geometry import Surface
from polhode.body.shape import Shape, weighed, with_surface
from polhode.body.shapes._common import symmetric
from polhode.body.shapes._surfaces import SEGMENTS, ring
from polhode.contracts.checks import positive
from polhode.errors import InputError


def torus_shell(
    radius: float, tube: float, *, mass: float | None = None, density: float | None = None
) -> Shape:
    """A thin ring-shaped surface: a circle of radius ``tube`` carried round one of ``radius``.

    Density in kg/m²; I₃ = m (r² + 3/2 s²), I₁ = m (r²/2 + 5/4 s²).
    """
    r, s = positive(radius, "radius"), positive(tube, "tube")
    if s > r:
        raise InputError(f"tube must be at most radius = {r!r}, got {tube!r}")
    m = weighed(4 * math.pi**2 * r * s, mass, density, "kg/m²")
    return with_surface(
        symmetric(m, m * (r * r / 2 + 5 / 4 * s * s), m * (r * r + 3 / 2 * s * s)), surface, r, s
    )


def surface(radius: float, tube: float, segments: int = SEGMENTS) -> Surface:
    return ring(radius, tube, segments)


PLACE = 75
EXAMPLES = ({"radius": 0.7, "tube": 0.3},)
