"""A thin disc."""

import math

from polhode.body.shape import Shape, weighed
from polhode.body.shapes._common import symmetric
from polhode.contracts.checks import positive


def disc(radius: float, *, mass: float | None = None, density: float | None = None) -> Shape:
    """A thin disc across z, density in kg/m²: I₃ = m r²/2."""
    r = positive(radius, "radius")
    m = weighed(math.pi * r * r, mass, density, "kg/m²")
    return symmetric(m, m * r * r / 4, m * r * r / 2)


PLACE = 140
EXAMPLES = ({"radius": 0.7},)
