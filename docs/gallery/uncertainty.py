r"""How an uncertainty spreads.

The attitude of a tumbling satellite is known to 0.05°, its angular momentum to {{relative}}: how well in an
hour? A small change $(\boldsymbol\theta_0, \mathbf m_0)$ of the start becomes
$\Phi\,(\boldsymbol\theta_0, \mathbf m_0)$ with the derivative $\Phi(t)$ of the motion, and a covariance $P$

$$
P(t) = \Phi(t)\, P\, \Phi(t)^\mathsf{T} .
$$

`sensitivities=["state"]` carries $\Phi$ along, exact to rounding, and `run.covariance` multiplies. An ensemble
of {{members}} motions from random starts confirms it. Where a change of the rate adds up, along the
momentum, the attitude becomes worse in proportion to time; across it, it does not. After an hour the
cloud of the ensemble begins to bend, which no covariance can show.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.transform import Rotation

import polhode as ph

MEMBERS = 4000  # quick: 200
body = ph.RigidBody([2.0, 3.0, 3.5])
problem = ph.Problem(body, omega=[0.02, 0.03, 0.012], name="a tumbling satellite")
sigma = np.array([np.radians(0.05)] * 3 + [5e-5] * 3)  # rad, kg m²/s
times = np.linspace(0, 3600, 241)
run = ph.solve(problem, (0, 3600), method="strang", dt=5.0, sensitivities=["state"], save_every=3)
spread = np.sqrt(np.diagonal(run.covariance(np.diag(sigma**2)), axis1=1, axis2=2))

rng = np.random.default_rng(5)
start = sigma * rng.standard_normal((MEMBERS, 6))
many = ph.solve_ensemble(
    problem,
    (0, 3600),
    vary={
        "attitude": Rotation.from_rotvec(start[:, :3]),
        "angular_momentum": problem.angular_momentum + start[:, 3:],
    },
    method="strang",
    dt=5.0,
    save=60,
)
middle = run.sol(many.t)
away = np.array([
    (one.inv() * Rotation.from_quat(q, scalar_first=True)).as_rotvec()
    for one, q in zip(middle.rotation, many.q, strict=True)
])  # fmt: skip

# ---- picture
# Left: standard deviations of three angles swing and grow over an hour; dots of the ensemble lie on
# the curves. Right: the ensemble after an hour, and the ellipse of the covariance around it.
fig, (left, right) = plt.subplots(1, 2, width_ratios=(3, 2))
for k in range(3):
    left.plot(run.t / 60, np.degrees(spread[:, k]), label=f"$\\theta_{k + 1}$")
left.set_prop_cycle(None)
left.plot(many.t / 60, np.degrees(away.std(axis=1)), "o", markersize=3)
left.set(title="Attitude", xlabel="time (min)", ylabel="standard deviation (degrees)")
left.legend()
right.plot(*np.degrees(away[-1, :1500, :2]).T, ".", markersize=1.5)
circle = np.stack([np.cos(times), np.sin(times)])
ellipse = 2 * np.linalg.cholesky(run.covariance(np.diag(sigma**2))[-1, :2, :2]) @ circle
right.plot(*np.degrees(ellipse)[:, np.argsort(times % (2 * np.pi))], color="C1", label="2 σ")
right.set(title="After an hour", xlabel="$\\theta_1$ (degrees)", ylabel="$\\theta_2$ (degrees)")
right.legend()
plt.show()

# ---- checks
step = 1e-5
differences = []
for column in np.eye(6) * step:
    ends = []
    for sign in (1, -1):
        turn = Rotation.from_rotvec(sign * column[:3])
        momentum = problem.angular_momentum + sign * column[3:]
        ends.append(ph.exact_free_motion(body, turn, momentum / [2.0, 3.0, 3.5], [0.0, 3600.0])[-1])
    angle = (ends[1].rotation.inv() * ends[0].rotation).as_rotvec()[0]
    differences.append(np.append(angle, (ends[0].angular_momentum - ends[1].angular_momentum)[0]))
exact = np.transpose(differences) / (2 * step)
same = spread[np.searchsorted(run.t, many.t - 1e-6), :3]
counted = np.abs(away.std(axis=1) - same) / same.max(axis=1, keepdims=True)
checks = {
    "the matrix after an hour, against differences of the closed form, relative": (
        np.abs(run.stm[-1] - exact).max() / np.abs(exact).max(),
        1e-3,
    ),
    "standard deviations of the ensemble, against the largest of the covariance, relative": (
        counted.max(),
        4 / np.sqrt(MEMBERS),
    ),
}
measured = {
    "members": MEMBERS,
    "relative": f"{sigma[3] / np.linalg.norm(problem.angular_momentum):.2%}",
}
