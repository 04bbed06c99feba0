"""Figures 1 to 8 of Celledoni & Säfström (2006), with what the library has today beside them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.papers.celledoni2006.laboratory import (
    SATELLITE_STEPS,
    THREE,
    TODAY,
    TOP_STEPS,
    Laboratory,
    Study,
    shown,
    swing,
    vertical,
)
from polhode.papers.drawing import globe, legend, saved, sheet
from polhode.plot import style
from polhode.results.trajectory import Trajectory

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOUR = {
    "mr2": style.BLUE,
    "mr4": style.SKY,
    "mr4s": style.SKY,
    "dmv2": style.PURPLE,
    "dmv4": style.ORANGE,
    "dmv6": style.GREEN,
    "je": style.RED,
    "jem2": style.ORANGE,
    "jem4": style.RED,
    "sej": style.ORANGE,
    "sej4": style.RED,
    "strang": style.INK,
}
MARKER = {
    "mr2": "o",
    "mr4": "s",
    "mr4s": "s",
    "dmv2": "v",
    "dmv4": "^",
    "dmv6": "D",
    "je": "X",
    "jem2": "v",
    "jem4": "D",
    "sej": "v",
    "sej4": "D",
    "strang": "*",
}
BEYOND = ("mr4s", "strang")  # not in the paper: dashed, open
NAMES = {"mr2": "MR", "strang": "Strang, exact flow"}
TIME = "execution time (steps of MR2)"
LEAST = 1e-16  # where errors of 0 are drawn


def draw(laboratory: Laboratory, out: Path) -> tuple[Path, ...]:
    """All eight, as PNG files in ``out``."""
    laboratory.progress("figures")
    lab, top, satellite = laboratory, laboratory.top, laboratory.satellite
    pictures = [
        _euler(lab.studies["euler"]),
        _free_body(lab.studies["frb"]),
        _heavy_top(lab.studies["top"]),
        *(
            _trajectories(
                f"Heavy top, {name}: $u = Q\\,u_0$ (grey: exact) and the energy error",
                [(f"$h$ = {h}", top.runs[key, h]) for h in TOP_STEPS],
                top.curve,
            )
            for name, key in (("SEJ", "sej"), ("MR", "mr2"))
        ),
        _alphas(lab),
        *(
            _trajectories(
                f"Satellite, $h$ = {h}: $Q\\,e_3$ (grey: exact) and the relative energy error",
                [(NAMES.get(n, shown(n)), satellite.runs[n, h]) for n in (*THREE, TODAY)],
                satellite.curve[::4],
                relative=True,
            )
            for h in SATELLITE_STEPS
        ),
    ]
    return saved(pictures, out)


# ---- figures 1 to 3
def _work(ax: "Axes", study: Study, errors: Mapping[str, np.ndarray], names: Sequence[str]) -> None:
    for name in names:
        beyond = name in BEYOND
        ax.loglog(
            study.time(name),
            np.maximum(errors[name], LEAST),
            color=COLOUR[name],
            marker=MARKER[name],
            markersize=7 if MARKER[name] in "*X" else 5,
            markerfacecolor="white" if beyond else COLOUR[name],
            markeredgewidth=1.1,
            linestyle=(0, (4, 2)) if beyond else "-",
            linewidth=1.3,
            label=shown(name),
        )
    ax.yaxis.minorticks_off()


def _euler(study: Study) -> "Figure":
    picture = sheet(7.5, 4.4, "Euler's equations: error at $t$ = 1 against execution time")
    ax = picture.subplots()
    names = ("mr2", "mr4", "dmv2", "dmv4", "dmv6", "je", "mr4s")
    _work(ax, study, study.momentum, names)
    style.dress(ax, "", TIME, r"$\|\pi - \pi_{\mathrm{ref}}\|_2$")
    legend(picture, ax)
    return picture


def _free_body(study: Study) -> "Figure":
    picture = sheet(7.5, 4.4, "Free rigid body: error at $t$ = 1 against execution time")
    ax = picture.subplots()
    names = ("mr2", "mr4", "jem2", "jem4", "strang")
    _work(ax, study, {name: study.both(name) for name in names}, names)
    style.dress(ax, "", TIME, r"$\|(\pi, Q) - (\pi, Q)_{\mathrm{ref}}\|_2$")
    legend(picture, ax)
    return picture


def _heavy_top(study: Study) -> "Figure":
    picture = sheet(9.5, 4.2, "Heavy top: error at $t$ = 1 against execution time")
    left, right = picture.subplots(1, 2, sharex=True)
    names = ("mr2", "sej", "sej4", "strang")
    _work(left, study, study.attitude, names)
    style.dress(left, "", TIME, r"$\|Q - Q_{\mathrm{ref}}\|_2$")
    _work(right, study, study.momentum, names)
    style.dress(right, "", TIME, r"$\|\pi - \pi_{\mathrm{ref}}\|_2$  ($\|\pi\|$ = 78 740)")
    legend(picture, left)
    return picture


# ---- figures 4, 5, 7, 8
def _trajectories(
    title: str,
    runs: Sequence[tuple[str, Trajectory]],
    exact: np.ndarray,
    relative: bool = False,
) -> "Figure":
    """A row for each run: the path on the sphere, and the energy error."""
    picture = sheet(8.2, 0.4 + 2.6 * len(runs), title)
    panels = picture.subplots(len(runs), 2, width_ratios=(1, 1.75), sharex="col")
    for (name, run), (left, right) in zip(runs, panels, strict=True):
        _sphere(left, vertical(run), exact, COLOUR[run.method])
        left.set_title(name, loc="left", fontsize=10, color=style.INK, fontweight="bold")
        found = swing(run)
        error = found.error / abs(found.start) if relative else found.error
        right.plot(run.t, error, color=COLOUR[run.method], linewidth=0.4)
        right.axhline(0.0, color=style.INK, linewidth=0.6)
        right.margins(x=0)
        right.ticklabel_format(axis="y", style="sci", scilimits=(-2, 4), useMathText=True)
        right.yaxis.get_offset_text().set_fontsize(8)
        style.dress(right, "", "", "$H/H_0 - 1$" if relative else "$H - H_0$")
    panels[-1][1].set_xlabel("time", fontsize=9, color=style.INK)
    return picture


def _sphere(ax: "Axes", path: np.ndarray, exact: np.ndarray, colour: str) -> None:
    """A path on the unit sphere, body axis 3 upwards, over the exact one; behind it is faint."""
    eye = globe(ax, 20.0, 40.0)
    seen = exact @ eye.T
    seen = seen[seen[:, 2] >= 0]
    dots: dict[str, Any] = {"linestyle": "", "marker": ".", "markeredgewidth": 0}
    ax.plot(seen[:, 0], seen[:, 1], color=style.FAINT, markersize=1.6, **dots)
    seen = path @ eye.T
    front, size = seen[:, 2] >= 0, float(np.clip(100 / np.sqrt(len(path)), 1.4, 3.0))
    for part, alpha in ((~front, 0.15), (front, 0.8)):
        ax.plot(seen[part, 0], seen[part, 1], color=colour, alpha=alpha, markersize=size, **dots)
    ax.set_aspect("equal")
    ax.set(xlim=(-1.05, 1.05), ylim=(-1.05, 1.05))
    ax.set_axis_off()


# ---- figure 6
def _alphas(lab: Laboratory) -> "Figure":
    picture = sheet(9.5, 4.0, "Heavy top: mean energy error against α, $h$ = 0.01, [0, 10]")
    panels = picture.subplots(1, 2)
    titles = {
        "a": r"(a) $\omega_0 = \alpha\,(1, 2, 3)$, $I = (1, 2, 3)$",
        "b": r"(b) $I = \alpha\,(1, 2, 3)$, $\omega_0 = (1, 2, 3)$",
    }
    for ax, (panel, errors) in zip(panels, lab.alpha_errors.items(), strict=True):
        for name, values in errors.items():
            beyond = name in BEYOND
            ax.loglog(
                lab.alphas[panel],
                values,
                color=COLOUR[name],
                marker=MARKER[name],
                markersize=4,
                markerfacecolor="white" if beyond else COLOUR[name],
                linestyle=(0, (4, 2)) if beyond else "-",
                linewidth=1.2,
                label=NAMES["mr2"] if name == "mr2" else shown(name),
            )
        ax.minorticks_off()
        style.dress(ax, titles[panel], r"$\alpha$", r"mean of $|\mathcal{H} - \mathcal{H}_n|$")
    legend(picture, panels[0])
    return picture
