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
    """Draw the angles of several runs, the last run about each body axis, and its spectrum.

    ``years`` and ``turns`` are the times, and rows of three small angles in arcseconds, by the name
    of the run.  ``axes`` are three, or two for a picture without spectrum, or None for a new
    figure.
    """
    if axes is None:
        axes = style.figure((15.0, 4.2)).subplots(1, 3)
    left, middle, *rest = np.ravel(axes)
    for name, colour in zip(turns, (*style.COLOURS, style.GREY, style.INK), strict=False):
        angle = np.linalg.norm(turns[name], axis=1)
        left.semilogy(years[name][1:], angle[1:], color=colour, linewidth=0.9, label=name)
    style.dress(left, "angle from the ephemeris", "years from the start", "arcseconds")
    style.legend(left, "inside")
    last = list(turns)[-1]
    small = float(np.abs(turns[last]).max()) < 0.1
    shown = (1e3 if small else 1.0) * np.asarray(turns[last])
    unit = "milliarcseconds" if small else "arcseconds"
    for values, axis, colour in zip(shown.T, "xyz", style.COLOURS, strict=False):
        middle.plot(years[last], values, color=colour, linewidth=0.9, label=f"about {axis}")
        if rest:
            _draw_spectrum(rest[0], np.asarray(years[last]), values, colour, f"about {axis}")
    style.dress(middle, last, "years from the start", unit)
    style.legend(middle)
    if rest:
        style.dress(rest[0], f"spectrum of {last}", "period in days", f"amplitude in {unit}")
        style.legend(rest[0])
    return axes


def _draw_spectrum(ax: Any, years: Any, values: Any, colour: str, label: str) -> None:
    """Draw the amplitudes of a residual over the periods, with Hann's window."""
    days = 365.25 * np.abs(years - years[0])
    step = float(np.median(np.diff(days)))
    grid = np.arange(0.0, days[-1], step)
    even = np.interp(grid, days, values)
    window = np.hanning(len(grid))
    sizes = 2.0 * np.abs(np.fft.rfft((even - even.mean()) * window))[2:] / window.sum()
    periods = 1.0 / np.fft.rfftfreq(len(grid), step)[2:]
    ax.loglog(periods, sizes, color=colour, linewidth=0.6, label=label)


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
