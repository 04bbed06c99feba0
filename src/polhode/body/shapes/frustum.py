"""A cone cut off."""

import math

from polhode.body.geometry import Surface
from polhode.body.shape import Shape, weighed, with_surface
from polhode.body.shapes._common import fourth, symmetric
from polhode.body.shapes._surfaces import SEGMENTS, revolved
from polhode.contracts.checks import positive


def frustum(
    radius: float,
    top: float,
    height: float,
    *,
    mass: float | None = None,
    density: float | None = None,
) -> Shape:
    """A cone cut off: ``radius`` on the plane z = 0, ``top`` (which may be larger) at z = height.

    With p = r² + r s + s², the centre of mass is at h (r² + 2 r s + 3 s²)/(4 p), and about it
    I₃ = 3/10 m (r⁴ + r³ s + r² s² + r s³ + s⁴)/p,
    I₁ = I₃/2 + 3/80 m h² (r⁴ + 4 r³ s + 10 r² s² + 4 r s³ + s⁴)/p².
    """
    r, s, h = positive(radius, "radius"), positive(top, "top"), positive(height, "height")
    p = r * r + r * s + s * s
    m = weighed(math.pi / 3 * h * p, mass, density)
    along = 0.3 * m * fourth(r, s) / p
    quartic = r**4 + 4 * r**3 * s + 10 * r * r * s * s + 4 * r * s**3 + s**4
    across = along / 2 + 3 / 80 * m * h * h * quartic / (p * p)
    return with_surface(
        symmetric(m, across, along, h * (r * r + 2 * r * s + 3 * s * s) / (4 * p)), surface, r, s, h
    )


def surface(radius: float, top: float, height: float, segments: int = SEGMENTS) -> Surface:
    return revolved([(0.0, 0.0), (radius, 0.0), (top, height), (0.0, height)], segments)


PLACE = 120
EXAMPLES = ({"radius": 0.7, "top": 0.3, "height": 1.9}, {"radius": 0.3, "top": 0.7, "height": 1.9})
