"""Bottasso and Borri's trapezoidal rule with dexpinv (1998; BBTRAPWD in Krysl 2006, section 4).

The rotation vector psi of one step solves, with the torques T and T' at both ends,

    psi = h/2 (dexpinv_{-psi} I⁻¹ m' + I⁻¹ m),    q' = q exp(psi)                      (1)
    m' = exp(-psi) (m + h/2 T) + h/2 T'                                                (2)

The Munthe-Kaas Runge-Kutta method of the trapezoidal tableau.  Second order, implicit; neither
symmetric nor energy-conserving.  The momentum in inertial axes changes only by the two impulses.

(1) is solved by Newton's method without the derivative of the torque and with the first two terms
of dexpinv in the Jacobian.  A torque that depends on the rate sees dexp_{-psi} (2 psi/h - I⁻¹ m),
the rate at the end.  Carried: as in ``bbtrap``.
"""

from dataclasses import replace

from polhode.compiler.tree import bind
from polhode.contracts import inverse_moments
from polhode.kernels.inertia import euler_newton_rows, with_skew
from polhode.kernels.newton import corrected
from polhode.kernels.so3 import dexp, dexpinv, turned_back_jacobian
from polhode.kernels.vector import add, add_scaled, multiply, scale
from polhode.methods import bbtrap


def rate_at_end(h, psi, state, body):
    """Return the rate at the end of the step, from (1)."""
    return dexp(multiply(-1.0, psi), bbtrap.rate_at_end(h, psi, state, body))


def improve(t, h, unknown, state, body, params):
    psi, n, last = unknown
    m, a = state[1], inverse_moments(body)
    rate = rate_at_end(h, psi, state, body)
    _, new, _ = bbtrap.landed(t, h, psi, n, rate, state, body, params)
    w = scale(a, new)
    turning = add(dexpinv(multiply(-1.0, psi), w), scale(a, m))
    rows = with_skew(euler_newton_rows(h / 2, a, turned_back_jacobian(psi, new)), h / 4, w)
    residual = add_scaled(psi, -h / 2, turning)  # (1)
    psi, size, done = corrected(psi, last, residual, rows, 0.0)
    return (psi, n, size), done


PLACE = 120
METHOD = replace(
    bbtrap.METHOD,
    name="bbtrapwd",
    title="Bottasso and Borri's trapezoidal rule with dexpinv",
    symmetric=False,
    keeps_energy=(),
    improve=improve,
    finish=bind(bbtrap.finish, {bbtrap.rate_at_end: rate_at_end}),
)
