"""The chaotic rotation of Hyperion (Wisdom, Peale & Mignard 1984): its surface of section.

Saturn's moon Hyperion is longer than it is wide, and its orbit is an ellipse.  If it rotates about
its shortest axis, perpendicular to the orbit, its long axis is at an angle θ from periapsis with

    θ'' = -(3/2) (B - A)/C (a/r)³ sin 2(θ - f)

(unit of time: the orbit takes 2π; f is the true anomaly).  Once per orbit, at periapsis, θ and θ'
give a point; the points of a regular motion lie on a curve, those of a chaotic one fill an area.

``--starts`` and ``--orbits`` set the number of curves, and of points on each.  For a poster:

    python hyperion.py --starts 500 --orbits 3000 --wide 2800
"""

import argparse

import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from scipy.integrate import solve_ivp
from scipy.ndimage import gaussian_filter
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode import plot
from polhode.plot import style

ORBIT, STEPS = 2 * np.pi, 100
UP = np.array([0.0, 0.0, 1.0])

options = argparse.ArgumentParser(description="The surface of section of Hyperion.")
options.add_argument("--starts", type=int, default=120, help="initial states on each of two lines")
options.add_argument("--orbits", type=int, default=200)
options.add_argument("--wide", type=int, default=700, help="width of the picture in points")
arguments = options.parse_args()

hyperion = ph.problems.hyperion()
A, B, C = hyperion.body.principal_moments


def attitude_at(theta):
    """Return the attitude of the upright body whose long axis is at θ."""
    return Rotation.from_rotvec(np.multiply.outer(theta, UP))


def integrate(attitude, omega, orbits):
    """Integrate many initial states, saved once per orbit."""
    return ph.solve_ensemble(
        hyperion,
        (0, orbits * ORBIT),
        vary={"attitude": attitude, "omega": omega},
        method="mr4",
        dt=ORBIT / STEPS,
        save=STEPS,
    )


def angle(q):
    """Return θ of upright bodies, modulo a revolution."""
    return 2 * np.arctan2(q[..., 3], q[..., 0])


def wrapped(theta):
    """Wrap θ to -π/2 … π/2: the body looks the same after half a revolution."""
    return (theta + np.pi / 2) % np.pi - np.pi / 2


# ---- the planar equation by itself, with SciPy
def planar(t, state, e=0.1):
    anomaly = brentq(lambda x: x - e * np.sin(x) - t, t - e, t + e, xtol=1e-15)
    r = 1 - e * np.cos(anomaly)
    f = np.arctan2(np.sqrt(1 - e * e) * np.sin(anomaly), np.cos(anomaly) - e)
    return state[1], -1.5 * (B - A) / C / r**3 * np.sin(2 * (state[0] - f))


