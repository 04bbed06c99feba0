"""What the figures of the papers share: sheets, curves, legends, ticks, the globe, files."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure


def sheet(width: float, height: float, title: str) -> "Figure":
    """An empty figure, in inches, with its title at the left."""
    from matplotlib.figure import Figure

    picture = Figure(figsize=(width, height), layout="constrained")
    picture.suptitle(title, x=0.01, ha="left", fontsize=11, color=style.INK)
    return picture


def curve(
    ax: "Axes", x: Any, y: Any, look: tuple[str, str, float], filled: bool = True, **options: Any
) -> None:
    """Draw a curve with marks in a look (colour, marker, size): filled, or open and dashed."""
    colour, marker, size = look
    ax.plot(
        x,
        y,
        color=colour,
        marker=marker,
        markersize=size,
        markerfacecolor=colour if filled else "white",
        linestyle="-" if filled else (0, (4, 2)),
        **options,
    )


def legend(picture: "Figure", ax: "Axes", spacing: float = 0.8) -> None:
    """Put a legend of the curves of one panel to the right of all panels."""
    picture.legend(
        *ax.get_legend_handles_labels(),
        loc="outside right center",
        fontsize=9,
        labelcolor=style.INK,
        frameon=False,
        labelspacing=spacing,
    )


def plain_numbers(axis: "Axis", form: str = ",.0f") -> None:
    """Label ticks without powers of ten, thousands separated by a thin space."""
    axis.set_major_formatter(lambda x, _: format(x, form).replace(",", "\u2009"))


def globe(ax: "Axes", elevation: float, azimuth: float) -> np.ndarray:
    """Draw the unit sphere with five parallels, seen from these angles (degrees).

    Returns the matrix E to the viewer's axes: E v points right, up, and towards the viewer.
    """
    up, around = np.radians([elevation, azimuth])
    c, s = np.cos(around), np.sin(around)
    lift, depth = np.sin(up), np.cos(up)
    eye = np.array([[-s, c, 0.0], [-lift * c, -lift * s, depth], [depth * c, depth * s, lift]])
    angle = np.linspace(0, 2 * np.pi, 361)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    ax.plot(*circle.T, color=style.GREY, linewidth=0.8)
    for height in np.sin(np.radians([-60, -30, 0, 30, 60])):
        flat = np.column_stack([np.sqrt(1 - height**2) * circle, np.full(len(angle), height)])
        points = flat @ eye.T
        points[points[:, 2] < 0] = np.nan
        ax.plot(points[:, 0], points[:, 1], color=style.FAINT, linewidth=0.6)
    return eye


def save(pictures: Sequence["Figure"], out: Path) -> tuple[Path, ...]:
    """Save pictures as figure1.png, figure2.png, … in ``out``."""
    out.mkdir(parents=True, exist_ok=True)
    paths = tuple(out / f"figure{number}.png" for number in range(1, len(pictures) + 1))
    for path, picture in zip(paths, pictures, strict=True):
        picture.savefig(path, dpi=160)
    return paths
