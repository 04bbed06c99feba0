"""T. Fukushima, A numerical scheme to integrate the rotational motion of a rigid body.

Symposium 172 of the International Astronomical Union (1995), Kluwer, 1996.

    claims.md     the statements of the paper
    by_hand       the formulas of the paper, and the definitions they follow from
    laboratory    the runs of figure 1, and some that the paper does not have
    scheme, comparison, canonical, symplectic    the measurements of sections 1 to 4
    schemes, table    table 1: the schemes as formulas, their operations and times
    figures       figure 1 for the Earth and for the Moon
"""

from polhode.papers.claims import Paper
from polhode.papers.fukushima1995 import canonical, comparison, scheme, symplectic, table
from polhode.papers.fukushima1995.laboratory import Laboratory

PLACE = 50
PAPER = Paper(
    __name__,
    title="A numerical scheme to integrate the rotational motion of a rigid body",
    figures=2,
    laboratory=Laboratory,
    measured_in=(scheme, comparison, canonical, symplectic, table),
    tables=table.tables,
)
