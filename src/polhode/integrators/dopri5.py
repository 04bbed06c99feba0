"""Dormand and Prince's pair of orders 5 and 4 (ode45): six slopes per step, the last one reused.

Dense output is a separate step from the start of the step, of order 5.
"""

from polhode.contracts import Integrator
from polhode.integrators._runge_kutta import difference, explicit
from polhode.tableaus.embedded import DOPRI4, DOPRI5

PLACE = 40
INTEGRATOR = Integrator(
    name="dopri5",
    title="Dormand-Prince 5(4)",
    order=5,
    dense_order=5,
    tightest=1e-15,
    references=("dormand1980",),
    **explicit(
        DOPRI5, difference([float(x - y) for x, y in zip(DOPRI5.b, DOPRI4.b, strict=True)]), 5
    ),
)
