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


@style.themed
def residuals(
    years: Mapping[str, Any],
    turns: Mapping[str, Any],
    axes: Any = None,
    exact: Any = None,
    *,
    theme: str | None = None,
) -> Any:
    """Draw the angles of several runs, the last run about each body axis, and its spectrum.

    ``years`` and ``turns`` are the times, and rows of three small angles in arcseconds, by the name
    of the run.  ``axes`` are three, or two for a picture without spectrum, or None for a new
    figure.  ``exact`` chooses the samples of the last run at which the reference is exact; the
    others are drawn in grey, as those about x.
    """
    if axes is None:
        axes = style.figure((15.0, 4.2)).subplots(1, 3)
    left, *rest = np.ravel(axes)
    look = style.theme()
    for name, colour in zip(turns, (*look.colours, look.grey, look.ink), strict=False):
        angle = np.linalg.norm(turns[name], axis=1)
        left.semilogy(years[name][1:], angle[1:], color=colour, linewidth=0.9, label=name)
    style.dress(left, "angle from the ephemeris", "years from the start", "arcseconds")
    style.legend(left, "inside")
    last = list(turns)[-1]
    _draw_last(last, np.asarray(years[last]), np.asarray(turns[last]), rest, exact)
    return axes


def _draw_last(name: str, years: Any, turns: Any, axes: Any, exact: Any) -> None:
    """Draw a run about each body axis, and its spectrum if there are two axes."""
    small = float(np.abs(turns).max()) < 0.1
    turns = (1e3 if small else 1.0) * turns
    unit = "milliarcseconds" if small else "arcseconds"
    lines = []
    if exact is not None and np.count_nonzero(exact) > 2:
        lines.append((years, turns[:, 0], style.theme().faint, "all, about x"))
        years, turns = years[exact], turns[exact]
    for values, axis, colour in zip(turns.T, "xyz", style.theme().colours, strict=False):
        lines.append((years, values, colour, f"about {axis}"))
    for when, values, colour, label in lines:
        axes[0].plot(when, values, color=colour, linewidth=0.8, label=label)
        if len(axes) > 1:
            periods, sizes = _spectrum(when, values)
            axes[1].loglog(periods, sizes, color=colour, linewidth=0.8, label=label)
    style.dress(axes[0], name, "years from the start", unit)
    style.legend(axes[0])
    if len(axes) > 1:
        style.dress(axes[1], "spectrum", "period in days", f"amplitude in {unit}")
        style.legend(axes[1])


def _spectrum(years: Any, values: Any) -> tuple[Any, Any]:
    """Return the periods in days and the amplitudes of a residual, with Hann's window."""
    days = 365.25 * np.abs(years - years[0])
    step = float(np.median(np.diff(days)))
    grid = np.arange(0.0, days[-1], step)
    even = np.interp(grid, days, values)
    window = np.hanning(len(grid))
    sizes = 2.0 * np.abs(np.fft.rfft((even - even.mean()) * window))[2:] / window.sum()
    return 1.0 / np.fft.rfftfreq(len(grid), step)[2:], sizes


@style.themed
def nutation(
    years: Any,
    gaps: Any,
    terms: Mapping[str, tuple[float, float]],
    curve: Any,
    axes: Any = None,
    *,
    theme: str | None = None,
) -> Any:
    """Draw, left, the residuals of a pole's X and Y; right, ratios of nutations.

    ``gaps`` are rows of two in milliarcseconds; ``terms`` are (cycles per year, ratio) by name;
    ``curve`` is a function of cycles per year, or None.  ``axes`` are two, or None for a new
    figure.
    """
    axes, left, right = _pair(axes)
    colours = style.theme().colours
    for values, name, colour in zip(np.transpose(gaps), "XY", colours, strict=False):
        left.plot(years, values, color=colour, linewidth=0.6, label=name)
    style.dress(left, "rigid less IAU 2006/2000A", "years from the start", "milliarcseconds")
    style.legend(left)
    inside = {name: at for name, at in terms.items() if abs(at[0]) < 3.0}
    if curve is not None:
        x = np.linspace(-2.6, 2.6, 2000)  # without 0
        y = np.asarray(curve(x))
        y = np.where(np.abs(y - 1.0) < 0.6, y, np.nan)
        right.plot(x, y, color=style.theme().grey, linewidth=0.9)
        right.set_ylim(0.8, 1.5)
    for at in inside.values():
        right.plot(*at, "o", color=style.theme().blue, markersize=4)
    slow = [name for name, at in inside.items() if abs(at[0]) < 0.5]  # all in one place
    labels = {name: at for name, at in inside.items() if name not in slow}
    if slow:
        labels[", ".join(slow)] = max(inside[name] for name in slow)
    for name, at in labels.items():
        style.note(right, name, at, (6, -14 if "," in name else 5), fontsize=7)
    style.dress(right, "IAU / rigid", "cycles a year, retrograde to the left", "ratio")
    return axes
