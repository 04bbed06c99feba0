"""The attitude quaternion, with the rate in body axes: the default for bodies.

    q' = q ω / 2,    m' = m x ω + T,    ω = I⁻¹ m    (body axes)

with m x ω written as m2 m3 (1/I3 - 1/I2), …: the shortest chain of operations, which determines the
speed of an integrator.

The equations conserve the norm of q; when it is off by a billionth, q is normalised.  Without a
momentum this is the rotor.
"""

from dataclasses import replace

from polhode.contracts import inverse_moments, torque
from polhode.formulations import rotor
from polhode.formulations._parts import momentum_rate
from polhode.kernels.quaternion import half_rate

LOST = 1e-9  # error of |q|² at which q is normalised


def moved(t, y, body, params):
    q, m = y[:4], y[4:]
    (a, b, c), (m1, m2, m3) = inverse_moments(body), m
    n = torque(t, q, m, body, params)
    rate = half_rate(q, (0.5 * a * m1, 0.5 * b * m2, 0.5 * c * m3))
    return *rate, *momentum_rate(m, body, n)


def reset(y):
    q = y[:4]
    lost = (q[0] * q[0] + q[1] * q[1]) + (q[2] * q[2] + q[3] * q[3]) - 1.0
    if abs(lost) < LOST:
        return y, False
    return (*rotor.attitude(q), *y[4:]), True


PLACE = 10
FORMULATION = replace(
    rotor.FORMULATION,
    name="quaternion",
    title="attitude quaternion and momentum in body axes",
    reset=reset,
    moved=moved,
    references=(),
)
