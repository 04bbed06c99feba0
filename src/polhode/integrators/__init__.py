"""General-purpose integrators: one file each.  ``INTEGRATORS`` is the registry.

They are loaded when they are asked for: their tables are a good part of a short run.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module

from polhode.contracts import Integrator

# name -> (file, name in it), or its argument
_PLACES: dict[str, tuple[str, str | int]] = {
    "extrapolation": ("extrapolation", "INTEGRATOR"),
    "vern9": ("vern9", "INTEGRATOR"),
    "dop853": ("dop853", "INTEGRATOR"),
    "dopri5": ("dopri5", "INTEGRATOR"),
    "bulirsch-stoer": ("bulirsch_stoer", "INTEGRATOR"),
    "gauss": ("gauss", "INTEGRATOR"),
    "adams": ("adams", "INTEGRATOR"),
    "rk4": ("rk4", "INTEGRATOR"),
    **{f"gauss-taylor:{s}": ("gauss_taylor", s) for s in (4, 6, 8, 10, 12)},
    **{f"magnus{p}": ("magnus", f"MAGNUS{p}") for p in (4, 6, 8)},
}


@cache
def _loaded(name: str) -> Integrator:
    file, place = _PLACES[name]
    module = import_module(f"polhode.integrators.{file}")
    return getattr(module, place) if isinstance(place, str) else module.gauss_taylor(place)


class Registry(Mapping[str, Integrator]):
    """The integrators by name."""

    def __getitem__(self, name: str) -> Integrator:
        return _loaded(name)

    def __iter__(self) -> Iterator[str]:
        return iter(_PLACES)

    def __len__(self) -> int:
        return len(_PLACES)

    def __contains__(self, name: object) -> bool:
        return name in _PLACES

    def __repr__(self) -> str:
        return f"<integrators: {', '.join(self)}>"


INTEGRATORS: Mapping[str, Integrator] = Registry()
OF_BODIES = tuple(name for name in _PLACES if not name.startswith(("gauss-taylor", "magnus")))
