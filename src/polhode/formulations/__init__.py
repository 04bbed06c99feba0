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
"""Variables of the attitude for ``formulation=``, by name; each is a ``Formulation``.

Examples
--------
>>> import polhode as ph
>>> [name for name, record in ph.FORMULATIONS.items() if record.resets]
['quaternion', 'vectors2-projected', 'generator-reset']
"""
COORDINATES: Mapping[str, Coordinates] = MappingProxyType(_with_momentum)
"""Variables of attitude and momentum together, by name; each is a ``Coordinates``.

Examples
--------
>>> import polhode as ph
>>> [name for name, record in ph.COORDINATES.items() if record.nominal]
['fukushima-departures', 'fukushima-canonical-departures', 'encke-quaternion', 'encke-euler']
"""
