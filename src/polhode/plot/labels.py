"""Labels at the ends of lines, in place of a legend."""

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LONGEST = 10  # letters in a line of a label
LETTERS = 8.0  # height of labels in points, and 1.25 of it the distance of their lines


def label_ends(ax: "Axes") -> "Axes":
    """Write the labels of lines at their right ends, outside the axes, or a legend if they collide.

    Labels keep their colours and move up or down until they are apart; if one would have to move
    by more than its height, or a text is long, or a line ends elsewhere, there is a legend.
    """
    lines = [line for line in ax.lines if not str(line.get_label()).startswith("_")]
    texts = [_wrapped(str(line.get_label())) for line in lines]
    others = len(ax.get_legend_handles_labels()[0]) - len(lines)
    places = None if others or not all(texts) else _places(ax, lines, texts)
    if places is None or not lines:
        return style.legend(ax)
    for line, text, (height, shift) in zip(lines, texts, places, strict=True):
        look: dict[str, Any] = {
            "xycoords": ("axes fraction", "data"),
            "annotation_clip": False,
            "va": "center",
        }
        style.note(ax, text, (1.0, height), (4.0, shift), color=line.get_color(), **look)
    return ax


def _wrapped(text: str) -> str:
    """Break a text into at most two short lines; an empty text if that cannot be."""
    if text.startswith("$") or len(text) <= LONGEST:
        return text
    first, _, rest = text.partition(" ")
    return f"{first}\n{rest}" if max(len(first), len(rest)) <= LONGEST else ""


def _places(ax: "Axes", lines: Any, texts: list[str]) -> list[tuple[float, float]] | None:
    """Return the height of each line's end, in data, and a shift in points that keeps them apart.

    None if they do not fit.
    """
    right, size = ax.get_xlim()[1], ax.bbox.height * 72.0 / ax.figure.dpi
    ends = []
    for line in lines:
        x, y = (np.asarray(values, dtype=float) for values in line.get_data())
        known = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
        if not len(known):
            return None
        last = known[-1] if x[known[-1]] >= x[known[0]] else known[0]
        if right - x[last] > 0.05 * abs(right - ax.get_xlim()[0]):
            return None
        ends.append((float(x[last]), float(y[last])))
    seen = ax.transAxes.inverted().transform(ax.transData.transform(ends))[:, 1] * size
    tall = np.array([1.25 * LETTERS * (1 + text.count("\n")) for text in texts])
    shifts = _apart(seen, tall) - seen
    if np.abs(shifts).max() > tall.max() or not np.isfinite(shifts).all():
        return None
    return [(y, float(shift)) for (_, y), shift in zip(ends, shifts, strict=True)]


def _apart(places: Any, tall: Any) -> Any:
    """Move places apart until neighbours differ by their heights, as little as it takes."""
    order = np.argsort(-places, kind="stable")  # from above; equal ones as they were drawn
    result = places.astype(float).copy()
    for _ in range(4 * len(places)):
        for upper, lower in pairwise(order):
            lack = 0.5 * (tall[upper] + tall[lower]) - (result[upper] - result[lower])
            if lack > 1e-9:
                result[upper] += 0.5 * lack
                result[lower] -= 0.5 * lack
    return result
