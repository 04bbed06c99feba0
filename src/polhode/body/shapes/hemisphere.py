"""A solid half ball."""

import math

from polhode.body.shape import Shape, weighed
from polhode.body.shapes._common import symmetric
from polhode.contracts.checks import positive


def hemisphere(radius: float, *, mass: float | None = None, density: float | None = None) -> Shape:
    """A solid half ball on the plane z = 0; its centre of mass is 3/8 r above it."""
    r = positive(radius, "radius")
    m = weighed(2 / 3 * math.pi * r**3, mass, density)
    return symmetric(m, 83 / 320 * m * r * r, 0.4 * m * r * r, 3 / 8 * r)


PLACE = 60
EXAMPLES = ({"radius": 0.7},)
