"""The Magnus series for a given ω(t): fixed steps of order 4, 6 and 8 (``kernels/magnus.py``).

    q' = exp(-psi) q,    psi of the rates -ω at 2, 3 or 4 Gauss nodes of the step       (1)

for inertial axes, with the kernels for body axes; for a body rate everything is conjugated
(``kernels.gauss_taylor.side``).  One exponential per step, no error estimate.  Where |ω| h is of
order 1, the truncated terms of the series matter, and ``gauss-taylor`` needs fewer evaluations;
where ω changes many times before the body has turned much, ``magnus8`` is the cheapest of its
order.
"""

from functools import cache, partial

from polhode.compiler.machine import fma
from polhode.contracts import Integrator, velocity
from polhode.kernels import magnus as series
from polhode.kernels.gauss_taylor import seen, side
from polhode.kernels.quaternion import conjugate, product1
from polhode.kernels.so3 import exp1

IDENTITY = (1.0, 0.0, 0.0, 0.0)


def rate(t, params):
    """Return the body rate of the conjugate."""
    x, y, z = velocity(t, IDENTITY, params)
    return -side(x), -side(y), -side(z)


def moved(q, psi):
    """Return q' of (1), computed as an increment of the conjugate."""
    c1, v = exp1(psi)
    return seen(conjugate(product1(conjugate(seen(q)), c1, v)))


def step4(t, h, state, carry, body, params):
    middle, d = fma(0.5, h, t), series.NODES4 * h
    psi = series.magnus4(h, rate(middle - d, params), rate(middle + d, params))
    return moved(state, psi), carry


def step6(t, h, state, carry, body, params):
    middle, d = fma(0.5, h, t), series.NODES6 * h
    w1, w2, w3 = rate(middle - d, params), rate(middle, params), rate(middle + d, params)
    return moved(state, series.magnus6(h, w1, w2, w3)), carry


def step8(t, h, state, carry, body, params):
    middle, d, e = fma(0.5, h, t), series.OUTER8 * h, series.INNER8 * h
    w1, w2 = rate(middle - d, params), rate(middle - e, params)
    w3, w4 = rate(middle + e, params), rate(middle + d, params)
    return moved(state, series.magnus8(h, w1, w2, w3, w4)), carry


@cache
def magnus(order: int) -> Integrator:
    """Make the integrator of order 4, 6 or 8."""
    return Integrator(
        name=f"magnus{order}",
        title=f"Magnus's series, order {order}",
        order=order,
        dense_order=order,
        symmetric=True,
        linear=True,
        evaluations=order // 2,
        references=("magnus1954", "blanes2000"),
        step=STEPS[order],
    )


PLACE = 100
STEPS = {4: step4, 6: step6, 8: step8}
INTEGRATORS = {f"magnus{order}": partial(magnus, order) for order in STEPS}
