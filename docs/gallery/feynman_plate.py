r"""Feynman's plate.

Somebody in the cafeteria threw a plate into the air, and Feynman saw that it wobbled while the
medallion on it turned around. For a symmetric body ($A$, $A$, $C$) that spins about its axis with
$\omega_3$, and whose axis is tilted by $\theta$ against the angular momentum, the axis goes around
(the wobble) with the rate

$$
\dot\varphi = \frac{C\,\omega_3}{A \cos\theta} .
$$

A thin plate has $C = 2A$: it wobbles *twice* as fast as it spins, if the wobble is small. (In his
book, Feynman tells it the other way round.) For a can, a football or a rod the ratio $C/A$ is
another, and so is the wobble.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.transform import Rotation

import polhode as ph


def wobble(shape, tilt, spin=12.0):
    """Throw a symmetric body whose axis is tilted against its angular momentum."""
    body = ph.RigidBody.from_shapes(shape)
    a, _, c = body.principal_moments
    momentum = c * spin / np.cos(tilt)
    omega = [momentum * np.sin(tilt) / a, 0.0, spin]
    upright = Rotation.from_rotvec([0.0, -tilt, 0.0])  # of the momentum
    return ph.exact_free_motion(body, upright, omega, np.linspace(0, 2, 401))


def turns(run):
    """How often the axis has gone round."""
    x, y, _ = run.to_inertial([0.0, 0.0, 1.0]).T
    return np.unwrap(np.arctan2(y, x)) / (2 * np.pi)


shapes = {
    "plate": ph.shapes.disc(0.12, mass=0.4),
    "can": ph.shapes.cylinder(0.05, 0.05, mass=0.3),
    "football": ph.shapes.ellipsoid([0.085, 0.085, 0.14], mass=0.41),
    "rod": ph.shapes.cylinder(0.01, 0.3, mass=0.1),
}
runs = {name: wobble(shape, tilt=0.15) for name, shape in shapes.items()}
run = runs["plate"]
view = {"show": {"plots": False}}

# ---- picture
# Left: turns of the axis of a plate, a football and a rod over two seconds are straight lines; the
# plate wobbles twice as fast as it spins. Right: the wobble of four bodies, per turn of the spin,
# lies on a straight line over C/A.
fig, (left, right) = plt.subplots(1, 2)
for name in ("plate", "football", "rod"):
    angle = turns(runs[name])
    left.plot(run.t, angle - angle[0], label=name)
left.plot(run.t, run.omega[0, 2] * run.t / (2 * np.pi), "--", color="C6", label="their spin")
left.set(title="Turns of the axis", xlabel="time (s)", ylabel="turns")
left.legend()
line = np.array([0.0, 2.05])
right.plot(line, line / np.cos(0.15), color="C6", linewidth=0.8)
for name, one in runs.items():
    ratio = one.body.principal_moments[2] / one.body.principal_moments[0]
    wobbles = np.ptp(turns(one)) * 2 * np.pi / (one.omega[0, 2] * one.t[-1])
    right.plot(ratio, wobbles, "o")
    right.annotate(name, (ratio, wobbles), (-8, 3), textcoords="offset points", ha="right")
right.set(title="Wobbles for each turn of the spin", xlabel="$C/A$", ylabel="wobbles")
right.set(xlim=(-0.35, 2.15))
plt.show()

# ---- checks
off = 0.0
for one in runs.values():
    a, _, c = one.body.principal_moments
    rate = c / a * one.omega[0, 2] / np.cos(0.15)
    off = max(off, np.abs(np.ptp(turns(one)) * 2 * np.pi / (rate * one.t[-1]) - 1))
plate = np.ptp(turns(run)) * 2 * np.pi / (run.omega[0, 2] * run.t[-1])
checks = {
    "rate of the wobble of four bodies, against C ω₃ / (A cos θ), relative": (off, 1e-13),
    "wobble of the plate over its spin, against 2 / cos θ": (
        abs(plate - 2 / np.cos(0.15)),
        1e-12,
    ),
}