theta, rate = np.array([0.0, 0.0, 0.5, np.pi / 2]), np.array([0.3, 2.3, 2.6, 0.5])
few = integrate(attitude_at(theta), np.outer(rate, UP), 5)
worst = 0.0
for i, start in enumerate(zip(theta, rate, strict=True)):
    end = solve_ivp(planar, (0, 5 * ORBIT), start, "DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    off = wrapped(angle(few.q[-1, i]) - end[0]), few.omega[-1, i, 2] - end[1]
    worst = max(worst, *np.abs(off))
print(f"α = √(3 (B - A)/C) = {np.sqrt(3 * (B - A) / C):.3f};", end=" ")
print(f"five orbits by mr4 and by DOP853 in the plane differ by {worst:.0e}")
assert worst < 1e-4

# ---- the section: two lines of initial states, each with a neighbour 1e-9 away
rates = np.linspace(-0.6, 3.6, arguments.starts)
theta = np.tile(np.repeat([0.0, np.pi / 2], arguments.starts), 2)
rate = np.concatenate([rates, rates, rates + 1e-9, rates + 1e-9])
run = integrate(attitude_at(theta), np.outer(rate, UP), arguments.orbits)
print(run, "success" if run.success.all() else "failed")
x, y = wrapped(angle(run.q)), run.omega[..., 2]
half = 2 * arguments.starts
apart = np.hypot(wrapped(x[:, :half] - x[:, half:]), y[:, :half] - y[:, half:])
chaotic = apart.max(axis=0) > 1e-2
x, y = x[:, :half], y[:, :half]
found = [np.argmax(apart[:, i] > 1e-2) for i in np.flatnonzero(chaotic)]
growth = np.log(1e-2 / 1e-9) / np.median(found)
one = y[:, np.argmin(np.abs(rates - 1.5))]  # a single initial state in the middle
print(f"{chaotic.sum()} of {half} initial states are chaotic: neighbours separate by", end=" ")
print(f"a factor e in {1 / growth:.1f} orbits; a single one visits rates from", end=" ")
print(f"{one.min():.2f} to {one.max():.2f}")
assert one.min() < 0.5 < 2.0 < one.max()
assert 0.5 < growth < 1.5

# ---- resonances: by symmetry, periodic motions make p/2 revolutions from periapsis to apoapsis
alone = ph.prepare(hyperion, method="mr4", dt=ORBIT / STEPS)


def beyond(w, at, p):
    run = alone((0, ORBIT / 2), attitude=attitude_at(at), omega=w * UP)
    return np.unwrap(angle(run.q), period=2 * np.pi)[-1] - at - p * np.pi


STATES = {"1/2": (np.pi / 2, 0.5, 0.87), "1": (0.0, 1.0, 0.55), "3/2": (0.0, 1.5, 1.97),
          "2": (0.0, 2.0, 2.32), "5/2": (0.0, 2.5, 2.72)}  # fmt: skip
centres = {
    name: (at, brentq(beyond, near - 0.03, near + 0.03, args=(at, p), xtol=1e-13))
    for name, (at, p, near) in STATES.items()
}

# ---- which of them stay upright?  Tilted by 1e-6 rad about two axes
theta, rate = np.array(list(centres.values())).T
tilts = [attitude_at(theta) * Rotation.from_rotvec(1e-6 * np.eye(3)[k]) for k in (0, 1)]
tipped = integrate(Rotation.concatenate(tilts), np.outer(np.tile(rate, 2), UP), 150)
tilt = 2 * np.arcsin(np.hypot(tipped.q[..., 1], tipped.q[..., 2]).clip(max=1))
tilt = tilt.reshape(len(tilt), 2, -1).max(axis=1)
for name, path in zip(centres, tilt.T, strict=True):
    fate = "upright" if path.max() < 1e-5 else f"tumbles after {np.argmax(path > 1)} orbits"
    print(f"the {name} state at θ' = {centres[name][1]:.4f}: {fate}")
assert [path.max() > 1 for path in tilt.T] == [True, True, True, False, False]
assert tilt[:, 3:].max() < 1e-5

# ---- the picture: light added on a dark sheet
NIGHT, DUST, PALE = np.array([8, 10, 26]) / 255, np.array([0.62, 0.58, 0.52]), "#aab2d0"
FASTEST = 3.3
HUES = LinearSegmentedColormap.from_list(
    "hyperion",
    [(0.0, "#2457d6"), (0.12, "#27b3d6"), (0.16, "#ffc247"), (0.27, "#ff8a3d"), (0.6, "#ff5470"),
     (0.73, "#ff5fa2"), (0.83, "#c86bff"), (1.0, "#5b6cff")],
)  # fmt: skip
LOW, TOP, WIDE, HIGH = -0.2, 3.4, arguments.wide, arguments.wide * 8 // 7
colours = HUES((y.mean(axis=0) / FASTEST).clip(0, 1))[:, :3] * ~chaotic[:, None]
row, column = np.floor((y - LOW) / (TOP - LOW) * HIGH), np.floor((x / np.pi + 0.5) * WIDE)
points, start = np.nonzero((row >= 0) & (row < HIGH))
place = row[points, start].astype(int), column[points, start].clip(0, WIDE - 1).astype(int)
light, dust = np.zeros((HIGH, WIDE, 3)), np.zeros((HIGH, WIDE, 1))
np.add.at(light, place, colours[start])
np.add.at(dust, place, chaotic[start, None])
strength = light.max(axis=2, keepdims=True)
curves = light / np.maximum(strength, 1e-9) * (strength / (strength + 0.6))
halo = gaussian_filter(curves, (WIDE / 175, WIDE / 175, 0))
grains = 1 - np.exp(-0.2 * dust * dust.size / max(dust.sum(), 1))
picture = (NIGHT + DUST * grains + 1.05 * curves + 0.6 * halo).clip(0, 1)

sheet = Figure(figsize=(8, 9.6), facecolor=NIGHT)
ax = sheet.add_axes((0.0875, 0.075, 0.875, 8 / 9.6))  # 7 by 8 inches: one pixel per point
ax.imshow(picture, extent=(-90, 90, LOW, TOP), origin="lower", aspect="auto",
          interpolation="nearest")  # fmt: skip
ax.spines[:].set_visible(False)
ax.tick_params(colors=PALE, labelsize=9, length=3)
ax.set_xticks([-90, -45, 0, 45, 90], ["-90°", "-45°", "0°", "45°", "90°"])
ax.set_yticks(range(4))
ax.set_xlabel("long axis at periapsis", color=PALE)
ax.set_ylabel("rotation rate / mean motion", color=PALE)
sheet.text(0.0875, 0.952, "H Y P E R I O N", fontsize=20, color="#f4ecd8")
subtitle = "one point per orbit: where its long axis points, and how fast it rotates"
sheet.text(0.0875, 0.922, subtitle, fontsize=10, color=PALE)
for name, place in {"1/2": (-83, 0.87), "1": (29, 0.55), "2": (0, 2.2), "5/2": (0, 2.64)}.items():
    edge = withStroke(linewidth=2, foreground=NIGHT)
    ax.text(*place, name, color="white", fontsize=9, ha="center", va="center", path_effects=[edge])
plot.save(ax, "hyperion.png", dpi=WIDE / 7)

sheet = Figure(figsize=(7, 3.2), layout="constrained")
ax = style.dress(sheet.add_subplot(), "Tilted by 1e-6 rad", "orbits", "tilt of the axis (rad)")
for (name, path), colour in zip(zip(centres, tilt.T, strict=True), style.COLOURS, strict=False):
    ax.semilogy(path[:101], color=colour, linewidth=1.2, label=f"{name} state")
style.legend(ax)
plot.save(ax, "hyperion-tilt.png", dpi=110)
