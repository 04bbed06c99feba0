"""Variables for the attitude: one file each.  ``FORMULATIONS`` is the registry."""

from collections.abc import Mapping
from types import MappingProxyType

from polhode.contracts import Formulation
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
