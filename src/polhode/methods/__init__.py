"""The maps: one file each.  ``METHODS`` is the registry, in reading order."""

from collections.abc import Mapping
from types import MappingProxyType

from polhode.contracts import Method
from polhode.methods import (
    aba1064,
    akw,
    backward_euler,
    backward_euler_m,
    bbtrap,
    bbtrapwd,
    dmv2,
    dmv4,
    dmv6,
    forward_euler,
    forward_euler_m,
    imid,
    imidm,
    je,
    jem2,
    jem4,
    mkrk,
    mr2,
    mr4,
    rkn4,
    sbab5,
    sej,
    sej4,
    srkn14,
    strang,
    strang4,
    strang6,
    strang8,
    swc1,
    trap,
    trapm,
)
from polhode.tableaus.runge_kutta import TABLEAUS

_FILES = (
    forward_euler,
    backward_euler,
    forward_euler_m,
    backward_euler_m,
    trap,
    imid,
    trapm,
    imidm,
    swc1,
    akw,
    bbtrap,
    bbtrapwd,
    mr2,
    mr4,
    strang,
    strang4,
    strang6,
    strang8,
    srkn14,
    sbab5,
    aba1064,
    dmv2,
    dmv4,
    dmv6,
    je,
    jem2,
    jem4,
    sej,
    sej4,
    rkn4,
)

METHODS: Mapping[str, Method] = MappingProxyType(
    {
        method.name: method
        for method in (
            *(file.METHOD for file in _FILES),
            *(mkrk.method(tableau) for tableau in TABLEAUS.values()),
        )
    }
)


def methods_table() -> list[dict]:
    """The registry as plain data: one row for each method, everything it declares."""
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
