"""The style of all pictures: few distinct colours, thin frames, labels with units."""

import importlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE, RED, GREEN, PURPLE, ORANGE, SKY = COLOURS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
)  # Okabe and Ito's palette for all kinds of colour vision
INK, GREY, FAINT = "#262626", "#8c8c8c", "#dedede"
MARKERS, LINES = "os^Dvp", ("-", "--", ":")


def figure(size: tuple[float, float] = (5.0, 3.6), heading: str = "") -> Any:
    """Make a figure: by pyplot if the session uses it, so that ``plt.show()`` works."""
    from matplotlib.figure import Figure

    pyplot = sys.modules.get("matplotlib.pyplot")
    make = Figure if pyplot is None else pyplot.figure
    sheet = make(figsize=size, layout="constrained")
    if heading:
        sheet.suptitle(heading, fontsize=11, color=INK)
    return sheet


def import_quickly() -> None:
    """Import matplotlib without the tables of properties in its docstrings, for commands.

    They take a fifth of the time of the import, and a command does not show them.
    """
    if "matplotlib.figure" in sys.modules:
        return
    from matplotlib import artist

    table_of_properties = artist.kwdoc
    artist.kwdoc = lambda artist: ""
    try:
        importlib.import_module("matplotlib.figure")
    finally:
        artist.kwdoc = table_of_properties


def axes_or_new(ax: "Axes | None") -> "Axes":
    """The axes given, or those of a new figure."""
    return figure().add_subplot() if ax is None else ax


def dress(ax: "Axes", title: str = "", xlabel: str = "", ylabel: str = "") -> "Axes":
    """Set title and labels, a light grid and no box."""
    ax.set_title(title, loc="left", fontsize=10, color=INK, fontweight="bold")
    ax.set_xlabel(xlabel, fontsize=9, color=INK)
    ax.set_ylabel(ylabel, fontsize=9, color=INK)
    ax.tick_params(labelsize=8, colors=INK, color=GREY, length=3)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["bottom", "left"]].set_color(GREY)
    ax.grid(True, color=FAINT, linewidth=0.6)
    ax.set_axisbelow(True)
    return ax


def look(number: int) -> dict[str, Any]:
    """Return the look of one of several lines with markers, different for each number."""
    turn, place = divmod(number, len(COLOURS))
    marker, line = MARKERS[number % len(MARKERS)], LINES[turn % len(LINES)]
    return {"color": COLOURS[place], "marker": marker, "linestyle": line, "linewidth": 1.2}


PLACES: dict[str, dict[str, Any]] = {
    "beside the title": {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "ncols": 4},
    "below": {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "ncols": 3},
    "beside the axes": {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0)},
    "inside": {"loc": "best"},
}


def legend(ax: "Axes", place: str = "beside the title") -> "Axes":
    """Add a legend beside the title, where it hides nothing, or in another of ``PLACES``.

    Nothing is added if no line has a label.
    """
    if ax.get_legend_handles_labels()[0]:
        look: dict[str, Any] = {"borderaxespad": 0.2, "columnspacing": 1.2, "handlelength": 1.6}
        ax.legend(**PLACES[place], **look, fontsize=8, labelcolor=INK, frameon=False)
    return ax


def note(ax: "Axes", text: str, at: Any, offset: tuple[float, float], **look: Any) -> None:
    """Write a text beside a point, at an ``offset`` in points."""
    look = {"textcoords": "offset points", "fontsize": 8, "color": INK, **look}
    ax.annotate(text, tuple(at), xytext=offset, **look)
