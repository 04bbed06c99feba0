"""A solid box."""

from typing import Any

import numpy as np

from polhode.body.geometry import Surface
from polhode.body.inertia import spread
from polhode.body.shape import Shape, weighed, with_surface
from polhode.body.shapes._common import ORIGIN, sizes
from polhode.body.shapes._surfaces import cells


def box(size: Any, *, mass: float | None = None, density: float | None = None) -> Shape:
    """A solid box of edges (a, b, c) along the axes: I₁ = m (b² + c²)/12."""
    a = sizes(size, "size")
    m = weighed(float(a.prod()), mass, density)
    return with_surface(Shape(m, ORIGIN, spread(np.diag(m / 12 * a * a))), surface, a)


def surface(size: np.ndarray) -> Surface:
    return cells([np.array([-a, a]) for a in size / 2], np.full((1, 1, 1), True))


PLACE = 150
EXAMPLES = ({"size": (0.7, 0.4, 1.3)},)
