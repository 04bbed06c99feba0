"""Shapes with closed forms, and meshes: mass, centre of mass and inertia.  One file each.

Every function takes ``mass=`` (kg) or ``density=`` (kg/m³ unless stated otherwise) and returns a
``Shape``, which can be moved, turned, added to others and subtracted from them.  Axes of symmetry
lie along z.  Shapes with a middle have it at the origin; ``cone``, ``cone_shell``, ``frustum`` and
``hemisphere`` stand on the plane z = 0.  Formulas of hollow shapes are sums of positive terms: thin
walls lose no digits.  The shells are surfaces, with a mass by area, and open where the solid has a
flat end: add a ``disc`` to close them.

``SHAPES`` is the registry.  The file ``box.py`` has the function ``box``, and ``EXAMPLES``,
arguments with which the tests call it.

Examples
--------
>>> import polhode as ph
>>> wheel = ph.shapes.disc(0.3, mass=1.0).moved([0, 0, 0.5])
>>> cart = ph.shapes.box([1.0, 0.5, 0.2], mass=4.0) + wheel - ph.shapes.sphere(0.05, mass=0.2)
>>> print(f"{cart.mass:.1f} kg")
4.8 kg
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from polhode.body.shape import Shape
from polhode.contracts.registry import functions

SHAPES: Mapping[str, Callable[..., Shape]] = MappingProxyType(functions(__name__))
globals().update(SHAPES)

__all__ = ["SHAPES", "Shape", *SHAPES]
