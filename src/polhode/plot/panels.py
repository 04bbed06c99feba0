"""One picture each.  Every function draws into ``ax`` (a new one if None) and returns it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.plot import style
from polhode.plot.quantities import FLOOR, POINTS, axis_3, changes, thinned, tilt_angle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EPSILON = float(np.finfo(float).eps)
FROM_ABOVE, FROM_ASIDE = (90.0, -90.0), (25.0, 35.0)


def tilt(run: Any, ax: "Axes | None" = None) -> "Axes":
    """The angle of body axis 3 to the inertial z axis, over time."""
    ax = style.axes_or_new(ax)
    _curve(ax, run.t, tilt_angle(run), style.BLUE)
    return style.dress(ax, "Tilt of body axis 3 from inertial z", "time (s)", "angle (degrees)")


def rates(run: Any, ax: "Axes | None" = None) -> "Axes":
    """The angular velocity in body axes, over time."""
    ax = style.axes_or_new(ax)
    for k, colour in enumerate(style.COLOURS[:3]):
        _curve(ax, run.t, run.omega[:, k], colour, f"$\\omega_{k + 1}$")
    style.dress(ax, "Angular velocity, body axes", "time (s)", "rate (rad/s)")
    style.legend(ax)
    return ax


def drift(run: Any, ax: "Axes | None" = None) -> "Axes":
    """The relative change of energy and momentum since the start, over time."""
    ax = style.axes_or_new(ax)
    for name, values in changes(run).items():
        colour = style.RED if name == "energy" else style.BLUE
        _curve(ax, run.t, np.maximum(values, FLOOR), colour, name, width=0.8)
    ax.axhline(EPSILON, color=style.GREY, linewidth=0.8, linestyle=(0, (4, 3)))
    ax.annotate(
        "rounding",
        (0.005, EPSILON),
        xycoords=("axes fraction", "data"),
        xytext=(0, 2),
        textcoords="offset points",
        fontsize=7,
        color=style.GREY,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0.5},
    )
    ax.set_yscale("log")
    ax.set_ylim(bottom=FLOOR)
    style.dress(ax, "Change since the start", "time (s)", "relative change")
    style.legend(ax)
    return ax


def axis_path(
    run: Any, ax: "Axes | None" = None, view: tuple[float, float] | None = None
) -> "Axes":
    """The path of body axis 3 on the unit sphere of inertial directions, dark to light in time.

    ``view`` is (elevation, azimuth) of the eye in degrees.  By default the sphere is seen from
    above, enlarged to the path, if the axis stays within 60 degrees of z; else whole, from aside.
    """
    ax = style.axes_or_new(ax)
    path = axis_3(run)[:: -(-len(run.t) // POINTS)]
    from_above = view is None and path[:, 2].min() > 0.5
    eye = _eye(*(view or (FROM_ABOVE if from_above else FROM_ASIDE)))
    seen = path @ eye.T
    if from_above:
        style.dress(ax, "Path of body axis 3, from above", "inertial x", "inertial y")
        low, high = seen[:, :2].min(axis=0), seen[:, :2].max(axis=0)
        middle, half = (low + high) / 2, max(0.55 * float((high - low).max()), 1e-3)
    else:
        style.dress(ax, "Path of body axis 3")
        ax.set_axis_off()
        _globe(ax, eye)
        middle, half = np.zeros(2), 1.3
    _draw_path(ax, seen)
    ax.plot(*seen[0, :2], "o", ms=5, mfc="white", mec=style.INK, label="start", zorder=5)
    ax.plot(*seen[-1, :2], "o", ms=5, color=style.INK, label="end", zorder=5)
    ax.update_datalim([middle - half, middle + half])
    ax.margins(0)
    ax.set_aspect("equal", adjustable="datalim")
    style.legend(ax)
    return ax


def convergence(
    errors: Mapping[str, Any] | Any, steps: Any, ax: "Axes | None" = None, *, ylabel: str = "error"
) -> "Axes":
    """Errors against step sizes, both logarithmic; the legend gives the slope of each line.

    ``errors`` is one sequence, or a mapping of names to sequences, as long as ``steps``.  The
    slope is the median between neighbouring points, so that a plateau of rounding does not count.
    """
    ax = style.axes_or_new(ax)
    curves = errors if isinstance(errors, Mapping) else {"": errors}
    sizes = np.asarray(steps, dtype=float)
    for number, (name, values) in enumerate(curves.items()):
        values = np.asarray(values, dtype=float)
        usable = np.isfinite(values) & (values > 0)
        x, y = sizes[usable], values[usable]
        slope = (
            f"slope {np.median(np.diff(np.log(y)) / np.diff(np.log(x))):.2f}" if x.size > 1 else ""
        )
        ax.plot(
            x,
            y,
            marker=style.MARKERS[number % len(style.MARKERS)],
            color=style.COLOURS[number % len(style.COLOURS)],
            linestyle="-" if number < len(style.COLOURS) else "--",
            markersize=4.5,
            linewidth=1.2,
            label=", ".join(filter(None, (name, slope))),
        )
    ax.set_xscale("log")
    ax.set_yscale("log")
    style.dress(ax, "Convergence", "step (s)", ylabel)
    style.legend(ax, inside=True)
    return ax


# ---- curves
def _curve(
    ax: "Axes",
    t: np.ndarray,
    values: np.ndarray,
    colour: str,
    label: str = "",
    width: float | None = None,
) -> None:
    """A line over time; a thin one if it swings often, a dot if there is one state only."""
    if width is None:
        width = 1.2 if np.count_nonzero(np.diff(np.sign(np.diff(values)))) < 200 else 0.4
    marker = "o" if len(t) == 1 else ""
    ax.plot(*thinned(t, values), color=colour, linewidth=width, marker=marker, label=label)
    ax.margins(x=0.01)


# ---- the sphere
def _eye(elevation: float, azimuth: float) -> np.ndarray:
    """Rows: right, up, and towards the eye."""
    e, a = np.radians([elevation, azimuth])
    towards = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
    right = np.array([-np.sin(a), np.cos(a), 0.0])
    return np.stack([right, np.cross(towards, right), towards])


def _globe(ax: "Axes", eye: np.ndarray) -> None:
    """Outline, parallels and meridians every 30 degrees, and the three inertial axes."""
    from matplotlib.patheffects import withStroke

    angle = np.linspace(0, 2 * np.pi, 181)
    c, s = np.cos(angle), np.sin(angle)
    ax.plot(c, s, color=style.GREY, linewidth=0.8, zorder=1)
    lines = [
        np.stack([c * np.cos(b), s * np.cos(b), 0 * c + np.sin(b)], axis=1)
        for b in np.radians([-60, -30, 0, 30, 60])
    ]
    lines += [
        np.stack([c * np.cos(b), c * np.sin(b), s], axis=1)
        for b in np.radians([0, 30, 60, 90, 120, 150])
    ]
    for line in lines:
        seen = line @ eye.T
        near = np.where(seen[:, 2:] >= 0, seen[:, :2], np.nan)
        ax.plot(*near.T, color=style.FAINT, linewidth=0.6, zorder=1)
    for name, tip in zip("xyz", eye.T, strict=True):
        hidden = tip[2] < 0
        ax.annotate(
            "",
            1.2 * tip[:2],
            tip[:2],
            arrowprops={"arrowstyle": "-|>", "color": style.GREY, "linewidth": 0.8},
            zorder=0 if hidden else 4,
        )
        ax.annotate(
            f"${name}$",
            tip[:2],
            xytext=18 * tip[:2] / np.hypot(*tip[:2]),
            textcoords="offset points",
            ha="center",
            va="center",
            color=style.INK,
            fontsize=9,
            path_effects=[withStroke(linewidth=3, foreground="white")],
            zorder=4,
        )


def _draw_path(ax: "Axes", seen: np.ndarray) -> None:
    """The near side in colours of time, the far side faint; dots if the states are far apart."""
    import matplotlib
    from matplotlib.collections import LineCollection

    colours = matplotlib.colormaps["viridis"](np.linspace(0, 0.85, len(seen)))
    colours[:, 3] = np.where(seen[:, 2] >= 0, 1.0, 0.2)
    steps = np.linalg.norm(np.diff(seen, axis=0), axis=1)
    if len(steps) and np.median(steps) > 0.3:
        size = 15 if len(seen) < 500 else 2
        ax.scatter(seen[:, 0], seen[:, 1], s=size, color=colours, linewidths=0, zorder=3)
        return
    width = float(np.clip(150 / max(steps.sum(), 1), 0.3, 1.2))
    segments = np.stack([seen[:-1, :2], seen[1:, :2]], axis=1)
    lines = LineCollection(list(segments), colors=colours[:-1], linewidths=width, zorder=3)
    lines.set_capstyle("round" if width > 1 else "butt")
    ax.add_collection(lines, autolim=False)
