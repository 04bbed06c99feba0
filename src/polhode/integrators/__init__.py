"""General-purpose integrators: one file each.  ``INTEGRATORS`` is the registry."""

from collections.abc import Mapping
from types import MappingProxyType

from polhode.contracts import Integrator
from polhode.integrators import dop853, dopri5, rk4, vern9

_FILES = dop853, vern9, dopri5, rk4

INTEGRATORS: Mapping[str, Integrator] = MappingProxyType(
    {file.INTEGRATOR.name: file.INTEGRATOR for file in _FILES}
)
