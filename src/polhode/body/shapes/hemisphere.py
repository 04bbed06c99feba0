"""A solid half ball."""

import math

from polhode.body.geometry import Surface
from polhode.body.shape import Shape, weighed, with_surface
from polhode.body.shapes._common import symmetric
from polhode.body.shapes._surfaces import SEGMENTS, arc, revolved
from polhode.contracts.checks import positive


def hemisphere(radius: float, *, mass: float | None = None, density: float | None = None) -> Shape:
    """A solid half ball on the plane z = 0; its centre of mass is 3/8 r above it."""
    r = positive(radius, "radius")
    m = weighed(2 / 3 * math.pi * r**3, mass, density)
    return with_surface(symmetric(m, 83 / 320 * m * r * r, 0.4 * m * r * r, 3 / 8 * r), surface, r)


def surface(radius: float, segments: int = SEGMENTS) -> Surface:
    return revolved([(0.0, 0.0), *arc(radius, 0, 1, segments)], segments)


PLACE = 60
EXAMPLES = ({"radius": 0.7},)
