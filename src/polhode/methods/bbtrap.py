"""Bottasso and Borri's trapezoidal rule, dexpinv truncated (1998; BBTRAP in Krysl 2006, section 4).

The rotation vector psi of one step solves, with the torques T and T' at both ends,

    psi = h/2 I⁻¹ (m + m'),    q' = q exp(psi)                                         (1)
    m' = exp(-psi) (m + h/2 T) + h/2 T'                                                (2)

Second order, symmetric, implicit.  Without torque it is ``swc1`` and conserves momentum and energy.
With torque, the momentum in inertial axes changes only by the two impulses.

(1) is solved by Newton's method without the derivative of the torque.  A torque that depends on
the rate sees 2 psi/h - I⁻¹ m, which (1) makes the rate at the end.  Carried: the torque at the end,
psi/h of three steps for the initial guess, and the rounding errors of compensated sums.
"""

from dataclasses import replace

from polhode.contracts import FREE, angular_velocity, inverse_moments, moments, torque
from polhode.kernels.inertia import euler_newton_rows
from polhode.kernels.moved import no_losses, rotated, rotated_back
from polhode.kernels.newton import corrected, extrapolated, history
from polhode.kernels.quaternion import product1, turned_back
from polhode.kernels.so3 import exp1, turned_back_jacobian
from polhode.kernels.sums import plus_scaled3
from polhode.kernels.vector import add, add_scaled, multiply, scale, subtract
from polhode.methods import backward_euler_m


def start(t, h, state, body, params):
    q, m = state
    rate = angular_velocity(m, body)
    return torque(t, q, m, body, params), (rate, rate, rate), no_losses(q, m)


def guess(t, h, state, carry, body, params):
    n, rates, _ = carry
    return extrapolated(h, rates), n, 0.0


def landed(t, h, psi, n, rate, state, body, params):
    """Return exp(psi), m' of (2), and the torque T' there; ``rate`` is the rate at the end."""
    (q, m), inertia = state, moments(body)
    c1, v = exp1(psi)
    end = torque(t + h, product1(q, c1, v), scale(inertia, rate), body, params)
    m = turned_back(c1, v, add_scaled(m, h / 2, n))
    return (c1, v), add_scaled(m, h / 2, end), end


def rate_at_end(h, psi, state, body):
    """Return the rate at the end of the step, from (1)."""
    return subtract(multiply(2.0 / h, psi), angular_velocity(state[1], body))


def improve(t, h, unknown, state, body, params):
    psi, n, last = unknown
    m, a = state[1], inverse_moments(body)
    rate = rate_at_end(h, psi, state, body)
    _, new, _ = landed(t, h, psi, n, rate, state, body, params)
    residual = add_scaled(psi, -h / 2, scale(a, add(m, new)))  # (1)
    rows = euler_newton_rows(h / 2, a, turned_back_jacobian(psi, new))
    psi, size, done = corrected(psi, last, residual, rows, 0.0)
    return (psi, n, size), done


def finish(t, h, unknown, state, carry, body, params):
    (psi, n, _), (q, m), (_, rates, (eq, em)) = unknown, state, carry
    rate = rate_at_end(h, psi, state, body)
    (c1, v), _, end = landed(t, h, psi, n, rate, state, body, params)
    q, eq = rotated(q, eq, c1, v)
    m, em = plus_scaled3(m, em, h / 2, n)
    m, em = rotated_back(m, em, c1, v)
    m, em = plus_scaled3(m, em, h / 2, end)  # (2)
    return (q, m), (end, history(h, psi, rates), (eq, em))


PLACE = 110
METHOD = replace(
    backward_euler_m.METHOD,
    name="bbtrap",
    title="Bottasso and Borri's trapezoidal rule",
    order=2,
    symmetric=True,
    compensated=True,
    keeps_energy=(FREE,),
    torques_at_start=1,
    references=("bottasso1998", "krysl2006"),
    start=start,
    guess=guess,
    improve=improve,
    finish=finish,
)
