"""A thin conical wall."""

import math

from polhode.body.geometry import Surface
from polhode.body.shape import Shape, weighed, with_surface
from polhode.body.shapes._common import symmetric
from polhode.body.shapes._surfaces import SEGMENTS, revolved
from polhode.contracts.checks import positive


def cone_shell(
    radius: float, height: float, *, mass: float | None = None, density: float | None = None
) -> Shape:
    """A thin conical wall without a base: its rim at z = 0, its tip at z = height.

    Density in kg/m².  Its centre of mass is at height/3, and about that I₃ = m r²/2,
    I₁ = m (9 r² + 2 h²)/36.  To close it, add a ``disc``.
    """
    r, h = positive(radius, "radius"), positive(height, "height")
    m = weighed(math.pi * r * math.hypot(r, h), mass, density, "kg/m²")
    return with_surface(
        symmetric(m, m * (9 * r * r + 2 * h * h) / 36, m * r * r / 2, h / 3), surface, r, h
    )


def surface(radius: float, height: float, segments: int = SEGMENTS) -> Surface:
    return revolved([(radius, 0.0), (0.0, height)], segments)


PLACE = 115
EXAMPLES = ({"radius": 0.7, "height": 1.9},)
