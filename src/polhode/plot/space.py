"""Three dimensions on paper: a point of view, paths and axes seen from there."""

from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def eye(elevation: float, azimuth: float) -> np.ndarray:
    """Return the directions to the right, up and towards the eye, as rows."""
    e, a = np.radians([elevation, azimuth])
    towards = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
    right = np.array([-np.sin(a), np.cos(a), 0.0])
    return np.stack([right, np.cross(towards, right), towards])


def draw_path(
    ax: "Axes", seen: np.ndarray, near: np.ndarray, width: float = 1.2, unit: float = 1.0
) -> None:
    """Draw a path in colours that show time; states that are not ``near`` are faint.

    States that are far apart are drawn as dots.  ``unit`` is the size of the picture: a path that
    is much longer gets thinner.
    """
    import matplotlib
    from matplotlib.collections import LineCollection

    colours = matplotlib.colormaps["viridis"](np.linspace(*style.theme().paths, len(seen)))
    colours[:, 3] = np.where(near, 1.0, 0.2)
    steps = np.linalg.norm(np.diff(seen, axis=0), axis=1) / unit
    if len(steps) and np.median(steps) > 0.3:
        size = 15 if len(seen) < 500 else 2
        ax.scatter(seen[:, 0], seen[:, 1], s=size, color=colours, linewidths=0, zorder=3)
        return
    width = float(np.clip(150 / max(steps.sum(), 1), 0.3, width))
    segments = np.stack([seen[:-1, :2], seen[1:, :2]], axis=1)
    lines = LineCollection(list(segments), colors=colours[:-1], linewidths=width, zorder=3)
    lines.set_capstyle("round" if width > 1 else "butt")
    ax.add_collection(lines, autolim=False)


def draw_ends(ax: "Axes", seen: np.ndarray) -> None:
    """Mark the start and the end of a path."""
    ground, ink = style.theme().ground, style.theme().ink
    ax.plot(*seen[0, :2], "o", ms=5, mfc=ground, mec=ink, label="start", zorder=5)
    ax.plot(*seen[-1, :2], "o", ms=5, color=ink, label="end", zorder=5)


def draw_line(ax: "Axes", seen: np.ndarray, near: np.ndarray, **look) -> None:
    """Draw the ``near`` part of a curve on a surface."""
    ax.plot(*np.where(near[:, None], seen[:, :2], np.nan).T, **look)


def draw_axes(ax: "Axes", tips: np.ndarray, names: list[str], gap: float = 18) -> None:
    """Draw arrows out of a surface at the points ``tips`` (in the axes of the eye), with names."""
    for name, tip in zip(names, tips, strict=True):
        size = np.hypot(*tip[:2])
        outward = tip[:2] / size if size > 0 else np.zeros(2)
        ax.annotate(
            "",
            tip[:2] + 0.2 * tip[:2] / np.linalg.norm(tip),
            tip[:2],
            arrowprops={"arrowstyle": "-|>", "color": style.theme().grey, "linewidth": 0.8},
            zorder=0 if tip[2] < 0 else 4,
        )
        rim = style.rimmed(style.theme().ink, 3.0)
        look: dict[str, Any] = {"fontsize": 9, "path_effects": rim}
        away = tuple(gap * outward)
        style.note(ax, name, tip[:2], away, ha="center", va="center", zorder=4, **look)


def frame(ax: "Axes", middle: np.ndarray, half: float) -> None:
    """Make the scales equal and show at least ``half`` on every side of the ``middle``."""
    ax.update_datalim([middle - half, middle + half])
    ax.margins(0)
    ax.set_aspect("equal", adjustable="datalim")
