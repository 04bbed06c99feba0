"""A solid ring."""

import math

from polhode.body.geometry import Surface
from polhode.body.shape import Shape, weighed, with_surface
from polhode.body.shapes._common import symmetric
from polhode.body.shapes._surfaces import SEGMENTS, ring
from polhode.contracts.checks import positive
from polhode.errors import InputError


def torus(
    radius: float, tube: float, *, mass: float | None = None, density: float | None = None
) -> Shape:
    """A solid ring: a disc of radius ``tube`` whose centre goes round on a circle of ``radius``."""
    r, s = positive(radius, "radius"), positive(tube, "tube")
    if s > r:
        raise InputError(f"tube must be at most radius = {r!r}, got {tube!r}")
    m = weighed(2 * math.pi**2 * r * s * s, mass, density)
    return with_surface(
        symmetric(m, m * (r * r / 2 + 5 / 8 * s * s), m * (r * r + 3 / 4 * s * s)), surface, r, s
    )


def surface(radius: float, tube: float, segments: int = SEGMENTS) -> Surface:
    return ring(radius, tube, segments)


PLACE = 70
EXAMPLES = ({"radius": 0.7, "tube": 0.3},)
