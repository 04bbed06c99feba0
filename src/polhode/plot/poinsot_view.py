"""A film of Poinsot's ellipsoid, which rolls on its plane.

Under a torque the plane is the one across the angular momentum of the moment.  The eye then turns
with the momentum by the shortest way from its first direction, so that the plane stays below.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.errors import InputError
from polhode.plot import ellipsoid, style
from polhode.plot.motion import matrices
from polhode.plot.poinsot import camera, keeps_momentum
from polhode.plot.stage import LONGEST, Arrow, Film, contacts, fix, in_body, line, time

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SQUARE = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, 1.0], [1.0, -1.0]])


class PoinsotView:
    """The ellipsoid of inertia, which rolls on the plane across the angular momentum."""

    def __init__(self, film: Film, ax: "Axes"):
        if film.run.body is None:
            raise InputError("the view 'poinsot' needs a body, and this motion has none")
        self.film, self.ax = film, ax
        self.is_free = keeps_momentum(film.run)
        self.contacts, self.tips = contacts(film.frames), contacts(film.fine)
        self.in_body = in_body(film.fine, self.tips)
        self.polhode = self._polhode()
        self.surface = ellipsoid.matrix(film.run.body)
        self._set_up_eye()
        fix(ax, np.array([0.0, -0.1]), 1.3)
        self.artists = self._make()

    def _set_up_eye(self) -> None:
        """Find the axes of the eye in each frame, and the depth and the half side of the plane."""
        frames = self.film.frames
        assert frames.momentum is not None
        rooms = _rooms(
            frames.momentum[:1].repeat(len(frames.t), 0) if self.is_free else frames.momentum
        )
        towards = rooms[0] @ matrices(frames.q[:1])[0] @ self.polhode.mean(axis=0)
        self.camera = camera(self.film.run.body, towards)
        self.eyes = self.camera @ rooms
        self.turns = self.eyes @ matrices(frames.q)
        places = np.einsum("nij,nj->ni", rooms, self.contacts)
        self.depths = -places[:, 2]
        radius = float(np.hypot(places[:, 0], places[:, 1]).max())
        self.half = max(1.2 * radius, 0.8 * float(np.linalg.norm(self.tips, axis=1).max()))

    def _polhode(self) -> np.ndarray:
        """Return the path of the contact on the ellipsoid, in body axes: a curve that is closed."""
        speeds = np.linalg.norm(np.diff(self.in_body, axis=0), axis=1)
        first = np.linalg.norm(self.in_body - self.in_body[0], axis=1)
        away = int(np.argmax(first > 3 * speeds.max())) if len(speeds) else 0
        back = np.flatnonzero(first[away:] <= speeds.max()) + away if away else np.array([], int)
        end = int(back[0]) + 1 if len(back) and self.is_free else len(self.in_body)
        path = self.in_body[:end][:: -(-end // LONGEST)]
        return np.vstack([path, self.in_body[:1]]) if end < len(self.in_body) else path

    def _make(self) -> list[Any]:
        from matplotlib.patches import Polygon

        look, ax = style.theme(), self.ax
        shade: dict[str, Any] = {"facecolor": look.faint, "alpha": 0.6, "linewidth": 0}
        self.plane = Polygon(np.zeros((4, 2)), animated=True, **shade)
        ax.add_patch(self.plane)
        self.trace = line(ax, look.purple, 1.3)
        self.face = Polygon(np.zeros((3, 2)), facecolor=look.surface, alpha=0.8, animated=True)
        ax.add_patch(self.face)
        self.outline, self.sections = line(ax, look.grey, 0.9), line(ax, look.faint, 0.8)
        self.far, self.near = line(ax, look.blue, 1.4, 0.25), line(ax, look.blue, 1.6)
        self.omega = Arrow(ax, "ω", look.red, 0.035, 1, at_middle=True)
        self.contact = ax.plot([], [], "o", ms=5, color=look.ink, animated=True)[0]
        self.now = self.film.clock(ax)
        name = "invariable plane" if self.is_free else "instantaneous plane"
        words: dict[str, Any] = {"fontsize": 9, "color": look.grey, "ha": "right"}
        ax.text(0.97, 0.03, name, transform=ax.transAxes, **words)
        lines = (self.trace, self.face, self.sections, self.outline, self.far, self.near)
        return [self.plane, *lines, *self.omega.parts, self.contact, self.now]

    def move(self, k: int) -> None:
        """Set all artists to frame k."""
        surface = self.turns[k] @ self.surface
        outline = ellipsoid.outline(surface)
        self.face.set_xy(outline)
        self.outline.set_data(*outline.T)
        self.sections.set_data(*ellipsoid.sections(surface).T)
        self._move_plane(k)
        self._move_curves(k, surface)
        tip = (self.eyes[k] @ self.contacts[k])[:2]
        self.omega.move(np.zeros(2), tip, 0.7)
        self.contact.set_data(*tip[:, None])
        self.now.set_text(time(self.film.frames.t[k]))

    def _move_plane(self, k: int) -> None:
        corners = np.column_stack([self.half * SQUARE, np.full(4, -self.depths[k])])
        self.plane.set_xy((corners @ self.camera.T)[:, :2])
        self.plane.set_visible(bool(self.depths[k] > 0))  # at rest there is none
        self.contact.set_visible(bool(self.depths[k] > 0))

    def _move_curves(self, k: int, surface: np.ndarray) -> None:
        """Draw herpolhode and polhode; under a torque only the latest part of them."""
        window = self.film.trail(k)
        start = max(0, window.stop - LONGEST) if self.is_free else window.start
        self.trace.set_data(*(self.tips[start : window.stop] @ self.eyes[k].T)[:, :2].T)
        polhode = self.polhode if self.is_free else self.in_body[window]
        path = polhode @ self.turns[k].T
        near = np.linalg.solve(surface, path.T).T @ np.linalg.inv(surface)[:, 2:] >= 0
        self.near.set_data(*np.where(near, path[:, :2], np.nan).T)
        self.far.set_data(*np.where(near, np.nan, path[:, :2]).T)


def _rooms(momenta: np.ndarray) -> np.ndarray:
    """Return axes as rows, (n, 3, 3), whose third points against each momentum.

    They turn from those of the first by the shortest way; where the body is at rest they do not.
    """
    sizes = np.linalg.norm(momenta, axis=1, keepdims=True)
    along = np.divide(momenta, sizes, out=np.zeros_like(momenta), where=sizes > 0)
    across, aside, first = ellipsoid.directions(along[np.argmax(sizes[:, 0] > 0)])
    cosine = np.maximum(along @ first, -1 + 1e-12)
    x, y, z = np.cross(along, first).T
    none = np.zeros_like(x)
    cross = np.moveaxis(np.array([[none, -z, y], [z, none, -x], [-y, x, none]]), 2, 0)
    back = np.eye(3) + cross + cross @ cross / (1 + cosine)[:, None, None]
    return np.stack([aside, across, -first]) @ back
