"""E. Celledoni and N. Säfström, Efficient time-symmetric simulation of torqued rigid bodies using
Jacobi elliptic functions.

Journal of Physics A: Mathematical and General 39 (2006) 5463.

    by_hand       the formulas of the page in NumPy, with and without their misprints
    reference     what is known without any method
    maps          one-step maps taken apart;   laboratory  the longer runs, and times
    abstract, introduction, splitting, elliptic, free_body, torqued    the claims
    figures       figures 1 to 8
"""

from collections.abc import Callable
from pathlib import Path

from polhode.papers.celledoni2006 import (
    abstract,
    elliptic,
    free_body,
    introduction,
    splitting,
    torqued,
)
from polhode.papers.celledoni2006.laboratory import Laboratory
from polhode.papers.claims import Paper, Report, Statement, tested


def _place(statement: Statement) -> tuple[int, ...]:
    if statement.section == "abstract":
        return (0,)
    return tuple(int(part) for part in statement.section.split("."))


STATEMENTS: tuple[Statement, ...] = tuple(
    sorted(
        (
            *abstract.STATEMENTS,
            *introduction.STATEMENTS,
            *splitting.STATEMENTS,
            *elliptic.STATEMENTS,
            *free_body.STATEMENTS,
            *torqued.STATEMENTS,
        ),
        key=_place,
    )
)


def reproduce(quick: bool, out: Path, progress: Callable[[str], None]) -> Report:
    """Measure every claim, and draw figures 1 to 8 into ``out``.

    ``quick`` takes fewer timings, fewer values of α and shorter runs where errors accumulate; it
    tests the same claims.
    """
    from polhode.papers.celledoni2006 import figures

    laboratory = Laboratory(quick, progress)
    claims = tested(STATEMENTS, laboratory, progress)
    return Report(claims, figures.draw(laboratory, Path(out)))


PAPER = Paper(
    order=2,
    name="celledoni2006",
    title="Efficient time-symmetric simulation of torqued rigid bodies using Jacobi elliptic"
    " functions",
    reference="celledoni2006",
    statements=STATEMENTS,
    reproduce=reproduce,
)
