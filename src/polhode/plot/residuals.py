"""Residuals: the difference between a motion and its reference."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from polhode.plot import style


def _pair(axes: Any) -> tuple[Any, Any, Any]:
    """Return the axes, made if there are none, and the left and the right one of them."""
    if axes is None:
        axes = style.figure((11.0, 4.2)).subplots(1, 2)
    return axes, *np.ravel(axes)


def residuals(years: Mapping[str, Any], turns: Mapping[str, Any], axes: Any = None) -> Any:
    """Draw, left, the angles of several runs; right, the last run about each body axis.

    ``years`` and ``turns`` are the times, and rows of three small angles in arcseconds, by the name
    of the run.  ``axes`` are two, or None for a new figure.
    """
    axes, left, right = _pair(axes)
    for name, colour in zip(turns, (*style.COLOURS, style.GREY, style.INK), strict=False):
        angle = np.linalg.norm(turns[name], axis=1)
        left.semilogy(years[name][1:], angle[1:], color=colour, linewidth=0.9, label=name)
    style.dress(left, "angle from the ephemeris", "years from the start", "arcseconds")
    style.legend(left, "inside")
    last = list(turns)[-1]
    for values, axis, colour in zip(np.transpose(turns[last]), "xyz", style.COLOURS, strict=False):
        right.plot(years[last], values, color=colour, linewidth=0.9, label=f"about {axis}")
    style.dress(right, last, "years from the start", "arcseconds")
    style.legend(right)
    return axes


def nutation(
    years: Any, gaps: Any, terms: Mapping[str, tuple[float, float]], curve: Any, axes: Any = None
) -> Any:
    """Draw, left, the residuals of a pole's X and Y; right, ratios of nutations.

    ``gaps`` are rows of two in milliarcseconds; ``terms`` are (cycles per year, ratio) by name;
    ``curve`` is a function of cycles per year, or None.  ``axes`` are two, or None for a new
    figure.
    """
    axes, left, right = _pair(axes)
    for values, name, colour in zip(np.transpose(gaps), "XY", style.COLOURS, strict=False):
        left.plot(years, values, color=colour, linewidth=0.6, label=name)
    style.dress(left, "rigid less IAU 2006/2000A", "years from the start", "milliarcseconds")
    style.legend(left)
    inside = {name: at for name, at in terms.items() if abs(at[0]) < 3.0}
    if curve is not None:
        x = np.linspace(-2.6, 2.6, 2000)  # without 0
        y = np.asarray(curve(x))
        right.plot(x, np.where(np.abs(y - 1.0) < 0.6, y, np.nan), color=style.GREY, linewidth=0.9)
        right.set_ylim(0.8, 1.5)
    for at in inside.values():
        right.plot(*at, "o", color=style.COLOURS[0], markersize=4)
    slow = [name for name, at in inside.items() if abs(at[0]) < 0.5]  # all in one place
    labels = {name: at for name, at in inside.items() if name not in slow}
    if slow:
        labels[", ".join(slow)] = max(inside[name] for name in slow)
    for name, at in labels.items():
        style.note(right, name, at, (6, -14 if "," in name else 5), fontsize=7, color="black")
    style.dress(right, "IAU / rigid", "cycles a year, retrograde to the left", "ratio")
    return axes
