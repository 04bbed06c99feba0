"""Variables: one file each.  The registries are ``FORMULATIONS``, of the attitude, and
``COORDINATES``, of attitude and momentum together.
"""

from collections.abc import Mapping
from types import MappingProxyType

from polhode.contracts import Coordinates, Formulation
from polhode.formulations import (
    encke_euler,
    encke_quaternion,
    euler_angles,
    fukushima,
    fukushima_departures,
    generator,
    generator_reset,
    quaternion,
    rotor,
    serret_andoyer,
    vectors2,
    vectors2_damped,
    vectors3,
)

_FILES = quaternion, rotor, vectors3, vectors2, vectors2_damped, generator, generator_reset
_WITH_MOMENTUM = (
    euler_angles,
    serret_andoyer,
    fukushima,
    fukushima_departures,
    encke_quaternion,
    encke_euler,
)

FORMULATIONS: Mapping[str, Formulation] = MappingProxyType(
    {file.FORMULATION.name: file.FORMULATION for file in _FILES}
)
COORDINATES: Mapping[str, Coordinates] = MappingProxyType(
    {file.COORDINATES.name: file.COORDINATES for file in _WITH_MOMENTUM}
)
