"""M. Boyle, The integration of angular velocity.

Advances in Applied Clifford Algebras 27 (2017) 2345.

    claims.md     the statements of the paper
    by_hand       the formulas of the page in NumPy
    laboratory    the runs, with their raw variables
    formulas, groups    the measurements of sections II to V
    binary, efficiency, examples    those of VI and VII, figures 1 to 4, the appendix
    suggestions   those of what the paper suggests and leaves to others
    courses       costs at equal errors, over the whole range of a figure
    figures       figures 1 to 5
"""

from polhode.papers.boyle2017 import binary, efficiency, examples, formulas, groups, suggestions
from polhode.papers.boyle2017.laboratory import Laboratory
from polhode.papers.claims import Paper

PLACE = 30
PAPER = Paper(
    __name__,
    title="The integration of angular velocity",
    figures=5,
    laboratory=Laboratory,
    measured_in=(formulas, groups, binary, efficiency, examples, suggestions),
)
