"""Backward Euler on the incremental equations of rotation (Krysl 2006, eq. 12).

The change d of the momentum, m' = m + d, solves

    d = h (m' x I⁻¹ m' + T(t + h, q')),    q' = q exp(h I⁻¹ m')                        (1)

First order, implicit.  Conserves only |q| = 1.  The adjoint of forward Euler.

(1) is solved by Newton's method with the derivative of the gyroscopic term; that of the torque
enters one order of h later and is omitted.  Carried: d/h of three steps, for the initial guess,
and the rounding errors of compensated sums.
"""

from polhode.contracts import Method, inverse_moments, torque
from polhode.kernels.inertia import gyroscopic, gyroscopic_newton_rows
from polhode.kernels.moved import no_losses, rotated
from polhode.kernels.newton import corrected, extrapolated, history
from polhode.kernels.quaternion import product1
from polhode.kernels.so3 import exp1
from polhode.kernels.sums import plus3
from polhode.kernels.vector import add, add_scaled, dot, multiply, scale


def start(t, h, state, body, params):
    (q, m), a = state, inverse_moments(body)
    rate = add(gyroscopic(m, a), torque(t, q, m, body, params))
    return (rate, rate, rate), no_losses(q, m)


def guess(t, h, state, carry, body, params):
    return extrapolated(h, carry[0]), 0.0


def improve(t, h, unknown, state, body, params):
    d, last = unknown
    (q, m), a = state, inverse_moments(body)
    new = add(m, d)
    psi = multiply(h, scale(a, new))
    c1, v = exp1(psi)
    rate = add(gyroscopic(new, a), torque(t + h, product1(q, c1, v), new, body, params))
    rows = gyroscopic_newton_rows(h, new, a)
    natural = dot(psi, psi) * dot(new, new)  # the size of the products in (1), which may cancel
    d, size, done = corrected(d, last, add_scaled(d, -h, rate), rows, natural)  # (1)
    return (d, size), done


def finish(t, h, unknown, state, carry, body, params):
    (d, _), (q, m), (rates, (eq, em)) = unknown, state, carry
    m, em = plus3(m, em, d)
    c1, v = exp1(multiply(h, scale(inverse_moments(body), m)))
    q, eq = rotated(q, eq, c1, v)
    return (q, m), (history(h, d, rates), (eq, em))


PLACE = 20
METHOD = Method(
    name="backward-euler",
    title="backward Euler",
    order=1,
    symmetric=False,
    compensates=True,
    torques_at_start=1,
    torques_per_iteration=1,
    references=("krysl2006",),
    start=start,
    guess=guess,
    improve=improve,
    finish=finish,
)
