"""An ellipsoid with a concentric ellipsoidal hole."""

import math
from typing import Any

import numpy as np

from polhode.body.inertia import spread
from polhode.body.shape import Shape, weighed
from polhode.body.shapes._common import CUBES, ORIGIN, difference, nested_sizes


def hollow_ellipsoid(
    semi_axes: Any, inner: Any, *, mass: float | None = None, density: float | None = None
) -> Shape:
    """An ellipsoid with a concentric ellipsoidal hole of semi-axes ``inner``."""
    a, s = nested_sizes(semi_axes, inner, "semi_axes")
    volume = 4 / 3 * math.pi * difference(a, s, (1, 1, 1))
    m = weighed(volume, mass, density)
    squares = [difference(a, s, powers) for powers in CUBES]
    return Shape(m, ORIGIN, spread(np.diag(squares) * (4 / 15 * math.pi * m / volume)))


PLACE = 50
EXAMPLES = ({"semi_axes": (0.7, 0.4, 1.3), "inner": (0.6, 0.1, 1.2)},)
