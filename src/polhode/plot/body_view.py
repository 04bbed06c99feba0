"""A film of the body itself."""

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.plot import style
from polhode.plot.motion import States, matrices
from polhode.plot.quantities import to_inertial
from polhode.plot.solid import exits, seen, solid_of
from polhode.plot.space import eye
from polhode.plot.stage import LONGEST, Arrow, Film, fix, line, time

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EYE = 20.0, 35.0  # elevation and azimuth, in degrees
AXES = 1.25  # length of the body axes, in reaches of the body
OMEGA, MOMENTUM = 1.35, 1.6  # of the longest arrows of ω and L
ROOM = 1.8  # half of what is seen, in reaches of the body
LEAST = 0.12  # of the half of a path: the size of a body in flight
PARTS = 4  # in which a trail fades


class BodyView:
    """The body in inertial axes, lit, with its axes, ω, L, and the trail of axis 3 or its path."""

    def __init__(self, film: Film, ax: "Axes"):
        self.film, self.ax = film, ax
        self.solid = solid_of(film.run.body)
        self.size = self.solid.reach
        self.eye = eye(*EYE)
        self.turns = self.eye @ matrices(film.frames.q)
        self.path = None if film.frames.x is None else film.fine.x @ self.eye.T
        self.middle, half = np.zeros(2), ROOM * self.size
        if self.path is not None:
            half = self._fit_path()
        fix(ax, self.middle, half)
        self.artists = self._make()
        self._write_facts()

    def _fit_path(self) -> float:
        """Show all of the path; a body that is too small for it is drawn larger."""
        assert self.path is not None
        low, high = self.path[:, :2].min(axis=0), self.path[:, :2].max(axis=0)
        self.middle, half = (low + high) / 2, 0.5 * float((high - low).max())
        self.size = max(self.size, LEAST * half)
        return half + 0.9 * ROOM * self.size

    def _write_facts(self) -> None:
        facts = getattr(self.film.run, "problem", {})
        name = facts.get("name") or facts.get("model") or ""
        parts = [part for part in (name, getattr(self.film.run, "method", "")) if part]
        larger = self.size / self.solid.reach
        parts += [f"body {larger:.2g} times as large"] if larger > 1.01 else []
        look: dict[str, Any] = {"fontsize": 9, "color": style.theme().grey, "va": "top"}
        text = "  ·  ".join(parts)
        self.ax.text(0.03, 0.97, text, transform=self.ax.transAxes, parse_math=False, **look)
        if self.path is not None:
            self.ax.plot(*self.path[:, :2].T, color=style.theme().faint, linewidth=1.0)

    def _make(self) -> list[Any]:
        from matplotlib.collections import PolyCollection

        look = style.theme()
        edges = look.ink if self.solid.has_edges else "face"
        self.faces = PolyCollection([], edgecolors=edges, linewidths=0.5, animated=True)
        self.ax.add_collection(self.faces, autolim=False)
        self.lines = [
            [line(self.ax, look.blue, 1.4, share * (k + 1) / PARTS) for k in range(PARTS)]
            for share in (0.45, 1.0)
        ]  # behind the body, and before it
        lengths = np.linalg.norm(self.film.frames.omega, axis=1).max()
        self.of_omega = OMEGA / lengths if lengths > 0 else 0.0
        self.arrows = {
            name: Arrow(self.ax, name, colour, width, side)
            for name, colour, width, side in (
                *(("1", look.sky, 0.02, 0), ("2", look.orange, 0.02, 0), ("3", look.blue, 0.02, 0)),
                *(("L", look.green, 0.03, -1), ("ω", look.red, 0.035, 1)),
            )
            if name != "L" or self.film.frames.momentum is not None
        }
        self.axes_start = [exits(self.solid, axis) / self.solid.reach for axis in np.eye(3)]
        self.now = self.film.clock(self.ax)
        every = [line for lines in self.lines for line in lines]
        arrows = [part for arrow in self.arrows.values() for part in arrow.parts]
        return [*every, self.faces, *arrows, self.now]

    def move(self, k: int) -> None:
        """Set all artists to frame k, those behind the body first."""
        turn, origin = self.turns[k], self._origin(k)
        polygons, light = seen(self.solid, turn * (self.size / self.solid.reach))
        self.faces.set_verts(polygons + origin)
        self.faces.set_facecolor(_shaded(light))  # type: ignore[arg-type]
        self._move_trail(k)
        behind = self._move_arrows(k, turn, origin)
        self.now.set_text(time(self.film.frames.t[k]))
        lines_behind, lines_before = self.lines
        far = [part for name in behind for part in self.arrows[name].parts]
        before = [arrow for name, arrow in self.arrows.items() if name not in behind]
        near = [*(arrow.body for arrow in before), *(arrow.name for arrow in before)]
        self.artists = [*lines_behind, *far, self.faces, *lines_before, *near, self.now]

    def _origin(self, k: int) -> np.ndarray:
        return np.zeros(2) if self.path is None else self.path[k * self.film.between, :2]

    def _move_arrows(self, k: int, turn: np.ndarray, origin: np.ndarray) -> list[str]:
        """Move the arrows; returns the names of those behind the body."""
        frames = self.film.frames
        vectors = dict(zip("123", AXES * np.eye(3), strict=True))
        if frames.momentum is not None:
            largest = float(np.linalg.norm(frames.momentum, axis=1).max()) or 1.0
            vectors["L"] = MOMENTUM / largest * (frames.momentum[k] @ self.eye.T @ turn)
        vectors["ω"] = self.of_omega * frames.omega[k]
        behind = []
        for name, vector in vectors.items():
            tip = self.size * (turn @ vector)
            length = float(np.linalg.norm(vector))
            hidden = tip[2] < 0
            start = self._leaves(name, vector) if length > 0 and not hidden else 0.0
            start = start if start < 1 else 0.0
            self.arrows[name].move(origin + start * tip[:2], origin + tip[:2], self.size)
            if hidden:
                behind.append(name)
        return behind

    def _leaves(self, name: str, vector: np.ndarray) -> float:
        """Return the share of an arrow that is inside the body."""
        if name in "123":
            return self.axes_start["123".index(name)] / AXES
        return exits(self.solid, vector) / self.solid.reach

    def _move_trail(self, k: int) -> None:
        window = self.film.trail(k)
        if self.path is not None:
            points = self.path[: window.stop]
            points = points[:: -(-len(points) // LONGEST)]
            depth = np.ones(len(points))
        else:
            tips = to_inertial(_rows(self.film.fine, window), _axis_3(window))
            points = AXES * self.size * tips @ self.eye.T
            depth = points[:, 2]
        cuts = np.linspace(0, len(points), PARTS + 1).astype(int)
        for part, (start, end) in enumerate(pairwise(cuts)):
            shown = points[start : end + 1, :2]
            near = depth[start : end + 1] >= 0
            for lines, here in zip(self.lines, (~near, near), strict=True):
                here[1:] |= here[:-1]  # up to the point where the other one begins
                lines[part].set_data(*np.where(here[:, None], shown, np.nan).T)


def _shaded(light: np.ndarray) -> np.ndarray:
    """Return the colours of faces by the light that falls on them."""
    from matplotlib.colors import to_rgb

    base = np.array(to_rgb("#c9ced6" if style.theme() is style.LIGHT else "#aab3c2"))
    return np.clip(light[:, None] * base * 1.12, 0, 1)


def _rows(there: States, window: slice) -> States:
    return States(*(None if part is None else part[window] for part in there))  # type: ignore[arg-type]


def _axis_3(window: slice) -> np.ndarray:
    return np.broadcast_to(np.array([0.0, 0.0, 1.0]), (window.stop - window.start, 3))
