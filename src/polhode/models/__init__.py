"""What acts on the body: one file each.  ``MODELS`` is the registry, in reading order.

A model is a record with a torque (and a force), a potential if there is one, and its parameters;
models add up.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from polhode.contracts import Model
from polhode.models.drag import drag
from polhode.models.free import free
from polhode.models.gravity_gradient import gravity_gradient
from polhode.models.heavy_top import heavy_top
from polhode.models.lorentz import lorentz
from polhode.models.point_gravity import point_gravity
from polhode.models.soft_wall import soft_wall
from polhode.models.spring import spring
from polhode.models.uniform_gravity import uniform_gravity
from polhode.models.user import force, potential, torque

_TURNING = free, heavy_top, soft_wall, gravity_gradient
_MOVING = uniform_gravity, point_gravity, spring, drag, lorentz

MODELS: Mapping[str, Callable[..., Model]] = MappingProxyType(
    {make.__name__: make for make in (*_TURNING, *_MOVING)}
)

__all__ = [
    "MODELS",
    "drag",
    "force",
    "free",
    "gravity_gradient",
    "heavy_top",
    "lorentz",
    "point_gravity",
    "potential",
    "soft_wall",
    "spring",
    "torque",
    "uniform_gravity",
]
