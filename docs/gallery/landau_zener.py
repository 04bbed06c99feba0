r"""Landau and Zener's formula, with a ball.

A ball turns slowly about an axis across its main spin. A constant torque about the axis of the spin
brakes it, and reverses it. Does the direction of the angular momentum in space follow?

In the axes of the ball the angular velocity is $(\omega_1, 0, \omega_3)$ with $\omega_3 = \alpha t$: that is
the motion of a quantum spin in a magnetic field that is swept through resonance, where Landau and
Zener (1932) found the probability of a transition. For the ball, the cosine of the angle between the
directions long before and long after is

$$
\cos\beta = 1 - 2\, e^{-\pi \omega_1^2 / 2 \alpha} .
$$

Swept fast, the momentum in space turns over with the spin; swept slowly, it stays where it was, and the
ball turns around it. `ph.exact_constant_torque` has this motion in closed form, over millions of radians.
"""

import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

ball, spin = ph.RigidBody([1.0, 1.0, 1.0]), 2000.0


def turned(across):
    """The cosine of the angle between the momenta before and after."""
    motion = ph.exact_constant_torque(
        ball, None, [across, 0.0, -spin], [0.0, 0.0, 1.0], [0.0, 2 * spin]
    )
    m = motion.angular_momentum_inertial
    return m[0] @ m[1] / np.linalg.norm(m, axis=1).prod()


rates = np.linspace(0.0, 2.5, 26)
cosines = np.array([turned(rate) for rate in rates])
run = ph.exact_constant_torque(
    ball, None, [0.7, 0.0, -12.0], [0.0, 0.0, 1.0], np.linspace(0, 24, 1201)
)
view = {"show": {"poinsot": False}}

# ---- picture
# Left: the three components of the direction of the momentum change within some seconds around the
# reversal. Right: the cosine of the angle between before and after goes from -1 to 1 as the rate
# grows, along the curve of the formula.
fig, (left, right) = plt.subplots(1, 2)
m = run.angular_momentum_inertial
left.plot(run.t - 12, m / np.linalg.norm(m, axis=1, keepdims=True), label=["x", "y", "z"])
left.set(title="Direction of the momentum", xlabel="time (s)", ylabel="inertial axes")
left.legend()
line = np.linspace(0, 2.5, 251)
right.plot(line, 1 - 2 * np.exp(-np.pi * line**2 / 2), color="C6", label="Landau and Zener")
right.plot(rates, cosines, "o", markersize=4, label="the ball")
right.set(title="Before and after", xlabel="rate across the spin (rad/s)", ylabel="cos β")
right.legend()
plt.show()

# ---- checks
from scipy.integrate import solve_ivp


def slopes(t, y):
    """The attitude matrix for the rate (0.7, 0, t - 12)."""
    return (y.reshape(3, 3) @ np.cross([0.7, 0.0, t - 12.0], np.eye(3)).T).ravel()


end = solve_ivp(slopes, (0, 24), np.eye(3).ravel(), "DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
formula = 1 - 2 * np.exp(-np.pi * rates**2 / 2)
checks = {
    "attitude after the reversal, against SciPy's DOP853 on matrices": (
        np.abs(run.rotation[-1].as_matrix() - end.reshape(3, 3)).max(),
        1e-9,
    ),
    "cosines of 26 balls, against the formula, which holds for an infinite spin": (
        np.abs(cosines - formula).max(),
        1e-8,
    ),
}
