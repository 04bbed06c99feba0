"""A solid ball."""

import math

from polhode.body.shape import Shape, weighed
from polhode.body.shapes._common import symmetric
from polhode.contracts.checks import positive


def sphere(radius: float, *, mass: float | None = None, density: float | None = None) -> Shape:
    """A solid ball: I = 2/5 m r²."""
    r = positive(radius, "radius")
    m = weighed(4 / 3 * math.pi * r**3, mass, density)
    return symmetric(m, 0.4 * m * r * r, 0.4 * m * r * r)


PLACE = 10
EXAMPLES = ({"radius": 0.7},)
