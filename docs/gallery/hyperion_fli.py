r"""A map of chaos: fast Lyapunov indicators.

Hyperion's section of phase space again, seen otherwise. Every pixel is an initial state at periapsis, and
its colour says how much a small change $\delta$ of the angle has grown after {{orbits}} orbits,

$$
\mathrm{FLI} = \max_{t' \le t} \ln |\delta(t')| ,
$$

which is about $\ln t$ for regular motions, and $\lambda t$ for chaotic ones. It shows in few orbits
what the section shows in hundreds: the islands, the sea, and thin layers of chaos between the
resonances. The tangents come from the exact derivatives of the steps, of all pixels at once:
`reduce=["fli"]`, or `ph.reductions.FLI` with chosen directions.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.transform import Rotation

import polhode as ph

ACROSS, UP, ORBITS = 108, 128, 25  # quick: 6, 7, 4
orbit, up = 2 * np.pi, np.array([0.0, 0.0, 1.0])
hyperion = ph.problems.hyperion()
angles, rates = np.linspace(-np.pi / 2, np.pi / 2, ACROSS), np.linspace(-0.2, 3.2, UP)
angle, rate = (values.ravel() for values in np.meshgrid(angles, rates))
many = ph.solve_ensemble(
    hyperion,
    (0, ORBITS * orbit),
    vary={"attitude": Rotation.from_rotvec(np.outer(angle, up)), "omega": np.outer(rate, up)},
    method="mr4",
    dt=orbit / 60,
    save="final",
    reduce=[ph.reductions.FLI(tangents=np.eye(6)[:, [2]])],  # a turn about the third axis
)
fli = many.reductions["fli"].reshape(UP, ACROSS)
run = ph.solve(many.problem(int(fli.argmax())), (0, ORBITS * orbit), rtol=1e-10)
view = {"show": {"poinsot": False}, "tolerance": 0.02}

# ---- picture
# A map over angle and rate: dark islands of regular motion in a bright sea, with fine bright lines
# between the resonances below and above.
fig, ax = plt.subplots(figsize=(6.4, 4.8))
degrees = np.degrees(angles)
image = ax.pcolormesh(degrees, rates, np.maximum(fli, 0), cmap="magma", vmin=1, vmax=25)
fig.colorbar(image, label="FLI", extend="max")
ax.set(title="Hyperion at periapsis", xlabel="long axis (degrees)", ylabel="rate / mean motion")
ax.set(xticks=range(-90, 91, 45))
ax.grid(False)
plt.show()

# ---- checks
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

A, B, C = hyperion.body.principal_moments
looks = np.arange(0, ORBITS * 60 + 1, 10) * orbit / 60  # at every tenth step


def variation(t, y, e=0.1):
    """The angle, and a small change of it."""
    anomaly = brentq(lambda x: x - e * np.sin(x) - t, t - e, t + e, xtol=1e-15)
    r, f = 1 - e * np.cos(anomaly), np.arctan2(np.sqrt(1 - e * e) * np.sin(anomaly), np.cos(anomaly) - e)
    k = 1.5 * (B - A) / C / r**3
    return y[1], -k * np.sin(2 * (y[0] - f)), y[3], -2 * k * np.cos(2 * (y[0] - f)) * y[2]


off = 0.0
regular = np.flatnonzero(fli.ravel() < np.log(ORBITS * orbit) + 1)
for k in regular[:: max(len(regular) // 5, 1)]:
    start = angle[k], rate[k], 1.0, 0.0
    path = solve_ivp(variation, (0, looks[-1]), start, "DOP853", looks, rtol=1e-9, atol=1e-9).y
    off = max(off, abs(np.log(np.hypot(path[2], path[3])).max() - fli.ravel()[k]))
checks = {"FLI of regular pixels, against SciPy's DOP853 for the variational equation": (off, 0.05)}
measured = {"orbits": ORBITS}
