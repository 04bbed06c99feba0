"""Kutta's method of order 4, with fixed steps: the classical Runge-Kutta method."""

from polhode.contracts import Integrator, slope
from polhode.integrators._runge_kutta import accumulated, combination, nothing, stages_of
from polhode.tableaus.runge_kutta import RK4

_A, _B, _C = RK4.converted(float)
_STAGES, _TOTAL = stages_of(_A, _C), combination(_B)


def start(t, h, y, body, params):
    return (nothing(y),)


def step(t, h, y, carry, body, params):
    ks = _STAGES(t, h, y, slope(t, y, body, params), body, params)
    new, low = accumulated(y, carry[0], h, _TOTAL(ks))
    return new, (low,)


PLACE = 80
INTEGRATOR = Integrator(
    name="rk4",
    title="Kutta's method of order 4",
    order=4,
    dense_order=4,
    evaluations=4,
    references=("kutta1901",),
    start=start,
    step=step,
)
