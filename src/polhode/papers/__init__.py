"""The papers behind the library: their problems, their claims as data, their figures.

``PAPERS`` is the registry.  ``PAPERS[name].reproduce(quick, out, progress)`` measures every claim
of a paper, draws its figures into the directory ``out``, and returns a ``Report``.  A paper is a
module or package in this directory with a record ``PAPER``; the record declares its place.

    claims                  tables of claims, reports, the record of a paper
    verdicts, laboratory    judges and runs that the papers share
    reference, rotations    independent solutions, matrices
    maps, drawing           one-step maps taken apart, figures
"""

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType

from polhode.papers.claims import Claim, Paper, Report, Statement


def _papers() -> list[Paper]:
    """The records of all modules here that have one, in the order they declare."""
    modules = (import_module(f"{__name__}.{found.name}") for found in iter_modules(__path__))
    papers: list[Paper] = [module.PAPER for module in modules if hasattr(module, "PAPER")]
    return sorted(papers, key=lambda paper: (paper.order, paper.name))


PAPERS: Mapping[str, Paper] = MappingProxyType({paper.name: paper for paper in _papers()})

__all__ = ["PAPERS", "Claim", "Paper", "Report", "Statement"]
