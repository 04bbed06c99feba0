"""Simo and Wong's ALGO_C1 (Simo & Wong 1991; SWC1 in Krysl 2006, section 4).

The rotation vector psi of one step solves, with the torque T at t + h/2 and q exp(psi/2),

    psi = h/2 I⁻¹ (m + m'),    q' = q exp(psi)                                         (1)
    m' = exp(-psi) m + h exp(-psi/2) T                                                 (2)

Second order, symmetric, implicit.  Without torque it conserves both the momentum in inertial axes
and the energy; with torque, the momentum changes only by the impulse h T.

(1) is solved by Newton's method without the derivative of the torque.  A torque that depends on
the rate sees psi/h, the mean rate.  Carried: psi/h of three steps, for the initial guess.
"""

from dataclasses import replace

from polhode.contracts import FREE, inverse_moments
from polhode.kernels.inertia import euler_newton_rows
from polhode.kernels.newton import corrected
from polhode.kernels.so3 import turned_back_jacobian
from polhode.kernels.vector import add, add_scaled, scale
from polhode.methods import imidm


def improve(t, h, unknown, state, body, params):
    psi, last = unknown
    m, a = state[1], inverse_moments(body)
    _, new = imidm.landed(t, h, psi, state, body, params)
    residual = add_scaled(psi, -h / 2, scale(a, add(m, new)))  # (1)
    rows = euler_newton_rows(h / 2, a, turned_back_jacobian(psi, new))
    psi, size, done = corrected(psi, last, residual, rows, 0.0)
    return (psi, size), done


PLACE = 90
METHOD = replace(
    imidm.METHOD,  # whose (2) is the same
    name="swc1",
    title="Simo and Wong's ALGO_C1",
    keeps_energy=(FREE,),
    references=("simo1991", "krysl2006"),
    improve=improve,
)
