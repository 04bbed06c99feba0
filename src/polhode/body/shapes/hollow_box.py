"""A box with a concentric hole."""

from typing import Any

import numpy as np

from polhode.body.geometry import Surface
from polhode.body.inertia import spread
from polhode.body.shape import Shape, weighed, with_surface
from polhode.body.shapes._common import CUBES, ORIGIN, difference, nested_sizes
from polhode.body.shapes._surfaces import cells


def hollow_box(
    size: Any, inner: Any, *, mass: float | None = None, density: float | None = None
) -> Shape:
    """A box with a concentric hole of edges ``inner``; equal edges make it open at both ends."""
    a, s = nested_sizes(size, inner, "size")
    volume = difference(a, s, (1, 1, 1))
    m = weighed(volume, mass, density)
    squares = [difference(a, s, powers) for powers in CUBES]
    return with_surface(
        Shape(m, ORIGIN, spread(np.diag(squares) * (m / volume / 12))), surface, a, s
    )


def surface(size: np.ndarray, inner: np.ndarray) -> Surface:
    """A middle cell is left out of 27, or of 9 or 3, if the hole is open at its ends."""
    both = zip(size / 2, inner / 2, strict=True)
    planes = [np.array([-a, -s, s, a] if s < a else [-a, a]) for a, s in both]
    full = np.full([len(places) - 1 for places in planes], True)
    full[tuple(len(places) // 2 - 1 for places in planes)] = False
    return cells(planes, full)


PLACE = 160
EXAMPLES = (
    {"size": (0.7, 0.4, 1.3), "inner": (0.6, 0.1, 1.2)},
    {"size": (0.7, 0.4, 1.3), "inner": (0.6, 0.1, 1.3)},
)
