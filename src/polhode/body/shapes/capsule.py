"""A cylinder between two half balls."""

import math

from polhode.body.shape import Shape, weighed
from polhode.body.shapes._common import symmetric
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
    return symmetric(m, across, middle * r * r / 2 + ends * 0.4 * r * r)


PLACE = 100
EXAMPLES = ({"radius": 0.7, "length": 1.9},)
