"""What normalisation cures and what it does not: a free body by RKN4, as printed and with q⁻¹.

Compares the length of q, the energy, the angular momentum and the attitude with the closed form.
"""

import numpy as np
from matplotlib.figure import Figure

import polhode as ph
from polhode import plot
from polhode.plot import style

BODY, OMEGA = ph.RigidBody([1.0, 2.0, 3.0]), [1.0, 1.0, 1.0]
WAYS = {  # options and line style
    "as printed, never": ({"as_printed": True, "normalise_every": 0}, style.GREY, (0, (4, 2))),
    "as printed, every 1000 steps": ({"as_printed": True}, style.RED, "-"),
    "as printed, every step": ({"as_printed": True, "normalise_every": 1}, style.ORANGE, "-"),
    "q⁻¹, every step": ({}, style.SKY, "-"),
    "q⁻¹, never": ({"normalise_every": 0}, style.GREEN, (0, (4, 4))),
    "q⁻¹, every 1000 steps": ({"normalise_every": 1000}, style.INK, (0, (1, 4))),
    "q⁻¹, momentum kept": ({"keep_momentum": True}, style.PURPLE, "-"),
}
LABELS = {
    "length": "$||q| - 1|$",
    "energy": "$|\\Delta E / E|$",
    "momentum": "$|\\Delta L| / |L|$, inertial axes",
    "attitude": "angle (rad)",
}

problem = ph.Problem(BODY, omega=OMEGA)
exact = ph.exact_free_motion(BODY, None, OMEGA, np.linspace(0, 100, 4001))


def errors(options):
    run = ph.solve(problem, (0, 100), method="rkn4", dt=0.025, options=options)
    momentum = run.to_inertial(run.angular_momentum)  # for q of any length
    off = np.linalg.norm(momentum - momentum[0], axis=1) / np.linalg.norm(momentum[0])
    return {
        "length": abs(np.linalg.norm(run.q, axis=1) - 1),
        "energy": abs(run.energy / run.energy[0] - 1),
        "momentum": off,
        "attitude": 2 * np.arcsin(run.frame_error(exact) / np.sqrt(8)),
    }


found = {name: errors(options) for name, (options, *_) in WAYS.items()}
run = ph.solve(problem, (0, 100), method="rkn4", dt=0.025)
run.save("normalisation.nc")
print(run)
print(f"{'':30}", *(f"{name:>9}" for name in LABELS))
for name, of in found.items():
    print(f"{name:30}", *(f"{values.max():9.1e}" for values in of.values()))

best = found["q⁻¹, every step"]
assert best["energy"].max() < 4e-7
assert found["as printed, every 1000 steps"]["energy"].max() > 100 * best["energy"].max()
assert np.isclose(found["q⁻¹, never"]["attitude"][-1], best["attitude"][-1], rtol=1e-4)
assert found["q⁻¹, momentum kept"]["momentum"].max() < 1e-14

sheet = Figure(figsize=(10, 6.4), layout="constrained")
for ax, (quantity, label) in zip(
    sheet.subplots(2, 2, sharex=True).flat, LABELS.items(), strict=True
):
    for name, (_, colour, dash) in WAYS.items():
        largest = np.maximum(np.maximum.accumulate(found[name][quantity]), 1e-16)
        ax.plot(exact.t, largest, color=colour, linestyle=dash, linewidth=1.4, label=name)
    ax.set_yscale("log")
    ax.set_xlim(0, 100)
    ax.set_ylim(bottom=1e-9 if quantity in ("energy", "attitude") else 1e-16)
    style.dress(ax, quantity, "time (s)", f"{label}, largest so far")
sheet.legend(
    *sheet.axes[0].get_legend_handles_labels(),
    loc="outside lower center",
    ncols=4,
    fontsize=8,
    frameon=False,
)
plot.save(sheet.axes[0], "normalisation.png", dpi=130)
