"""Figure 1 of Fukushima (1995), for the Earth and for the Moon."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from polhode.papers.drawing import legend, save, sheet
from polhode.papers.fukushima1995.laboratory import (
    ANDOYER,
    CARRIED,
    EARTH,
    ENCKE,
    EULER,
    FLOOR,
    MOON,
    NEW,
    QUATERNION,
    SAME,
    Laboratory,
)
from polhode.plot import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

APART = 1.5  # the least ratio of neighbouring abscissas
LOOK = {  # label, colour, mark, dash
    ANDOYER: ("Serret–Andoyer", style.GREY, "v", "-"),
    EULER: ("Euler's angles", style.RED, "s", "-"),
    SAME: ("new variables\nas such", style.ORANGE, "D", "-"),
    QUATERNION: ("quaternion", style.PURPLE, "^", "-"),
    CARRIED: ("quaternion,\nsums carried", style.PURPLE, "^", (0, (1, 2))),
    NEW: ("new variables\nas departures", style.BLUE, "o", "-"),
    ENCKE: ("quaternion\nas a departure", style.SKY, "p", "-"),
}


def draw(lab: Laboratory, out: Path) -> tuple[Path, ...]:
    """Both, as PNG files in ``out``."""
    lab.progress("figures")
    return save([_growth(lab, body) for body in (EARTH, MOON)], out)


def thinned(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points of rising x, those that would touch taken together: the last x, the largest y.

    8192 and 10 000 revolutions, or 32 768 and 33 000, are nearly one place in a logarithm, and a
    line that joins two errors there would be steep or upright.
    """
    apart = np.append(x[1:] > APART * x[:-1], True)
    first = np.flatnonzero(np.append(True, apart[:-1]))
    return x[apart], np.maximum.reduceat(y, first)


def _growth(lab: Laboratory, body: str) -> "Figure":
    picture = sheet(
        10.0, 4.6, f"{body}, Adams of order 12 with 128 steps a revolution: errors as they grow"
    )
    panels = picture.subplots(1, 2, sharex=True, sharey=True)
    for ax, what, title in zip(
        panels, ("orientation", "axis"), ("orientation", "figure axis"), strict=True
    ):
        for scheme, (label, colour, mark, dash) in LOOK.items():
            run = lab.errors(body, scheme)
            look = {"color": colour, "marker": mark, "linestyle": dash, "label": label}
            turns, values = thinned(run.revolutions, np.maximum(getattr(run, what), FLOOR))
            ax.plot(turns, values, markersize=4, linewidth=1.2, **look)
        ax.set(xscale="log", yscale="log", ylim=(0.5 * FLOOR, 1e-5))
        style.dress(ax, title, "revolutions", "error (rad)" if what == "orientation" else "")
    legend(picture, panels[0])
    return picture
