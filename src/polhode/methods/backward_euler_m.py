"""Backward Euler that conserves momentum (Krysl 2006, eq. 19).

The rotation vector psi of one step solves, with the torque T at the end,

    psi = h I⁻¹ (exp(-psi) m + h T(t + h, q')),    q' = q exp(psi)                     (1)
    m' = exp(-psi) m + h T(t + h, q')                                                  (2)

First order, implicit.  The momentum in inertial axes changes only by the impulse h q' T.
The adjoint of forward-euler-m.

(1) is solved by Newton's method without the derivative of the torque.  A torque that depends on
the rate sees psi/h, which (1) makes the rate at the end.  Carried: psi/h of three steps,
and the rounding errors of compensated sums.
"""

from dataclasses import replace

from polhode.contracts import (
    AXIAL,
    FREE,
    LINEAR,
    angular_velocity,
    inverse_moments,
    moments,
    torque,
)
from polhode.kernels.inertia import euler_newton_rows
from polhode.kernels.moved import no_losses, rotated, rotated_back
from polhode.kernels.newton import corrected, history
from polhode.kernels.quaternion import product1, turned_back
from polhode.kernels.so3 import exp1, turned_back_jacobian
from polhode.kernels.sums import plus_scaled3
from polhode.kernels.vector import add_scaled, multiply, scale
from polhode.methods import backward_euler


def start(t, h, state, body, params):
    rate = angular_velocity(state[1], body)
    return (rate, rate, rate), no_losses(*state)


def acting(t, h, psi, state, body, params):
    """Return exp(psi) and the torque at the end."""
    c1, v = exp1(psi)
    m = multiply(1.0 / h, scale(moments(body), psi))
    return c1, v, torque(t + h, product1(state[0], c1, v), m, body, params)


def improve(t, h, unknown, state, body, params):
    psi, last = unknown
    a = inverse_moments(body)
    c1, v, n = acting(t, h, psi, state, body, params)
    free = turned_back(c1, v, state[1])
    rows = euler_newton_rows(h, a, turned_back_jacobian(psi, free))
    residual = add_scaled(psi, -h, scale(a, add_scaled(free, h, n)))  # (1)
    psi, size, done = corrected(psi, last, residual, rows, 0.0)
    return (psi, size), done


def finish(t, h, unknown, state, carry, body, params):
    (psi, _), (q, m), (rates, (eq, em)) = unknown, state, carry
    c1, v, n = acting(t, h, psi, state, body, params)
    q, eq = rotated(q, eq, c1, v)
    m, em = rotated_back(m, em, c1, v)
    m, em = plus_scaled3(m, em, h, n)  # (2)
    return (q, m), (history(h, psi, rates), (eq, em))


PLACE = 40
METHOD = replace(
    backward_euler.METHOD,
    name="backward-euler-m",
    title="backward Euler, momentum-conserving",
    keeps_momentum=(FREE, LINEAR, AXIAL),
    keeps_norm=True,
    torques_at_start=0,
    torques_per_step=1,
    start=start,
    improve=improve,
    finish=finish,
)
