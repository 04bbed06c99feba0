"""Midpoint rule IMID (Krysl 2006, section 3.4): half a backward, then half a forward Euler step.

With k = h/2, the middle momentum m̄ = m + d, and the torque T̄ at t + k and q exp(k I⁻¹ m̄),

    d = k (m̄ x I⁻¹ m̄ + T̄)                                                              (1)
    q' = q exp(h I⁻¹ m̄),    m' = m + 2 d                                               (2)

Second order, symmetric, implicit.  Without torque it conserves the energy and |m| to rounding, but
not the momentum in inertial axes.  Conjugate to ``trap``.  (The paper prints the time of T̄ as
t_n + h/2; it is t_(n-1) + h/2: otherwise the order is 1 for a torque that depends on time.)
"""

from dataclasses import replace

from polhode.contracts import FREE, inverse_moments
from polhode.kernels.moved import rotated
from polhode.kernels.newton import history
from polhode.kernels.so3 import exp1
from polhode.kernels.sums import plus_scaled3
from polhode.kernels.vector import add, multiply, scale
from polhode.methods import backward_euler


def guess(t, h, state, carry, body, params):
    return backward_euler.guess(t, h / 2, state, carry, body, params)


def improve(t, h, unknown, state, body, params):
    return backward_euler.improve(t, h / 2, unknown, state, body, params)  # (1)


def finish(t, h, unknown, state, carry, body, params):
    (d, _), (q, m), (rates, (eq, em)) = unknown, state, carry
    c1, v = exp1(multiply(h, scale(inverse_moments(body), add(m, d))))
    q, eq = rotated(q, eq, c1, v)
    m, em = plus_scaled3(m, em, 2.0, d)  # (2)
    return (q, m), (history(h / 2, d, rates), (eq, em))


PLACE = 60
METHOD = replace(
    backward_euler.METHOD,
    name="imid",
    title="midpoint rule IMID",
    order=2,
    symmetric=True,
    keeps_energy=(FREE,),
    keeps_norm=True,
    compensated=True,
    guess=guess,
    improve=improve,
    finish=finish,
)
