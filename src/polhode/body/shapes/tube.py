"""A cylinder with a coaxial hole."""

import math

from polhode.body.geometry import Surface
from polhode.body.shape import Shape, weighed, with_surface
from polhode.body.shapes._common import nested, symmetric
from polhode.body.shapes._surfaces import SEGMENTS, revolved
from polhode.contracts.checks import positive


def tube(
    radius: float,
    inner: float,
    length: float,
    *,
    mass: float | None = None,
    density: float | None = None,
) -> Shape:
    """A cylinder with a coaxial hole of radius ``inner``."""
    r, s = nested(radius, inner)
    length = positive(length, "length")
    m = weighed(math.pi * (r - s) * (r + s) * length, mass, density)
    squares = r * r + s * s
    return with_surface(
        symmetric(m, m * (3 * squares + length * length) / 12, m * squares / 2),
        surface,
        r,
        s,
        length,
    )


def surface(radius: float, inner: float, length: float, segments: int = SEGMENTS) -> Surface:
    z = length / 2
    outline = [(inner, -z), (radius, -z), (radius, z), (inner, z)]
    return revolved(outline, segments, closed=True)


PLACE = 90
EXAMPLES = ({"radius": 0.7, "inner": 0.3, "length": 1.9},)
