"""M. Boyle, The integration of angular velocity.

Advances in Applied Clifford Algebras 27 (2017) 2345.

    claims.md     the statements of the paper
    by_hand       the formulas of the page in NumPy
    laboratory    the runs, with their raw variables
    formulas, groups    the measurements of sections II to V
    binary, efficiency, variables, examples    those of VI and VII, figures 2 to 4, the appendix
    figures       figures 1 to 5
"""

from polhode.papers.boyle2017 import binary, efficiency, examples, formulas, groups, variables
from polhode.papers.boyle2017.laboratory import Laboratory
from polhode.papers.claims import paper

PAPER = paper(
    __name__,
    order=3,
    title="The integration of angular velocity",
    laboratory=Laboratory,
    measured_in=(formulas, groups, binary, efficiency, variables, examples),
)
