"""Fixed-step methods (maps), one file each.  ``METHODS`` is the registry, in reading order."""

from collections.abc import Mapping
from types import MappingProxyType

from polhode.contracts import Method
from polhode.contracts.registry import records

METHODS: Mapping[str, Method] = MappingProxyType(records(__name__, "METHOD")[0])
"""All maps, methods with fixed steps, by name; each is a ``Method``.

Examples
--------
>>> import polhode as ph
>>> [name for name, method in ph.METHODS.items() if method.symplectic and method.order == 8]
['strang8', 'srkn19']
"""


def methods_table() -> list[dict]:
    """Return the registry as plain data: one row for each method, with everything it declares.

    Examples
    --------
    >>> import polhode as ph
    >>> [row["name"] for row in ph.methods_table() if row["order"] == 6]
    ['strang6', 'srkn14', 'mkrk:butcher6', 'mkrk:gauss6']
    """
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
