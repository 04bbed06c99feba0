"""A film of Poinsot's ellipsoid, which rolls on its plane."""

from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.errors import InputError
from polhode.plot import ellipsoid, style
from polhode.plot.motion import matrices
from polhode.plot.poinsot import check_free, corners_of_plane, table
from polhode.plot.stage import LONGEST, Arrow, Film, contacts, fix, in_body, line, time

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class PoinsotView:
    """The ellipsoid of inertia, which rolls on the invariable plane."""

    def __init__(self, film: Film, ax: "Axes"):
        if film.run.body is None:
            raise InputError("the view 'poinsot' needs a body, and this motion has none")
        check_free(film.run)
        self.film, self.ax = film, ax
        self.contacts, self.tips = contacts(film.frames), contacts(film.fine)
        self.in_body = in_body(film.fine, self.tips)
        first = matrices(film.frames.q[:1])[0]
        self.polhode = self._polhode()
        self.eye = table(film.run, self.polhode @ first.T)
        self.surface = ellipsoid.matrix(film.run.body)
        self.turns = self.eye @ matrices(film.frames.q)
        axes = ellipsoid.invariable_plane(film.run)
        plane = (corners_of_plane(self.tips, axes) @ self.eye.T)[:, :2]
        ax.fill(*plane.T, color=style.theme().faint, alpha=0.6, linewidth=0)
        self.tips = (self.tips @ self.eye.T)[:, :2]
        fix(ax, np.array([0.0, -0.1]), 1.3)
        self.artists = self._make()

    def _polhode(self) -> np.ndarray:
        """Return the path of the contact on the ellipsoid, in body axes: a curve that is closed."""
        speeds = np.linalg.norm(np.diff(self.in_body, axis=0), axis=1)
        first = np.linalg.norm(self.in_body - self.in_body[0], axis=1)
        away = int(np.argmax(first > 3 * speeds.max())) if len(speeds) else 0
        back = np.flatnonzero(first[away:] <= speeds.max()) + away if away else np.array([], int)
        end = int(back[0]) + 1 if len(back) else len(self.in_body)
        path = self.in_body[:end][:: -(-end // LONGEST)]
        return np.vstack([path, self.in_body[:1]]) if len(back) else path

    def _make(self) -> list[Any]:
        from matplotlib.patches import Polygon

        look, ax = style.theme(), self.ax
        self.trace = line(ax, look.purple, 1.3)
        self.face = Polygon(np.zeros((3, 2)), facecolor=look.surface, alpha=0.8, animated=True)
        ax.add_patch(self.face)
        self.outline, self.sections = line(ax, look.grey, 0.9), line(ax, look.faint, 0.8)
        self.far, self.near = line(ax, look.blue, 1.4, 0.25), line(ax, look.blue, 1.6)
        self.omega = Arrow(ax, "ω", look.red, 0.035, 1, at_middle=True)
        self.contact = ax.plot([], [], "o", ms=5, color=look.ink, animated=True)[0]
        self.now = self.film.clock(ax)
        lines = (self.trace, self.face, self.sections, self.outline, self.far, self.near)
        return [*lines, *self.omega.parts, self.contact, self.now]

    def move(self, k: int) -> None:
        """Set all artists to frame k."""
        surface = self.turns[k] @ self.surface
        outline = ellipsoid.outline(surface)
        self.face.set_xy(outline)
        self.outline.set_data(*outline.T)
        self.sections.set_data(*ellipsoid.sections(surface).T)
        window = self.film.trail(k)
        self.trace.set_data(*self.tips[max(0, window.stop - LONGEST) : window.stop].T)
        path = self.polhode @ self.turns[k].T
        near = np.linalg.solve(surface, path.T).T @ np.linalg.inv(surface)[:, 2:] >= 0
        self.near.set_data(*np.where(near, path[:, :2], np.nan).T)
        self.far.set_data(*np.where(near, np.nan, path[:, :2]).T)
        tip = (self.eye @ self.contacts[k])[:2]
        self.omega.move(np.zeros(2), tip, 0.7)
        self.contact.set_data(*tip[:, None])
        self.now.set_text(time(self.film.frames.t[k]))
