"""Follow the pieces of a broken-up satellite under the gravity gradient of the Earth.

A million pieces (``--members``), boxes of all shapes, start near the attitude of the satellite,
long axis down, at rates around that of the circular orbit, n.  Some librate: the same end of their
long axis keeps pointing to the Earth.  The others turn over.  In the orbiting frame, the energy

    H = ½ (ω - n w)·I(ω - n w) + ½ n² (3 u·I u - w·I w)

is constant (u, w: the vertical and the orbit normal in body axes; moments A <= B <= C).
Where the long axis is horizontal, the second term is at least ½ n² (3B - C): a piece with less
energy than that can never turn over.

The run keeps only three states of each piece, the time when it first turned over, and the
reductions: distributions and the mean attitude.  With ``--out debris.zarr`` the states go into a
store, and with ``--dask tcp://…`` the pieces run on a cluster: so a hundred million fit, too.  What
follows from them is computed for some at a time.
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
options.add_argument("--out", help="a store for the states, debris.zarr")
options.add_argument("--dask", metavar="ADDRESS", help="the scheduler of a cluster")
arguments = options.parse_args()
if arguments.orbits < 2:
    options.error(f"--orbits must be at least 2, got {arguments.orbits}")
FEW = 5_000_000  # quantiles need the values of all pieces at the same time
SOME = 2**20  # pieces at a time
SAVED = {"at the start": 0.0, "after one orbit": ORBIT, "at the end": arguments.orbits * ORBIT}


def upright(t, q, omega):
    """The cosine of the angle between the long axis, 1, and the vertical."""
    w, x, y, z = q
    return (w * w + x * x - y * y - z * z) * cos(N * t) + 2 * (x * y + w * z) * sin(N * t)


def quantiles(counts, shares):
    """Quantiles of the rates from a histogram of them."""
    below = np.cumsum(counts[:-1]) / counts.sum()
    return np.interp(shares, below, SPEEDS)


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
        "attitude",
        ph.reductions.FirstTime(upright),
        *(["quantiles(speed, 0.1, 0.5, 0.9)"] if arguments.members <= FEW else []),
    ],
    reduce_times=4 * arguments.orbits + 1,
    out=arguments.out,
    client=arguments.dask,
)
took = time.perf_counter() - begun
print(run, "success" if run.success.all() else "failed")
print(f"{took:.1f} s, {took / len(run) / arguments.orbits / STEPS * 1e9:.0f} ns per piece and step")

# ---- which pieces turned over, and which cannot
over = run.reductions["upright_first_time"] / ORBIT
librating = np.isnan(over)
LEVELS, DEGREES = np.linspace(0, 4, 41), np.linspace(0, 180, 46)


def energies(run):
    """Return the energies of some pieces, relative to that of the saddle."""
    moments, omega = run.varied("inertia"), run.varied("omega")
    a, b, c, e = run.varied("attitude").T
    u = np.stack([a * a + b * b - c * c - e * e, 2 * (b * c - a * e), 2 * (b * e + a * c)], axis=1)
    w = np.stack([2 * (b * e - a * c), 2 * (c * e + a * b), a * a - b * b - c * c + e * e], axis=1)
    energy = (moments * ((omega - N * w) ** 2 + N**2 * (3 * u**2 - w**2))).sum(axis=1) / 2
    least, saddle = N**2 / 2 * (3 * moments[:, :2] - moments[:, 2:]).T
    return (energy - least) / (saddle - least)


bound, share, every = 0, np.zeros(len(LEVELS) - 1), np.zeros(len(LEVELS) - 1)
angles = np.zeros((len(SAVED), len(DEGREES) - 1))
for first in range(0, len(run), SOME):
    some, here = run[first : first + SOME], librating[first : first + SOME]
    level = energies(some)
    assert here[level < 1].all()
    bound += (level < 1).sum()
    share += np.histogram(level[here], LEVELS)[0]
    every += np.histogram(level, LEVELS)[0]
    m = some.angular_momentum_inertial
    angle = np.degrees(np.arctan2(np.hypot(m[..., 0], m[..., 1]), m[..., 2]))
    angles += [np.histogram(row, DEGREES)[0] for row in angle]
print(f"after {arguments.orbits} orbits {librating.mean():.1%} have never turned over;", end=" ")
print(f"{bound / len(run):.1%} never can: none of them did")
assert bound < librating.sum() < len(run)
spread = run.reductions["attitude_spread"]
print(f"spread of the attitudes {spread[0]:.2f}, at the end {spread[-1]:.2f}", end=" ")
print(f"(uniform attitudes: {3**0.5:.2f})")
histogram = run.reductions["speed_histogram"]
speeds = run.reductions.get("speed_quantiles")
if speeds is None:
    speeds = np.array([quantiles(counts, [0.1, 0.5, 0.9]) for counts in histogram])
low, middle, high = speeds.T / N
print(f"rates: median {middle[0]:.2f} n, at the end {middle[-1]:.2f} n")
assert (histogram.sum(axis=1) == run.count).all()

# ---- the picture
orbits = run.t_reduced / ORBIT
sheet = Figure(figsize=(10, 6.6), layout="constrained")
(first, second), (third, fourth) = sheet.subplots(2, 2)
style.dress(first, "Not yet turned over", "orbits", "share of all pieces")
turned = np.sort(over[~librating])
thin = max(len(turned) // 20_000, 1)  # of the points of the curve
first.plot(np.append(turned[::thin], arguments.orbits),
           np.append(1 - np.arange(1, len(turned) + 1)[::thin] / len(run), librating.mean()),
           color=style.BLUE)  # fmt: skip
first.axhline(bound / len(run), color=style.GREY, linestyle="--", linewidth=1)
first.text(
    arguments.orbits, bound / len(run) + 0.01, "bound by their energy", ha="right", fontsize=8
)
first.set_ylim(0, 1)

style.dress(second, "Rate of rotation", "orbits", "|ω| / n")
shown = histogram[:, 1:-1].T / len(run)
second.pcolormesh(orbits, SPEEDS[1:] / N, shown, cmap="Blues", shading="nearest", vmin=0)
for line, name in ((low, "10 %"), (middle, "median"), (high, "90 %")):
    second.plot(orbits, line, color=style.RED, linewidth=1.5 if name == "median" else 0.8)
    second.text(orbits[-1], line[-1], f" {name}", fontsize=8, va="center", color=style.RED)

style.dress(third, "Angle of the momentum from the orbit normal", "degrees", "share per degree")
between = (DEGREES[1:] + DEGREES[:-1]) / 2
for name, counts, colour in zip(SAVED, angles, (style.GREY, style.ORANGE, style.BLUE), strict=True):
    density = counts / counts.sum() / np.diff(DEGREES)
    third.plot(between, density, color=colour, label=name)
isotropic = np.sin(np.radians(between)) * np.pi / 360
third.plot(between, isotropic, color=style.INK, linewidth=0.8, linestyle=":", label="isotropic")
style.legend(third, "inside")

style.dress(fourth, "Librating, by energy", "energy / energy of the saddle", "share")
fourth.stairs(share / np.maximum(every, 1), LEVELS, color=style.GREEN, fill=True, alpha=0.5)
fourth.axvline(1, color=style.GREY, linestyle="--", linewidth=1)
plot.save(fourth, "debris.png", dpi=110)
