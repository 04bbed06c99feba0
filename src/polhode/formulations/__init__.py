"""Variables: one file each.  The registries are ``FORMULATIONS``, of the attitude, and
``COORDINATES``, of attitude and momentum together.
"""

from collections.abc import Mapping
from types import MappingProxyType

from polhode.contracts import Coordinates, Formulation
from polhode.formulations import (
    generator,
    generator_reset,
    quaternion,
    rotor,
    vectors2,
    vectors2_damped,
    vectors3,
)

_FILES = quaternion, rotor, vectors3, vectors2, vectors2_damped, generator, generator_reset

FORMULATIONS: Mapping[str, Formulation] = MappingProxyType(
    {file.FORMULATION.name: file.FORMULATION for file in _FILES}
)
COORDINATES: Mapping[str, Coordinates] = MappingProxyType({})
