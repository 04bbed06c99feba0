"""M. Boyle, The integration of angular velocity.

Advances in Applied Clifford Algebras 27 (2017) 2345.

    by_hand       the formulas of the page in NumPy
    laboratory    the runs, raw variables and all
    formulas, groups    the claims of sections II to V
    binary, efficiency, variables, examples    those of VI and VII, figures 2 to 4, the appendix
    figures       figures 1 to 5
"""

from collections.abc import Callable
from pathlib import Path

from polhode.papers.boyle2017 import binary, efficiency, examples, formulas, groups, variables
from polhode.papers.boyle2017.laboratory import Laboratory
from polhode.papers.claims import Paper, Report, Statement, tested

SECTIONS = "abstract", "I", "II", "III", "IV", "V", "VI.A", "VI.B", "VII", "A"


def _place(statement: Statement) -> int:
    return SECTIONS.index(statement.section.split(",")[0])


STATEMENTS: tuple[Statement, ...] = tuple(
    sorted(
        (
            *formulas.STATEMENTS,
            *groups.STATEMENTS,
            *binary.STATEMENTS,
            *efficiency.STATEMENTS,
            *variables.STATEMENTS,
            *examples.STATEMENTS,
        ),
        key=_place,
    )
)


def reproduce(quick: bool, out: Path, progress: Callable[[str], None]) -> Report:
    """Measure every claim, and draw figures 1 to 5 into ``out``.

    The full form integrates 1000 orbits, as the paper does, with compiled loops; ``quick`` takes 50
    orbits and fewer tolerances, in plain Python.  It tests the same claims.
    """
    from polhode.papers.boyle2017 import figures

    laboratory = Laboratory(quick, progress)
    claims = tested(STATEMENTS, laboratory, progress)
    return Report(claims, figures.draw(laboratory, Path(out)))


PAPER = Paper(
    order=3,
    name="boyle2017",
    title="The integration of angular velocity",
    reference="boyle2017",
    statements=STATEMENTS,
    reproduce=reproduce,
)
