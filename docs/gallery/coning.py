r"""Coning.

A gyro's worst enemy is a small cone: while the axis of the device moves around a circle, its gyros
about the two other axes only oscillate, and yet it turns. An integrating gyro sums each axis by
itself, and whoever takes these sums $\Delta\boldsymbol\theta$ for rotation vectors forgets that
rotations do not commute, and drifts by

$$
\dot\varepsilon = \Omega\,(1 - \cos\alpha) \left( 1 - \frac{\sin \Omega h}{\Omega h} \right)
$$

for a cone of half angle $\alpha$, rate $\Omega$ and samples $h$ apart, to second order in $\alpha$.
`ph.integrate_samples` fits a polynomial through neighbouring samples and takes its Magnus series, at
order 2, 4, 6 or 8. Order 2 is the simple sum. With 32 samples for each turn of this cone of one
degree, order 2 is off by {{two}} rad after a second, order 8 by {{eight}} rad.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.transform import Rotation

import polhode as ph

CONE, TURNS = np.radians(1.0), 20.0  # half angle, 2π rad/s times turns per second
rate = 2 * np.pi * TURNS


def attitude(t):
    """Tilted by the half angle, about an axis that goes round."""
    axis = np.stack([np.cos(rate * t), np.sin(rate * t), np.zeros_like(t)], axis=-1)
    return Rotation.from_rotvec(CONE * axis)


def increments(t):
    """Integrals of the angular velocity between times, each axis by itself."""
    across = np.sin(CONE) * np.stack([np.cos(rate * t), np.sin(rate * t)], axis=-1)
    about = -(1 - np.cos(CONE)) * rate * t
    return np.diff(np.column_stack([across, about]), axis=0)


counts = np.array([8, 12, 16, 24, 32, 48, 64])  # samples for each turn
errors = {order: [] for order in (2, 4, 6, 8)}
for count in counts:
    times = np.linspace(0, 1, int(TURNS * count) + 1)
    values, start = increments(times), attitude(times[:1])[0]
    for order, found in errors.items():
        run = ph.integrate_samples(
            values, times, frame="body", kind="increment", order=order, attitude=start
        )
        found.append((run.rotation[-1].inv() * attitude(times[-1:])[0]).magnitude())
view = {"tolerance": 0.004}

# ---- picture
# Errors after a second over the samples for each turn, on logarithmic axes: that of order 2 falls
# slowly, those of higher orders faster.
fig, ax = plt.subplots(figsize=(6.4, 4.0))
for order, values in errors.items():
    ax.loglog(counts, values, "o-", markersize=4, label=f"order {order}")
ax.set(title="Error after a second", xlabel="samples for each turn of the cone", ylabel="rad")
ax.set_xticks(counts, counts)
ax.minorticks_off()
ax.legend()
plt.show()

# ---- checks
h = 1 / (TURNS * counts)
formula = rate * (1 - np.cos(CONE)) * (1 - np.sinc(rate * h / np.pi))
slopes = {k: -np.polyfit(np.log(counts[2:]), np.log(found[2:]), 1)[0] for k, found in errors.items()}
checks = {
    "drift at order 2, against the formula, relative": (
        np.abs(np.array(errors[2]) / formula - 1).max(),
        1e-3,
    ),
    "attitude at order 8 with 64 samples, against the closed form, rad": (errors[8][-1], 1e-11),
    "orders 2 to 8, against the slopes of the lines": (
        max(abs(slope - order) for order, slope in slopes.items()),
        0.5,
    ),
}
measured = {"two": f"{errors[2][4]:.0e}", "eight": f"{errors[8][4]:.0e}"}
