"""The translation of a body: its centre of mass and its points, over time and in space."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.errors import InputError
from polhode.plot import style
from polhode.plot.labels import label_ends
from polhode.plot.panels import curve
from polhode.plot.quantities import POINTS
from polhode.plot.smooth import smooth
from polhode.plot.space import draw_ends, draw_path, eye, frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes

VIEW = 20.0, -60.0


@style.themed
def position(run: Any, ax: "Axes | None" = None, *, theme: str | None = None) -> "Axes":
    """Draw the three coordinates of the centre of mass over time."""
    _check(run, "position")
    ax, run = style.axes_or_new(ax), smooth(run)
    for k, colour in enumerate(style.theme().colours[:3]):
        curve(ax, run.t, run.x[:, k], colour, "xyz"[k])
    style.dress(ax, "Position of the centre of mass", "time (s)", "position (m)")
    return label_ends(ax)


@style.themed
def path(
    run: Any,
    ax: "Axes | None" = None,
    point: Sequence[float] | None = None,
    view: tuple[float, float] = VIEW,
    *,
    theme: str | None = None,
) -> "Axes":
    """Draw the path of the centre of mass in space, and that of a body ``point``.

    The path turns from dark to light.  ``point`` is in body axes, from the centre of mass.
    ``view`` is (elevation, azimuth) of the eye in degrees.  Bars of equal length along x, y and z
    give the scale.
    """
    _check(run, "path")
    ax, run = style.axes_or_new(ax), smooth(run)
    every = slice(None, None, -(-len(run.t) // POINTS))
    basis = eye(*view)
    seen = run.x[every] @ basis.T
    shown = seen
    if point is not None:
        around = run.point_position(point)[every] @ basis.T
        look: dict[str, Any] = {"color": style.theme().orange, "linewidth": 0.7, "zorder": 2}
        ax.plot(*around[:, :2].T, label="point", **look)
        shown = np.vstack([seen, around])
    low, high = shown[:, :2].min(axis=0), shown[:, :2].max(axis=0)
    middle, half = (low + high) / 2, 0.6 * float((high - low).max()) or 1.0
    draw_path(ax, seen, np.ones(len(seen), dtype=bool), unit=half)
    draw_ends(ax, seen)
    _scale(ax, basis, middle, half)
    frame(ax, middle, half)
    style.dress(ax, "Path of the centre of mass")
    ax.set_axis_off()
    return style.legend(ax)


def _check(run: Any, panel: str) -> None:
    if getattr(run, "x", None) is None:
        raise InputError(
            f"the panel {panel!r} needs a body with a position: give position= to the Problem"
        )


def _scale(ax: "Axes", basis: np.ndarray, middle: np.ndarray, half: float) -> None:
    """Draw bars of a round length along x, y and z in a corner."""
    length = 10.0 ** np.floor(np.log10(0.4 * half))
    length *= max(k for k in (1, 2, 5) if k * length <= 0.4 * half or k == 1)
    corner = middle + half * np.array([-0.75, -0.8])
    for name, bar in zip("xyz", length * basis.T, strict=True):
        end = corner + bar[:2]
        ax.plot(*np.stack([corner, end]).T, color=style.theme().grey, linewidth=1.0, zorder=1)
        style.note(ax, name, end, (3, 3))
    style.note(ax, f"{length:g} m", corner, (-4, -10))
