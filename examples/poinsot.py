"""Poinsot's construction: the ellipsoid of inertia of a free body rolls on a fixed plane.

The point of contact is the tip of ω/√(2T).  On the ellipsoid, it draws the polhode, the
intersection with the ellipsoid of constant |m|; on the plane, perpendicular to the angular
momentum, it draws the herpolhode.
"""

import numpy as np
from matplotlib.figure import Figure

import polhode as ph
from polhode import plot

body = ph.RigidBody([1.0, 2.0, 2.6])
run = ph.exact_free_motion(body, None, [0.75, 0.9, 0.2], np.linspace(0, 60, 6001))
print(run)
run.save("poinsot.nc")

omega = run.rotation.apply(run.omega)  # in inertial axes
m = run.angular_momentum_inertial[0]
height = omega @ m / np.linalg.norm(m)  # of the plane: 2T/|m|
radius = np.linalg.norm(np.cross(omega, m), axis=1) / np.linalg.norm(m)
print(f"the tip of ω stays in its plane to {np.ptp(height) / height[0]:.0e}")
assert np.ptp(height) < 1e-13 * height[0]

# |ω| is extreme where the polhode crosses the planes of axes 1 and 3, and 1 and 2
i1, i2, i3 = body.principal_moments
twice, square = 2 * run.kinetic_energy[0], m @ m
ends = []
for i in (i3, i2):
    a, b = np.linalg.solve([[i1, i], [i1**2, i**2]], [twice, square])  # ω1², and ω3² or ω2²
    ends.append(np.sqrt(a + b - twice**2 / square))
print(f"herpolhode between {radius.min():.6f} and {radius.max():.6f} rad/s;", end=" ")
print(f"in closed form {min(ends):.6f} and {max(ends):.6f}")
assert np.allclose([radius.min(), radius.max()], sorted(ends), atol=1e-4)  # samples miss the ends

sheet = Figure(figsize=(10, 3.9), layout="constrained")
axes = sheet.subplots(1, 3, width_ratios=(1, 1, 1))
for panel, ax in zip(("polhode", "poinsot", "herpolhode"), axes, strict=True):
    run.plot(panel, ax)
plot.save(axes, "poinsot.png", dpi=130)
