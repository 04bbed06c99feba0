"""What the figures of the papers share: sheets, legends, ticks, the globe, files."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

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


def legend(picture: "Figure", ax: "Axes", spacing: float = 0.8) -> None:
    """The curves of one panel, to the right of all."""
    picture.legend(
        *ax.get_legend_handles_labels(),
        loc="outside right center",
        fontsize=9,
        labelcolor=style.INK,
        frameon=False,
        labelspacing=spacing,
    )


def plain_numbers(axis: "Axis", form: str = ",.0f") -> None:
    """Ticks without powers of ten, thousands apart by a thin space."""
    axis.set_major_formatter(lambda x, _: format(x, form).replace(",", "\u2009"))


def globe(ax: "Axes", elevation: float, azimuth: float) -> np.ndarray:
    """The unit sphere with five parallels, seen from those degrees; to the viewer's axes.

    With the matrix E that is returned, E v is to the right, upwards, and towards the viewer.
    """
    up, round_about = np.radians([elevation, azimuth])
    c, s = np.cos(round_about), np.sin(round_about)
    lift, depth = np.sin(up), np.cos(up)
    eye = np.array([[-s, c, 0.0], [-lift * c, -lift * s, depth], [depth * c, depth * s, lift]])
    angle = np.linspace(0, 2 * np.pi, 361)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    ax.plot(*circle.T, color=style.GREY, linewidth=0.8)
    for height in np.sin(np.radians([-60, -30, 0, 30, 60])):
        flat = np.column_stack([np.sqrt(1 - height**2) * circle, np.full(len(angle), height)])
        seen = flat @ eye.T
        seen[seen[:, 2] < 0] = np.nan
        ax.plot(seen[:, 0], seen[:, 1], color=style.FAINT, linewidth=0.6)
    return eye


def saved(pictures: Sequence["Figure"], out: Path) -> tuple[Path, ...]:
    """The pictures as figure1.png, figure2.png, … in ``out``."""
    out.mkdir(parents=True, exist_ok=True)
    paths = tuple(out / f"figure{number}.png" for number in range(1, len(pictures) + 1))
    for path, picture in zip(paths, pictures, strict=True):
        picture.savefig(path, dpi=160)
    return paths
