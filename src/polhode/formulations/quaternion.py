"""The attitude quaternion, on the side of the body: with a torque the default.

    q' = q ω / 2,    m' = m x ω + T,    ω = I⁻¹ m    (body axes)

The norm of q is kept by the equations; when an integrator has lost a billionth of it, q is made a
unit quaternion again.  Without a momentum this is the rotor.
"""

from polhode.contracts import Formulation, torque
from polhode.formulations.rotor import attitude, enter, rate
from polhode.kernels.quaternion import right_rate
from polhode.kernels.vector import add, cross, scale

LOST = 1e-9  # of |q|², after which q is made a unit again


def moved(t, y, body, params):
    q, m = y[:4], y[4:]
    omega = scale(body[1], m)
    force = add(cross(m, omega), torque(t, q, m, body, params))
    return (*right_rate(q, omega), *force)


def reset(y):
    q = y[:4]
    lost = (q[0] * q[0] + q[1] * q[1]) + (q[2] * q[2] + q[3] * q[3]) - 1.0
    if abs(lost) < LOST:
        return y, False
    return (*attitude(q), *y[4:]), True


FORMULATION = Formulation(
    name="quaternion",
    title="attitude quaternion and momentum in body axes",
    enter=enter,
    attitude=attitude,
    rate=rate,
    reset=reset,
    moved=moved,
    angle=2.0,
    resets=True,
    references=(),
)
