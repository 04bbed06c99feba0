"""A solid box."""

from typing import Any

import numpy as np

from polhode.body.inertia import spread
from polhode.body.shape import Shape, weighed
from polhode.body.shapes._common import ORIGIN, sizes


def box(size: Any, *, mass: float | None = None, density: float | None = None) -> Shape:
    """A solid box of edges (a, b, c) along the axes: I₁ = m (b² + c²)/12."""
    a = sizes(size, "size")
    m = weighed(float(a.prod()), mass, density)
    return Shape(m, ORIGIN, spread(np.diag(m / 12 * a * a)))


PLACE = 150
EXAMPLES = ({"size": (0.7, 0.4, 1.3)},)
