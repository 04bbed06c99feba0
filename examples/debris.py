"""Follow the pieces of a broken-up satellite under the gravity gradient of the Earth.

A million pieces (``--members``), boxes of all shapes, start near the attitude of the satellite,
long axis down, at rates around that of the circular orbit, n.  Some librate: the same end of their
long axis keeps pointing to the Earth.  The others turn over.  In the orbiting frame, the energy

    H = ½ (ω - n w)·I(ω - n w) + ½ n² (3 u·I u - w·I w)

is constant (u, w: the vertical and the orbit normal in body axes; moments A <= B <= C).
Where the long axis is horizontal, the second term is at least ½ n² (3B - C): a piece with less
energy than that can never turn over.

The run keeps only three states of each piece, the time when it first turned over, and the
reductions: distributions and the mean attitude.
"""

import argparse
import time
from math import cos, sin

import numpy as np
from matplotlib.figure import Figure

import polhode as ph
from polhode import plot
from polhode.plot import style

MU, RADIUS = 3.986e14, 7.0e6  # 600 km above the ground
N = (MU / RADIUS**3) ** 0.5
ORBIT = 2 * np.pi / N
STEPS = 60  # per orbit
SPEEDS = np.linspace(0, 4, 81) * N

options = argparse.ArgumentParser(description="Pieces of a satellite under the gravity gradient.")
options.add_argument("--members", type=int, default=20_000)
options.add_argument("--orbits", type=int, default=10)
arguments = options.parse_args()
if arguments.orbits < 2:
    options.error(f"--orbits must be at least 2, got {arguments.orbits}")
SAVED = {"at the start": 0.0, "after one orbit": ORBIT, "at the end": arguments.orbits * ORBIT}


def upright(t, q, omega):
    """The cosine of the angle between the long axis, 1, and the vertical."""
    w, x, y, z = q
    return (w * w + x * x - y * y - z * z) * cos(N * t) + 2 * (x * y + w * z) * sin(N * t)


d = ph.distributions
satellite = ph.Problem(
    ph.RigidBody([1.0, 2.0, 2.5]),
    ph.models.gravity_gradient(MU, RADIUS, "orbit"),
    omega=[0, 0, N],
    name="debris",
)
begun = time.perf_counter()
run = ph.solve_ensemble(
    satellite,
    (0, arguments.orbits * ORBIT),
    members=arguments.members,
    vary={
        "inertia": d.Boxes([1.0, 0.5, 0.1], [2.0, 1.0, 0.5]),  # the longest edge first
        "omega": d.Normal([0, 0, N], 0.7 * N),
        "attitude": d.Around(0.5),
    },
    seed=1,
    method="mr2",
    dt=ORBIT / STEPS,
    save=list(SAVED.values()),
    reduce=[
        ph.reductions.Histogram("speed", SPEEDS),
        "quantiles(speed, 0.1, 0.5, 0.9)",
        "attitude",
        ph.reductions.FirstTime(upright),
    ],
    reduce_times=4 * arguments.orbits + 1,
)
took = time.perf_counter() - begun
print(run, "success" if run.success.all() else "failed")
print(f"{took:.1f} s, {took / len(run) / arguments.orbits / STEPS * 1e9:.0f} ns per piece and step")

# ---- which pieces turned over, and which cannot
over = run.reductions["upright_first_time"] / ORBIT
librating = np.isnan(over)
moments, omega = run.varied("inertia"), run.varied("omega")
a, b, c, e = run.varied("attitude").T
u = np.stack([a * a + b * b - c * c - e * e, 2 * (b * c - a * e), 2 * (b * e + a * c)], axis=1)
w = np.stack([2 * (b * e - a * c), 2 * (c * e + a * b), a * a - b * b - c * c + e * e], axis=1)
energy = (moments * ((omega - N * w) ** 2 + N**2 * (3 * u**2 - w**2))).sum(axis=1) / 2
least, saddle = N**2 / 2 * (3 * moments[:, :2] - moments[:, 2:]).T
level = (energy - least) / (saddle - least)
bound = level < 1
print(f"after {arguments.orbits} orbits {librating.mean():.1%} have never turned over;", end=" ")
print(f"{bound.mean():.1%} never can: none of them did" if librating[bound].all() else "wrong")
assert librating[bound].all()
assert bound.sum() < librating.sum() < len(run)
spread = run.reductions["attitude_spread"]
print(f"spread of the attitudes {spread[0]:.2f}, at the end {spread[-1]:.2f}", end=" ")
print(f"(uniform attitudes: {3**0.5:.2f})")
low, middle, high = run.reductions["speed_quantiles"].T / N
print(f"rates: median {middle[0]:.2f} n, at the end {middle[-1]:.2f} n")
histogram = run.reductions["speed_histogram"]
assert (histogram.sum(axis=1) == run.count).all()

# ---- the picture
orbits = run.t_reduced / ORBIT
sheet = Figure(figsize=(10, 6.6), layout="constrained")
(first, second), (third, fourth) = sheet.subplots(2, 2)
style.dress(first, "Not yet turned over", "orbits", "share of all pieces")
first.plot(np.append(np.sort(over[~librating]), arguments.orbits),
           1 - np.arange(1, (~librating).sum() + 2) / len(run), color=style.BLUE)  # fmt: skip
first.axhline(bound.mean(), color=style.GREY, linestyle="--", linewidth=1)
first.text(arguments.orbits, bound.mean() + 0.01, "bound by their energy", ha="right", fontsize=8)
first.set_ylim(0, 1)

style.dress(second, "Rate of rotation", "orbits", "|ω| / n")
shown = histogram[:, 1:-1].T / len(run)
second.pcolormesh(orbits, SPEEDS[1:] / N, shown, cmap="Blues", shading="nearest", vmin=0)
for line, name in ((low, "10 %"), (middle, "median"), (high, "90 %")):
    second.plot(orbits, line, color=style.RED, linewidth=1.5 if name == "median" else 0.8)
    second.text(orbits[-1], line[-1], f" {name}", fontsize=8, va="center", color=style.RED)

style.dress(third, "Angle of the momentum from the orbit normal", "degrees", "share per degree")
m = run.angular_momentum_inertial
angle = np.degrees(np.arctan2(np.hypot(m[..., 0], m[..., 1]), m[..., 2]))
edges = np.linspace(0, 180, 46)
between = (edges[1:] + edges[:-1]) / 2
for name, some, colour in zip(SAVED, angle, (style.GREY, style.ORANGE, style.BLUE), strict=True):
    third.plot(between, np.histogram(some, edges, density=True)[0], color=colour, label=name)
isotropic = np.sin(np.radians(between)) * np.pi / 360
third.plot(between, isotropic, color=style.INK, linewidth=0.8, linestyle=":", label="isotropic")
style.legend(third, "inside")

style.dress(fourth, "Librating, by energy", "energy / energy of the saddle", "share")
edges = np.linspace(0, 4, 41)
share, _ = np.histogram(level[librating], edges)
every, _ = np.histogram(level, edges)
fourth.stairs(share / np.maximum(every, 1), edges, color=style.GREEN, fill=True, alpha=0.5)
fourth.axvline(1, color=style.GREY, linestyle="--", linewidth=1)
plot.save(fourth, "debris.png", dpi=110)
