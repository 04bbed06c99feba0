"""A thin rod."""

from polhode.body.geometry import SYMBOL, Surface
from polhode.body.shape import Shape, weighed, with_surface
from polhode.body.shapes._common import symmetric
from polhode.body.shapes._surfaces import column
from polhode.contracts.checks import positive


def rod(length: float, *, mass: float | None = None, density: float | None = None) -> Shape:
    """A thin rod, density in kg/m: I₁ = m l²/12, and 0 about itself."""
    length = positive(length, "length")
    m = weighed(length, mass, density, "kg/m")
    return with_surface(symmetric(m, m * length * length / 12, 0.0), surface, length, kind=SYMBOL)


def surface(length: float, extent: float) -> Surface:
    """A thin cylinder, whose diameter is a fiftieth of the extent of the body."""
    return column(extent / 100, length, 12)


PLACE = 130
EXAMPLES = ({"length": 1.9},)
