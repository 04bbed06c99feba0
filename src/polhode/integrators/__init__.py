"""General-purpose integrators, one file each.  ``INTEGRATORS`` is the registry.

A file is loaded when one of its integrators is first used, because building its tables takes a
large part of the time of a short run.  So the name of an integrator gives its file:
``bulirsch-stoer`` is in ``bulirsch_stoer.py``, ``gauss-taylor:8`` in ``gauss_taylor.py`` and
``magnus6`` in ``magnus.py``.  Listing them loads all files.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module

from polhode.contracts import Integrator
from polhode.contracts.registry import all_makers, file_names, makers


def _file(name: str) -> str | None:
    """Return the file that may hold the integrator ``name``."""
    stem = name.partition(":")[0].replace("-", "_")
    names = file_names(__name__)
    return next((file for file in (stem, stem.rstrip("0123456789")) if file in names), None)


@cache
def _found(name: str) -> Integrator | None:
    file = _file(name)
    if file is None:
        return None
    make = makers(import_module(f"{__name__}.{file}"), "INTEGRATOR").get(name)
    return make() if make else None


class Registry(Mapping[str, Integrator]):
    """The integrators that meet a condition, by name."""

    def __init__(self, condition: Callable[[Integrator], bool] = lambda integrator: True):
        self._condition = condition

    def __getitem__(self, name: str) -> Integrator:
        found = _found(name) if isinstance(name, str) else None
        if found is None or not self._condition(found):
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        (names,) = all_makers(__name__, "INTEGRATOR")
        return (name for name in names if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"<integrators: {', '.join(self)}>"


INTEGRATORS: Mapping[str, Integrator] = Registry()
"""All general-purpose integrators by name; each is an ``Integrator``, loaded when it is first used.

Examples
--------
>>> import polhode as ph
>>> ph.INTEGRATORS["dop853"].order, "gauss-taylor:8" in ph.INTEGRATORS
(8, True)
"""
OF_BODIES: Mapping[str, Integrator] = Registry(lambda integrator: not integrator.linear)
