r"""Kovalevskaya's top.

Three heavy tops can be solved: Euler's, supported in its centre of mass, Lagrange's, which is
symmetric, and one that Sofya Kovalevskaya found in 1888: $I_1 = I_2 = 2 I_3$, with the centre of
mass in the plane of the equal moments. Beside the energy $E$ and the momentum $L_z$ about the
vertical $\mathbf u$, it conserves

$$
k = \left|(\omega_1 + i\omega_2)^2 - \frac{s}{I_3}(u_1 + i u_2)\right|^2 .
$$

Below, {{tops}} tops start with the same $E$ and $L_z$, and whenever $u_2$ rises through zero, there is
a dot where the centre of mass is, and how fast the top spins. With Kovalevskaya's moments, every top
draws curves. With $I_1 = I_2 = 2.6\,I_3$ there is no such integral: some still draw curves, and
chaos has washed away the others.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.transform import Rotation

import polhode as ph

END = 1500.0  # quick: 100.0
energy, vertical, s = 0.9, 0.3, 1.0


def starts(ratio):
    """States with u₂ = 0 of the given energy and vertical momentum: u, ω."""
    angle, spin = (x.ravel() for x in np.meshgrid(np.linspace(1.7, 4.5, 7), np.linspace(-1, 2, 6)))
    u = np.stack([np.cos(angle), 0 * angle, np.sin(angle)], axis=1)
    first = (vertical - u[:, 2] * spin) / (ratio * u[:, 0])
    rest = (2 * (energy - s * u[:, 0]) - spin**2) / ratio - first**2
    return u[rest > 0], np.stack([first, np.sqrt(np.abs(rest)), spin], axis=1)[rest > 0]


def tops(ratio):
    u, omega = starts(ratio)
    lean = -np.arctan2(u[:, 0], u[:, 2])  # about the second axis
    start = {"omega": omega, "attitude": Rotation.from_rotvec(np.outer(lean, [0, 1, 0]))}
    problem = ph.Problem(
        ph.RigidBody([ratio, ratio, 1.0]), ph.models.heavy_top(s, (1.0, 0.0, 0.0)), omega=[0, 0, 1]
    )
    return ph.solve_ensemble(problem, (0, END), vary=start, method="strang6", dt=0.05, save=1)


def upward(q):
    """The vertical in body axes."""
    w, x, y, z = np.moveaxis(q, -1, 0)
    return np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=-1)


def section(run):
    """Angle of the centre of mass and spin where u₂ rises through zero."""
    every, omega = upward(run.q), run.omega
    for u, w in zip(every.swapaxes(0, 1), omega.swapaxes(0, 1), strict=True):
        a, b = u[:-1], u[1:]
        at = (a[:, 1] < 0) & (b[:, 1] >= 0)
        part = (a[at, 1] / (a[at, 1] - b[at, 1]))[:, None]
        there = a[at] + part * (b[at] - a[at])
        spin = w[:-1, 2][at] + part[:, 0] * np.diff(w[:, 2])[at]
        yield np.degrees(np.arctan2(there[:, 2], there[:, 0])) % 360, spin


many = {ratio: tops(ratio) for ratio in (2.0, 2.6)}
run = ph.solve(many[2.0].problem(5), (0, 40), method="strang6", dt=0.05)
view = {"points": [[1.2, 0, 0]], "show": {"poinsot": False}}

# ---- picture
# Dots in a plane of angle and spin. Left, of Kovalevskaya's top: every motion draws a curve. Right,
# of a top with other moments: islands of curves in a sea of scattered dots.
fig, axes = plt.subplots(1, 2, figsize=(8.8, 4.0), sharey=True)
for ax, (ratio, result) in zip(axes, many.items(), strict=True):
    for dots in section(result):
        ax.plot(*dots, ".", markersize=1.2)
    ax.set(title=f"Moments {ratio:g} : {ratio:g} : 1", xlabel="centre of mass (degrees)")
axes[0].set(ylabel="spin $\\omega_3$")
plt.show()

# ---- checks
from scipy.integrate import solve_ivp


def euler_poisson(t, y):
    """dω/dt and du/dt with moments 2, 2, 1."""
    a, b, c, u1, u2, u3 = y
    turning = u2 * c - u3 * b, u3 * a - u1 * c, u1 * b - u2 * a
    return [b * c / 2, (s * u3 - a * c) / 2, -s * u2, *turning]


few = many[2.0]
u, omega = upward(few.q), few.omega
flat = omega[..., 0] + 1j * omega[..., 1]
k = np.abs(flat**2 - s * (u[..., 0] + 1j * u[..., 1])) ** 2
row, off = 800, 0.0  # after 40 s
for start in range(0, len(few), 5):
    y = [*omega[0, start], *u[0, start]]
    end = solve_ivp(euler_poisson, (0, 40), y, "DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    off = max(off, np.abs(end - [*omega[row, start], *u[row, start]]).max())
checks = {
    "k of all of Kovalevskaya's tops, largest change": (np.abs(k - k[0]).max(), 1e-8),
    "rates and vertical after 40 s, against SciPy's DOP853 for Euler's and Poisson's equations": (
        off,
        1e-7,
    ),
}
measured = {"tops": len(few)}
