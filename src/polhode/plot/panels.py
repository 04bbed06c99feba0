"""Curves over time, and over step sizes.  Every function draws into ``ax`` and returns it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.contracts.conserved import changes
from polhode.errors import InputError
from polhode.plot import style
from polhode.plot.quantities import FLOOR, thinned, tilt_angle
from polhode.plot.smooth import smooth

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EPSILON = float(np.finfo(float).eps)


def tilt(run: Any, ax: "Axes | None" = None) -> "Axes":
    """Draw the angle between body axis 3 and the inertial z axis over time."""
    ax, run = style.axes_or_new(ax), smooth(run)
    curve(ax, run.t, tilt_angle(run), style.BLUE)
    return style.dress(ax, "Tilt of body axis 3 from inertial z", "time (s)", "angle (degrees)")


def rates(run: Any, ax: "Axes | None" = None) -> "Axes":
    """Draw the angular velocity in body axes over time."""
    ax, run = style.axes_or_new(ax), smooth(run)
    for k, colour in enumerate(style.COLOURS[:3]):
        curve(ax, run.t, run.omega[:, k], colour, f"$\\omega_{k + 1}$")
    style.dress(ax, "Angular velocity, body axes", "time (s)", "rate (rad/s)")
    return style.legend(ax)


def variables(run: Any, ax: "Axes | None" = None, name: str | None = None) -> "Axes":
    """Draw the variables of the model over time, or the one with this name."""
    known = getattr(run, "variables", {})
    if not known or (name is not None and name not in known):
        has = f"has {', '.join(known)}" if known else "has none"
        asked = "variables of a model" if name is None else f"the variable {name!r}"
        raise InputError(f"the panel 'variables' needs {asked}, and this run {has}")
    ax, run = style.axes_or_new(ax), smooth(run)
    curves = {
        (key if values.ndim == 1 else f"{key} {k + 1}"): part
        for key, values in run.variables.items()
        if name in (None, key)
        for k, part in enumerate(np.reshape(values, (len(values), -1)).T)
    }
    for place, (text, values) in enumerate(curves.items()):
        curve(ax, run.t, values, style.COLOURS[place % len(style.COLOURS)], text)
    style.dress(ax, "Variables of the model" if name is None else name, "time (s)")
    return style.legend(ax)


def drift(run: Any, ax: "Axes | None" = None) -> "Axes":
    """Draw the relative change of energy and momentum since the start over time."""
    ax = style.axes_or_new(ax)
    for name, values in changes(run).items():
        colour = style.RED if name == "energy" else style.BLUE
        curve(ax, run.t, np.maximum(values, FLOOR), colour, name, width=0.8)
    ax.axhline(EPSILON, color=style.GREY, linewidth=0.8, linestyle=(0, (4, 3)))
    look = {"xycoords": ("axes fraction", "data"), "fontsize": 7, "color": style.GREY}
    box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0.5}
    style.note(ax, "rounding", (0.005, EPSILON), (0, 2), bbox=box, **look)
    ax.set_yscale("log")
    ax.set_ylim(bottom=FLOOR)
    style.dress(ax, "Change since the start", "time (s)", "relative change")
    return style.legend(ax)


def error(run: Any, ax: "Axes | None" = None) -> "Axes":
    """Draw the estimated error of the attitude over time, with gaps between samples as bands."""
    if getattr(run, "error", None) is None:
        raise InputError(
            "the panel 'error' needs a run with an error estimate, such as one of integrate_samples"
        )
    ax = style.axes_or_new(ax)
    first = int(np.argmax(run.error > 0))  # the start is exact
    curve(ax, run.t[first:], np.maximum(run.error[first:], FLOOR), style.BLUE)
    for number, (start, end) in enumerate(run.gaps):
        label = "gaps" if number == 0 else ""
        ax.axvspan(start, end, color=style.ORANGE, alpha=0.35, linewidth=1.0, label=label)
    ax.set_yscale("log")
    style.dress(ax, "Estimated error of the attitude", "time (s)", "angle (rad)")
    ax.tick_params(which="minor", labelsize=8)
    return style.legend(ax)


def convergence(
    errors: Mapping[str, Any] | Any, steps: Any, ax: "Axes | None" = None, *, ylabel: str = "error"
) -> "Axes":
    """Draw errors against step sizes, both logarithmic; the legend gives the slope of each line.

    ``errors`` is a sequence as long as ``steps``, or a mapping of names to such sequences.  The
    slope is the median between neighbouring points, so that a plateau of rounding does not count.
    """
    ax = style.axes_or_new(ax)
    curves = errors if isinstance(errors, Mapping) else {"": errors}
    sizes = np.asarray(steps, dtype=float)
    for number, (name, values) in enumerate(curves.items()):
        values = np.asarray(values, dtype=float)
        usable = np.isfinite(values) & (values > 0)
        x, y = sizes[usable], values[usable]
        slopes = np.diff(np.log(y)) / np.diff(np.log(x))
        slope = f"slope {np.median(slopes):.2f}" if x.size > 1 else ""
        label = ", ".join(filter(None, (name, slope)))
        ax.plot(x, y, **style.look(number), markersize=4.5, label=label)
    ax.set(xscale="log", yscale="log")
    style.dress(ax, "Convergence", "step (s)", ylabel)
    return style.legend(ax, "inside")


# ---- curves
def curve(
    ax: "Axes",
    t: np.ndarray,
    values: np.ndarray,
    colour: str,
    label: str = "",
    width: float | None = None,
) -> None:
    """Draw a line over time; thin if it oscillates often, a dot if there is only one state."""
    if width is None:
        width = 1.2 if np.count_nonzero(np.diff(np.sign(np.diff(values)))) < 200 else 0.4
    marker = "o" if len(t) == 1 else ""
    ax.plot(*thinned(t, values), color=colour, linewidth=width, marker=marker, label=label)
    ax.margins(x=0.01)
