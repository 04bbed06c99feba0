"""A thin spherical shell."""

import math

from polhode.body.geometry import Surface
from polhode.body.shape import Shape, weighed, with_surface
from polhode.body.shapes._common import symmetric
from polhode.body.shapes._surfaces import SEGMENTS, ball
from polhode.contracts.checks import positive


def shell(radius: float, *, mass: float | None = None, density: float | None = None) -> Shape:
    """A thin spherical shell, density in kg/m²: I = 2/3 m r²."""
    r = positive(radius, "radius")
    m = weighed(4 * math.pi * r * r, mass, density, "kg/m²")
    return with_surface(symmetric(m, 2 / 3 * m * r * r, 2 / 3 * m * r * r), surface, r)


def surface(radius: float, segments: int = SEGMENTS) -> Surface:
    return ball(radius, segments)


PLACE = 30
EXAMPLES = ({"radius": 0.7},)
