"""The style of all pictures: themes, few distinct colours, thin frames, labels with units."""

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from polhode.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

P = ParamSpec("P")
R = TypeVar("R")

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


# ---- themes
@dataclass(frozen=True)
class Theme:
    """The colours of a picture: of its ground, of texts and frames, and of curves."""

    name: str
    ground: str
    ink: str
    grey: str
    faint: str
    surface: str  # of bodies and ellipsoids
    colours: tuple[str, ...]
    paths: tuple[float, float]  # the part of the colour map viridis that shows time
    shades: str  # the colour map of histograms

    @property
    def blue(self) -> str:
        return self.colours[0]

    @property
    def red(self) -> str:
        return self.colours[1]

    @property
    def green(self) -> str:
        return self.colours[2]

    @property
    def purple(self) -> str:
        return self.colours[3]

    @property
    def orange(self) -> str:
        return self.colours[4]

    @property
    def sky(self) -> str:
        return self.colours[5]


LIGHT = Theme(
    "light", "#ffffff", INK, GREY, FAINT, "#f7f7f4", COLOURS, paths=(0.0, 0.85), shades="Blues"
)
DARK = Theme(
    "dark",
    ground="#16181c",
    ink="#e6e6e6",
    grey="#8f949c",
    faint="#33373e",
    surface="#24272d",
    colours=("#2f8fd6", "#f0762b", "#1fbf92", "#e08fbd", "#f5d24a", "#a6dbf7"),
    paths=(0.3, 1.0),
    shades="Blues_r",
)  # the same hues, lighter: at least 5 : 1 against the ground
THEMES = {theme.name: theme for theme in (LIGHT, DARK)}

_theme: ContextVar[Theme] = ContextVar("theme", default=LIGHT)


def theme() -> Theme:
    """Return the theme in which pictures are drawn now."""
    return _theme.get()


@contextmanager
def drawn_in(name: str | None) -> Iterator[None]:
    """Draw in the theme of this name inside the block; None keeps the present one."""
    if name is None:
        yield
        return
    if not isinstance(name, str) or name not in THEMES:
        known = " or ".join(map(repr, THEMES))
        raise InputError(f"theme must be {known}, or None, got {name!r}")
    before = _theme.set(THEMES[name])
    try:
        yield
    finally:
        _theme.reset(before)


def themed(draw: Callable[P, R]) -> Callable[P, R]:
    """Make a function draw in the theme that its argument ``theme`` names."""

    @wraps(draw)
    def drawing(*args: P.args, **kwargs: P.kwargs) -> R:
        name: Any = kwargs.get("theme")
        with drawn_in(name):
            return draw(*args, **kwargs)

    return drawing


# ---- figures and axes
def figure(size: tuple[float, float] = (5.0, 3.6), heading: str = "") -> Any:
    """Make a figure: by pyplot if the session uses it, so that ``plt.show()`` works."""
    from matplotlib.figure import Figure

    pyplot = sys.modules.get("matplotlib.pyplot")
    make = Figure if pyplot is None else pyplot.figure
    sheet = make(figsize=size, layout="constrained")
    paint(sheet)
    if heading:
        sheet.suptitle(heading, fontsize=11, color=theme().ink)
    return sheet


def paint(part: Any) -> None:
    """Give a figure or axes the ground of a theme that is not the light one.

    In the light theme they keep the colour that the session has chosen.
    """
    if theme() is not LIGHT:
        part.set_facecolor(theme().ground)


def ground_of(sheet: Any) -> dict[str, Any]:
    """Return the option of ``savefig`` that keeps the ground of a figure that ``paint`` painted.

    The session's ``savefig.facecolor`` could be another, on which the texts are hard to read.
    """
    from matplotlib.colors import same_color

    ground = sheet.get_facecolor()
    return {"facecolor": ground} if same_color(ground, DARK.ground) else {}


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
    ink, grey, faint = theme().ink, theme().grey, theme().faint
    paint(ax)
    paint(ax.figure)
    ax.set_title(title, loc="left", fontsize=10, color=ink, fontweight="bold")
    ax.set_xlabel(xlabel, fontsize=9, color=ink)
    ax.set_ylabel(ylabel, fontsize=9, color=ink)
    ax.tick_params(labelsize=8, colors=ink, color=grey, length=3)
    ax.tick_params(which="minor", colors=ink, color=grey)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["bottom", "left"]].set_color(grey)
    ax.grid(True, color=faint, linewidth=0.6)
    ax.set_axisbelow(True)
    return ax


def look(number: int) -> dict[str, Any]:
    """Return the look of one of several lines with markers, different for each number."""
    colours = theme().colours
    turn, place = divmod(number, len(colours))
    marker, line = MARKERS[number % len(MARKERS)], LINES[turn % len(LINES)]
    return {"color": colours[place], "marker": marker, "linestyle": line, "linewidth": 1.2}


# ---- legends, labels, notes
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
        ax.legend(**PLACES[place], **look, fontsize=8, labelcolor=theme().ink, frameon=False)
    return ax


def note(ax: "Axes", text: str, at: Any, offset: tuple[float, float], **look: Any) -> None:
    """Write a text beside a point, at an ``offset`` in points."""
    look = {"textcoords": "offset points", "fontsize": 8, "color": theme().ink, **look}
    ax.annotate(text, tuple(at), xytext=offset, **look)


def rimmed(colour: str, width: float) -> list[Any]:
    """Return the effects of a text in this colour with a rim of the ground, to be read on anything.

    The outlines are not snapped to pixels, which would draw a small L as a dash: both sides of its
    stem would fall on the same one.
    """
    from matplotlib.patheffects import PathPatchEffect, Stroke

    rim = Stroke(linewidth=width, foreground=theme().ground, snap=False)
    return [rim, PathPatchEffect(facecolor=colour, linewidth=0.0, snap=False)]
