"""What turns the body: one file each.  ``MODELS`` is the registry, in reading order.

A model is a record with a torque, a potential if there is one, and its parameters; models add up.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from polhode.contracts import Model
from polhode.models.free import free
from polhode.models.gravity_gradient import gravity_gradient
from polhode.models.heavy_top import heavy_top
from polhode.models.soft_wall import soft_wall
from polhode.models.user import potential, torque

MODELS: Mapping[str, Callable[..., Model]] = MappingProxyType(
    {make.__name__: make for make in (free, heavy_top, soft_wall, gravity_gradient)}
)

__all__ = [
    "MODELS",
    "free",
    "gravity_gradient",
    "heavy_top",
    "potential",
    "soft_wall",
    "torque",
]
