"""Figures 1 to 5 of Krysl (2006)."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from polhode.papers.drawing import curve, legend, plain_numbers, save, sheet
from polhode.papers.krysl2006.laboratory import (
    ALL,
    CHANGE,
    COMPARED,
    EXAMPLES,
    PRESENT,
    WALL_STEP,
    Convergence,
    Laboratory,
)
from polhode.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOOK = {  # colour, marker and its size: larger marks show where curves coincide
    "akw": (style.GREY, "X", 8.0),
    "bbtrap": (style.PURPLE, "s", 8.0),
    "swc1": (style.ORANGE, "D", 5.0),
    "trap": (style.SKY, "v", 7.0),
    "imid": (style.BLUE, "^", 5.0),
    "trapm": (style.GREEN, "p", 7.5),
    "imidm": (style.RED, "o", 5.0),
}
FOUR = 0.075  # half the height of figure 4; figure 5 has a fifth of it


def draw(laboratory: Laboratory, out: Path) -> tuple[Path, ...]:
    """Draw all five as PNG files in ``out``."""
    laboratory.progress("figures")
    pictures = [
        _convergence(f"{EXAMPLES[name].title}: error at $t$ = {EXAMPLES[name].t_end:g}", study)
        for name, study in laboratory.convergence.items()
    ]
    wall = "Soft wall (printed sign): normalised Hamiltonian of the"
    chaos = f"chaotic: each curve is one of many, with starts {CHANGE:g} apart"
    pictures.append(
        _hamiltonian(laboratory, COMPARED, FOUR, f"{wall} methods compared with\n({chaos})")
    )
    pictures.append(
        _hamiltonian(laboratory, PRESENT, FOUR / 5, f"{wall} present methods, scale 5 : 1")
    )
    return save(pictures, out)


# ---- figures 1 to 3
def _convergence(title: str, study: Convergence) -> "Figure":
    """Errors against step sizes; the methods compared with are dashed, with open marks."""
    picture = sheet(9.0, 4.2, title)
    picture.get_layout_engine().set(wspace=0.06)  # type: ignore[union-attr, call-arg]
    panels = picture.subplots(1, 2, sharex=True)
    quantities = (
        "body momentum  $\\|\\Pi - \\Pi_{\\mathrm{ref}}\\|_2$",
        "attitude matrix  $\\|R - R_{\\mathrm{ref}}\\|_2$",
    )
    for ax, errors, quantity in zip(panels, study.errors.values(), quantities, strict=True):
        for name in ALL:
            present = name in PRESENT
            order = 3 - LOOK[name][2] / 10 + 0.3 * present
            marks = {"markeredgewidth": 1.2, "linewidth": 1.3, "zorder": order}
            curve(ax, study.steps, errors[name], LOOK[name], present, label=name.upper(), **marks)
        _second_order(ax, study.steps, min(float(errors[name][-1]) for name in ALL))
        ax.set(xscale="log", yscale="log")
        style.dress(ax, "", r"step $\Delta t$", f"error in {quantity}")
    legend(picture, panels[0], 0.9)
    return picture


def _second_order(ax: "Axes", steps: np.ndarray, lowest: float) -> None:
    """Draw a triangle of slope 2 below the curves."""
    x = np.array([steps[-1] * 1.3, steps[-1] * 1.3 * 2.5])
    y = 0.28 * lowest * (x / steps[-1]) ** 2
    ax.plot([*x, x[1], x[0]], [*y, y[0], y[0]], color=style.INK, linewidth=0.8)
    middle = float(np.sqrt(x[0] * x[1])), float(np.sqrt(y[0] * y[1]))
    ax.annotate(
        "1", (middle[0], y[0]), (0, -9), textcoords="offset points", fontsize=8, ha="center"
    )
    ax.annotate("2", (x[1], middle[1]), (4, -3), textcoords="offset points", fontsize=8)


# ---- figures 4 and 5
def _hamiltonian(
    laboratory: Laboratory, names: tuple[str, ...], half: float, title: str
) -> "Figure":
    """H/H0 over the steps, a panel for each method; ``half`` is half the height of a panel."""
    picture = sheet(9.0, 1.0 + 1.45 * len(names), title)
    panels = picture.subplots(len(names), 1, sharex=True, sharey=True)
    for ax, name in zip(panels, names, strict=True):
        values = laboratory.hamiltonian[name]
        ax.plot(np.arange(len(values)), values, color=LOOK[name][0], linewidth=0.25)
        ax.axhline(1.0, color=style.INK, linewidth=0.6)
        ax.set_ylim(1 - half, 1 + half)
        ax.margins(x=0)
        found = laboratory.nearby[name].extremes
        least, most = (f"{error:.4f}" for error in (found.min(), found.max()))
        spread = most if least == most else f"{least} to {most}"
        title = f"{name.upper()}: largest error {spread} in {len(found)} runs"
        style.dress(ax, title, "", "$H / H_0$")
    plain_numbers(panels[-1].xaxis)
    panels[-1].set_xlabel(rf"step ($\Delta t$ = {WALL_STEP})", fontsize=9, color=style.INK)
    return picture
