"""An ellipsoid with a concentric ellipsoidal hole."""

import math
from typing import Any

import numpy as np

from polhode.body.geometry import Surface, inside_out, side_by_side
from polhode.body.inertia import spread
from polhode.body.shape import Shape, weighed, with_surface
from polhode.body.shapes._common import CUBES, ORIGIN, difference, nested_sizes
from polhode.body.shapes._surfaces import SEGMENTS, ball


def hollow_ellipsoid(
    semi_axes: Any, inner: Any, *, mass: float | None = None, density: float | None = None
) -> Shape:
    """An ellipsoid with a concentric ellipsoidal hole of semi-axes ``inner``."""
    a, s = nested_sizes(semi_axes, inner, "semi_axes")
    volume = 4 / 3 * math.pi * difference(a, s, (1, 1, 1))
    m = weighed(volume, mass, density)
    squares = [difference(a, s, powers) for powers in CUBES]
    return with_surface(
        Shape(m, ORIGIN, spread(np.diag(squares) * (4 / 15 * math.pi * m / volume))), surface, a, s
    )


def surface(semi_axes: np.ndarray, inner: np.ndarray, segments: int = SEGMENTS) -> Surface:
    vertices, faces = ball(1.0, segments)
    hole = inside_out((vertices * inner, faces))
    return side_by_side((vertices * semi_axes, faces), hole)


PLACE = 50
EXAMPLES = ({"semi_axes": (0.7, 0.4, 1.3), "inner": (0.6, 0.1, 1.2)},)
