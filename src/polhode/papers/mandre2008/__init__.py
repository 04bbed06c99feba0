"""I. Mandre, Rigid body dynamics using Euler's equations, Runge-Kutta and quaternions.

Note, 26 February 2008 (with a footnote of December 2009).

    by_hand       the formulas of the page, with and without their misprints
    series        motions as power series in fractions: identities without rounding
    reference     what is known without any method: particles on rods, DOP853
    laboratory    the longer runs
    rigid_body, movement, principal_axes, optimisations, drift    the claims
    figures       normalisation, orders, a tennis racket
"""

from collections.abc import Callable
from pathlib import Path

from polhode.papers.claims import Paper, Report, Statement, tested
from polhode.papers.mandre2008 import (
    drift,
    movement,
    optimisations,
    principal_axes,
    rigid_body,
)
from polhode.papers.mandre2008.laboratory import Laboratory

STATEMENTS: tuple[Statement, ...] = (  # in the order of the note
    *rigid_body.STATEMENTS,
    *movement.STATEMENTS,
    *principal_axes.STATEMENTS,
    *optimisations.STATEMENTS,
    *drift.STATEMENTS,
)


def reproduce(quick: bool, out: Path, progress: Callable[[str], None]) -> Report:
    """Measure every claim, and draw three figures into ``out``.

    ``quick`` takes fewer steps in the convergence studies and shorter runs where something drifts;
    it tests the same claims.
    """
    from polhode.papers.mandre2008 import figures

    laboratory = Laboratory(quick, progress)
    claims = tested(STATEMENTS, laboratory, progress)
    return Report(claims, figures.draw(laboratory, Path(out)))


PAPER = Paper(
    order=4,
    name="mandre2008",
    title="Rigid body dynamics using Euler's equations, Runge-Kutta and quaternions",
    reference="mandre2008",
    statements=STATEMENTS,
    reproduce=reproduce,
)
