"""A torque of your own: a long satellite in a circular orbit swings about the vertical.

Gravity pulls the near end of a satellite more strongly than the far end.  In body axes, with r the
unit vector from the Earth and n the rate of the orbit, the torque is 3 n² r × (I r).
"""

import math

import numpy as np
from scipy.spatial.transform import Rotation

import polhode as ph

MOMENTS = 0.01, 0.05, 0.05  # kg m², long along body axis 1
RATE = 2 * math.pi / 5400  # rad/s, an orbit of 90 minutes


def gravity_gradient(t, q, omega, params):
    """Return the torque in body axes; q is (w, x, y, z), body to inertial."""
    rate, (i1, i2, i3) = params
    w, x, y, z = q
    c, s = math.cos(rate * t), math.sin(rate * t)
    r1 = (1 - 2 * (y * y + z * z)) * c + 2 * (x * y + w * z) * s
    r2 = 2 * (x * y - w * z) * c + (1 - 2 * (x * x + z * z)) * s
    r3 = 2 * (x * z + w * y) * c + 2 * (y * z - w * x) * s
    k = 3 * rate * rate
    return k * (i3 - i2) * r2 * r3, k * (i1 - i3) * r3 * r1, k * (i2 - i1) * r1 * r2


problem = ph.Problem(
    ph.RigidBody(MOMENTS),
    ph.torque(gravity_gradient, params=(RATE, MOMENTS)),
    attitude=Rotation.from_rotvec([0.0, 0.0, math.radians(20)]),
    omega=[0.0, 0.0, RATE],
    name="gravity-gradient",
)
run = ph.solve(problem, (0.0, 5 * 5400.0), method="imidm", dt=10.0)

along = run.rotation.apply([1.0, 0.0, 0.0])  # the long axis in inertial axes
pitch = np.degrees(np.unwrap(np.arctan2(along[:, 1], along[:, 0])) - RATE * run.t)
print(run)
print(f"The long axis swings between {pitch.min():.2f} and {pitch.max():.2f} degrees")
run.save("gravity-gradient.nc")
