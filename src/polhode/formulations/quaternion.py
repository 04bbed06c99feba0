"""The attitude quaternion, with the rate in body axes: the default for bodies.

    q' = q ω / 2,    m' = m x ω + T,    ω = I⁻¹ m    (body axes)

with m x ω written as m2 m3 (1/I3 - 1/I2), …: the shortest chain of operations, which determines the
speed of an integrator.

The equations conserve the norm of q; when it is off by a billionth, q is normalised.  Without a
momentum this is the rotor.
"""

from dataclasses import replace

from polhode.compiler.machine import fma
from polhode.contracts import inverse_moments, torque
from polhode.formulations import rotor
from polhode.formulations._parts import momentum_rate
from polhode.kernels.quaternion import half_rate, to_unit_length

LOST = 1e-9  # error of |q|² at which q is normalised


def moved(t, y, body, params):
    q, m = y[:4], y[4:]
    (a, b, c), (m1, m2, m3) = inverse_moments(body), m
    n = torque(t, q, m, body, params)
    rate = half_rate(q, (0.5 * a * m1, 0.5 * b * m2, 0.5 * c * m3))
    return *rate, *momentum_rate(m, body, n)


def pace(step, body):
    """Return the step times the halved inverse moments, and times their differences."""
    a, b, c = inverse_moments(body)
    half = 0.5 * step
    return (half * a, half * b, half * c), (step * (c - b), step * (a - c), step * (b - a))


def leap(t, y, before, step, pace, body, params):
    """Return ``before`` + step y', with the sums inside the products."""
    q, m = y[:4], y[4:]
    w, x, y, z = q
    (a, b, c), (d, e, f) = pace
    m1, m2, m3 = m
    n1, n2, n3 = torque(t, q, m, body, params)
    force = (
        fma(step, n1, fma(d, m2 * m3, before[4])),
        fma(step, n2, fma(e, m3 * m1, before[5])),
        fma(step, n3, fma(f, m1 * m2, before[6])),
    )
    a, b, c = a * m1, b * m2, c * m3
    return (
        fma(-a, x, fma(-b, y, fma(-c, z, before[0]))),
        fma(a, w, fma(c, y, fma(-b, z, before[1]))),
        fma(b, w, fma(a, z, fma(-c, x, before[2]))),
        fma(c, w, fma(b, x, fma(-a, y, before[3]))),
        *force,
    )


def reset(y):
    q = y[:4]
    lost = (q[0] * q[0] + q[1] * q[1]) + (q[2] * q[2] + q[3] * q[3]) - 1.0
    if abs(lost) < LOST:
        return y, False
    return (*to_unit_length(q), *y[4:]), True


PLACE = 10
FORMULATION = replace(
    rotor.FORMULATION,
    name="quaternion",
    title="attitude quaternion and momentum in body axes",
    attitude=to_unit_length,
    reset=reset,
    moved=moved,
    leap=leap,
    pace=pace,
    references=(),
)
