"""Work-precision diagrams: error against cost, one line for each method."""

from typing import Any

import numpy as np

from polhode.plot import style

MOST_COLOURED = 8  # methods
OTHERS: dict[str, Any] = {"linewidth": 0.6, "marker": ".", "markersize": 2.5}


@style.themed
def work_precision(comparison: Any, axes: Any = None, *, theme: str | None = None) -> np.ndarray:
    """Draw the error against time and against torques (steps, if there is no torque).

    The error is that of the attitude, or with six degrees of freedom of the position if larger.

    ``axes`` is a pair of axes, or None for a new figure; returns the pair.  Of many methods, those
    that are most often among the cheapest are in colour, the others grey.  Errors in the grey
    band are below the error of the reference, and so unknown.
    """
    if axes is None:
        t0, t1 = comparison.t_span
        heading = f"{comparison.problem}   ·   t = {t0:g} to {t1:g} s"
        axes = style.figure((10.0, 4.6), heading).subplots(1, 2, sharey=True)
    axes = np.ravel(axes)
    work = "steps" if comparison.is_free else "torques"
    coloured = _coloured(comparison, ("seconds", work))
    for ax, key in zip(axes, ("seconds", work), strict=True):
        for method in sorted(comparison.methods, key=lambda name: name in coloured):
            place = coloured.index(method) if method in coloured else None
            _line(ax, comparison.of(method), key, place)
        ax.set(xscale="log", yscale="log")
        floor = comparison.reference.error
        if floor > 0:
            ax.axhspan(floor / 1e6, floor, color=style.theme().faint, alpha=0.5, linewidth=0)
        low = [row.error for row in comparison.rows if row.error]
        if low:
            ax.set_ylim(bottom=max(min(low), floor) / 4)
    units = {"seconds": "CPU time (s)", "torques": "torque evaluations", "steps": "steps"}
    for ax, key, title in zip(
        axes, ("seconds", work), ("Against time", f"Against {units[work]}"), strict=True
    ):
        style.dress(ax, title, units[key])
    moves = comparison.reference.place is not None
    what = "attitude (rad) or position error" if moves else "attitude error"
    unit = "" if moves else " (rad)"
    axes[0].set_ylabel(f"{what} at the end{unit}", fontsize=9, color=style.theme().ink)
    others = len(comparison.methods) - len(coloured)
    if others:
        axes[1].plot([], [], color=style.theme().grey, **OTHERS, label=f"{others} others")
    style.legend(axes[1], "beside the axes")
    return axes


def _coloured(comparison: Any, costs: tuple[str, ...]) -> list[str]:
    """Return the methods to draw in colour: all, or those most often among the cheapest."""
    names = list(comparison.methods)
    if len(names) <= MOST_COLOURED:
        return names
    points = dict.fromkeys(names, 0.0)
    for cost in costs:
        for level in comparison.frontier(cost):
            reaching = [row for row in comparison.rows if row.reaches(level)]
            ranked = sorted(reaching, key=lambda row: getattr(row, cost))
            for place, name in enumerate(dict.fromkeys(row.method for row in ranked)):
                points[name] += 1.0 / (1 + place)
    chosen = sorted(names, key=lambda name: -points[name])[:MOST_COLOURED]
    return [name for name in names if name in chosen]


def _line(ax: Any, rows: Any, key: str, place: int | None) -> None:
    points = [(getattr(row, key), row.error) for row in rows if row.error is not None]
    if not points:
        return
    x, y = np.array(sorted(points)).T
    if place is None:
        ax.plot(x, y, color=style.theme().grey, **OTHERS, alpha=0.6)
    else:
        ax.plot(x, y, **style.look(place), markersize=4, label=rows[0].method)
