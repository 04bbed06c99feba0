"""General-purpose integrators: one file each.  ``INTEGRATORS`` is the registry."""

from collections.abc import Mapping
from types import MappingProxyType

from polhode.contracts import Integrator
from polhode.integrators import (
    bulirsch_stoer,
    dop853,
    dopri5,
    extrapolation,
    gauss_taylor,
    magnus,
    rk4,
    vern9,
)

INTEGRATORS: Mapping[str, Integrator] = MappingProxyType(
    {
        integrator.name: integrator
        for integrator in (
            *(
                file.INTEGRATOR
                for file in (extrapolation, vern9, dop853, dopri5, bulirsch_stoer, rk4)
            ),
            *(gauss_taylor.gauss_taylor(s) for s in gauss_taylor.STAGES),
            *(magnus.MAGNUS4, magnus.MAGNUS6, magnus.MAGNUS8),
        )
    }
)
