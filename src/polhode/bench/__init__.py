"""Benchmarks: one file each, with a record ``Bench``.  ``benches()`` finds them, in order.

Variants take turns in one process, and ratios are of their times there: minima and medians of
several repeats.  Peers that are not installed are reported as missing.  ``polhode bench NAME`` runs
one.
"""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import walk_packages
from types import MappingProxyType

from polhode.bench.records import Bench, Missing, Note, Result, Table, Verdict, run

__all__ = ["Bench", "Missing", "Note", "Result", "Table", "Verdict", "benches", "run"]


@cache
def benches() -> Mapping[str, Bench]:
    """All benchmarks by name: every ``Bench`` in the modules of this package, by its ``place``."""
    modules = [import_module(each.name) for each in walk_packages(__path__, f"{__name__}.")]
    records = [each for module in modules for each in vars(module).values()]
    found = {each.name: each for each in records if isinstance(each, Bench)}
    return MappingProxyType({b.name: b for b in sorted(found.values(), key=lambda b: b.place)})
