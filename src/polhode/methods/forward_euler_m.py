"""Forward Euler that conserves momentum (Krysl 2006, eq. 18).

    psi = h I⁻¹ m,    q' = q exp(psi)                                                  (1)
    m' = exp(-psi) (m + h T(t, q))                                                     (2)

First order, explicit, one torque per step.  The momentum in inertial axes changes only by the
impulse h q T, so it is conserved without torque, and along any axis about which there is none.
The adjoint of backward-euler-m.
"""

from dataclasses import replace

from polhode.contracts import AXIAL, FREE, LINEAR, inverse_moments, torque
from polhode.kernels.quaternion import product1, turned_back
from polhode.kernels.so3 import exp1
from polhode.kernels.vector import add_scaled, multiply, scale
from polhode.methods import forward_euler


def step(t, h, state, carry, body, params):
    (q, m), a = state, inverse_moments(body)
    kicked = add_scaled(m, h, torque(t, q, m, body, params))
    c1, v = exp1(multiply(h, scale(a, m)))  # (1)
    return (product1(q, c1, v), turned_back(c1, v, kicked)), carry  # (2)


PLACE = 30
METHOD = replace(
    forward_euler.METHOD,
    name="forward-euler-m",
    title="forward Euler, momentum-conserving",
    keeps_momentum=(FREE, LINEAR, AXIAL),
    keeps_norm=True,
    step=step,
)
