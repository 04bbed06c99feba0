"""A box with a concentric hole."""

from typing import Any

import numpy as np

from polhode.body.inertia import spread
from polhode.body.shape import Shape, weighed
from polhode.body.shapes._common import CUBES, ORIGIN, difference, nested_sizes


def hollow_box(
    size: Any, inner: Any, *, mass: float | None = None, density: float | None = None
) -> Shape:
    """A box with a concentric hole of edges ``inner``; equal edges make it open at both ends."""
    a, s = nested_sizes(size, inner, "size")
    volume = difference(a, s, (1, 1, 1))
    m = weighed(volume, mass, density)
    squares = [difference(a, s, powers) for powers in CUBES]
    return Shape(m, ORIGIN, spread(np.diag(squares) * (m / volume / 12)))


PLACE = 160
EXAMPLES = (
    {"size": (0.7, 0.4, 1.3), "inner": (0.6, 0.1, 1.2)},
    {"size": (0.7, 0.4, 1.3), "inner": (0.6, 0.1, 1.3)},
)
