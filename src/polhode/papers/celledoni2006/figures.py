"""Figures 1 to 8 of Celledoni & Säfström (2006), with what the library offers today beside them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.papers.celledoni2006.laboratory import (
    EXAMPLES,
    SATELLITE_STEPS,
    THREE,
    TODAY,
    TOP_STEPS,
    Laboratory,
    Study,
    Swing,
    label,
    short_label,
    vertical,
)
from polhode.papers.drawing import curve, globe, legend, save, sheet
from polhode.plot import style
from polhode.results.trajectory import Trajectory

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOOK = {  # colour, marker and its size
    "mr2": (style.BLUE, "o", 5),
    "mr4": (style.SKY, "s", 5),
    "mr4s": (style.SKY, "s", 5),
    "dmv2": (style.PURPLE, "v", 5),
    "dmv4": (style.ORANGE, "^", 5),
    "dmv6": (style.GREEN, "D", 5),
    "je": (style.RED, "X", 7),
    "jem2": (style.ORANGE, "v", 5),
    "jem4": (style.RED, "D", 5),
    "sej": (style.ORANGE, "v", 5),
    "sej4": (style.RED, "D", 5),
    "strang": (style.INK, "*", 7),
}
BEYOND = ("mr4s", "strang")  # not in the paper: dashed, open
TIME = "execution time (steps of MR2)"
LEAST = 1e-16  # errors of 0 are drawn here, and the legend says so
WORK: dict[str, tuple[Sequence[str], dict[str, str]]] = {  # figures 1 to 3: methods, quantities
    "euler": (
        ("mr2", "mr4", "dmv2", "dmv4", "dmv6", "je", "mr4s"),
        {"π": r"$\|\pi - \pi_{\mathrm{ref}}\|_2$"},
    ),
    "frb": (
        ("mr2", "mr4", "jem2", "jem4", "strang"),
        {"both": r"$\|(\pi, Q) - (\pi, Q)_{\mathrm{ref}}\|_2$"},
    ),
    "top": (
        (*THREE, TODAY),
        {
            "Q": r"$\|Q - Q_{\mathrm{ref}}\|_2$",
            "π": r"$\|\pi - \pi_{\mathrm{ref}}\|_2$  ($\|\pi\|$ = 78 740)",
        },
    ),
}


def draw(laboratory: Laboratory, out: Path) -> tuple[Path, ...]:
    """Draw all eight as PNG files in ``out``."""
    laboratory.progress("figures")
    lab, top, satellite = laboratory, laboratory.top, laboratory.satellite
    pictures = [
        *(_work(EXAMPLES[name].title, lab.studies[name], *shown) for name, shown in WORK.items()),
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
                [(short_label(n), satellite.runs[n, h]) for n in (*THREE, TODAY)],
                satellite.curve[::4],
                relative=True,
            )
            for h in SATELLITE_STEPS
        ),
    ]
    return save(pictures, out)


# ---- figures 1 to 3
def _work(
    title: str, study: Study, names: Sequence[str], quantities: Mapping[str, str]
) -> "Figure":
    """Draw errors against execution times, a panel for each quantity with its title."""
    size = (7.5, 4.4) if len(quantities) == 1 else (9.5, 4.2)
    picture = sheet(*size, f"{title}: error at $t$ = 1 against execution time")
    panels = picture.subplots(1, len(quantities), sharex=True, squeeze=False)[0]
    for ax, (quantity, written) in zip(panels, quantities.items(), strict=True):
        ax.set(xscale="log", yscale="log")
        for name in names:
            found = study.errors[quantity][name]
            text = _label(name, found)
            marks = {"markeredgewidth": 1.1, "linewidth": 1.3, "label": text}
            errors = np.maximum(found, LEAST)
            curve(ax, study.time(name), errors, LOOK[name], name not in BEYOND, **marks)
        ax.yaxis.minorticks_off()
        style.dress(ax, "", TIME, written)
    legend(picture, panels[0])
    return picture


def _label(name: str, errors: np.ndarray) -> str:
    """Return the name of a method, and which of its errors a logarithmic axis cannot show."""
    missing = int(np.count_nonzero(errors < LEAST))
    if not missing:
        return label(name)
    whole = missing == len(errors)
    share = "every error is 0" if whole else f"{missing} of {len(errors)} errors is 0"
    return f"{label(name)}\n({share},\ndrawn at {LEAST:g})"


# ---- figures 4, 5, 7, 8
def _trajectories(
    title: str, runs: Sequence[tuple[str, Trajectory]], exact: np.ndarray, relative: bool = False
) -> "Figure":
    """A row for each run: the path on the sphere, and the energy error."""
    picture = sheet(8.2, 0.4 + 2.6 * len(runs), title)
    panels = picture.subplots(len(runs), 2, width_ratios=(1, 1.75), sharex="col")
    for (name, run), (left, right) in zip(runs, panels, strict=True):
        _sphere(left, vertical(run), exact, LOOK[run.method][0])
        left.set_title(name, loc="left", fontsize=10, color=style.INK, fontweight="bold")
        found = Swing(run)
        error = found.error / abs(found.start) if relative else found.error
        right.plot(run.t, error, color=LOOK[run.method][0], linewidth=0.4)
        right.axhline(0.0, color=style.INK, linewidth=0.6)
        right.margins(x=0)
        right.ticklabel_format(axis="y", style="sci", scilimits=(-2, 4), useMathText=True)
        right.yaxis.get_offset_text().set_fontsize(8)
        style.dress(right, "", "", "$H/H_0 - 1$" if relative else "$H - H_0$")
    panels[-1][1].set_xlabel("time", fontsize=9, color=style.INK)
    return picture


def _sphere(ax: "Axes", path: np.ndarray, exact: np.ndarray, colour: str) -> None:
    """Draw a path on the unit sphere over the exact one, body axis 3 upwards; its back is faint."""
    eye = globe(ax, 20.0, 40.0)
    points = exact @ eye.T
    points = points[points[:, 2] >= 0]
    dots: dict[str, Any] = {"linestyle": "", "marker": ".", "markeredgewidth": 0}
    ax.plot(points[:, 0], points[:, 1], color=style.FAINT, markersize=1.6, **dots)
    points = path @ eye.T
    front, size = points[:, 2] >= 0, float(np.clip(100 / np.sqrt(len(path)), 1.4, 3.0))
    for part, alpha in ((~front, 0.15), (front, 0.8)):
        ax.plot(
            points[part, 0], points[part, 1], color=colour, alpha=alpha, markersize=size, **dots
        )
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
            look, marks = (*LOOK[name][:2], 4), {"linewidth": 1.2, "label": short_label(name)}
            curve(ax, lab.alphas[panel], values, look, name not in BEYOND, **marks)
        ax.set(xscale="log", yscale="log")
        ax.minorticks_off()
        style.dress(ax, titles[panel], r"$\alpha$", r"mean of $|\mathcal{H} - \mathcal{H}_n|$")
    legend(picture, panels[0])
    return picture
