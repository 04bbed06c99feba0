"""Forward Euler that conserves momentum (Krysl 2006, eq. 18).

    psi = h I⁻¹ m,    q' = q exp(psi)                                                  (1)
    m' = exp(-psi) (m + h T(t, q))                                                     (2)

First order, explicit, one torque per step.  The momentum in inertial axes changes only by the
impulse h q T, so it is conserved without torque, and along any axis about which there is none.
The adjoint of backward-euler-m.
"""

from dataclasses import replace

from polhode.contracts import AXIAL, FREE, LINEAR, inverse_moments, torque
from polhode.kernels.moved import rotated, rotated_back
from polhode.kernels.so3 import exp1
from polhode.kernels.sums import plus_scaled3
from polhode.kernels.vector import multiply, scale
from polhode.methods import forward_euler


def step(t, h, state, carry, body, params):
    (q, m), (eq, em), a = state, carry, inverse_moments(body)
    kicked, em = plus_scaled3(m, em, h, torque(t, q, m, body, params))
    c1, v = exp1(multiply(h, scale(a, m)))  # (1)
    q, eq = rotated(q, eq, c1, v)
    m, em = rotated_back(kicked, em, c1, v)  # (2)
    return (q, m), (eq, em)


PLACE = 30
METHOD = replace(
    forward_euler.METHOD,
    name="forward-euler-m",
    title="forward Euler, momentum-conserving",
    keeps_momentum=(FREE, LINEAR, AXIAL),
    keeps_norm=True,
    step=step,
)
