"""What acts on the body: one file each.  ``MODELS`` is the registry, in reading order.

A model is a record with a torque (and a force), a potential if there is one, and its parameters;
models add up.  The file ``heavy_top.py`` has the function ``heavy_top``, which makes the record and
is called ``ph.models.heavy_top`` outside, and ``EXAMPLES``, arguments with which the tests call it.

Examples
--------
>>> import polhode as ph
>>> model = ph.models.heavy_top(20.0) + ph.models.drag(rotational=0.1)
>>> model.name, model.depends_on_omega
('heavy_top + drag', True)
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from polhode.contracts import Model
from polhode.contracts.registry import functions
from polhode.models.user import coupled, force, potential, torque

MODELS: Mapping[str, Callable[..., Model]] = MappingProxyType(functions(__name__))
"""The functions that make the models of the library, by name.

Examples
--------
>>> import polhode as ph
>>> ph.MODELS["heavy_top"] is ph.models.heavy_top
True
"""
globals().update(MODELS)

__all__ = ["MODELS", "coupled", "force", "potential", "torque", *MODELS]
