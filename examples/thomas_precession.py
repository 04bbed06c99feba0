"""Thomas precession: a gyroscope on a circle returns rotated by 2π (γ - 1), against the motion.

A gyroscope carried without torque keeps its axes by Fermi-Walker transport: Y' = A Y with the
boost a ∧ u of its four-acceleration and four-velocity.  In the lab frame (c = 1), with
position x, rate Ω and speed v = Ω |x|,

    A = w + i b,    b = γ³ x'',    w = γ³ x'' × x'       (since x' ⟂ x'')

Y = L R is the boost L to the present velocity times a rotation R, and R rotates by the angle

    -2π (γ - 1)    per revolution.
"""

import math

import numpy as np

from polhode import lie

group = lie.Lorentz("left")
OMEGA = 2.0


def orbit(speed, t):
    """Return velocity and acceleration in the lab frame."""
    c, s = math.cos(OMEGA * t), math.sin(OMEGA * t)
    return speed * np.array([-s, c, 0.0]), -speed * OMEGA * np.array([c, s, 0.0])


def boost(velocity):
    speed = np.linalg.norm(velocity)
    return group.exp(1j * math.atanh(speed) * velocity / speed)


for speed in (0.1, 0.6, 0.95):
    gamma = 1 / math.sqrt(1 - speed**2)
    revolution = 2 * math.pi / (OMEGA * gamma)  # in proper time

    def transport(tau, speed=speed, gamma=gamma):
        v, acceleration = orbit(speed, gamma * tau)
        return gamma**3 * (np.cross(acceleration, v) + 1j * acceleration)

    start = boost(orbit(speed, 0.0)[0])
    times = np.linspace(0.0, revolution, 9)
    path = lie.integrate(group, transport, (0.0, revolution), start, rtol=1e-10, t_eval=times)

    # the rotation that remains after removing the boost, at each time
    boosts = np.array([boost(orbit(speed, gamma * tau)[0]) for tau in times])
    rest = group.log(group.compose(group.inverse(boosts), path.y))
    angle = np.unwrap(rest[:, 2].real)
    exact = -(gamma - 1) * OMEGA * gamma * times
    print(f"v = {speed}: {angle[-1]:.9f} rad per revolution, closed form {exact[-1]:.9f}; {path}")
    assert path.success
    assert abs(rest.imag).max() < 1e-9
    assert abs(np.angle(np.exp(1j * (angle - exact)))).max() < 1e-9
