r"""Loops, cusps and waves.

The axis of a symmetric top (moments $A$, $A$, $C$; spin momentum $a = C\omega_3$, momentum $b$ about
the vertical, potential $s\cos\theta$) moves between two circles. Depending on whether it starts
against the natural precession, at rest, or along with it, it draws loops, cusps or waves. The
circles are roots of Lagrange's cubic: with $u = \cos\theta$, and $E$ the energy without
$a^2/2C$,

$$
\dot u^2 = f(u) = \frac{2}{A} (E - s u)(1 - u^2) - \frac{(b - a u)^2}{A^2} ,
$$

and the time from one circle to the other and back is a complete elliptic integral of the three
roots $u_1 < u_2 < u_3$,

$$
t = 2 \sqrt{\frac{2A}{s\,(u_3 - u_1)}}\; K\!\left(\frac{u_2 - u_1}{u_3 - u_1}\right) .
$$
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.transform import Rotation

import polhode as ph

A, C, weight, spin, tilt = 5.0, 1.0, 20.0, 25.0, np.radians(40)


def top(precession):
    """A top that starts with its spin, and with a rate about the vertical."""
    return ph.Problem(
        ph.RigidBody([A, A, C]),
        ph.models.heavy_top(weight),
        attitude=Rotation.from_rotvec([tilt, 0, 0]),
        omega=[0, precession * np.sin(tilt), spin],
        name="symmetric top",
    )


starts = {"Loops": -0.8, "Cusps": 0.0, "Waves": 0.45}
runs = {
    name: ph.solve(top(precession), (0, 7.5), method="strang6", dt=0.005)
    for name, precession in starts.items()
}
run = list(runs.values())
view = {"names": list(runs), "show": {"plots": False, "poinsot": False}}


def circles(run):
    """The roots of f, from the initial state."""
    a, b = run.angular_momentum[0, 2], run.angular_momentum_inertial[0, 2]
    energy = run.energy[0] - a * a / (2 * C)
    f = np.polymul([-2 * weight / A, 2 * energy / A], [-1, 0, 1])
    return np.sort(np.roots(np.polysub(f, np.polymul([-a, b], [-a, b]) / A**2)).real)


# ---- picture
# The traces of three tops on a sphere between two dashed circles: with loops, with cusps, and wavy.
fig, axes = plt.subplots(1, 3, figsize=(8.4, 2.6))
for (name, one), ax in zip(runs.items(), axes, strict=True):
    tilts = np.degrees(np.arccos(circles(one)[:2]))
    one.plot("trace", ax, view=(62, -75), tilts=tilts).set_title(name)
    ax.set(xlim=(-1.2, 1.4))
plt.show()

# ---- checks
from scipy.interpolate import CubicHermiteSpline
from scipy.special import ellipk

turning, periods, cubic = [], [], []
for one in run:
    fine = one.sol(np.linspace(0, 7.5, 30_001))
    up = fine.to_body([0.0, 0.0, 1.0])
    u, slope = up[:, 2], up[:, 0] * fine.omega[:, 1] - up[:, 1] * fine.omega[:, 0]
    path = CubicHermiteSpline(fine.t, u, slope)
    times = path.derivative().roots(extrapolate=False)
    low, high, third = circles(one)
    turning += [abs(path(times).min() - low), abs(path(times).max() - high)]
    closed = 2 * np.sqrt(2 * A / (weight * (third - low))) * ellipk((high - low) / (third - low))
    inner = times[(times > 0.1) & (times < 7.4)]
    periods.append(np.abs((inner[2:] - inner[:-2]) / closed - 1).max())
    f = 2 * weight / A * (u - low) * (high - u) * (third - u)
    cubic.append(np.abs(slope**2 - f).max())
checks = {
    "turning points of cos θ, against the roots of the cubic": (max(turning), 1e-11),
    "time between them, against K by SciPy, relative": (max(periods), 1e-9),
    "(dcos θ/dt)², against the cubic, 1/s²": (max(cubic), 1e-9),
}
