"""P. Krysl, Dynamically equivalent implicit algorithms for the integration of rigid body rotations.

Communications in Numerical Methods in Engineering 24 (2008) 141-156, published online in 2006,
doi:10.1002/cnm.963.

    by_hand       the formulas of the page in NumPy, with and without their misprints
    maps          one-step maps taken apart;   laboratory  the longer runs
    derivation, properties, compared, examples, soft_wall, conclusions    the claims
    figures       figures 1 to 5
"""

from collections.abc import Callable
from pathlib import Path

from polhode.papers.claims import Paper, Report, Statement, tested
from polhode.papers.krysl2006 import (
    compared,
    conclusions,
    derivation,
    examples,
    properties,
    soft_wall,
)
from polhode.papers.krysl2006.laboratory import Laboratory


def _place(statement: Statement) -> tuple[int, ...]:
    return tuple(int(part) for part in statement.section.split(",")[0].split("."))


STATEMENTS: tuple[Statement, ...] = tuple(
    sorted(
        (
            *derivation.STATEMENTS,
            *properties.STATEMENTS,
            *compared.STATEMENTS,
            *examples.STATEMENTS,
            *soft_wall.STATEMENTS,
            *conclusions.STATEMENTS,
        ),
        key=_place,
    )
)


def reproduce(quick: bool, out: Path, progress: Callable[[str], None]) -> Report:
    """Measure every claim, and draw figures 1 to 5 into ``out``.

    ``quick`` takes fewer steps in the convergence studies and shorter runs where something is
    conserved; it tests the same claims.
    """
    from polhode.papers.krysl2006 import figures

    laboratory = Laboratory(quick, progress)
    claims = tested(STATEMENTS, laboratory, progress)
    return Report(claims, figures.draw(laboratory, Path(out)))


PAPER = Paper(
    name="krysl2006",
    title="Dynamically equivalent implicit algorithms for the integration of rigid body rotations",
    reference="krysl2006",
    statements=STATEMENTS,
    reproduce=reproduce,
)
