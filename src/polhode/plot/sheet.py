"""Overviews of a run in one figure, and figures in files."""

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from inspect import signature
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from polhode.errors import FileError, InputError
from polhode.plot import style
from polhode.plot.flight import path, position
from polhode.plot.panels import drift, error, rates, tilt, variables
from polhode.plot.poinsot import herpolhode, poinsot, polhode
from polhode.plot.sphere import trace
from polhode.plot.uncertainty import uncertainty

PANELS: Mapping[str, Callable] = MappingProxyType(
    {
        draw.__name__: draw
        for draw in (
            *(tilt, rates, trace, drift, error, polhode, herpolhode, poinsot, position, path),
            *(variables, uncertainty),
        )
    }
)
DYNAMIC = "drift", "polhode", "herpolhode", "poinsot", "uncertainty"  # need a body
MOVING = "position", "path"  # need a position
OURS = "run", "ax", "theme"  # options that all panels have
QUICKLY = {"compress_level": 3}  # half the time of 6 for a tenth more bytes


@style.themed
def draw(
    run: Any,
    panel: str | None = None,
    axes: Any = None,
    *,
    ax: Any = None,
    figsize: tuple[float, float] | None = None,
    theme: str | None = None,
    **options: Any,
) -> Any:
    """Draw one of ``PANELS`` by name, with its options; None draws the ``overview``.

    ``axes`` (or ``ax``) are matplotlib's, to draw into.  ``figsize`` is the size of a new figure,
    width and height in inches.  ``theme`` is "light" or "dark"; the dark one also paints the
    ground of the axes given, and of their figure.  The default, None, is the light one.
    """
    if axes is not None and ax is not None:
        raise InputError("give axes= or ax=, not both: they are the same")
    axes = ax if axes is None else axes
    if axes is not None and figsize is not None:
        raise InputError("figsize= is the size of a new figure: leave it out, or axes=")
    if panel is None and not options:
        return overview(run, axes, figsize)
    if not isinstance(panel, str) or panel not in PANELS:
        given = f" with {', '.join(f'{name}=' for name in options)}" if options else ""
        raise InputError(f"panel must be one of {', '.join(PANELS)}, or None, got {panel!r}{given}")
    if panel in DYNAMIC and _is_bodiless(run):
        kinematic = ", ".join(name for name in PANELS if name not in (*DYNAMIC, *MOVING))
        raise InputError(
            f"the panel {panel!r} needs a body, and a motion by given angular velocities has none;"
            f" available: {kinematic}"
        )
    known = [name for name in signature(PANELS[panel]).parameters if name not in OURS]
    unknown = [name for name in options if name not in known]
    if unknown:
        listed = ", ".join([*known, "ax", "figsize", "theme"])
        raise InputError(f"the panel {panel!r} has no option {unknown[0]!r}; it has {listed}")
    if figsize is not None:
        axes = style.figure(figsize).add_subplot()
    return PANELS[panel](run, axes, **options)


@style.themed
def overview(
    run: Any,
    axes: Any = None,
    figsize: tuple[float, float] | None = None,
    *,
    theme: str | None = None,
) -> np.ndarray:
    """Draw four panels: tilt, rates, path of body axis 3, change of energy and momentum.

    For a body with a position: position, rates, path, change of energy.  Without a body the last
    panel is the estimated error of the attitude, if there is an estimate.
    ``axes`` is a 2×2 array of axes, or None for a new figure of ``figsize`` inches.  Returns that
    array; the figure is ``axes[0, 0].figure``, which a notebook shows.
    """
    if axes is None:
        sheet = style.figure(figsize or (10.0, 7.0), _heading(run))
        sheet.get_layout_engine().set(w_pad=0.12, h_pad=0.1)
        axes = sheet.subplots(2, 2)
    if np.size(axes) != 4:
        raise InputError(
            f"the overview draws into four axes, got {np.size(axes)}; name a panel for one:"
            f" {', '.join(PANELS)}"
        )
    axes = np.asarray(axes).reshape(2, 2)
    moves = getattr(run, "x", None) is not None
    panels: tuple[Any, ...] = (position, rates, path) if moves else (tilt, rates, trace)
    for ax, draw in zip(axes.flat, panels, strict=False):
        draw(run, ax)
    if not _is_bodiless(run):
        drift(run, axes[1, 1])
    elif getattr(run, "error", None) is not None:
        error(run, axes[1, 1])
    else:
        axes[1, 1].set_axis_off()
    return axes


def _is_bodiless(run: Any) -> bool:
    return hasattr(run, "body") and run.body is None


def _heading(run: Any) -> str:
    facts = getattr(run, "problem", {})
    parts = [facts.get("name") or facts.get("model") or "", getattr(run, "method", "")]
    dt = getattr(run, "arguments", {}).get("dt")
    parts += [f"dt = {dt:g} s"] if dt else []
    if not getattr(run, "success", True):
        parts.append(f"stopped early: {run.status.name}")
    return "   ·   ".join(part for part in parts if part)


def save(axes: Any, path: str | os.PathLike, dpi: int = 150) -> Path:
    """Write the figure of ``axes`` to a file, completely or not at all.

    The suffix of ``path`` determines the format.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise FileError(f"there is no directory {str(path.parent)!r} to write {path.name!r} into")
    sheet = np.ravel(axes)[0].figure
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".") as place:
        draft = Path(place) / path.name
        is_png = path.suffix == ".png"
        with _laid_out(sheet, dpi) if is_png else nullcontext():
            more = {"pil_kwargs": QUICKLY} if is_png else {}
            sheet.savefig(draft, dpi=dpi, **style.ground_of(sheet), **more)
        os.replace(draft, path)
    return path


@contextmanager
def _laid_out(sheet: Any, dpi: int) -> Iterator[None]:
    """Lay the figure out once; ``savefig`` alone would draw all of it twice to the same end.

    Texts are measured as they will be drawn, whatever pyplot would use to show the figure.
    """
    from matplotlib import rcParams
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    engine, before, canvas = sheet.get_layout_engine(), sheet.dpi, sheet.canvas
    if engine is None:
        yield
        return
    FigureCanvasAgg(sheet)
    sheet.set_dpi(dpi)
    engine.execute(sheet)
    asked = rcParams["figure.autolayout"] or rcParams["figure.constrained_layout.use"]
    sheet.set_layout_engine("none" if asked else None)  # "none": a place holder, drawn twice
    try:
        yield
    finally:
        sheet.set_layout_engine(engine)
        sheet.set_dpi(before)
        sheet.set_canvas(canvas)
