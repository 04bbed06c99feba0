r"""The top that falls asleep, and wakes.

A top stands upright and quiet, it *sleeps*, as long as it spins faster than

$$
\omega_c = \frac{2}{C}\sqrt{A s} ,
$$

with moments $A$, $A$, $C$ and the potential $s\cos\theta$. Below, the upright axis is unstable: a
small tilt grows as $\exp(\sigma t)$ with $\sigma^2 = s/A - (C\omega/2A)^2$. Without friction the
top then nods between the upright and a lowest point with

$$
\cos\theta = \frac{(C\omega)^2}{2 A s} - 1 .
$$

A real top loses its spin in the air: it sleeps until the spin passes $\omega_c$, and wakes when
the tilt has had time to grow. This one passes it after {{passed}}, and is tilted by 45° after
{{fallen}}.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.transform import Rotation

import polhode as ph

A, C, weight = 5.0, 1.0, 20.0
critical = 2 / C * np.sqrt(A * weight)  # 20 rad/s
body = ph.RigidBody([A, A, C])


def spin_down(t, q, omega, params):
    """The drag of the air on the spin."""
    (drag,) = params
    return 0.0, 0.0, -drag * omega[2]


def top(spin, drag):
    """A top that is upright but for 1e-4 rad."""
    return ph.Problem(
        body,
        ph.models.heavy_top(weight) + ph.torque(spin_down, [drag]),
        attitude=Rotation.from_rotvec([1e-4, 0, 0]),
        omega=[0, 0, spin],
        name="top with drag",
    )


def tilt(run):
    x, y, z = run.to_inertial([0.0, 0.0, 1.0]).T
    return np.arctan2(np.hypot(x, y), z)


drag = 0.01
run = ph.solve(top(24.0, drag), (0, 40), rtol=1e-10)
times = np.linspace(0, 40, 4001)
tilts = tilt(run.sol(times))

spins = np.linspace(4, 24, 21)
lowest = []  # tilts of tops without drag
for spin in spins:
    free = ph.solve(top(spin, 0.0), (0, 60), rtol=1e-10)
    lowest.append(tilt(free.sol(np.linspace(0, 60, 5001))).max())
view = {"show": {"poinsot": False}, "tolerance": 0.02}

# ---- picture
# Left: the tilt of a top that loses its spin stays near zero, grows, and then nods. Right: the
# largest tilt of tops without drag falls from 180 degrees to zero as the spin grows to 20 rad/s.
fig, (left, right) = plt.subplots(1, 2)
left.plot(times, np.degrees(tilts))
passed = np.log(24.0 / critical) * C / drag
left.axvline(passed, color="C6", linestyle="--")
left.text(passed - 0.6, 45, "the spin passes\n20 rad/s", ha="right")
left.set(title="A top that loses its spin", xlabel="time (s)", ylabel="tilt (degrees)")
line = np.linspace(0, 24, 481)
cosine = np.minimum((C * line) ** 2 / (2 * A * weight) - 1, 1)
right.plot(line, np.degrees(np.arccos(cosine)), color="C6", linewidth=0.8, label="closed form")
right.plot(spins, np.degrees(lowest), "o", markersize=4, label="runs")
right.set(title="How far a top without drag falls", xlabel="spin (rad/s)", ylabel="tilt (degrees)")
right.legend()
plt.show()

# ---- checks
early = ph.solve(top(12.0, 0.0), (0, 4), rtol=1e-12)
growing = np.linspace(2, 4, 201)
x, y, _ = early.sol(growing).to_inertial([0.0, 0.0, 1.0]).T
sigma = np.polyfit(growing, np.log(np.hypot(x, y)), 1)[0]
closed = np.sqrt(weight / A - (C * 12.0 / (2 * A)) ** 2)
falling = spins < critical - 0.5
form = np.arccos((C * spins[falling]) ** 2 / (2 * A * weight) - 1)
spinning = run.sol(times)
decay = np.abs(spinning.omega[:, 2] - 24.0 * np.exp(-drag / C * times)).max()
fallen = times[np.argmax(tilts > np.pi / 4)]
checks = {
    f"largest tilt of {falling.sum()} tops that fall, against the closed form, rad": (
        np.abs(np.array(lowest)[falling] - form).max(),
        1e-4,
    ),
    "largest tilt of tops that sleep, rad": (np.array(lowest)[spins > critical + 1].max(), 1e-3),
    "growth of a small tilt, against σ, relative": (abs(sigma / closed - 1), 1e-3),
    "spin over time, against 24 exp(-0.01 t), rad/s": (decay, 1e-7),
}
measured = {"passed": f"{passed:.1f} s", "fallen": f"{fallen:.1f} s"}
