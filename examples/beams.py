"""Beams and curves: the frame along a curve turns by R'(s) = R k(s), an angular velocity in length.

Simo (1985) noticed it: with the arc length s for the time, the rates of twist and bending k(s) of a
beam are an angular velocity in its own axes.  The tangent is axis 3, and the line x' = R e₃.

    Euler's spiral    k = (0, c s, 0)             Fresnel's integrals
    a helix           k = (0, κ, τ), Frenet's     closed form
    elastica          k = (0, 2p cn s, 0)         θ = 2 arcsin(p sn s), x = 2p (1 - cn s),
                                                  z = 2 E(am s) - s,  p the sine of half its angle

The elastica is found a second time from its stiffness alone: a bent strip is a pendulum, in length
(Kirchhoff 1859), so its shape is a motion of a heavy top whose moments are the stiffnesses.
"""

import math

import numpy as np
from matplotlib.figure import Figure
from scipy.special import ellipeinc, ellipj, fresnel

import polhode as ph
from polhode import plot
from polhode.plot import style

LENGTH, P = 12.0, 0.88
RISE, CURVATURE, TORSION = 0.4, 1.4, 0.5
AXIS = np.array([0.0, CURVATURE, TORSION]) / math.hypot(CURVATURE, TORSION)  # of the helix
NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)


def spiral(s):
    return 0.0, RISE * s, 0.0


def helix(s):
    return 0.0, CURVATURE, TORSION


def landen(p):
    """Return a_N 2^N and c_n/a_n of the arithmetic-geometric mean, for ``elastica``."""
    a, b, ratios = 1.0, math.sqrt(1 - p * p), []
    while a != b and len(ratios) < 6:
        a, b, c = (a + b) / 2, math.sqrt(a * b), (a - b) / 2
        ratios.append(c / a)
    return a * 2 ** len(ratios), tuple(ratios[::-1])


SPEED, RATIOS = landen(P)


def elastica(s):
    phi = SPEED * s
    for ratio in RATIOS:
        phi = (phi + math.asin(ratio * math.sin(phi))) / 2
    return 0.0, 2 * P * math.cos(phi), 0.0


def line(run, s):
    """Return x(s) = ∫ R e₃ ds, by Gauss's formula between the places s."""
    half = np.diff(s)[:, None] / 2
    places = s[:-1, None] + half * (1 + NODES)
    tangents = run.sol(places.ravel()).rotation.apply([0.0, 0.0, 1.0])
    parts = (half * WEIGHTS)[..., None] * tangents.reshape(*places.shape, 3)
    return np.concatenate([np.zeros((1, 3)), parts.sum(axis=1).cumsum(axis=0)])


def closed_spiral(s):
    """z + i x = ∫ exp(i c s²/2) ds."""
    scale = math.sqrt(math.pi / RISE)
    sine, cosine = fresnel(s / scale)
    return scale * np.column_stack([sine, 0 * s, cosine])


def closed_helix(s):
    """Turning about the constant k, from the tangent e₃."""
    rate = math.hypot(CURVATURE, TORSION)
    e = np.array([0.0, 0.0, 1.0])
    along = (AXIS @ e) * AXIS
    across, third = e - along, np.cross(AXIS, e)
    turn = rate * s[:, None]
    return s[:, None] * along + (np.sin(turn) * across + (1 - np.cos(turn)) * third) / rate


def closed_elastica(s):
    _, cn, _, am = ellipj(s, P * P)
    return np.column_stack([2 * P * (1 - cn), 0 * s, 2 * ellipeinc(am, P * P) - s])


s = np.linspace(0.0, LENGTH, 601)
CURVES = {
    "Euler's spiral": (spiral, closed_spiral),
    "helix": (helix, closed_helix),
    "elastica": (elastica, closed_elastica),
}
found = {}
for name, (bending, closed) in CURVES.items():
    run = ph.integrate_angular_velocity(bending, (0, LENGTH), frame="body", rtol=1e-13)
    found[name] = line(run, s)
    error = np.linalg.norm(found[name] - closed(s), axis=1).max()
    print(f"{name:15} off by {error:.0e} of a length of {LENGTH:g}, {run.nfev} evaluations")
    assert run.success
    assert error < 1e-11

# the same strip from its stiffness: θ'' = -sin θ, as a pendulum that starts with the rate 2p
strip = ph.Problem(
    ph.RigidBody([1.0, 1.0, 0.8]), ph.models.heavy_top(-1.0), omega=[0.0, 2 * P, 0.0]
)
run = ph.solve(strip, (0, LENGTH), method="dop853", rtol=1e-13)
error = np.linalg.norm(line(run, s) - closed_elastica(s), axis=1).max()
print(f"{'as a pendulum':15} off by {error:.0e}; {run}")
assert error < 1e-10

sheet = Figure(figsize=(10, 3.6), layout="constrained")
for ax, (name, x) in zip(sheet.subplots(1, 3), found.items(), strict=True):
    along = x @ AXIS if name == "helix" else x[:, 2]
    ax.plot(along, x[:, 0], color=style.BLUE, linewidth=1.6)
    ax.plot(along[::20], x[::20, 0], ".", color=style.ORANGE, markersize=4)
    ax.set_aspect("equal")
    style.dress(ax, name, "along its axis" if name == "helix" else "z", "x")
plot.save(sheet.axes[0], "beams.png", dpi=130)
