"""``polhode film``: a film of a run."""

import re
import time
from pathlib import Path
from typing import Annotated, Any

from polhode.cli import options
from polhode.cli.output import bar, duration, plain, print_summary, stoppable
from polhode.errors import InputError


def film(
    run: Annotated[Path, options.RUN_FILE],
    file: Annotated[Path, options.FILM_FILE],
    fps: Annotated[float, options.FPS] = 25.0,
    speed: Annotated[float | None, options.SPEED] = None,
    views: Annotated[str | None, options.VIEWS] = None,
    size: Annotated[str | None, options.FILM_SIZE] = None,
    theme: Annotated[str | None, options.THEME] = None,
    quiet: Annotated[bool, options.QUIET] = False,
) -> None:
    """Write a film of a run: .mp4 or .webm (with ffmpeg), .gif, .webp or .png (APNG).

    ffmpeg is taken from PATH, or from `pip install 'polhode[video]'`. An existing film is replaced
    when the new one is complete; a film that is interrupted leaves nothing behind.

    Examples:

    - `polhode film fast-top.nc top.mp4`
    - `polhode film tennis-racket.nc racket.webp --views body,poinsot --theme dark`
    - `polhode film fast-top.nc top.gif --speed 0.1 --fps 20 --size 480x360 --views body`
    """
    from polhode import load, plot

    plot.style.import_quickly()
    wanted: dict[str, Any] = {"fps": fps, "speed": speed, "size": _pixels(size)}
    wanted["views"] = None if views is None else tuple(views.split(","))
    motion = load(run)
    plan = plot.film.make_plan(motion, plot.film.checked_path(file), **wanted)
    advice = "nothing was written"
    with stoppable(None, advice), bar(file.name, lambda _: file.name, quiet) as report:
        begun = time.perf_counter()
        plot.animate(motion, file, **wanted, theme=theme, progress=report)
        took = time.perf_counter() - begun
    if quiet:
        return
    turning = plot.film.turns_per_frame(motion, plan)
    wide, high = plan.size
    rows = {
        "film": f"{plain(str(file))}, {file.stat().st_size / 1000:.0f} kB",
        "frames": f"{len(plan.times)} of {wide} x {high} pixels, {plan.fps:g} per second",
        "speed": f"{plan.speed:.3g} s of motion per second, {plan.fps * turning:.2g} turns",
        "time": f"{duration(took)}, {duration(took / len(plan.times))} per frame",
    }
    if turning > plot.film.BLUR:
        rows["note"] = (
            f"the body turns {turning:.2g} times from frame to frame, so it may seem to turn"
            " otherwise; a smaller --speed shows it"
        )
    print_summary(rows)


def _pixels(size: str | None) -> tuple[int, int] | None:
    if size is None:
        return None
    found = re.fullmatch(r"(\d+)[x×](\d+)", size)
    if found is None:
        raise InputError(f"--size must be WIDTHxHEIGHT in pixels, such as 960x480, got {size!r}")
    return int(found[1]), int(found[2])
