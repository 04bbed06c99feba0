"""A ball with a concentric hole."""

import math

from polhode.body.shape import Shape, weighed
from polhode.body.shapes._common import fourth, nested, symmetric


def hollow_sphere(
    radius: float, inner: float, *, mass: float | None = None, density: float | None = None
) -> Shape:
    """A ball with a concentric hole of radius ``inner``: I = 2/5 m (r⁵ - s⁵)/(r³ - s³)."""
    r, s = nested(radius, inner)
    squares = r * r + r * s + s * s
    m = weighed(4 / 3 * math.pi * (r - s) * squares, mass, density)
    i = 0.4 * m * fourth(r, s) / squares
    return symmetric(m, i, i)


PLACE = 20
EXAMPLES = ({"radius": 0.7, "inner": 0.3},)
