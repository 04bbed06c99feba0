"""A thin disc."""

import math

from polhode.body.geometry import Surface
from polhode.body.shape import Shape, weighed, with_surface
from polhode.body.shapes._common import symmetric
from polhode.body.shapes._surfaces import SEGMENTS, revolved
from polhode.contracts.checks import positive


def disc(radius: float, *, mass: float | None = None, density: float | None = None) -> Shape:
    """A thin disc across z, density in kg/m²: I₃ = m r²/2."""
    r = positive(radius, "radius")
    m = weighed(math.pi * r * r, mass, density, "kg/m²")
    return with_surface(symmetric(m, m * r * r / 4, m * r * r / 2), surface, r)


def surface(radius: float, segments: int = SEGMENTS) -> Surface:
    """One side, upwards."""
    return revolved([(radius, 0.0), (0.0, 0.0)], segments)


PLACE = 140
EXAMPLES = ({"radius": 0.7},)
