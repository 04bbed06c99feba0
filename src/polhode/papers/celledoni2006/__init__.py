"""E. Celledoni and N. Säfström, Efficient time-symmetric simulation of torqued rigid bodies using
Jacobi elliptic functions.

Journal of Physics A: Mathematical and General 39 (2006) 5463.

    claims.md     the statements of the paper
    by_hand       the formulas of the page in NumPy, with and without their misprints
    reference     what is known without any method
    maps          one-step maps taken apart;   laboratory  the longer runs, and times
    introduction, method, experiments    the measurements
    figures       figures 1 to 8
"""

from polhode.papers.celledoni2006 import experiments, introduction, method
from polhode.papers.celledoni2006.laboratory import Laboratory
from polhode.papers.claims import Paper

PLACE = 20
PAPER = Paper(
    __name__,
    title="Efficient time-symmetric simulation of torqued rigid bodies using Jacobi elliptic"
    " functions",
    figures=8,
    laboratory=Laboratory,
    measured_in=(introduction, method, experiments),
)
