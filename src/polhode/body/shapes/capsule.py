"""A cylinder between two half balls."""

import math

from polhode.body.geometry import Surface
from polhode.body.shape import Shape, weighed, with_surface
from polhode.body.shapes._common import symmetric
from polhode.body.shapes._surfaces import SEGMENTS, arc, revolved
from polhode.contracts.checks import positive


def capsule(
    radius: float, length: float, *, mass: float | None = None, density: float | None = None
) -> Shape:
    """A cylinder of ``length`` between two half balls; it is ``length + 2 radius`` long."""
    r, length = positive(radius, "radius"), positive(length, "length")
    m = weighed(math.pi * r * r * (length + 4 / 3 * r), mass, density)
    middle = m * length / (length + 4 / 3 * r)
    ends = m * 4 / 3 * r / (length + 4 / 3 * r)
    across = middle * (3 * r * r + length * length) / 12 + ends * (
        0.4 * r * r + 3 / 8 * r * length + length * length / 4
    )
    return with_surface(
        symmetric(m, across, middle * r * r / 2 + ends * 0.4 * r * r), surface, r, length
    )


def surface(radius: float, length: float, segments: int = SEGMENTS) -> Surface:
    low = arc(radius, -1, 0, segments, -length / 2)
    return revolved([*low, *arc(radius, 0, 1, segments, length / 2)], segments)


PLACE = 100
EXAMPLES = ({"radius": 0.7, "length": 1.9},)
