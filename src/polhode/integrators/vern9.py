"""Verner's pair of orders 9 and 8: sixteen slopes per step, and the smallest rounding error of all.

The difference of the two solutions estimates the error.  Dense output is a separate step
from the start of the step, of order 9.
"""

from polhode.contracts import Integrator
from polhode.integrators._runge_kutta import difference, explicit
from polhode.tableaus.verner9 import ERROR, VERNER9

PLACE = 20
INTEGRATOR = Integrator(
    name="vern9",
    title="Verner 9(8)",
    order=9,
    dense_order=9,
    tightest=1e-15,
    references=("verner2010",),
    **explicit(VERNER9, difference(tuple(map(float, ERROR))), 9),
)
