"""P. Krysl, Dynamically equivalent implicit algorithms for the integration of rigid body rotations.

Communications in Numerical Methods in Engineering 24 (2008) 141-156, published online in 2006,
doi:10.1002/cnm.963.

    claims.md     the statements of the paper
    by_hand       the formulas of the page in NumPy, with and without their misprints
    laboratory    the longer runs
    algorithms, examples    the measurements
    figures       figures 1 to 5
"""

from polhode.papers.claims import Paper
from polhode.papers.krysl2006 import algorithms, examples
from polhode.papers.krysl2006.laboratory import Laboratory

PLACE = 10
PAPER = Paper(
    __name__,
    title="Dynamically equivalent implicit algorithms for the integration of rigid body rotations",
    figures=5,
    laboratory=Laboratory,
    measured_in=(algorithms, examples),
)
