"""How far an uncertainty spreads: by the state transition matrix, and by many satellites.

A dead satellite tumbles, nearly about its middle axis.  A telescope has found its attitude to 0.01
degrees and its rates to 0.001 degrees per second.  The covariance P of these spreads to M P Mᵀ,
with the matrix M that one run gives, and an ensemble drawn from P agrees until the satellite flips:
when it does depends on the start, and what comes of a normal distribution is no longer one.

``--members`` sets the size of the ensemble.
"""

import argparse

import numpy as np
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode import plot
from polhode.plot import style

options = argparse.ArgumentParser(description="The spread of an uncertainty.")
options.add_argument("--members", type=int, default=50_000)
arguments = options.parse_args()

body = ph.RigidBody([180.0, 240.0, 320.0])  # kg m²
orbit = ph.models.gravity_gradient(mu=3.986e14, r=6.9e6)
satellite = ph.Problem(body, orbit, omega=np.radians([0.1, 2.0, 0.05]), name="dead satellite")

angle, rate = np.radians(0.01), np.radians(0.001)
of_momentum = (rate * np.array(body.principal_moments)) ** 2
given = np.diag([angle**2] * 3 + [*of_momentum])

END, FLIP, DT = 900.0, 480.0, 0.5
times = np.arange(0.0, END + 1, 60.0)
settings = {"method": "mr4", "dt": DT}

# ---- one run with derivatives
run = ph.solve(satellite, (0, END), **settings, sensitivities=["state"])
linear = run.sol(times).covariance(given)

# ---- many runs
d = ph.distributions
many = ph.solve_ensemble(
    satellite, (0, END), members=arguments.members, seed=1, **settings, save=times,
    vary={
        "attitude": d.Around(angle),
        "angular_momentum": d.Normal(satellite.angular_momentum, np.sqrt(of_momentum)),
    },
)  # fmt: skip
assert many.success.all()


def turns(centre, q):
    """Return the small turns from an attitude to others, in body axes."""
    return (centre.inv() * Rotation.from_quat(q, scalar_first=True)).as_rotvec()


away = [turns(*pair) for pair in zip(run.sol(times).rotation, many.q, strict=True)]
pairs = zip(away, many.angular_momentum, strict=True)
sampled = np.array([np.cov(np.hstack(pair).T) for pair in pairs])

# ---- until the flip they agree
widths = [np.sqrt(np.diagonal(some, axis1=1, axis2=2)) for some in (linear, sampled)]
off = np.abs(widths[1] / widths[0] - 1).max(axis=1)
early = times <= FLIP
largest = np.degrees(widths[0][early, :3].max())
print(
    f"{len(many)} members, success; until t = {FLIP:.0f} s the standard deviations, which grow to"
)
print(f"{largest:.1f} degrees, differ by {off[early].max():.1%} at most, later by {off.max():.1%}")
assert off[early].max() < 0.01
assert off.max() > 0.03

# ---- the picture
sheet = style.figure((10.0, 4.2))
left, right = sheet.subplots(1, 2)
run.plot("uncertainty", left, covariance=given)
size = np.linalg.norm(run.angular_momentum[0])
for k, colour in enumerate(style.theme().colours):
    unit = 1.0 if k < 3 else size
    left.plot(times, widths[1][:, k] / unit, ".", color=colour, markersize=4)
last = np.flatnonzero(early)[-1]
dots = {"color": style.theme().grey, "markersize": 1, "alpha": 0.5}
right.plot(*np.degrees(away[last][:5000, [0, 2]]).T, ".", **dots)
turn = np.linspace(0, 2 * np.pi, 200)
part = linear[last][np.ix_([0, 2], [0, 2])]
ellipse = np.degrees(np.linalg.cholesky(part) @ [np.cos(turn), np.sin(turn)])
for sigmas in (1, 2, 3):
    right.plot(*(sigmas * ellipse), color=style.theme().blue, linewidth=1.0)
style.dress(
    right, f"Members at t = {times[last]:.0f} s, and 1, 2, 3 σ by the matrix",
    "about body axis 1 (degrees)", "about body axis 3 (degrees)",
)  # fmt: skip
print(f"wrote {plot.save(left, 'uncertainty.png', dpi=110)}")
