"""Simo and Wong's ALGO_C1 (Simo & Wong 1991; SWC1 in Krysl 2006, section 4).

The rotation vector psi of one step solves, with the torque T at t + h/2 and q exp(psi/2),

    psi = h/2 I⁻¹ (m + m'),    q' = q exp(psi)                                         (1)
    m' = exp(-psi) m + h exp(-psi/2) T                                                 (2)

Second order, symmetric, implicit.  Without torque it conserves both the momentum in inertial axes
and the energy; with torque, the momentum changes only by the impulse h T.

(1) is solved by Newton's method without the derivative of the torque.  A torque that depends on
the rate sees psi/h, the mean rate.  Carried: psi/h of three steps, for the initial guess.
"""

from polhode.contracts import AXIAL, FREE, LINEAR, Method, inverse_moments, moments, torque
from polhode.kernels.inertia import euler_newton_rows
from polhode.kernels.newton import corrected, extrapolated, history
from polhode.kernels.quaternion import product1, turned_back
from polhode.kernels.so3 import exp1, turned_back_jacobian
from polhode.kernels.vector import add, add_scaled, multiply, scale
from polhode.methods.backward_euler_m import start


def guess(t, h, state, carry, body, params):
    return extrapolated(h, carry), 0.0


def landed(t, h, psi, state, body, params):
    """Return q' and m' of (1) and (2): rotate by exp(psi/2) twice, with the torque in between."""
    (q, m), inertia = state, moments(body)
    c1, v = exp1(multiply(0.5, psi))
    q, m = product1(q, c1, v), turned_back(c1, v, m)
    n = torque(t + h / 2, q, multiply(1.0 / h, scale(inertia, psi)), body, params)
    return product1(q, c1, v), turned_back(c1, v, add_scaled(m, h, n))


def improve(t, h, unknown, state, body, params):
    psi, last = unknown
    m, a = state[1], inverse_moments(body)
    _, new = landed(t, h, psi, state, body, params)
    residual = add_scaled(psi, -h / 2, scale(a, add(m, new)))  # (1)
    rows = euler_newton_rows(h / 2, a, turned_back_jacobian(psi, new))
    psi, size, done = corrected(psi, last, residual, rows, 0.0)
    return (psi, size), done


def finish(t, h, unknown, state, carry, body, params):
    psi, _ = unknown
    return landed(t, h, psi, state, body, params), history(h, psi, carry)


PLACE = 90
METHOD = Method(
    name="swc1",
    title="Simo and Wong's ALGO_C1",
    order=2,
    symmetric=True,
    keeps_energy=(FREE,),
    keeps_momentum=(FREE, LINEAR, AXIAL),
    keeps_norm=True,
    torques_per_step=1,
    torques_per_iteration=1,
    references=("simo1991", "krysl2006"),
    start=start,
    guess=guess,
    improve=improve,
    finish=finish,
)
