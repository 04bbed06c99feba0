r"""Detumbling by magnetic coils.

A small satellite leaves its rocket tumbling. Three coils and a magnetometer stop it, by the simplest
controller there is: a magnetic moment against the change of the field that it sees,

$$
\mathbf M = -k\,\dot{\mathbf B}_\mathrm{body} \approx k\,\boldsymbol\omega \times \mathbf B ,
\qquad
\mathbf T = \mathbf M \times \mathbf B = -k \left( B^2 \boldsymbol\omega
 - (\mathbf B \cdot \boldsymbol\omega)\,\mathbf B \right) .
$$

The torque brakes every rotation but the one about the field. On an inclined orbit through the
Earth's dipole the field turns twice in each revolution, and takes this last one away, too: this
CubeSat slows down from 10 to below {{rest}} degrees per second within three orbits.
"""

import math

import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

GAIN = 1.5e4  # A m² s/T
DIPOLE, RADIUS, RATE = 7.8e15, 6.878e6, 1.1e-3  # T m³, m, rad/s: 500 km above the ground
INCLINATION = math.radians(65)


def field(t, params):
    """The Earth's dipole field on the orbit, inertial axes."""
    strength, rate, inclination = params
    c, s = math.cos(rate * t), math.sin(rate * t)
    x, y, z = c, s * math.cos(inclination), s * math.sin(inclination)
    return -3 * strength * z * x, -3 * strength * z * y, strength * (1 - 3 * z * z)


def coils(t, q, omega, params):
    """The torque of the controller, body axes."""
    gain, earth = params
    b1, b2, b3 = field(t, earth)
    w, x, y, z = q
    p = (1 - 2 * (y * y + z * z)) * b1 + 2 * (x * y + w * z) * b2 + 2 * (x * z - w * y) * b3
    r = 2 * (x * y - w * z) * b1 + (1 - 2 * (x * x + z * z)) * b2 + 2 * (y * z + w * x) * b3
    s = 2 * (x * z + w * y) * b1 + 2 * (y * z - w * x) * b2 + (1 - 2 * (x * x + y * y)) * b3
    along, square = gain * (p * omega[0] + r * omega[1] + s * omega[2]), gain * (p * p + r * r + s * s)
    return (
        along * p - square * omega[0],
        along * r - square * omega[1],
        along * s - square * omega[2],
    )


earth = DIPOLE / RADIUS**3, RATE, INCLINATION
cubesat = ph.RigidBody.from_shapes(ph.shapes.box([0.1, 0.1, 0.3], mass=4.0))
tumbling = np.radians([6.0, 5.0, 6.2])
problem = ph.Problem(cubesat, ph.torque(coils, (GAIN, earth)), omega=tumbling, name="CubeSat")
orbit = 2 * np.pi / RATE
run = ph.solve(problem, (0, 3 * orbit), rtol=1e-10)
view = {"show": {"poinsot": False, "torque": True}, "tolerance": 0.02}

# ---- picture
# Left: the three rates of the satellite oscillate fast, then slowly, and decay. Right: the total
# rate on a logarithmic scale falls fast, then in steps, twice in each orbit.
fig, (left, right) = plt.subplots(1, 2)
fine = run.sol(np.linspace(0, 3 * orbit, 3001))
run.plot("rates", left).set_title("Rates")
right.semilogy(fine.t / orbit, np.degrees(np.linalg.norm(fine.omega, axis=1)))
right.set(title="Total rate", xlabel="orbits", ylabel="degrees/s")
plt.show()

# ---- checks
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

inertia = np.diag(cubesat.inertia)


def slopes(t, y):
    """Euler's equations with an attitude matrix, and the controller as it is written above."""
    turn, omega = y[:9].reshape(3, 3), y[9:]
    b = turn.T @ field(t, earth)
    torque = np.cross(GAIN * np.cross(omega, b), b)
    rates = (torque - np.cross(omega, inertia * omega)) / inertia
    return [*(turn @ np.cross(omega, np.eye(3)).T).ravel(), *rates]


other = solve_ivp(
    slopes, (0, 600), [*np.eye(3).ravel(), *tumbling], "DOP853", rtol=1e-11, atol=1e-12
)
here = run.sol([600.0])
turn = Rotation.from_matrix(other.y[:9, -1].reshape(3, 3))
ball = ph.RigidBody([0.01, 0.01, 0.01])
still = ph.torque(coils, (GAIN, (earth[0], 0.0, 0.0)))  # the field over the equator
few = ph.solve(ph.Problem(ball, still, omega=[0.1, 0.0, 0.05]), (0, 1000), rtol=1e-11)
decay = np.array([0.1 * np.exp(-GAIN * earth[0] ** 2 * 1000 / 0.01), 0.05])
x, y, z = few.to_inertial(few.omega)[-1]
checks = {
    "attitude after 600 s, against SciPy's DOP853 on matrices, rad": (
        (here.rotation[0].inv() * turn).magnitude(),
        1e-6,
    ),
    "rates after 600 s, likewise, rad/s": (np.abs(here.omega[0] - other.y[9:, -1]).max(), 1e-8),
    "a ball in a constant field: rates across and along, against exp(-k B² t/I) and 1, rad/s": (
        np.abs([np.hypot(x, y), z] - decay).max(),
        1e-9,
    ),
}
measured = {"rest": f"{np.degrees(np.linalg.norm(run.omega[-1])):.2g}"}
