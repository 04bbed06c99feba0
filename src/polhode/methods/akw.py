"""Implicit midpoint rule of Austin, Krishnaprasad and Wang (1993; AKW in Krysl 2006, section 4).

The middle momentum m̄ = m + d solves, with S = T(t, q) + T(t + h, q') the torques at both ends,

    d = h/2 (m̄ x I⁻¹ m̄ + S/2),    q' = q cay(h I⁻¹ m̄)                                  (1)
    m' = C⁻¹ (m + h/4 S) + h/4 S,    C = cay(h I⁻¹ m̄)                                  (2)

(2) is m' = m + 2 d, written so that the momentum in inertial axes stays exact.  Second order,
symmetric, implicit.  Conserves momentum and energy without torque, and also for the heavy top (any
potential linear in the attitude matrix).

(1) is solved by Newton's method without the derivative of the torque.  Carried: the torque at the
end, d/h of three steps for the initial guess, and the rounding errors of compensated sums.
"""

from polhode.contracts import FREE, LINEAR, Method, inverse_moments, torque
from polhode.kernels.inertia import gyroscopic, gyroscopic_newton_rows
from polhode.kernels.moved import no_losses, rotated, rotated_back
from polhode.kernels.newton import corrected, history
from polhode.kernels.quaternion import product1
from polhode.kernels.so3 import cayley1
from polhode.kernels.sums import plus3
from polhode.kernels.vector import add, add_scaled, dot, multiply, scale
from polhode.methods.bbtrap import guess


def start(t, h, state, body, params):
    (q, m), a = state, inverse_moments(body)
    n = torque(t, q, m, body, params)
    rate = multiply(0.5, add(gyroscopic(m, a), n))
    return n, (rate, rate, rate), no_losses(q, m)


def improve(t, h, unknown, state, body, params):
    d, n, last = unknown
    (q, m), a = state, inverse_moments(body)
    mean = add(m, d)
    xi = multiply(h, scale(a, mean))
    c1, v = cayley1(xi)
    end = torque(t + h, product1(q, c1, v), add_scaled(m, 2.0, d), body, params)
    rate = add_scaled(gyroscopic(mean, a), 0.5, add(n, end))
    rows = gyroscopic_newton_rows(h / 2, mean, a)
    residual = add_scaled(d, -h / 2, rate)  # (1)
    natural = dot(xi, xi) * dot(mean, mean)
    d, size, done = corrected(d, last, residual, rows, natural)
    return (d, n, size), done


def finish(t, h, unknown, state, carry, body, params):
    (d, n, _), (q, m), (_, rates, (eq, em)) = unknown, state, carry
    c1, v = cayley1(multiply(h, scale(inverse_moments(body), add(m, d))))
    q, eq = rotated(q, eq, c1, v)
    end = torque(t + h, q, add_scaled(m, 2.0, d), body, params)
    impulse = multiply(h / 4, add(n, end))
    m, em = plus3(m, em, impulse)
    m, em = rotated_back(m, em, c1, v)
    m, em = plus3(m, em, impulse)  # (2)
    return (q, m), (end, history(h, d, rates), (eq, em))


PLACE = 100
METHOD = Method(
    name="akw",
    title="midpoint rule of Austin, Krishnaprasad and Wang",
    order=2,
    symmetric=True,
    keeps_energy=(FREE, LINEAR),
    keeps_momentum=(FREE, LINEAR),
    keeps_norm=True,
    compensates=True,
    compensated=True,
    torques_at_start=1,
    torques_per_step=1,
    torques_per_iteration=1,
    references=("austin1993", "krysl2006"),
    start=start,
    guess=guess,
    improve=improve,
    finish=finish,
)
