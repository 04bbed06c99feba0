"""All mass in one point."""

from typing import Any

from polhode.body.shape import Shape, three
from polhode.body.shapes._common import ORIGIN


def point_mass(mass: float, at: Any = ORIGIN) -> Shape:
    """All mass in one point."""
    return Shape(mass, three(at, "at"), (0.0, 0.0, 0.0))


PLACE = 180
EXAMPLES = ({"at": (0.1, 0.2, 0.3)},)
