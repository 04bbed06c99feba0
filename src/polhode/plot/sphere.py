"""The path of a body-fixed direction on the sphere of inertial directions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.errors import InputError
from polhode.plot import style
from polhode.plot.quantities import POINTS, direction
from polhode.plot.smooth import smooth
from polhode.plot.space import draw_axes, draw_ends, draw_line, draw_path, eye, frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FROM_ABOVE, FROM_SIDE = (90.0, -90.0), (25.0, 35.0)
AXIS_3 = (0.0, 0.0, 1.0)


@style.themed
def axis_path(
    run: Any,
    ax: "Axes | None" = None,
    view: tuple[float, float] | None = None,
    *,
    theme: str | None = None,
) -> "Axes":
    """Draw the ``trace`` of body axis 3."""
    return trace(run, ax, view=view)


@style.themed
def trace(
    run: Any,
    ax: "Axes | None" = None,
    point: Sequence[float] = AXIS_3,
    view: tuple[float, float] | None = None,
    tilts: Sequence[float] = (),
    *,
    theme: str | None = None,
) -> "Axes":
    """Draw the path of a body ``point`` on the sphere of inertial directions.

    The path turns from dark to light.  ``point`` is a direction in body axes, of any length.
    ``view`` is (elevation, azimuth) of the eye in degrees.  By default the sphere is seen from
    above, zoomed in on the path, if the point stays within 60 degrees of z; otherwise all of it
    from the side.  ``tilts`` are angles from z, in degrees, whose circles are drawn too: the
    bounds of a nutation, for instance.
    """
    along = _direction(point)
    ax, run = style.axes_or_new(ax), smooth(run)
    path = direction(run, along)[:: -(-len(run.t) // POINTS)]
    from_above = view is None and _stays_above(path)
    basis = eye(*(view or (FROM_ABOVE if from_above else FROM_SIDE)))
    seen = path @ basis.T
    title = f"Path of {_name(along)}"
    if from_above:
        style.dress(ax, f"{title}, from above", "inertial x", "inertial y")
        low, high = seen[:, :2].min(axis=0), seen[:, :2].max(axis=0)
        middle, half = (low + high) / 2, max(0.55 * float((high - low).max()), 1e-3)
    else:
        style.dress(ax, title)
        ax.set_axis_off()
        _globe(ax, basis)
        middle, half = np.zeros(2), 1.3
    for tilt in np.radians(tilts):
        circle = _parallel(np.pi / 2 - tilt) @ basis.T
        look: dict[str, Any] = {"color": style.theme().red, "linewidth": 0.9, "zorder": 2}
        draw_line(ax, circle, circle[:, 2] >= 0, linestyle=(0, (4, 2)), **look)
    draw_path(ax, seen, seen[:, 2] >= 0)
    draw_ends(ax, seen)
    frame(ax, middle, half)
    return style.legend(ax)


def _stays_above(path: np.ndarray) -> bool:
    return bool(path[:, 2].min() > 0.5)


def usual_eye(run: Any) -> np.ndarray:
    """Return the axes of the eye that looks at the trace of body axis 3 by default."""
    path = direction(smooth(run), np.array(AXIS_3))
    return eye(*(FROM_ABOVE if _stays_above(path) else FROM_SIDE))


def _direction(point: Sequence[float]) -> np.ndarray:
    try:
        vector = np.array(point, dtype=float)
        usable = vector.shape == (3,) and np.isfinite(vector).all() and vector.any()
    except (TypeError, ValueError):
        usable = False
    if not usable:
        raise InputError(
            f"point must be three numbers in body axes, not all zero, got {point!r};"
            " (0, 0, 1) is body axis 3"
        )
    return vector / np.linalg.norm(vector)


def _name(point: np.ndarray) -> str:
    for k, axis in enumerate(np.eye(3)):
        if np.array_equal(point, axis):
            return f"body axis {k + 1}"
    return "body point ({:.3g}, {:.3g}, {:.3g})".format(*point)


def _parallel(latitude: float) -> np.ndarray:
    angle = np.linspace(0, 2 * np.pi, 361)
    c, s = np.cos(angle), np.sin(angle)
    return np.stack([c * np.cos(latitude), s * np.cos(latitude), 0 * c + np.sin(latitude)], axis=1)


def _globe(ax: "Axes", basis: np.ndarray) -> None:
    """Draw the outline, parallels and meridians every 30 degrees, and the inertial axes."""
    angle = np.linspace(0, 2 * np.pi, 181)
    c, s = np.cos(angle), np.sin(angle)
    ax.plot(c, s, color=style.theme().grey, linewidth=0.8, zorder=1)
    lines = [_parallel(b) for b in np.radians([-60, -30, 0, 30, 60])]
    lines += [
        np.stack([c * np.cos(b), c * np.sin(b), s], axis=1)
        for b in np.radians([0, 30, 60, 90, 120, 150])
    ]
    for line in lines:
        seen = line @ basis.T
        look: dict[str, Any] = {"color": style.theme().faint, "linewidth": 0.6, "zorder": 1}
        draw_line(ax, seen, seen[:, 2] >= 0, **look)
    draw_axes(ax, basis.T, ["$x$", "$y$", "$z$"])
