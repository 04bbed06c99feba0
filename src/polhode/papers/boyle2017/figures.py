"""Figures 1 to 5 of Boyle (2017)."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from polhode.papers.boyle2017.by_hand import binary, frame, rotate
from polhode.papers.boyle2017.laboratory import (
    BS,
    DP,
    EARLY,
    FIGURE_3,
    FIGURE_5,
    NAIVE,
    RESET,
    ROTOR,
    STAND_INS,
    TWO,
    Laboratory,
    Study,
)
from polhode.papers.drawing import curve, globe, legend, plain_numbers, save, sheet
from polhode.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOOK = {  # colour, marker, size
    ROTOR: (style.BLUE, "o", 4.0),
    TWO: (style.GREEN, "s", 4.0),
    NAIVE: (style.ORANGE, "^", 4.0),
    RESET: (style.RED, "D", 4.0),
}
LABELS = {
    DP: "D-P",
    BS: "B-S",
    ROTOR: "rotor",
    TWO: "two vectors",
    NAIVE: "generator",
    RESET: "reset generator",
}
TITLES = {
    "zupan-saje-regular": r"$\vartheta$ = (1.5 cos 2t, 1.5 sin 2t, 0.5 sin t)",
    "zupan-saje-vibrational": r"$\vartheta$ = 0.1 (sin 10t, sin 10$\sqrt{2}$t, cos 10t - 1)",
    "zupan-saje-strongly-vibrational": r"$\vartheta$ = 0.01 (sin 100t, cos 100t - 1, sin 73t)",
    "zupan-saje-unbounded": r"$\vartheta$ = t² (cos t, sin t, 1)/$\sqrt{2}$",
}


def draw(lab: Laboratory, out: Path) -> tuple[Path, ...]:
    """All five, as PNG files in ``out``."""
    lab.progress("figures")
    pictures = [_orbit(), _rotor_errors(lab), _work(lab), _variables(lab), _examples(lab)]
    return save(pictures, out)


# ---- figure 1
def _orbit() -> "Figure":
    """The paths of the rotated z and x on the unit sphere; the far side is faint."""
    picture = sheet(6.4, 5.6, "Precessing binary: paths of the orbital axis and the separation")
    ax = picture.subplots()
    eye = globe(ax, 22.0, 35.0)
    t = np.linspace(0.0, EARLY, 8001)
    for vector, colour, label in (
        ((0.0, 0.0, 1.0), style.BLUE, "orbital axis, z"),
        ((1.0, 0.0, 0.0), style.RED, "separation, x"),
    ):
        seen = rotate(binary(t), np.array(vector)) @ eye.T
        front = np.where(seen[:, 2:] >= 0, seen, np.nan)
        ax.plot(seen[:, 0], seen[:, 1], color=colour, linewidth=0.5, alpha=0.25)
        ax.plot(front[:, 0], front[:, 1], color=colour, linewidth=1.1, label=label)
    ax.set_aspect("equal")
    ax.axis("off")
    ax.legend(loc="lower right", fontsize=9, frameon=False, labelcolor=style.INK)
    return picture


# ---- figure 2
def _rotor_errors(lab: Laboratory) -> "Figure":
    runs = lab.rotor_runs
    picture = sheet(7.5, 4.6, "Rotor by Dormand-Prince: error norm for falling tolerances")
    ax = picture.subplots()
    shades = np.linspace(0.25, 1.0, len(runs))
    for shade, tolerance in zip(shades, sorted(runs, reverse=True), strict=True):
        run = runs[tolerance]
        shown = run.error > 0
        look = {"color": style.BLUE, "alpha": float(shade), "linewidth": 0.6}
        ax.semilogy(run.t[shown], run.error[shown], **look)
        ax.annotate(
            f"$10^{{{round(np.log10(tolerance))}}}$",
            (run.t[-1], run.error[-1]),
            (4, -10 if tolerance < 2e-14 else -3),
            textcoords="offset points",
            fontsize=8,
            color=style.INK,
            annotation_clip=False,
        )
    ax.set_xlim(0, lab.end * 1.06)
    plain_numbers(ax.xaxis)
    ax.set_ylim(min(run.error[run.t > lab.end / 50].min() for run in runs.values()) / 3, None)
    style.dress(ax, "", "time", r"error norm $\delta(t)$")
    return picture


# ---- figures 3 and 5
def _curves(ax: "Axes", study: Study, names: tuple[str, ...], of: str) -> None:
    from matplotlib.ticker import LogLocator, NullLocator

    for integrator in (DP, BS):
        for name in names:
            x, y = (study.numbers(integrator, name, what) for what in (of, "worst"))
            label = f"{LABELS[name]}, {LABELS[integrator]}"
            curve(ax, x, y, LOOK[name], integrator == DP, linewidth=1.3, label=label)
    ax.set(xscale="log", yscale="log")
    low, high = ax.get_xlim()  # ticks at few numbers of each decade, written plainly
    subs = (1.0,) if high > 50 * low else (1.0, 2.0, 5.0) if high > 8 * low else (1, 2, 3, 5, 7)
    ax.xaxis.set_major_locator(LogLocator(subs=subs))
    plain_numbers(ax.xaxis, ",g")
    ax.xaxis.set_minor_locator(NullLocator())


def _work(lab: Laboratory) -> "Figure":
    picture = sheet(
        12.0, 4.6, f"Precessing binary, {lab.end / 1000:.0f} orbits: largest error norm"
    )
    panels = picture.subplots(1, 3, sharey=True)
    labels = f"time, {lab.form} (s)", "evaluations of the derivative", "steps"
    for ax, of, label in zip(panels, ("seconds", "evaluations", "steps"), labels, strict=True):
        _curves(ax, lab.study, FIGURE_3, of)
        style.dress(ax, "", label, r"largest $\delta$" if of == "seconds" else "")
    legend(picture, panels[0])
    return picture


def _examples(lab: Laboratory) -> "Figure":
    """By steps, as the appendix says, and by evaluations, as the caption of the figure says."""
    picture = sheet(15.0, 7.0, "Stand-ins for the examples of Zupan & Saje: largest error norm")
    panels = picture.subplots(2, len(STAND_INS), sharey="col")
    labels = "steps", "evaluations of the derivative"
    for row, of, label in zip(panels, ("steps", "evaluations"), labels, strict=True):
        for ax, problem in zip(row, STAND_INS, strict=True):
            _curves(ax, lab.stand_ins[problem], FIGURE_5, of)
            title = (
                f"{TITLES[problem.name]}\nt = 0 … {lab.span(problem):g}" if of == "steps" else ""
            )
            style.dress(ax, title, label, r"largest $\delta$" if ax is row[0] else "")
    legend(picture, panels[0, 0])
    return picture


# ---- figure 4
def _variables(lab: Laboratory) -> "Figure":
    picture = sheet(9.0, 8.0, "Precessing binary: what is integrated, over the first 20 orbits")
    panels = picture.subplots(4, 1, sharex=True)
    t = np.linspace(0.0, EARLY, 4001)
    curves = {
        TWO: (t, frame(binary(t))[:, :2].reshape(-1, 6)),
        ROTOR: (t, binary(t)),
        NAIVE: (lab.early[NAIVE].t, lab.early[NAIVE].y),
        RESET: (lab.early[RESET].t, lab.early[RESET].y),
    }
    shades = style.BLUE, style.ORANGE, style.GREEN, style.RED, style.PURPLE, style.SKY
    for ax, (name, (times, values)) in zip(panels, curves.items(), strict=True):
        if name == RESET:  # lines end at a reset
            jumps = np.flatnonzero(np.linalg.norm(np.diff(values, axis=0), axis=1) > 1.0) + 1
            times = np.insert(times, jumps, np.nan)
            values = np.insert(values, jumps, np.nan, axis=0)
        for column, colour in zip(values.T, shades, strict=False):
            ax.plot(times, column, color=colour, linewidth=0.9)
        if name in (NAIVE, RESET):
            ax.set_ylim(-np.pi, np.pi)
            ax.set_yticks([-np.pi, 0, np.pi], ["-π", "0", "π"])
        ax.margins(x=0)
        style.dress(ax, LABELS[name], "", "")
    panels[-1].set_xlabel("time", fontsize=9, color=style.INK)
    return picture
