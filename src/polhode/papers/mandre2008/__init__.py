"""I. Mandre, Rigid body dynamics using Euler's equations, Runge-Kutta and quaternions.

Note, 26 February 2008 (with a footnote of December 2009).

    claims.md     the statements of the note
    by_hand       the formulas of the page, with and without their misprints
    series        motions as power series in fractions: identities without rounding
    reference     solutions without any method of the library: particles on rods, DOP853
    laboratory    the longer runs
    rigid_body, movement, principal_axes, optimisations, drift    the measurements
    figures       normalisation, orders, a tennis racket
"""

from polhode.papers.claims import Paper
from polhode.papers.mandre2008 import drift, movement, optimisations, principal_axes, rigid_body
from polhode.papers.mandre2008.laboratory import Laboratory

PLACE = 40
PAPER = Paper(
    __name__,
    title="Rigid body dynamics using Euler's equations, Runge-Kutta and quaternions",
    figures=3,
    laboratory=Laboratory,
    measured_in=(rigid_body, movement, principal_axes, optimisations, drift),
)
