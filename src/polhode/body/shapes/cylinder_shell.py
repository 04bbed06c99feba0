"""A thin cylindrical wall."""

import math

from polhode.body.geometry import Surface
from polhode.body.shape import Shape, weighed, with_surface
from polhode.body.shapes._common import symmetric
from polhode.body.shapes._surfaces import SEGMENTS, revolved
from polhode.contracts.checks import positive


def cylinder_shell(
    radius: float, length: float, *, mass: float | None = None, density: float | None = None
) -> Shape:
    """A thin cylindrical wall, open at both ends, density in kg/m².

    I₃ = m r², I₁ = m (6 r² + l²)/12.  To close it, add a ``disc`` at z = length/2 and at -length/2.

    """
    r, length = positive(radius, "radius"), positive(length, "length")
    m = weighed(2 * math.pi * r * length, mass, density, "kg/m²")
    return with_surface(
        symmetric(m, m * (6 * r * r + length * length) / 12, m * r * r), surface, r, length
    )


def surface(radius: float, length: float, segments: int = SEGMENTS) -> Surface:
    return revolved([(radius, -length / 2), (radius, length / 2)], segments)


PLACE = 95
EXAMPLES = ({"radius": 0.7, "length": 1.9},)
