"""A solid ellipsoid."""

import math
from typing import Any

import numpy as np

from polhode.body.geometry import Surface
from polhode.body.inertia import spread
from polhode.body.shape import Shape, weighed, with_surface
from polhode.body.shapes._common import ORIGIN, sizes
from polhode.body.shapes._surfaces import SEGMENTS, ball


def ellipsoid(semi_axes: Any, *, mass: float | None = None, density: float | None = None) -> Shape:
    """A solid ellipsoid with semi-axes (a, b, c): I₁ = m (b² + c²)/5."""
    a = sizes(semi_axes, "semi_axes")
    m = weighed(4 / 3 * math.pi * float(a.prod()), mass, density)
    return with_surface(Shape(m, ORIGIN, spread(np.diag(m / 5 * a * a))), surface, a)


def surface(semi_axes: np.ndarray, segments: int = SEGMENTS) -> Surface:
    vertices, faces = ball(1.0, segments)
    return vertices * semi_axes, faces


PLACE = 40
EXAMPLES = ({"semi_axes": (0.7, 0.4, 1.3)},)
