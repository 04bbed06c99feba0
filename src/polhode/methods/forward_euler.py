"""Forward Euler on the incremental equations of rotation (Krysl 2006, eq. 11).

    psi = h I⁻¹ m,    q' = q exp(psi)                                                  (1)
    m' = m + h (m x I⁻¹ m + T(t, q))                                                   (2)

First order, explicit, one torque per step.  Conserves only |q| = 1: energy and momentum drift.
The adjoint of backward Euler.
Carried: the rounding errors of compensated sums.
"""

from polhode.contracts import Method, inverse_moments, torque
from polhode.kernels.inertia import gyroscopic
from polhode.kernels.moved import no_losses, rotated
from polhode.kernels.so3 import exp1
from polhode.kernels.sums import plus_scaled3
from polhode.kernels.vector import add, multiply, scale


def start(t, h, state, body, params):
    return no_losses(*state)


def step(t, h, state, carry, body, params):
    (q, m), (eq, em), a = state, carry, inverse_moments(body)
    rate = add(gyroscopic(m, a), torque(t, q, m, body, params))
    c1, v = exp1(multiply(h, scale(a, m)))  # (1)
    q, eq = rotated(q, eq, c1, v)
    m, em = plus_scaled3(m, em, h, rate)  # (2)
    return (q, m), (eq, em)


PLACE = 10
METHOD = Method(
    name="forward-euler",
    title="forward Euler",
    order=1,
    symmetric=False,
    compensates=True,
    torques_per_step=1,
    references=("krysl2006",),
    start=start,
    step=step,
)
