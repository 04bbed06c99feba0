r"""A tennis racket in the air.

Thrown up with a spin about its middle axis, a tennis racket makes half a turn about its handle
before it comes down: the [Dzhanibekov effect](dzhanibekov.py) at home. Here it also feels drag, in
proportion to velocity and angular velocity. The flight of its centre of mass has a closed form,

$$
\mathbf v(t) = \mathbf v_\infty + (\mathbf v_0 - \mathbf v_\infty)\, e^{-ct/M}, \qquad
\mathbf v_\infty = M\mathbf g / c .
$$

The rotation has none: the drag $-d\,\boldsymbol\omega$ shortens the angular momentum, and turns it,
too, since $\boldsymbol\omega$ is not along it. The racket turns over {{over}} after the throw, in a
vacuum {{vacuum}} after it, and the air takes {{lost}} of its energy.
"""

import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

LINEAR, ROTATIONAL = 0.05, 0.003  # N s/m, N m s
racket = ph.problems.tennis_racket()


def turned_over(t, x, v, q, omega):
    return omega[1]


def throw(*drag):
    """Throw the racket, its face across axis 3, the handle along axis 1."""
    model = ph.models.uniform_gravity()
    if drag:
        model = model + ph.models.drag(*drag)
    problem = ph.Problem(
        racket.body, model, omega=racket.omega, position=racket.position,
        velocity=racket.velocity, name="tennis racket",
    )  # fmt: skip
    return ph.solve(problem, (0, 1), rtol=1e-11, events=turned_over)


run, vacuum = throw(LINEAR, ROTATIONAL), throw()
view = {"show": {"poinsot": False}}

# ---- picture
# Left: the rate about the middle axis changes its sign, with drag later than in a vacuum. Right: height
# over the way to the side, a parabola in a vacuum and a lower curve in air.
fig, (left, right) = plt.subplots(1, 2, width_ratios=(3, 2))
for one, name, line in ((run, "in air", "-"), (vacuum, "in a vacuum", "--")):
    fine = one.sol(np.linspace(0, 1, 501))
    for k in range(3):
        left.plot(fine.t, fine.omega[:, k], line, color=f"C{k}", label=f"$\\omega_{k + 1}$ {name}")
    right.plot(fine.x[:, 1], fine.x[:, 2], line, color="C0", label=name)
left.set(title="Angular velocity", xlabel="time (s)", ylabel="rad/s")
left.legend(loc="lower left", ncols=2)
right.set(title="Flight", xlabel="y (m)", ylabel="height (m)")
right.legend()
plt.show()

# ---- checks
from scipy.integrate import solve_ivp

inertia, mass = np.diag(racket.body.inertia), racket.body.mass


def spinning(t, y):
    """Euler's equations with drag, an attitude matrix, and the work of the drag."""
    turn, omega = y[:9].reshape(3, 3), y[9:12]
    rates = (-ROTATIONAL * omega - np.cross(omega, inertia * omega)) / inertia
    return [*(turn @ np.cross(omega, np.eye(3)).T).ravel(), *rates, ROTATIONAL * omega @ omega]


start = [*np.eye(3).ravel(), *racket.omega, 0.0]
other = solve_ivp(spinning, (0, 1), start, "DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
fall = mass * np.array([0, 0, -9.80665]) / LINEAR
fade = np.exp(-LINEAR / mass)
closed = racket.position + fall + (racket.velocity - fall) * (1 - fade) * mass / LINEAR
matrix = run.rotation[-1].as_matrix()
rotation = (inertia * run.omega**2).sum(axis=1) / 2
lost = run.energy[0] - run.energy[-1]
checks = {
    "place after 1 s, against the closed form, m": (np.abs(run.x[-1] - closed).max(), 1e-11),
    "attitude after 1 s, against SciPy's DOP853 on matrices": (
        np.abs(matrix - other[:9].reshape(3, 3)).max(),
        1e-8,
    ),
    "energy of rotation lost, against the work of the drag by SciPy, J": (
        abs(rotation[0] - rotation[-1] - other[12]),
        1e-9,
    ),
}
measured = {
    "over": f"{run.t_events[0][0]:.3f} s",
    "vacuum": f"{vacuum.t_events[0][0]:.3f} s",
    "lost": f"{lost / run.energy[0]:.0%}",
}
