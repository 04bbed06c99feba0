"""A solid cone."""

import math

from polhode.body.geometry import Surface
from polhode.body.shape import Shape, weighed, with_surface
from polhode.body.shapes._common import symmetric
from polhode.body.shapes._surfaces import SEGMENTS, revolved
from polhode.contracts.checks import positive


def cone(
    radius: float, height: float, *, mass: float | None = None, density: float | None = None
) -> Shape:
    """A solid cone on the plane z = 0, its tip at z = height, its centre of mass at height/4.

    About that, I₃ = 3/10 m r², I₁ = 3/80 m (4 r² + h²).
    """
    r, h = positive(radius, "radius"), positive(height, "height")
    m = weighed(math.pi / 3 * r * r * h, mass, density)
    return with_surface(
        symmetric(m, 3 / 80 * m * (4 * r * r + h * h), 0.3 * m * r * r, h / 4), surface, r, h
    )


def surface(radius: float, height: float, segments: int = SEGMENTS) -> Surface:
    return revolved([(0.0, 0.0), (radius, 0.0), (0.0, height)], segments)


PLACE = 110
EXAMPLES = ({"radius": 0.7, "height": 1.9},)
