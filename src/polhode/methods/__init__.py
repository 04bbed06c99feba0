"""Fixed-step methods (maps), one file each.  ``METHODS`` is the registry, in reading order."""

from collections.abc import Mapping
from types import MappingProxyType

from polhode.contracts import Method
from polhode.contracts.registry import records

METHODS: Mapping[str, Method] = MappingProxyType(records(__name__, "METHOD")[0])


def methods_table() -> list[dict]:
    """Return the registry as plain data: one row for each method, with everything it declares."""
    return [
        {
            "name": method.name,
            "title": method.title,
            "order": method.order,
            "momentum_order": method.momentum_order or method.order,
            "kind": "implicit" if method.implicit else "explicit",
            "symmetric": method.symmetric,
            "symplectic": method.symplectic,
            "keeps_energy": list(method.keeps_energy),
            "keeps_momentum": list(method.keeps_momentum),
            "keeps_norm": method.keeps_norm,
            "takes_rate": method.takes_rate and not method.free_only,
            "free_only": method.free_only,
            "order_when_free": method.order_when_free or method.order,
            "exact_when_free": method.exact_when_free,
            "exact_momentum_when_free": method.exact_momentum_when_free,
            "torques_at_start": method.torques_at_start,
            "torques_per_step": method.torques_per_step * len(method.weights),
            "torques_per_iteration": method.torques_per_iteration,
            "simd_width": method.width,
            "references": list(method.references),
        }
        for method in METHODS.values()
    ]
