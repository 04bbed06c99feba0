"""Three figures for Mandre (2008), which has none: normalisation, orders, a tennis racket."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from polhode import problems
from polhode.papers.drawing import legend, save, sheet
from polhode.papers.mandre2008.laboratory import SPAN, STEP, Laboratory
from polhode.plot import rates, style
from polhode.plot.space import eye
from polhode.solvers.entry import solve

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOOK = {
    "as printed, never": (style.GREY, (0, (4, 2))),
    "as printed, every 1000": (style.RED, "-"),
    "as printed, every step": (style.ORANGE, "-"),
    "q⁻¹, every step": (style.SKY, "-"),
    "q⁻¹, every 1000": (style.INK, (0, (1, 2))),
    "q⁻¹, momentum kept": (style.PURPLE, "-"),
}
FLOOR = 1e-12


def draw(lab: Laboratory, out: Path) -> tuple[Path, ...]:
    """All three, as PNG files in ``out``."""
    lab.progress("figures")
    return save([_normalisation(lab), _orders(lab), _racket()], out)


# ---- figure 1
def _normalisation(lab: Laboratory) -> "Figure":
    picture = sheet(
        10.0, 4.2, f"Free tumbling, moments 1, 2, 3, $h$ = {STEP}: what is normalised when"
    )
    panels = picture.subplots(1, 2, sharex=True)
    for ax, quantity, label in zip(
        panels,
        ("energy", "attitude"),
        ("energy error $|\\Delta E / E|$", "attitude error (rad)"),
        strict=True,
    ):
        for name, (colour, dash) in LOOK.items():
            values = np.maximum.accumulate(lab.changes(name)[quantity])
            times = lab.tumbling[name].t
            ax.plot(times, np.maximum(values, FLOOR), color=colour, linestyle=dash, label=name)
        ax.set_yscale("log")
        ax.set_xlim(0, SPAN)
        ax.set_ylim(bottom=1e-9)
        style.dress(ax, "", "time", f"largest {label} so far")
    legend(picture, panels[0])
    return picture


# ---- figure 2
def _orders(lab: Laboratory) -> "Figure":
    picture = sheet(
        10.0, 4.2, "Orders: section 6 with a torque (left), section 7.5 on a spring (right)"
    )
    left, right = picture.subplots(1, 2)
    both = "as printed, normalised"
    for ax, study, name, colour, mark in (
        (left, lab.spinning["as printed"], "as printed", style.RED, "s"),
        (left, lab.spinning[both], both, style.ORANGE, "D"),
        (left, lab.spinning["q⁻¹"], "q⁻¹", style.BLUE, "o"),
        (right, lab.flights["apart"], "the halves apart", style.RED, "s"),
        (right, lab.flights["spring"], "joint", style.BLUE, "o"),
    ):
        label = f"{name}: order {study.orders[0]:.2f}"
        ax.plot(study.steps, study.errors[:, 0], marker=mark, color=colour, ms=5, label=label)
    for ax, label in ((left, "attitude error (rad)"), (right, "error of the position (m)")):
        ax.set(xscale="log", yscale="log")
        ax.minorticks_off()
        steps = ax.get_lines()[0].get_xdata()
        ax.set_xticks(steps, [f"{float(h):g}" for h in steps])
        style.dress(ax, "", "step $h$ (s)", label)
        style.legend(ax, "inside")
    return picture


# ---- figure 3
RING, GRIP = 0.13, (-0.135, -0.555)  # the head; the handle along x, from its middle
FRAMES, PACE = 11, 6.0  # images of the racket, and their speed to the right (m/s)


def _racket() -> "Figure":
    problem = problems.tennis_racket()
    run = solve(problem, (0.0, 1.0), method="rkn4", dt=0.002)
    turn = np.linspace(0, 2 * np.pi, 73)
    flat = np.zeros_like(turn)
    ring = np.stack([RING * np.cos(turn), RING * np.sin(turn), flat], axis=1) - problem.body.centre
    grip = np.array([[x, 0.0, 0.0] for x in GRIP]) - problem.body.centre
    picture = sheet(10.0, 6.4, "A tennis racket thrown up, spinning about its middle axis")
    top, bottom = picture.subplots(2, 1, height_ratios=(3, 2))
    basis = eye(20.0, -70.0)
    ahead = np.outer(run.t, basis[0] * PACE)

    def seen(points: np.ndarray) -> np.ndarray:
        return (points + ahead.reshape(len(run), *(1,) * (points.ndim - 2), 3)) @ basis.T

    tip = seen(run.point_position(grip[1]))
    top.plot(tip[:, 0], tip[:, 1], color=style.GREY, linewidth=0.8, label="end of the handle")
    centre = seen(run.x)
    top.plot(centre[:, 0], centre[:, 1], color=style.INK, linewidth=0.8, label="centre of mass")
    rings, grips = seen(run.point_position(ring)), seen(run.point_position(grip))
    towards = run.to_inertial([0.0, 0.0, 1.0]) @ basis[2]
    for k in np.linspace(0, len(run) - 1, FRAMES).round().astype(int):
        colour = style.BLUE if towards[k] > 0 else style.ORANGE
        top.fill(rings[k, :, 0], rings[k, :, 1], color=colour, alpha=0.55, linewidth=0)
        top.plot(rings[k, :, 0], rings[k, :, 1], color=style.INK, linewidth=0.9)
        top.plot(grips[k, :, 0], grips[k, :, 1], color=style.INK, linewidth=2.4)
    for name, colour in (("one face", style.BLUE), ("the other", style.ORANGE)):
        top.fill([], [], color=colour, alpha=0.55, label=name)
    top.set_aspect("equal")
    top.set_axis_off()
    style.legend(top, "below")
    rates(run, bottom)
    return picture
