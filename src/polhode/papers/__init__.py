"""The papers behind the library: their problems, their claims as data, their figures.

``PAPERS`` is the registry.  ``PAPERS[name].reproduce(quick, out, progress)`` measures every claim
of a paper, draws its figures into the directory ``out``, and returns a ``Report``.  A paper is a
package in this directory with a record ``PAPER`` and a ``PLACE``.

    claims                  tables of claims, reports, the record of a paper
    verdicts, laboratory    judges and runs that the papers share
    reference               independent solutions
    counted, timing         operations counted, execution times
    rotations, quaternions  matrices and quaternions
    maps, drawing           one-step maps taken apart, figures
"""

from collections.abc import Mapping
from types import MappingProxyType

from polhode.contracts.registry import records
from polhode.papers.claims import Claim, Paper, Report, Statement

PAPERS: Mapping[str, Paper] = MappingProxyType(*records(__name__, "PAPER"))

__all__ = ["PAPERS", "Claim", "Paper", "Report", "Statement"]
