r"""The Dzhanibekov effect.

A T-handle that spins about its middle axis turns over, and again, and again, at equal intervals:
Vladimir Dzhanibekov saw it in orbit in 1985. Rotation about the middle axis is unstable, but
without torque the angular velocity is periodic, and what grows must come back. Half of the period
passes between two flips,

$$
t_\mathrm{flip} = \frac{2 K(m)}{\lambda}, \qquad
\lambda = \sqrt{\frac{(I_2 - I_1)\,d_3}{I_1 I_2 I_3}}, \qquad
1 - m = \frac{-d_2\,(I_3 - I_1)}{d_3\,(I_2 - I_1)},
$$

with $d_k = 2 T I_k - |\mathbf m|^2$ and the elliptic integral $K$, where $d_2 < 0$; on the other
side of the separatrix, axes 1 and 3 change places. This handle turns over every {{wait}}. Closer to
the middle axis it waits longer, but only as the logarithm of the distance.

`ph.exact_free_motion` has the motion in closed form and takes no steps ([how](../theory/exact.md)).
"""

import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

steel = 7850.0  # kg/m³
stem = ph.shapes.cylinder(0.01, 0.06, density=steel).turned([[0, 0, 1], [0, 1, 0], [-1, 0, 0]])
handle = ph.RigidBody.from_shapes(
    ph.shapes.cylinder(0.008, 0.12, density=steel), stem.moved([0.038, 0, 0])
)
small, middle, large = np.argsort(handle.principal_moments)  # which axis is which


def spinning(tilt):
    """The rate, 10 rad/s, at an angle to the middle axis."""
    return 10.0 * (np.cos(tilt) * np.eye(3)[middle] + np.sin(tilt) * np.eye(3)[large])


def flips(run):
    """The times at which the rate about the middle axis changes its sign."""
    rate = run.omega[:, middle]
    k = np.flatnonzero(np.diff(np.sign(rate)))
    times = run.t[k] - rate[k] * (run.t[k + 1] - run.t[k]) / (rate[k + 1] - rate[k])
    for _ in range(4):  # Newton's method, with the slope from Euler's equations
        at = ph.exact_free_motion(handle, None, run.omega[0], times)
        torque = np.cross(at.angular_momentum, at.omega)
        times = times - at.omega[:, middle] * handle.principal_moments[middle] / torque[:, middle]
    return times


run = ph.exact_free_motion(handle, None, spinning(0.005), np.linspace(0, 8, 1601))
times = flips(run)
tilts = 10.0 ** -np.arange(1, 13)
waits = []
for tilt in tilts:
    found = flips(ph.exact_free_motion(handle, None, spinning(tilt), np.linspace(0, 30, 3001)))
    waits.append(found[1] - found[0])

# ---- picture
# Left: the three rates of the handle over time; that about the middle axis changes its sign
# suddenly, at equal intervals. Right: the time between two flips grows as the logarithm of the
# distance from the middle axis.
fig, (left, right) = plt.subplots(1, 2, width_ratios=(3, 2))
run.plot("rates", left).set_title("A T-handle in free fall")
right.semilogx(tilts, waits, "o-", markersize=4)
right.set(title="Time between two flips", xlabel="start, from the axis (rad)", ylabel="time (s)")
plt.show()

# ---- checks
import mpmath as mp


def between_flips(omega):
    """2K/λ at 40 digits."""
    with mp.workdps(40):
        i1, i2, i3 = (mp.mpf(x) for x in sorted(handle.principal_moments))
        w1, w2, w3 = (mp.mpf(omega[k]) for k in (small, middle, large))
        m1, m2, m3 = (i1 * w1) ** 2, (i2 * w2) ** 2, (i3 * w3) ** 2
        d1 = m2 * (i2 - i1) / i2 + m3 * (i3 - i1) / i3
        d2 = m3 * (i3 - i2) / i3 - m1 * (i2 - i1) / i1
        d3 = m1 * (i3 - i1) / i1 + m2 * (i3 - i2) / i2
        most = max(d1 * (i3 - i2), d3 * (i2 - i1))
        parameter = 1 - abs(d2) * (i3 - i1) / most
        return float(2 * mp.ellipk(parameter) * mp.sqrt(i1 * i2 * i3 / most))


closed = between_flips(run.omega[0])
every = [between_flips(spinning(tilt)) for tilt in tilts]
checks = {
    f"{len(times)} flips, against 2K/λ with K by mpmath, relative": (
        np.abs(np.diff(times) / closed - 1).max(),
        1e-12,
    ),
    "one flip from 12 starts, down to 1e-12 rad off the axis, likewise": (
        np.abs(np.divide(waits, every) - 1).max(),
        1e-12,
    ),
}
measured = {"wait": f"{closed:.2f} s"}
