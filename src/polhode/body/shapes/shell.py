"""A thin spherical shell."""

import math

from polhode.body.shape import Shape, weighed
from polhode.body.shapes._common import symmetric
from polhode.contracts.checks import positive


def shell(radius: float, *, mass: float | None = None, density: float | None = None) -> Shape:
    """A thin spherical shell, density in kg/m²: I = 2/3 m r²."""
    r = positive(radius, "radius")
    m = weighed(4 * math.pi * r * r, mass, density, "kg/m²")
    return symmetric(m, 2 / 3 * m * r * r, 2 / 3 * m * r * r)


PLACE = 30
EXAMPLES = ({"radius": 0.7},)
