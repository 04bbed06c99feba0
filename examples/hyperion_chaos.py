"""Maps of chaos: how fast neighbours of Hyperion's motions part, by the fast Lyapunov indicator.

Hyperion starts upright at periapsis, its long axis at an angle θ from there, with the rate θ'.  A
tangent in the plane of the orbit, (θ, θ') alone, tells whether the rotation in this plane is
chaotic; such a motion stays in the plane for ever if it is exact.  A tangent with all six
components also tells whether a body that is not quite upright tumbles.  Indicators grow as log t
along regular motions, and linearly along chaotic ones.

``--starts`` and ``--orbits`` set the number of starts along each side of a map, and how long they
are followed.  The picture of the gallery, 90 000 starts over 100 orbits twice:

    python hyperion_chaos.py --starts 300 --orbits 100
"""

import argparse
import time

import numpy as np
from matplotlib.colors import LogNorm
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode import plot
from polhode.plot import style

ORBIT, STEPS = 2 * np.pi, 200
UP = np.array([0.0, 0.0, 1.0])

options = argparse.ArgumentParser(description="Maps of chaos for Hyperion.")
options.add_argument("--starts", type=int, default=30, help="along each side of a map")
options.add_argument("--orbits", type=int, default=30)
arguments = options.parse_args()

hyperion = ph.problems.hyperion()
A, B, C = hyperion.body.principal_moments
theta = np.linspace(-np.pi / 2, np.pi / 2, arguments.starts)
rate = np.linspace(0.0, 3.2, arguments.starts)
IN_PLANE = [[0.0], [0.0], [1.0], [0.0], [0.0], [1.0]]  # rows θ and m, the axis of C being the third


def indicators(theta, rate, tangents, orbits, *kinds):
    """Return indicators of upright starts, one row for each kind."""
    turns = Rotation.from_rotvec(np.multiply.outer(theta, UP))
    result = ph.solve_ensemble(
        hyperion, (0, orbits * ORBIT), vary={"attitude": turns, "omega": np.outer(rate, UP)},
        method="mr2", dt=ORBIT / STEPS, save=None,
        reduce=[kind(tangents=tangents) for kind in kinds],
    )  # fmt: skip
    assert result.success.all()
    return list(result.reductions.values())


# ---- the planar equation and its variation by themselves, with SciPy
def planar(t, state, e=0.1):
    anomaly = brentq(lambda x: x - e * np.sin(x) - t, t - e, t + e, xtol=1e-15)
    r = 1 - e * np.cos(anomaly)
    f = np.arctan2(np.sqrt(1 - e * e) * np.sin(anomaly), np.cos(anomaly) - e)
    pull = 1.5 * (B - A) / C / r**3
    angle, spin, d_angle, d_spin = state
    return (
        spin,
        -pull * np.sin(2 * (angle - f)),
        d_spin,
        -2 * pull * np.cos(2 * (angle - f)) * d_angle,
    )


few = np.array([(0.0, 0.3), (0.4, 2.6), (np.pi / 2, 1.4), (0.0, 2.3)])
found, _ = indicators(*few.T, IN_PLANE, 5, ph.reductions.FLI, ph.reductions.MEGNO)
times = np.arange(0, 5 * STEPS + 1, 10) * ORBIT / STEPS
for start, fli in zip(few, found, strict=True):
    tangent = np.array([1.0, 1.0]) / np.sqrt(2)
    run = solve_ivp(
        planar, (0, times[-1]), [*start, *tangent], "DOP853", t_eval=times, rtol=1e-10, atol=1e-12
    )
    expected = np.log(np.hypot(*run.y[2:])).max()
    assert abs(fli - expected) < 0.02 * (1 + abs(expected)), (start, fli, expected)
print("five orbits: indicators agree with those of the planar equation by DOP853")

# ---- two maps
grid = [x.ravel() for x in np.meshgrid(theta, rate, indexing="ij")]
kinds = ph.reductions.FLI, ph.reductions.MEGNO
begun = time.perf_counter()
maps = {
    name: indicators(*grid, tangents, arguments.orbits, *kinds)
    for name, tangents in (("in the plane of the orbit", IN_PLANE), ("in any direction", 1))
}
seconds = (time.perf_counter() - begun) / 2
limit = np.log(arguments.orbits * ORBIT) + 3
shares = {name: (fli > limit).mean() for name, (fli, _) in maps.items()}
print(f"{grid[0].size} starts over {arguments.orbits} orbits: {seconds:.1f} s for a map, success")
for name, (fli, megno) in maps.items():
    quiet = np.median(megno[fli < limit])
    print(f"tangents {name}: {shares[name]:.0%} chaotic; median MEGNO of the others {quiet:.2f}")
    assert abs(quiet - 2.0) < 0.3
plane, space = (fli for fli, _ in maps.values())
assert 0.2 < shares["in the plane of the orbit"] < shares["in any direction"] < 0.95

# ---- the synchronous state is an island in the plane, and tumbles out of it
island = (np.hypot(grid[0] / 0.3, (grid[1] - 0.6) / 0.15) < 1) & (plane < limit)
print(f"starts in the synchronous island: {island.sum()}, of which {(space > limit)[island].sum()}"
      " tumble when they are tilted")  # fmt: skip
assert (space > limit)[island].mean() > 0.9

# ---- the picture
with style.drawn_in("dark"):
    sheet = style.figure((10.0, 5.4))
    axes = sheet.subplots(1, 2, sharey=True)
    top = max(fli.max() for fli, _ in maps.values())
    for ax, (name, (fli, _)) in zip(axes, maps.items(), strict=True):
        table = fli.reshape(arguments.starts, -1).T
        drawn = ax.pcolormesh(
            theta / np.pi, rate, table, norm=LogNorm(3.0, top), cmap="inferno", shading="nearest",
            rasterized=True,
        )  # fmt: skip
        style.dress(ax, f"Neighbours {name}", "θ at periapsis (half turns)", "")
        ax.grid(False)
    axes[0].set_ylabel("θ' at periapsis (orbital mean motions)", fontsize=9)
    axes[0].yaxis.label.set_color(style.theme().ink)
    bar = sheet.colorbar(drawn, ax=axes, pad=0.01)
    ticks = [3, 10, 30, 100, 300]
    bar.set_ticks([x for x in ticks if x <= top], labels=[str(x) for x in ticks if x <= top])
    bar.set_label(f"fast Lyapunov indicator after {arguments.orbits} orbits")
    bar.ax.yaxis.label.set_color(style.theme().ink)
    bar.ax.tick_params(which="both", colors=style.theme().ink, labelsize=8)
    file = plot.save(axes, "hyperion_chaos.png", dpi=110)
print(f"wrote {file}")
