"""A thin rod."""

from polhode.body.shape import Shape, weighed
from polhode.body.shapes._common import symmetric
from polhode.contracts.checks import positive


def rod(length: float, *, mass: float | None = None, density: float | None = None) -> Shape:
    """A thin rod, density in kg/m: I₁ = m l²/12, and 0 about itself."""
    length = positive(length, "length")
    m = weighed(length, mass, density, "kg/m")
    return symmetric(m, m * length * length / 12, 0.0)


PLACE = 130
EXAMPLES = ({"length": 1.9},)
