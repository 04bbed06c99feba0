"""Benchmarks: one file each, with a record ``BENCH``.  ``benches()`` is the registry, in order.

Ratios are of times in one process, all variants in turn, minima and medians of several repeats.
Peers that are not installed are said to be missing.  ``polhode bench NAME`` runs one.
"""

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType

from polhode.bench.records import (
    Asked,
    Bench,
    Finding,
    Missing,
    Note,
    Result,
    Table,
    Verdict,
    measured,
)

__all__ = [
    "NAMES",
    "Asked",
    "Bench",
    "Finding",
    "Missing",
    "Note",
    "Result",
    "Table",
    "Verdict",
    "benches",
    "measured",
]

NAMES = (
    "single",
    "ensemble",
    "cluster",
    "accuracy",
    "precision",
    "adaptive",
    "highorder",
    "kinematics",
    "sampled",
    "motion",
    "simulator",
    "engines",
    "roundoff",
    "drift",
    "formulations",
    "mesh",
    "moon",
    "earth",
)


def bench(name: str) -> Bench:
    """One of ``NAMES``."""
    found: Bench = import_module(f"polhode.bench.{name}").BENCH
    return found


def benches() -> Mapping[str, Bench]:
    """All of them by name."""
    return MappingProxyType({name: bench(name) for name in NAMES})
