r"""Thomas precession.

A gyroscope on a circle, pushed without any torque, comes back turned: in relativity, boosts in
different directions add up to a boost and a rotation. With the velocity $\mathbf v$ (the speed of
light is 1) and the acceleration $\mathbf a$, its axes precess in the laboratory with

$$
\boldsymbol\omega = \frac{\gamma^2}{\gamma + 1}\; \mathbf a \times \mathbf v , \qquad
\gamma = \frac{1}{\sqrt{1 - v^2}} ,
$$

on a circle by $-2\pi(\gamma - 1)$ in each revolution, a whole turn backwards at $v = \sqrt3/2$. Here a
gyroscope follows an ellipse, where the speed is not constant, and comes back turned by {{turn}}. The
same motion is found a second time in four dimensions, as a path in the Lorentz group
([how](../theory/lie-groups.md)), without any formula for the precession.
"""

import math

import matplotlib.pyplot as plt
import numpy as np

import polhode as ph


def ellipse(t, a=0.9, b=0.5):
    """Velocity and acceleration on an ellipse with these semi-axes."""
    c, s = math.cos(t), math.sin(t)
    return np.array([-a * s, b * c, 0.0]), np.array([-a * c, -b * s, 0.0])


def circle(speed):
    return lambda t: ellipse(t, speed, speed)


def thomas(t, a=0.9, b=0.5):
    """The angular velocity of the axes."""
    c, s = math.cos(t), math.sin(t)
    gamma = 1 / math.sqrt(1 - a * a * s * s - b * b * c * c)
    return 0.0, 0.0, -gamma * gamma / (gamma + 1) * a * b


run = ph.integrate_angular_velocity(thomas, (0, 2 * math.pi), frame="inertial", rtol=1e-13)
group = ph.lie.Lorentz("left")


def boost(v):
    speed = np.linalg.norm(v)
    return group.exp(1j * math.atanh(speed) * v / speed)


def rotation(course, times):
    """The angle that remains of Fermi and Walker's transport without the boost."""

    def transport(t):
        v, a = course(t)
        return (np.cross(a, v) + 1j * a) / (1 - v @ v)

    path = ph.lie.integrate(
        group, transport, (0.0, times[-1]), boost(course(0.0)[0]), rtol=1e-10, t_eval=times
    )
    boosts = np.array([boost(course(t)[0]) for t in times])
    rest = group.log(group.compose(group.inverse(boosts), path.y))
    return np.unwrap(rest[:, 2].real)


times = np.linspace(0.0, 2 * math.pi, 25)
speeds = np.array([0.2, 0.4, 0.6, 0.75, 0.85, 0.9, 0.95])
turns = np.array([rotation(circle(speed), times)[-1] for speed in speeds]) / (2 * np.pi)
view = {"show": {"plots": False}}

# ---- picture
# Left: an ellipse with arrows of the gyroscope, which turn backwards along it, faster at the flat sides.
# Right: the turns in a revolution on a circle over the speed, dots on a curve that falls steeply.
fig, (left, right) = plt.subplots(1, 2)
t = np.linspace(0, 2 * np.pi, 200)
left.plot(0.9 * np.cos(t), 0.5 * np.sin(t), color="C6", linewidth=1)
x, y, _ = run.sol(times).to_inertial([1.0, 0.0, 0.0]).T
left.quiver(0.9 * np.cos(times), 0.5 * np.sin(times), x, y, color="C0", width=0.006, scale=9)
left.set(title="A gyroscope on an ellipse", xlabel="x", ylabel="y", aspect="equal")
left.set(xlim=(-1.15, 1.15), ylim=(-0.95, 0.95))
line = np.linspace(0, 0.955, 300)
right.plot(line, 1 - 1 / np.sqrt(1 - line**2), color="C6", label="1 - γ")
right.plot(speeds, turns, "o", label="Lorentz group")
right.set(title="Turns in a revolution on a circle", xlabel="speed", ylabel="turns")
right.legend()
plt.show()

# ---- checks
axis = run.sol(times).to_inertial([1.0, 0.0, 0.0])
angle = np.unwrap(np.arctan2(axis[:, 1], axis[:, 0]))
checks = {
    "turns on seven circles, by the Lorentz group, against 1 - γ": (
        np.abs(turns - 1 + 1 / np.sqrt(1 - speeds**2)).max(),
        1e-8,
    ),
    "angles on the ellipse, by the angular velocity, against the Lorentz group, rad": (
        np.abs(angle - rotation(ellipse, times)).max(),
        1e-8,
    ),
}
measured = {"turn": f"{np.degrees(angle[-1]):.1f}°"}
