"""A solid ball."""

import math

from polhode.body.geometry import Surface
from polhode.body.shape import Shape, weighed, with_surface
from polhode.body.shapes._common import symmetric
from polhode.body.shapes._surfaces import SEGMENTS, ball
from polhode.contracts.checks import positive


def sphere(radius: float, *, mass: float | None = None, density: float | None = None) -> Shape:
    """A solid ball: I = 2/5 m r²."""
    r = positive(radius, "radius")
    m = weighed(4 / 3 * math.pi * r**3, mass, density)
    return with_surface(symmetric(m, 0.4 * m * r * r, 0.4 * m * r * r), surface, r)


def surface(radius: float, segments: int = SEGMENTS) -> Surface:
    return ball(radius, segments)


PLACE = 10
EXAMPLES = ({"radius": 0.7},)
