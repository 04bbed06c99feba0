"""All mass in one point."""

from typing import Any

import numpy as np

from polhode.body.geometry import SYMBOL, Surface
from polhode.body.shape import Shape, three, with_surface
from polhode.body.shapes._common import ORIGIN
from polhode.body.shapes._surfaces import ball


def point_mass(mass: float, at: Any = ORIGIN) -> Shape:
    """All mass in one point."""
    place = three(at, "at")
    return with_surface(Shape(mass, place, (0.0, 0.0, 0.0)), surface, place, kind=SYMBOL)


def surface(at: np.ndarray, extent: float) -> Surface:
    """A small ball, whose diameter is a tenth of the extent of the body."""
    vertices, faces = ball(extent / 20, 20)
    return vertices + at, faces


PLACE = 180
EXAMPLES = ({"at": (0.1, 0.2, 0.3)},)
