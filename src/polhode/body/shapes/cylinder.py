"""A solid cylinder."""

import math

from polhode.body.shape import Shape, weighed
from polhode.body.shapes._common import symmetric
from polhode.contracts.checks import positive


def cylinder(
    radius: float, length: float, *, mass: float | None = None, density: float | None = None
) -> Shape:
    """A solid cylinder: I₃ = m r²/2, I₁ = m (3 r² + l²)/12."""
    r, length = positive(radius, "radius"), positive(length, "length")
    m = weighed(math.pi * r * r * length, mass, density)
    return symmetric(m, m * (3 * r * r + length * length) / 12, m * r * r / 2)


PLACE = 80
EXAMPLES = ({"radius": 0.7, "length": 1.9},)
