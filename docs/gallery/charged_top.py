r"""A charged top in electric and magnetic fields.

A spinning disc floats: a charge below its centre, in a vertical electric field, carries its weight.
The couple of weight and charge makes it precess like a heavy top, and a vertical magnetic field turns
its path into circles. The charge is at $\mathbf r$ in the body, and

$$
\mathbf F = e\,(\mathbf E + \mathbf w \times \mathbf B), \qquad
\mathbf w = \mathbf v + \boldsymbol\omega \times \mathbf r, \qquad
\mathbf T = \mathbf r \times \mathbf F .
$$

The magnetic force does no work, so the energy is constant. Angular momentum about the vertical is not;
with the field's part it is: for the charge at $(x, y)$,

$$
J_z = (\mathbf x \times \mathbf p + \mathbf L)_z + \tfrac12 e B\,(x^2 + y^2) .
$$
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.transform import Rotation

import polhode as ph

charge, B, arm, g = 0.05, 4.0, np.array([0.0, 0.0, -0.02]), 9.80665  # C, T, m, m/s²
disc = ph.RigidBody.from_shapes(ph.shapes.cylinder(0.03, 0.01, mass=0.1))
E = disc.mass * g / charge  # carries the weight
top = ph.Problem(
    disc,
    ph.models.lorentz(charge, [0, 0, E], [0, 0, B], arm) + ph.models.uniform_gravity(),
    attitude=Rotation.from_rotvec([0.3, 0, 0]),
    omega=[0, 0, 150],
    position=[0, 0, 0],
    velocity=[0.05, 0, 0],
    name="charged top",
)
run = ph.solve(top, (0, 5), rtol=1e-11)
view = {"show": {"poinsot": False}, "tolerance": 0.05}

# ---- picture
# Left: the path of the centre from above, two rounded loops. Right: the path of the axis, a circle of
# small waves, as the disc precesses and nutates.
fig, (left, right) = plt.subplots(1, 2)
fine = run.sol(np.linspace(0, 5, 4001))
left.plot(*(1e3 * fine.x[:, :2].T), linewidth=1)
left.set(title="Path of the centre, from above", xlabel="x (mm)", ylabel="y (mm)", aspect="equal")
run.plot("trace", right).set_title("Path of the axis")
plt.show()

# ---- checks
from scipy.integrate import solve_ivp

END = 0.5
inertia, mass = np.diag(disc.inertia), disc.mass


def slopes(t, y):
    """Newton's and Euler's equations with an attitude matrix."""
    turn, omega, v = y[:9].reshape(3, 3), y[9:12], y[15:]
    w = v + turn @ np.cross(omega, arm)
    force = charge * (np.array([0, 0, E]) + np.cross(w, [0, 0, B]))
    rates = (np.cross(arm, turn.T @ force) - np.cross(omega, inertia * omega)) / inertia
    turning = turn @ np.cross(omega, np.eye(3)).T
    return [*turning.ravel(), *rates, *v, *(force / mass - [0, 0, g])]


start = [*run.rotation[0].as_matrix().ravel(), *top.omega, *top.position, *top.velocity]
other = solve_ivp(slopes, (0, END), start, "DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
here = run.sol([END])
place = run.x + run.to_inertial(arm)
momentum = run.angular_momentum_about([0, 0, 0])[:, 2]
whole = momentum + charge * B / 2 * (place[:, :2] ** 2).sum(axis=1)
checks = {
    "place after 0.5 s, against SciPy's DOP853 on matrices, m": (
        np.abs(here.x[0] - other[12:15]).max(),
        1e-9,
    ),
    "attitude after 0.5 s, likewise": (
        np.abs(here.rotation[0].as_matrix() - other[:9].reshape(3, 3)).max(),
        1e-7,
    ),
    "J_z, largest change, relative": (np.abs(whole / whole[0] - 1).max(), 1e-9),
    "energy, largest change, relative": (np.abs(run.energy / run.energy[0] - 1).max(), 1e-9),
}
