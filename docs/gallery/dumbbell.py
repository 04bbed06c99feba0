r"""A dumbbell around an asteroid.

Two balls on a rod of 100 m orbit the asteroid Bennu, {{nearest}} at the closest. For a body of this
length, attitude and orbit are one motion: gravity pulls at both balls, the torque turns the rod, and the
force depends on where the rod points. To second order in the size over the distance,

$$
V = -\frac{\mu M}{r} - \frac{\mu}{2 r^3} \left(\operatorname{tr} I - 3\,\mathbf u \cdot I \mathbf u\right) ,
$$

with the direction $\mathbf u$ to the asteroid in body axes. Energy, and the angular momentum of orbit and
rod together, are constant. The orbit is no longer an ellipse: its energy changes as the rod swings,
and its periapsis moves. (Two balls in the exact field, each by Newton's law, are {{apart}} away from
this motion after 40 000 s: so much is in the higher orders of $V$.)
"""

import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

dumbbell = ph.problems.dipole_satellite()
run = ph.solve(dumbbell, (0, 200_000), rtol=1e-11)
mu, mass = 4.892, dumbbell.body.mass
distance = np.linalg.norm(run.x, axis=1)
view = {"show": {"poinsot": False}, "tolerance": 0.02}

# ---- picture
# Left: the orbit, ellipses whose periapsis moves. Right: the energy of the orbit alone, in a thousandth
# of its size, swings with the attitude of the rod, while the sum with that of the rod stays zero.
fig, (left, right) = plt.subplots(1, 2, width_ratios=(2, 3))
fine = run.sol(np.linspace(0, 200_000, 4001))
left.plot(*fine.x[:, :2].T, linewidth=1)
left.plot(0, 0, "o", color="C6")
left.set(title="The orbit", xlabel="x (m)", ylabel="y (m)", aspect="equal")
r, hours = np.linalg.norm(fine.x, axis=1), fine.t / 3600
orbital = mass * ((fine.v**2).sum(axis=1) / 2 - mu / r)
right.plot(hours, 1e3 * (orbital / orbital[0] - 1), label="of the orbit")
right.plot(hours, 1e3 * (fine.energy / fine.energy[0] - 1), label="of everything")
right.set(title="Change of energy", xlabel="time (h)", ylabel="thousandths")
right.legend()
plt.show()

# ---- checks
from scipy.integrate import solve_ivp

END = 40_000.0
inertia = np.diag(dumbbell.body.inertia)
turn = run.rotation[0]
rod = turn.apply([50.0, 0.0, 0.0])
first = np.cross(turn.apply(dumbbell.omega), rod)


def coupled(t, y):
    """Force and torque of V, with an attitude matrix."""
    turn, omega, x, v = y[:9].reshape(3, 3), y[9:12], y[12:15], y[15:]
    r = np.linalg.norm(x)
    u = turn.T @ x / r
    spread = inertia.sum() - 5 * u @ (inertia * u)
    force = -mu / r**2 * turn @ (mass * u + 1.5 / r**2 * (spread * u + 2 * inertia * u))
    rates = (3 * mu / r**3 * np.cross(u, inertia * u) - np.cross(omega, inertia * omega)) / inertia
    return [*(turn @ np.cross(omega, np.eye(3)).T).ravel(), *rates, *v, *force / mass]


def two_balls(t, y):
    """Newton's law for two points in the exact field, with the tension that keeps them apart."""
    a, b, va, vb = y.reshape(4, 3)
    pull_a, pull_b = (-mu * x / np.linalg.norm(x) ** 3 for x in (a, b))
    d, v = a - b, va - vb
    tension = -(v @ v + d @ (pull_a - pull_b)) / (2 * d @ d)
    return np.concatenate([va, vb, pull_a + tension * d, pull_b - tension * d])


x, v = dumbbell.position, dumbbell.velocity
start = [*turn.as_matrix().ravel(), *dumbbell.omega, *x, *v]
other = solve_ivp(coupled, (0, END), start, "DOP853", rtol=1e-12, atol=1e-12).y[12:15, -1]
start = np.concatenate([x + rod, x - rod, v + first, v - first])
balls = solve_ivp(two_balls, (0, END), start, "DOP853", rtol=1e-12, atol=1e-9).y[:6, -1]
here = run.sol([END]).x[0]
momentum = run.angular_momentum_about([0.0, 0.0, 0.0])
checks = {
    "position after 40 000 s, against SciPy's DOP853 for the same V, m": (
        np.linalg.norm(here - other),
        1e-4,
    ),
    "energy, largest change, relative": (np.abs(run.energy / run.energy[0] - 1).max(), 1e-9),
    "angular momentum about the asteroid, largest change, relative": (
        np.abs(momentum - momentum[0]).max() / np.linalg.norm(momentum[0]),
        1e-9,
    ),
}
apart = np.linalg.norm(here - (balls[:3] + balls[3:]) / 2)
measured = {"nearest": f"{distance.min():.0f} m", "apart": f"{apart:.0f} m"}
