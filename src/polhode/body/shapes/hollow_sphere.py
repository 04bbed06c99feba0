"""A ball with a concentric hole."""

import math

from polhode.body.geometry import Surface, inside_out, side_by_side
from polhode.body.shape import Shape, weighed, with_surface
from polhode.body.shapes._common import fourth, nested, symmetric
from polhode.body.shapes._surfaces import SEGMENTS, ball


def hollow_sphere(
    radius: float, inner: float, *, mass: float | None = None, density: float | None = None
) -> Shape:
    """A ball with a concentric hole of radius ``inner``: I = 2/5 m (r⁵ - s⁵)/(r³ - s³)."""
    r, s = nested(radius, inner)
    squares = r * r + r * s + s * s
    m = weighed(4 / 3 * math.pi * (r - s) * squares, mass, density)
    i = 0.4 * m * fourth(r, s) / squares
    return with_surface(symmetric(m, i, i), surface, r, s)


def surface(radius: float, inner: float, segments: int = SEGMENTS) -> Surface:
    return side_by_side(ball(radius, segments), inside_out(ball(inner, segments)))


PLACE = 20
EXAMPLES = ({"radius": 0.7, "inner": 0.3},)
