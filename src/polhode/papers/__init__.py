"""The papers behind the library: their problems, their claims as data, their figures.

``PAPERS`` is the registry.  ``PAPERS[name].reproduce(quick, out, progress)`` measures every claim
of a paper, draws its figures into the directory ``out``, and returns a ``Report``.

    claims                  statements, verdicts, reports
    reference, rotations    independent solutions, matrices
    maps, drawing           one-step maps taken apart, figures
"""

from collections.abc import Mapping
from types import MappingProxyType

from polhode.papers import boyle2017, celledoni2006, fukushima1995, krysl2006, mandre2008
from polhode.papers.claims import Claim, Paper, Report, Statement

PAPERS: Mapping[str, Paper] = MappingProxyType(
    {
        paper.PAPER.name: paper.PAPER
        for paper in (krysl2006, celledoni2006, boyle2017, mandre2008, fukushima1995)
    }
)

__all__ = ["PAPERS", "Claim", "Paper", "Report", "Statement"]
