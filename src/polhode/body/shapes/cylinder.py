"""A solid cylinder."""

import math

from polhode.body.geometry import Surface
from polhode.body.shape import Shape, weighed, with_surface
from polhode.body.shapes._common import symmetric
from polhode.body.shapes._surfaces import SEGMENTS, column
from polhode.contracts.checks import positive


def cylinder(
    radius: float, length: float, *, mass: float | None = None, density: float | None = None
) -> Shape:
    """A solid cylinder: I₃ = m r²/2, I₁ = m (3 r² + l²)/12."""
    r, length = positive(radius, "radius"), positive(length, "length")
    m = weighed(math.pi * r * r * length, mass, density)
    return with_surface(
        symmetric(m, m * (3 * r * r + length * length) / 12, m * r * r / 2), surface, r, length
    )


def surface(radius: float, length: float, segments: int = SEGMENTS) -> Surface:
    return column(radius, length, segments)


PLACE = 80
EXAMPLES = ({"radius": 0.7, "length": 1.9},)
