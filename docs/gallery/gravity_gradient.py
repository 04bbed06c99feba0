r"""Gravity-gradient libration.

The Earth pulls the near end of a satellite more strongly than the far end. So a long satellite on a
circular orbit, whose rate is $n$, points to the Earth, and swings about the vertical like a
pendulum: with moments $A < B < C$, long along the first axis, the angle $\theta$ in the orbital plane
obeys

$$
\ddot\theta = -\tfrac{3}{2} n^2\, \frac{B - A}{C} \sin 2\theta, \qquad
T = \frac{4 K(\sin^2\theta_\mathrm{max})}{n\sqrt{3 (B - A)/C}} .
$$

Small swings take {{small}} of an orbit. Swings of almost 90° take arbitrarily long, and faster ones
never come back: the satellite turns over and over. GEOS-3 and many others have kept an antenna
downwards in this way, without fuel.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import ellipk

import polhode as ph

n = 2 * np.pi / 5400  # an orbit of 90 minutes
body = ph.RigidBody([0.2, 1.0, 1.1])
A, B, C = body.principal_moments
earth = ph.models.gravity_gradient(mu=n**2, r=1.0, direction="orbit")


def upright(t, q, omega):
    """Zero when the long axis passes the vertical."""
    w, x, y, z = q
    return 2 * (x * y + w * z) * np.cos(n * t) - (w * w + x * x - y * y - z * z) * np.sin(n * t)


def swing(rate, orbits, **options):
    """Start upright, with a rate in units of n; long axis 1 towards the Earth."""
    problem = ph.Problem(body, earth, omega=[0, 0, n * (1 + rate)], name="long satellite")
    return ph.solve(problem, (0, orbits * 5400), rtol=1e-11, **options)


def angle(run):
    """From the vertical, in the plane of the orbit."""
    x, y, _ = run.to_inertial([1.0, 0.0, 0.0]).T
    return np.unwrap(np.arctan2(y, x)) - n * run.t


fastest = np.sqrt(3 * (B - A) / C)  # at the vertical, of swings that come back
rates = fastest * np.sin(np.radians([5, 20, 35, 50, 65, 80, 87]))
swings = [swing(rate, 8, events=upright) for rate in rates]
turns = [swing(sign * rate, 2) for rate in fastest * np.array([1.05, 1.3]) for sign in (1, -1)]
run = swings[3]
view = {"points": [[6, 0, 0]], "show": {"poinsot": False}}

# ---- picture
# Left: the phase portrait of the angle; closed curves of swings inside a dashed separatrix, and open
# ones outside. Right: the period grows without bound as the amplitude approaches 90 degrees.
fig, (left, right) = plt.subplots(1, 2)
line = np.linspace(-90, 90, 361)
for sign in (1, -1):
    left.plot(line, sign * fastest * np.cos(np.radians(line)), "--", color="C6", linewidth=1)
for runs, colour in ((swings, "C0"), (turns, "C1")):
    for one in runs:
        fine = one.sol(np.linspace(0, one.t[-1] / 2, 2001))
        theta = (np.degrees(angle(fine)) + 90) % 180 - 90
        theta[np.abs(np.diff(theta, prepend=theta[0])) > 90] = np.nan
        left.plot(theta, fine.omega[:, 2] / n - 1, color=colour, linewidth=1)
left.set(title="Swings and turns", xlabel="angle (degrees)", ylabel="rate / n", xlim=(-90, 90))
left.set(xticks=range(-90, 91, 45))
amplitudes = np.degrees(np.arcsin(rates / fastest))
periods = [2 * np.diff(one.t_events[0]).mean() / 5400 for one in swings]
line = np.linspace(0, 89.3, 300)
right.plot(line, 4 * ellipk(np.sin(np.radians(line)) ** 2) / (2 * np.pi * fastest), color="C6")
right.plot(amplitudes, periods, "o")
right.set(title="Period of a swing", xlabel="amplitude (degrees)", ylabel="orbits")
plt.show()

# ---- checks
closed = 4 * ellipk((rates / fastest) ** 2) / (n * fastest)
measured_periods = np.array(periods) * 5400
constant = []
for one in swings + turns:
    theta, rate = angle(one), one.omega[:, 2] / n - 1
    energy = rate**2 + (fastest * np.sin(theta)) ** 2
    constant.append(np.abs(energy - energy[0]).max())
checks = {
    "periods of seven swings, against K by SciPy, relative": (
        np.abs(measured_periods / closed - 1).max(),
        1e-9,
    ),
    "energy of the pendulum, largest change, in units of n²": (max(constant), 1e-9),
}
measured = {"small": f"{closed[0] / 5400:.3f}"}
