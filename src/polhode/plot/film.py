"""Films of runs: what is shown when, frame by frame."""

import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import FileError, InputError
from polhode.plot import style, video
from polhode.plot.motion import turns
from polhode.plot.views import FULL, NAMES, Film, make

VIEWS = "body", "rates"
TALL = 480  # pixels of a frame
CELL = 5.2, 4.2  # inches of a view: texts and lines keep their proportions in frames of any size
SHORTEST, LONGEST, A_TURN = 4.0, 10.0, 2.0  # seconds of a film, and of a turn in it, by default
MOST_FRAMES, MOST_MEMORY = 20_000, 1_000_000_000  # bytes
SMALLEST, LARGEST, MOST_PIXELS = 32, 8192, 4096 * 4096
MOST_VIEWS = 4
BLUR = 0.3  # turns from frame to frame, beyond which a body may seem to turn backwards
MARGIN = 0.12  # inches around a panel
COARSEST = 12.0  # pixels per inch: with fewer, letters are smaller than fonts can be


class Plan(NamedTuple):
    """The times of the frames, and how they are shown."""

    times: np.ndarray
    fps: float
    speed: float
    views: tuple[str, ...]
    size: tuple[int, int]
    dpi: float

    @property
    def rows_and_columns(self) -> tuple[int, int]:
        wide, high = self.size
        return (1, len(self.views)) if wide >= high else (len(self.views), 1)


@style.themed
def animate(
    run: Any,
    path: str | os.PathLike,
    *,
    fps: float = 25.0,
    speed: float | None = None,
    views: str | Sequence[str] | None = None,
    size: tuple[int, int] | None = None,
    dpi: float | None = None,
    theme: str | None = None,
    progress: Callable[[float], None] | None = None,
) -> Path:
    """Write a film of a run: .mp4 and .webm (with ffmpeg), .gif, .webp or .png (APNG).

    Parameters
    ----------
    path : the file to write, completely or not at all; its suffix determines the format
    fps : frames per second of film
    speed : seconds of motion per second of film.  By default a turn takes two seconds, but the film
        lasts at least 4 and at most 10 seconds
    views : one or more of "body", "poinsot" and the panels of ``PANELS``, side by side (below each
        other in an upright frame); by default "body" and "rates"
    size : width and height in pixels; for .mp4 and .webm odd ones become even.  By default 480 high
        and 480 wide for each view, a single one 640
    dpi : pixels per inch, which texts and lines are measured by; by default they fit the size
    theme : "light" (the default) or "dark"
    progress : a function that is called with the fraction done

    Returns
    -------
    the path
    """
    path = checked_path(path)
    plan = make_plan(run, path, fps=fps, speed=speed, views=views, size=size, dpi=dpi)
    if path.suffix.lower() in video.THROUGH_FFMPEG:
        video.ffmpeg()  # refuses before anything is drawn
    video.write(Frames(run, plan), path, plan.fps, progress or (lambda fraction: None))
    return path


class Frames:
    """The frames of a film, drawn when they are asked for; what stays is drawn once."""

    def __init__(self, run: Any, plan: Plan):
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        self.size, self.count = plan.size, len(plan.times)
        inches = [(pixels + 0.01) / plan.dpi for pixels in plan.size]
        sheet = Figure(figsize=(inches[0], inches[1]), dpi=plan.dpi, layout="constrained")
        sheet.set_facecolor(style.theme().ground)
        self.canvas = FigureCanvasAgg(sheet)
        film = Film(run, plan.times, plan.fps)
        parts = np.ravel(np.asarray(sheet.subfigures(*plan.rows_and_columns)))
        self.views = []
        for name, part in zip(plan.views, parts, strict=True):
            part.set_facecolor(style.theme().ground)
            ax = part.add_axes((0, 0, 1, 1)) if name in FULL else part.add_subplot()
            ax.set_facecolor(style.theme().ground)
            self.views.append(make(name, film, ax))
        layout: Any = sheet.get_layout_engine()
        layout.set(w_pad=MARGIN, h_pad=MARGIN)
        self.canvas.draw()
        self.still = self.canvas.copy_from_bbox(sheet.bbox)

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, place: int) -> np.ndarray:
        """Return a frame, (height, width, 4); it is valid until the next one is drawn."""
        self.canvas.restore_region(self.still)
        for view in self.views:
            view.move(place)
            for artist in view.artists:
                view.ax.draw_artist(artist)
        return np.asarray(self.canvas.buffer_rgba())


# ---- arguments
def checked_path(path: str | os.PathLike) -> Path:
    """Return the path of a film whose format is known and whose directory exists."""
    path = Path(path)
    if path.suffix.lower() not in video.SUFFIXES:
        known = ", ".join(video.SUFFIXES)
        raise InputError(f"path must end in one of {known}, got {path.name!r}")
    if not path.parent.is_dir():
        raise FileError(f"there is no directory {str(path.parent)!r} to write {path.name!r} into")
    return path


