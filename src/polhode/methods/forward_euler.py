"""Forward Euler on the incremental equations of rotation (Krysl 2006, eq. 11).

    psi = h I⁻¹ m,    q' = q exp(psi)                                                  (1)
    m' = m + h (m x I⁻¹ m + T(t, q))                                                   (2)

First order, explicit, one torque per step.  Conserves only |q| = 1: energy and momentum drift.
The adjoint of backward Euler.
"""

from polhode.contracts import Method, inverse_moments, torque
from polhode.kernels.inertia import gyroscopic
from polhode.kernels.quaternion import product1
from polhode.kernels.so3 import exp1
from polhode.kernels.vector import add, add_scaled, multiply, scale


def step(t, h, state, carry, body, params):
    (q, m), a = state, inverse_moments(body)
    rate = add(gyroscopic(m, a), torque(t, q, m, body, params))
    c1, v = exp1(multiply(h, scale(a, m)))  # (1)
    return (product1(q, c1, v), add_scaled(m, h, rate)), carry  # (2)


PLACE = 10
METHOD = Method(
    name="forward-euler",
    title="forward Euler",
    order=1,
    symmetric=False,
    torques_per_step=1,
    references=("krysl2006",),
    step=step,
)
