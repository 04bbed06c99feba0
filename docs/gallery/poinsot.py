r"""Polhode and herpolhode.

Without torque, the angular velocity $\boldsymbol\omega$ of a body stays on two ellipsoids, that of
constant energy and that of constant momentum: in the body it draws their intersection, the
*polhode*. In space its tip stays in a plane, at the distance $2T/|\mathbf m|$ from the centre and
perpendicular to the angular momentum $\mathbf m$, and draws the *herpolhode* there. Poinsot saw both
at once: the ellipsoid of inertia rolls on the plane without slipping, and touches it at the tip of
$\boldsymbol\omega$. The herpolhode turns back at two circles, where the polhode crosses the planes
of symmetry. If $\omega_i$ vanishes there, and $j$ and $k$ are the other axes,

$$
r^2 = \omega_j^2 + \omega_k^2 - \frac{4T^2}{|\mathbf m|^2}, \qquad
I_j \omega_j^2 + I_k \omega_k^2 = 2T, \qquad I_j^2 \omega_j^2 + I_k^2 \omega_k^2 = |\mathbf m|^2 .
$$

The pole of the rotation has given this library its name. Every run can be drawn in this way:
`run.plot("polhode")`, `run.plot("herpolhode")`, `run.plot("poinsot")`.
"""

import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

body = ph.RigidBody([1.0, 2.0, 2.6])
start = np.array([0.9, 0.0, 0.55])
run = ph.exact_free_motion(body, None, start, np.linspace(0, 60, 6001))

# ---- picture
# Left: polhodes on an ellipsoid, two families with a separatrix between them. Middle: the ellipsoid
# stands on its plane. Right: the herpolhode between two dashed circles.
fig, axes = plt.subplots(1, 3, figsize=(9.0, 3.4))
for panel, title, ax in zip(
    ("polhode", "poinsot", "herpolhode"), ("Polhode", "Rolling", "Herpolhode"), axes, strict=True
):
    run.plot(panel, ax).set_title(title)
axes[2].set(xlabel="rate (rad/s)", ylabel="")
plt.show()

# ---- checks
from scipy.special import ellipj, ellipk

i1, i2, i3 = body.principal_moments
twice, square = 2 * run.kinetic_energy[0], run.angular_momentum[0] @ run.angular_momentum[0]
d1, d3 = square - twice * i1, twice * i3 - square  # this polhode is about axis 1
rate = np.sqrt(d3 * (i2 - i1) / (i1 * i2 * i3))
parameter = d1 * (i3 - i2) / (d3 * (i2 - i1))
sn, cn, dn, _ = ellipj(rate * run.t, parameter)
jacobi = np.column_stack([start[0] * dn, np.sqrt(d1 / (i2 * (i2 - i1))) * sn, start[2] * cn])

quarter = ph.exact_free_motion(body, None, start, [0.0, ellipk(parameter) / rate])
omega = quarter.rotation.apply(quarter.omega)
m = quarter.angular_momentum_inertial[0]
radius = np.linalg.norm(np.cross(omega, m), axis=1) / np.linalg.norm(m)
circles = []
for j, k in ((i1, i3), (i1, i2)):
    both = np.linalg.solve([[j, k], [j * j, k * k]], [twice, square])
    circles.append(np.sqrt(both.sum() - twice**2 / square))
height = run.rotation.apply(run.omega) @ m / np.linalg.norm(m)

checks = {
    "rates, against Jacobi's elliptic functions by SciPy, rad/s": (
        np.abs(run.omega - jacobi).max(),
        1e-12,
    ),
    "the tip of ω, against its plane at 2T/|m|, rad/s": (
        np.abs(height - twice / np.sqrt(square)).max(),
        1e-13,
    ),
    "the two circles of the herpolhode, against the formula, rad/s": (
        np.abs(radius - circles).max(),
        1e-13,
    ),
}