def make_plan(
    run: Any,
    path: Path,
    *,
    fps: float = 25.0,
    speed: float | None = None,
    views: str | Sequence[str] | None = None,
    size: tuple[int, int] | None = None,
    dpi: float | None = None,
) -> Plan:
    """Check the arguments of a film, and fill in those that are None."""
    kind = path.suffix.lower()
    steps = np.diff(run.t)
    if len(steps) == 0 or not ((steps > 0).all() or (steps < 0).all()):
        raise InputError(
            "a film needs a run with two or more states, in the order of their times, got"
            f" {len(run.t)}: give t_eval= in order"
        )
    fps = _positive(fps, "fps", video.FASTEST.get(kind, 240.0))
    names = _views(views)
    wide, high = _size(size, len(names), kind in video.THROUGH_FFMPEG)
    span = abs(float(run.t[-1] - run.t[0]))
    speed = usual_speed(run) if speed is None else _positive(speed, "speed")
    frames = span / speed * fps + 1e-6
    _check_count(frames, span, fps, speed)
    count = int(frames) + 1
    memory = count * wide * high * video.KEPT.get(kind, 0)
    if memory > MOST_MEMORY:
        raise InputError(
            f"a {kind} film of {count} frames of {wide} x {high} pixels would take"
            f" {memory / 1e9:.1f} GB of memory, more than {MOST_MEMORY / 1e9:g}: write .webp, .mp4"
            " or .webm, or raise speed, or lower fps or size"
        )
    ends = float(run.t[0]), float(run.t[-1])
    times = ends[0] + np.sign(ends[1] - ends[0]) * np.arange(count) * speed / fps
    times = np.clip(times, min(ends), max(ends))
    plan = Plan(times, fps, speed, names, (wide, high), 0.0)
    rows, columns = plan.rows_and_columns
    fitting = min(wide / columns / CELL[0], high / rows / CELL[1])
    dpi = max(fitting, COARSEST) if dpi is None else _positive(dpi, "dpi", 2000.0)
    if dpi < COARSEST:
        raise InputError(
            f"dpi must be {COARSEST:g} or more, so that letters have pixels, got {dpi:g}"
        )
    return plan._replace(dpi=dpi)


def turns_per_frame(run: Any, plan: Plan) -> float:
    """Return the mean turns of the body from frame to frame; beyond ``BLUR`` they mislead."""
    span = abs(float(run.t[-1] - run.t[0]))
    return turns(run) * plan.speed / (plan.fps * span)


def usual_speed(run: Any) -> float:
    """Return seconds of motion per second of film: a turn takes two, if that is not too long."""
    span = abs(float(run.t[-1] - run.t[0]))
    return span / min(max(A_TURN * turns(run), SHORTEST), LONGEST)


def _check_count(frames: float, span: float, fps: float, speed: float) -> None:
    if frames > MOST_FRAMES:
        enough = span * fps / MOST_FRAMES
        raise InputError(
            f"the film would have {frames:.3g} frames, more than {MOST_FRAMES}: {span:g} s of"
            f" motion at speed {speed:g} and {fps:g} frames a second; give speed={enough:.2g} or"
            " more, or film a part of the run"
        )
    if frames < 1:
        raise InputError(
            f"speed {speed:g} shows {span:g} s of motion in less than a frame; give a smaller one,"
            f" such as speed={usual_to_fit(span):.2g}"
        )


def usual_to_fit(span: float) -> float:
    """Return the speed that shows a span in the longest film by default."""
    return span / LONGEST


def _positive(value: Any, name: str, most: float = math.inf) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not (0 < number <= most and math.isfinite(number)):
        limit = "" if most == math.inf else f", at most {most:g}"
        raise InputError(f"{name} must be a positive number{limit}, got {value!r}")
    return number


def _views(views: str | Sequence[str] | None) -> tuple[str, ...]:
    names = VIEWS if views is None else (views,) if isinstance(views, str) else tuple(views)
    for name in names:
        if name not in NAMES:
            raise InputError(f"views must be some of {', '.join(NAMES)}, got {name!r}")
    if not 0 < len(names) <= MOST_VIEWS:
        raise InputError(f"views must be one to {MOST_VIEWS} names, got {len(names)}")
    return names


def _size(size: Any, count: int, is_even: bool) -> tuple[int, int]:
    if size is None:
        return (640 if count == 1 else TALL * count), TALL
    try:
        wide, high = (int(pixels) for pixels in size)
        usable = (wide, high) == tuple(size)
    except (TypeError, ValueError):
        usable, wide, high = False, 0, 0
    fits = min(wide, high) >= SMALLEST and max(wide, high) <= LARGEST
    if not (usable and fits and wide * high <= MOST_PIXELS):
        raise InputError(
            f"size must be a width and a height of {SMALLEST} to {LARGEST} pixels, at most"
            f" {MOST_PIXELS / 1e6:.0f} million in all, got {size!r}; (960, 480) for instance"
        )
    return (wide + wide % 2, high + high % 2) if is_even else (wide, high)
