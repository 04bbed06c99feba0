r"""The chaotic rotation of Hyperion.

Saturn's moon Hyperion is as irregular as a potato, its orbit is an ellipse ($e = 0.1$), and Saturn's
gravity turns it now one way, now the other. If it rotates about its shortest axis, across its orbit,
its long axis is at an angle $\theta$ with

$$
\ddot\theta = -\frac{3}{2}\,\frac{B - A}{C} \left(\frac{a}{r}\right)^3 \sin 2(\theta - f) ,
$$

in units in which an orbit takes $2\pi$; $r$ and $f$ are the distance and the true anomaly. Once in
each orbit, at periapsis, one dot shows where the axis points and how fast it turns. Regular motions
draw curves around the resonances; a single chaotic one fills the entire grey sea. Wisdom, Peale and
Mignard predicted from this picture in 1984 that Hyperion tumbles: in the sea, neighbours part by a
factor $\mathrm e$ in {{time}} orbits. (`examples/hyperion.py` draws it as a poster.)
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.transform import Rotation

import polhode as ph

STARTS, ORBITS = 60, 200  # quick: 12, 40
orbit, up = 2 * np.pi, np.array([0.0, 0.0, 1.0])
hyperion = ph.problems.hyperion()
A, B, C = hyperion.body.principal_moments


def follow(theta, rate, orbits):
    """Upright motions, with a state at every periapsis."""
    start = {"attitude": Rotation.from_rotvec(np.outer(theta, up)), "omega": np.outer(rate, up)}
    return ph.solve_ensemble(
        hyperion, (0, orbits * orbit), vary=start, method="mr4", dt=orbit / 100, save=100
    )


def angle(q):
    """Of the long axis, between -π/2 and π/2: both ends look the same."""
    return (2 * np.arctan2(q[..., 3], q[..., 0]) + np.pi / 2) % np.pi - np.pi / 2


rates = np.linspace(-0.4, 3.4, STARTS)
theta = np.repeat([0.0, np.pi / 2], STARTS)
many = follow(theta, np.tile(rates, 2), ORBITS)
close = follow(theta, np.tile(rates, 2) + 1e-9, ORBITS)  # neighbours
x, y = angle(many.q), many.omega[..., 2]
apart = np.hypot((angle(close.q) - x + np.pi / 2) % np.pi - np.pi / 2, close.omega[..., 2] - y)
chaotic = apart.max(axis=0) > 1e-2
growth = np.log(1e-2 / 1e-9) / np.median(np.argmax(apart[:, chaotic] > 1e-2, axis=0))
run = ph.solve(hyperion, (0, 40 * orbit), method="mr4", dt=orbit / 100)  # tilted by 0.01 rad
view = {"show": {"poinsot": False}, "tolerance": 0.02}

# ---- picture
# Dots in a plane of angle and rate: rings of synchronous motion in the middle of a sea of grey dots,
# curves of slow motion below it, and islands of other resonances above it.
fig, ax = plt.subplots(figsize=(6.2, 4.6))
degrees = np.degrees(x)
ax.plot(degrees[::3, chaotic].ravel(), y[::3, chaotic].ravel(), ".", color="C6", markersize=0.9)
hues = plt.get_cmap("turbo")(np.clip(0.05 + 0.27 * y.mean(axis=0), 0, 0.95))
for k in np.flatnonzero(~chaotic):
    ax.plot(degrees[:, k], y[:, k], ".", color=hues[k], markersize=1.2)
ax.set(title="Hyperion at periapsis", xlabel="long axis (degrees)", ylabel="rate / mean motion")
ax.set(xlim=(-90, 90), ylim=(-0.3, 3.3), xticks=range(-90, 91, 45))
plt.show()

# ---- checks
from scipy.integrate import solve_ivp
from scipy.optimize import brentq


def planar(t, state, e=0.1):
    """The equation above."""
    anomaly = brentq(lambda x: x - e * np.sin(x) - t, t - e, t + e, xtol=1e-15)
    r = 1 - e * np.cos(anomaly)
    f = np.arctan2(np.sqrt(1 - e * e) * np.sin(anomaly), np.cos(anomaly) - e)
    return state[1], -1.5 * (B - A) / C / r**3 * np.sin(2 * (state[0] - f))


off = 0.0
for start in ((0.0, 0.3), (0.0, 2.3), (np.pi / 2, 0.5)):
    attitude, omega = Rotation.from_rotvec(start[0] * up), start[1] * up
    flat = ph.Problem(hyperion.body, hyperion.model, attitude=attitude, omega=omega)
    here = ph.solve(flat, (0, 5 * orbit), rtol=1e-12)[-1]
    end = solve_ivp(planar, (0, 5 * orbit), start, "DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    turn = (2 * np.arctan2(here.q[0, 3], here.q[0, 0]) - end[0] + np.pi) % (2 * np.pi) - np.pi
    off = max(off, abs(turn), abs(here.omega[0, 2] - end[1]))
checks = {
    "three upright motions after five orbits, against SciPy's DOP853 for the equation above": (
        off,
        1e-8,
    ),
}
measured = {"time": f"{1 / growth:.1f}"}
