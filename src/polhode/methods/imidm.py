"""Momentum-conserving midpoint rule IMIDM (Krysl 2006, section 3.6), also known as LIEMID[I].

The rotation vector psi of one step solves, with E = exp(psi/2) and the torque T at t + h/2 and q E,

    psi = h I⁻¹ (E⁻¹ m + h/2 T)                                                        (1)
    q' = q E E,    m' = E⁻¹ (E⁻¹ m + h T)                                              (2)

Second order, symmetric, implicit.  The momentum in inertial axes changes only by the impulse h T.
Energy is not conserved, but its error stays bounded.  Not symplectic, contrary to the paper's
conjecture: the defect of one step is O(h³).  Conjugate to ``trapm``.

(1) is solved by Newton's method with the Jacobian 1 - h/2 I⁻¹ d(E⁻¹ m); the derivative of the
torque is one order of h smaller and omitted.  A torque that depends on the rate sees psi/h, which
(1) makes the rate in the middle.  Carried: psi/h of the last three steps, for the initial guess,
and the rounding errors of compensated sums.
"""

from dataclasses import replace

from polhode.compiler.machine import fma
from polhode.contracts import inverse_moments, moments, torque
from polhode.kernels.inertia import euler_newton_rows
from polhode.kernels.moved import rotated, rotated_back
from polhode.kernels.newton import corrected, history
from polhode.kernels.quaternion import product1, turned_back
from polhode.kernels.so3 import exp1, turned_back_jacobian
from polhode.kernels.sums import plus_scaled3
from polhode.kernels.vector import add_scaled, dot, multiply, scale
from polhode.methods import backward_euler_m


def middle(t, h, psi, state, body, params):
    """Return E, q E, E⁻¹ m and the torque there."""
    (q, m), inertia = state, moments(body)
    c1, v = exp1(multiply(0.5, psi))
    q, m = product1(q, c1, v), turned_back(c1, v, m)
    n = torque(t + h / 2, q, multiply(1.0 / h, scale(inertia, psi)), body, params)
    return c1, v, q, m, n


def improve(t, h, unknown, state, body, params):
    psi, last = unknown
    a = inverse_moments(body)
    _, _, _, m, n = middle(t, h, psi, state, body, params)
    residual = add_scaled(psi, -h, scale(a, add_scaled(m, h / 2, n)))  # (1)
    rows = euler_newton_rows(h / 2, a, turned_back_jacobian(multiply(0.5, psi), m))
    psi, size, done = corrected(psi, last, residual, rows, 0.0)
    return (psi, size), done


def landed(t, h, psi, state, body, params):
    """Return q' and m' of (2): rotate by E twice, with the torque in between."""
    c1, v, q, m, n = middle(t, h, psi, state, body, params)
    return product1(q, c1, v), turned_back(c1, v, add_scaled(m, h, n))


def finish(t, h, unknown, state, carry, body, params):
    (psi, _), (q, m), (rates, (eq, em)) = unknown, state, carry
    c1, v, _, _, n = middle(t, h, psi, state, body, params)
    n = turned_back(c1, v, n)
    c1, v = -2.0 * dot(v, v), multiply(fma(2.0, c1, 2.0), v)  # E E
    q, eq = rotated(q, eq, c1, v)
    m, em = rotated_back(m, em, c1, v)
    m, em = plus_scaled3(m, em, h, n)  # (2)
    return (q, m), (history(h, psi, rates), (eq, em))


PLACE = 80
METHOD = replace(
    backward_euler_m.METHOD,
    name="imidm",
    title="momentum-conserving midpoint rule IMIDM",
    order=2,
    symmetric=True,
    compensated=True,
    references=("krysl2006", "krysl2005"),
    improve=improve,
    finish=finish,
)
