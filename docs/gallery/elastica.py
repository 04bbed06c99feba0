r"""Beams and curves.

The frame along a curve turns as a body does, with arc length $s$ in place of time,
$R'(s) = R\,[\mathbf k(s)]_\times$: the rates of twist and bending $\mathbf k$ are an angular velocity in the
axes of the beam (Simo 1985). So `ph.integrate_angular_velocity` finds a curve from its curvature, with
axis 3 along the tangent: Euler's spiral with $k = cs$, a helix with constant curvature and torsion, and
Euler's elastica, a strip that is held at both ends,

$$
k(s) = 2p \operatorname{cn} s, \qquad x = 2p\,(1 - \operatorname{cn} s), \qquad
z = 2E(\operatorname{am} s) - s .
$$

The elastica is found a second time from its stiffness alone. A bent strip is a pendulum, with length for
time (Kirchhoff 1859), so its shape is a motion of `ph.models.heavy_top`, whose moments are the
stiffnesses.
"""

import math

import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

LENGTH, P, RISE, CURVATURE, TORSION = 12.0, 0.88, 0.4, 1.4, 0.5


def spiral(s):
    return 0.0, RISE * s, 0.0


def helix(s):
    return 0.0, CURVATURE, TORSION


strip = ph.Problem(
    ph.RigidBody([1.0, 1.0, 0.8]), ph.models.heavy_top(-1.0), omega=[0.0, 2 * P, 0.0], name="strip"
)
run = ph.solve(strip, (0, LENGTH), method="dop853", rtol=1e-13)
curves = {
    "Euler's spiral": ph.integrate_angular_velocity(spiral, (0, LENGTH), frame="body", rtol=1e-13),
    "Helix": ph.integrate_angular_velocity(helix, (0, LENGTH), frame="body", rtol=1e-13),
    "Elastica": run,
}
nodes, weights = np.polynomial.legendre.leggauss(8)
s = np.linspace(0.0, LENGTH, 601)


def line(curve):
    """x(s) = ∫ R e₃ ds, by Gauss's formula."""
    half = np.diff(s)[:, None] / 2
    places = s[:-1, None] + half * (1 + nodes)
    tangents = curve.sol(places.ravel()).to_inertial([0.0, 0.0, 1.0])
    parts = (half * weights)[..., None] * tangents.reshape(*places.shape, 3)
    return np.concatenate([np.zeros((1, 3)), parts.sum(axis=1).cumsum(axis=0)])


lines = {name: line(curve) for name, curve in curves.items()}
axis = np.array([0.0, CURVATURE, TORSION]) / math.hypot(CURVATURE, TORSION)  # of the helix
view = {"show": {"poinsot": False, "momentum": False}}

# ---- picture
# A spiral that winds up, a helix from the side, and a figure of eight that a bent strip makes.
fig, axes = plt.subplots(1, 3, figsize=(8.8, 3.2))
for ax, (name, x) in zip(axes, lines.items(), strict=True):
    along = x @ axis if name == "Helix" else x[:, 2]
    ax.plot(along, x[:, 0])
    ax.plot(along[::25], x[::25, 0], ".", markersize=5)
    ax.set(title=name, xlabel="along its axis" if name == "Helix" else "z", ylabel="x")
    ax.set_aspect("equal", "datalim")
plt.show()

# ---- checks
from scipy.special import ellipeinc, ellipj, fresnel

scale = math.sqrt(math.pi / RISE)
sine, cosine = fresnel(s / scale)
e3, turn = np.array([0.0, 0.0, 1.0]), math.hypot(CURVATURE, TORSION) * s[:, None]
across = e3 - (axis @ e3) * axis
circle = np.sin(turn) * across + (1 - np.cos(turn)) * np.cross(axis, e3)
_, cn, _, am = ellipj(s, P * P)
closed = {
    "Euler's spiral": scale * np.column_stack([sine, 0 * s, cosine]),
    "Helix": s[:, None] * (axis @ e3) * axis + circle / math.hypot(CURVATURE, TORSION),
    "Elastica": np.column_stack([2 * P * (1 - cn), 0 * s, 2 * ellipeinc(am, P * P) - s]),
}
names = {
    "Euler's spiral": "Euler's spiral, against Fresnel's integrals by SciPy",
    "Helix": "the helix, against its closed form",
    "Elastica": "the elastica as a pendulum, against elliptic integrals by SciPy",
}
checks = {
    f"{words}, of a length of 12": (np.linalg.norm(lines[name] - closed[name], axis=1).max(), 1e-11)
    for name, words in names.items()
}
