"""What a film shows: the body, Poinsot's ellipsoid, or any panel with a mark that moves."""

from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.plot import ellipsoid, style
from polhode.plot.body_view import BodyView
from polhode.plot.flight import VIEW
from polhode.plot.motion import rates_inertial
from polhode.plot.poinsot import FROM_SIDE
from polhode.plot.poinsot_view import PoinsotView
from polhode.plot.quantities import to_inertial
from polhode.plot.sheet import PANELS, draw
from polhode.plot.space import eye
from polhode.plot.sphere import usual_eye
from polhode.plot.stage import Film, contacts, in_body

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OVER_TIME = "tilt", "rates", "drift", "error", "position", "variables"
NAMES = ("body", *(name for name in PANELS if name != "uncertainty"))  # which takes options
FULL = "body", "poinsot"  # take all of their part of a frame


def make(name: str, film: Film, ax: "Axes") -> "BodyView | PoinsotView | PanelView":
    """Make the view with this name in the axes."""
    if name == "body":
        return BodyView(film, ax)
    return PoinsotView(film, ax) if name == "poinsot" else PanelView(film, ax, name)


class PanelView:
    """One of ``PANELS``, with a line at the present time or a dot at the present place."""

    def __init__(self, film: Film, ax: "Axes", name: str):
        self.film, self.ax = film, ax
        draw(film.run, name, ax)
        colour = style.theme().ink
        self.marks = None if name in OVER_TIME else _marks(name, film)
        if self.marks is None:
            self.mark = ax.axvline(film.frames.t[0], color=colour, linewidth=0.9, animated=True)
        else:
            look: dict[str, Any] = {"mfc": style.theme().red, "mec": style.theme().ground}
            self.mark = ax.plot([], [], "o", ms=8, animated=True, **look)[0]
        self.artists = [self.mark]

    def move(self, k: int) -> None:
        """Set the mark to frame k."""
        if self.marks is None:
            self.mark.set_xdata([self.film.frames.t[k]] * 2)
        else:
            self.mark.set_data(*self.marks[k][:, None])


def _marks(name: str, film: Film) -> np.ndarray:
    """Return the places of the mark in a panel that shows a path, (n, 2)."""
    there, run = film.frames, film.run
    if name == "path":
        return (there.x @ eye(*VIEW).T)[:, :2]
    if name == "trace":
        axis = to_inertial(there, np.broadcast_to([0.0, 0.0, 1.0], there.omega.shape))
        return (axis @ usual_eye(run).T)[:, :2]
    if name == "polhode":
        scale = np.sqrt(ellipsoid.drawn_moments(run.body).min())
        places = in_body(there, contacts(there))
        return (scale * places @ eye(*FROM_SIDE).T)[:, :2]
    return (rates_inertial(there) @ ellipsoid.invariable_plane(run).T)[:, :2]  # the herpolhode
