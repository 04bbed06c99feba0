"""T. Fukushima, A numerical scheme to integrate the rotational motion of a rigid body.

Symposium 172 of the International Astronomical Union (1995), Kluwer, 1996.

    by_hand       the formulas of the paper, and the definitions they follow from
    laboratory    the runs of figure 1, and some that the paper does not have
    scheme        claims of section 2
    compared      claims of sections 1, 3 and 4
    canonical     claims of section 4 about canonical variables and nonrotating origins
    table         table 1, with a clock
    figures       figure 1 for the Earth and for the Moon
"""

from collections.abc import Callable
from pathlib import Path

from polhode.papers.claims import Paper, Report, Statement, tested
from polhode.papers.fukushima1995 import canonical, compared, scheme, table
from polhode.papers.fukushima1995.laboratory import Laboratory

STATEMENTS: tuple[Statement, ...] = (  # in the order of the paper
    *compared.INTRODUCTION,
    *table.INTRODUCTION,
    *scheme.STATEMENTS,
    *compared.STATEMENTS,
    *table.STATEMENTS,
    *compared.CONCLUSION,
    *canonical.STATEMENTS,
    *compared.BEYOND,
)


def reproduce(quick: bool, out: Path, progress: Callable[[str], None]) -> Report:
    """Measure every claim, and draw figure 1, for Earth and Moon, into ``out``.

    ``quick`` takes 2048 revolutions instead of 33 000, and tests the same claims.
    """
    from polhode.papers.fukushima1995 import figures

    laboratory = Laboratory(quick, progress)
    claims = tested(STATEMENTS, laboratory, progress)
    return Report(claims, figures.draw(laboratory, Path(out)))


PAPER = Paper(
    order=5,
    name="fukushima1995",
    title="A numerical scheme to integrate the rotational motion of a rigid body",
    reference="fukushima1995",
    statements=STATEMENTS,
    reproduce=reproduce,
)
