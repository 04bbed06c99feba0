"""Variables of integration, one file each.

The registries are ``FORMULATIONS``, for the attitude, and ``COORDINATES``, for attitude and
momentum together.
"""

from collections.abc import Mapping
from types import MappingProxyType

from polhode.contracts import Coordinates, Formulation
from polhode.contracts.registry import records

_of_attitude, _with_momentum = records(__name__, "FORMULATION", "COORDINATES")

FORMULATIONS: Mapping[str, Formulation] = MappingProxyType(_of_attitude)
COORDINATES: Mapping[str, Coordinates] = MappingProxyType(_with_momentum)
