"""What the views of a film share: its states, and artists that move.

A view draws into its axes what stays, once, and keeps the artists that move.  ``move(k)`` sets them
to frame k; they are drawn over what stays, in the order of ``artists``.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.plot import style
from polhode.plot.motion import States, matrices, rates_inertial, states

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TRAIL = 3.0  # seconds of film that a trail lasts
TURN = 0.1  # radians between points of a trail
MOST_POINTS = 200_000  # of trails
LONGEST = 3000  # points of a trail in one frame


class Film:
    """What views know of their film: the run, its states at the frames, and finer ones between."""

    def __init__(self, run: Any, times: np.ndarray, fps: float):
        self.run, self.fps, self.has_clock = run, fps, False
        self.frames = states(run, times)
        speeds = np.linalg.norm(self.frames.omega, axis=1)
        step = abs(times[1] - times[0])
        between = int(
            np.clip(np.ceil(speeds.max() * step / TURN), 1, MOST_POINTS // len(times) + 1)
        )
        self.between = between
        parts = np.arange(between * (len(times) - 1) + 1) / between
        self.fine = states(run, np.interp(parts, np.arange(len(times)), times))

    def clock(self, ax: "Axes") -> Any:
        """Return a text for the time, which only the first view of a film shows."""
        look: dict[str, Any] = {"fontsize": 10, "color": style.theme().ink, "animated": True}
        text = ax.text(0.03, 0.03, "", transform=ax.transAxes, **look)
        text.set_visible(not self.has_clock)
        self.has_clock = True
        return text

    def trail(self, k: int) -> slice:
        """Return the points between frames that a trail shows at frame k."""
        end = k * self.between + 1
        return slice(max(0, end - min(int(TRAIL * self.fps) * self.between, LONGEST)), end)


class Arrow:
    """An arrow with a name at its tip, or its middle: ahead (0), to its left (1) or right (-1)."""

    def __init__(
        self,
        ax: "Axes",
        name: str,
        colour: str,
        width: float,
        side: int = 0,
        at_middle: bool = False,
    ):
        from matplotlib.patches import Polygon

        self.width, self.side, self.at_middle = width, side, at_middle
        self.body = Polygon(np.zeros((7, 2)), facecolor=colour, edgecolor="none", animated=True)
        ax.add_patch(self.body)
        look: dict[str, Any] = {"fontsize": 10, "ha": "center", "va": "center"}
        rim = style.rimmed(colour, 2.5)
        self.name = ax.text(0, 0, name, animated=True, path_effects=rim, **look)
        self.parts = (self.body, self.name)

    def move(self, start: np.ndarray, tip: np.ndarray, size: float) -> None:
        """Draw the arrow between two points; ``size`` is that of the body."""
        along = tip - start
        length = float(np.hypot(*along))
        visible = length > 1e-6 * size
        for part in self.parts:
            part.set_visible(visible)
        if not visible:
            return
        along = along / length
        across = np.array([-along[1], along[0]])
        half, head = self.width * size / 2, min(4.5 * self.width * size, length)
        neck = tip - head * along
        wide = 0.4 * head
        points = (
            *(start + half * across, neck + half * across, neck + wide * across, tip),
            *(neck - wide * across, neck - half * across, start - half * across),
        )
        self.body.set_xy(np.array(points))
        place = 0.5 * (start + tip) if self.at_middle else tip
        away = (
            self.side * across + (0.0 if self.at_middle else 1.0 if self.side == 0 else 0.4) * along
        )
        place = place + 0.12 * size * away
        self.name.set_position((float(place[0]), float(place[1])))


# ---- states
def contacts(there: States) -> np.ndarray:
    """Return ω/√(2T) in inertial axes."""
    rates = rates_inertial(there)
    assert there.momentum is not None
    twice = np.einsum("ni,ni->n", rates, there.momentum)
    return rates / np.sqrt(np.maximum(twice, np.finfo(float).tiny))[:, None]


def in_body(there: States, vectors: np.ndarray) -> np.ndarray:
    return np.einsum("nji,nj->ni", matrices(there.q), vectors)


# ---- axes and texts
def line(ax: "Axes", colour: str, width: float, alpha: float = 1.0) -> Any:
    return ax.plot([], [], color=colour, linewidth=width, alpha=alpha, animated=True)[0]


def time(t: float) -> str:
    return f"t = {t:.2f} s" if 0.1 <= abs(t) < 1e4 or t == 0 else f"t = {t:.3g} s"


def fix(ax: "Axes", middle: np.ndarray, half: float) -> None:
    """Show at least ``half`` on every side of the middle, with equal scales and no frame."""
    ax.set_axis_off()
    ax.set_aspect("equal", adjustable="box", anchor="C")
    wide, high = ax.bbox.width, ax.bbox.height
    scale = half / min(wide, high)
    ax.set_xlim(middle[0] - scale * wide, middle[0] + scale * wide)
    ax.set_ylim(middle[1] - scale * high, middle[1] + scale * high)
    style.paint(ax.figure)
