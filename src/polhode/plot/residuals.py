"""What is left between a motion and the one it should be."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from polhode.plot import style


def residuals(years: Mapping[str, Any], turns: Mapping[str, Any], axes: Any = None) -> Any:
    """Left the angles of several runs on one scale, right the last one about each body axis.

    ``years`` and ``turns`` are the times and the rows of three small angles, in arcseconds, by the
    name of the run.  ``axes`` are two, or None for a new figure.
    """
    if axes is None:
        axes = style.figure((11.0, 4.2)).subplots(1, 2)
    left, right = np.ravel(axes)
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
