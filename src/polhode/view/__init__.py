"""The viewer: runs as moving pictures in a browser, in a notebook, and in one HTML file.

``web/`` holds the viewer itself, modules of JavaScript; ``page.py`` puts them into a page with the
data that ``packing.py`` makes of runs.

Examples
--------
>>> import polhode as ph
>>> run = ph.solve(ph.problems.fast_top(), (0, 1), method="mr2", dt=0.01)
>>> ph.view.save_html(run, "top.html").name
'top.html'
"""

import os
import sys
import tempfile
import warnings
import webbrowser
from pathlib import Path
from types import ModuleType
from typing import Any

from polhode.contracts.checks import whole
from polhode.errors import FileError, InputError, PolhodeWarning
from polhode.files.whole import replace
from polhode.view import crowd, notebook
from polhode.view.packing import TOLERANCE, Options, Packed, pack
from polhode.view.page import html_page

__all__ = ["save_html", "view"]

SUFFIXES = ".html", ".htm"


def view(
    runs: Any,
    *,
    names: Any = None,
    layout: str = "side",
    points: Any = None,
    show: Any = None,
    theme: str = "auto",
    tolerance: float = TOLERANCE,
    title: str | None = None,
    globe: Any = None,
    height: int = notebook.HEIGHT,
    browser: bool = True,
    **ensemble: Any,
) -> Any:
    """Show one run, several together, or an ensemble as a moving picture.

    In a notebook this returns what the cell shows: a widget, whose ``time`` can be set, if
    anywidget is installed.  Elsewhere it writes a page to a new temporary directory, opens it in
    the browser and returns its path; the page stays there until the system tidies up.

    Parameters
    ----------
    runs : a trajectory, a list of them (at most 16), or the result of ``ph.solve_ensemble``
    names : the names of the runs; by default what tells them apart
    layout : "side", several runs beside each other, or "ghosts", on top of each other
    points : points of the body whose trails are drawn, body axes, from the centre of mass; by
        default one on body axis 3
    show : what is shown at first, ``{"trail": False, "torque": True}``: body, axes, omega,
        momentum, torque, trail, poinsot, path, ground, grid, plots, corner
    theme : "auto" (as the system has it), "light" or "dark"
    tolerance : by how much the picture may miss the attitude of a run, in radians
    title : of the page; by default the name of the problem
    globe : "Moon" or "Earth" to draw a globe for the body, False for none; by default celestial
        runs have one
    height : in a notebook, in pixels
    browser : open the page; False only writes it
    **ensemble : for an ensemble the options of ``EnsembleResult.view``; of those above it takes
        ``show``, ``theme``, ``title``, ``height`` and ``browser``

    Examples
    --------
    >>> import polhode as ph
    >>> run = ph.solve(ph.problems.fast_top(), (0, 1), method="mr2", dt=0.01)
    >>> ph.view(run, browser=False).name  # without ``browser=False`` it opens
    'view.html'
    """
    pixels = whole(height, "height", 100)
    options = Options(names, points, show, theme, layout, tolerance, title, globe)
    packed = _packed(runs, options, ensemble)
    if notebook.in_notebook():
        return notebook.cell(packed, pixels)
    path = _temporary(html_page(packed))
    if browser and not webbrowser.open(path.as_uri()):
        warnings.warn(
            f"no browser could be opened: open {str(path)!r} in one yourself",
            PolhodeWarning,
            stacklevel=3,
        )
    return path


def save_html(
    runs: Any,
    path: str | os.PathLike,
    *,
    names: Any = None,
    layout: str = "side",
    points: Any = None,
    show: Any = None,
    theme: str = "auto",
    tolerance: float = TOLERANCE,
    title: str | None = None,
    globe: Any = None,
    **ensemble: Any,
) -> Path:
    """Write one run, several, or an ensemble as one HTML file that needs nothing else.

    The file is written completely or not at all.  Its options are those of ``view``.

    Examples
    --------
    >>> import polhode as ph
    >>> top = ph.problems.fast_top()
    >>> two = [ph.solve(top, (0, 1), method=name, dt=0.01) for name in ("mr2", "strang")]
    >>> ph.view.save_html(two, "two.html", layout="ghosts").suffix
    '.html'
    """
    file = html_path(path)
    options = Options(names, points, show, theme, layout, tolerance, title, globe)
    replace(file, [html_page(_packed(runs, options, ensemble)).encode()], "the page")
    return file


def _packed(runs: Any, options: Options, ensemble: dict[str, Any]) -> Packed:
    """Pack runs or an ensemble, each with its own options."""
    given = list(runs) if isinstance(runs, (list, tuple)) else [runs]
    if not any(crowd.is_ensemble(one) for one in given):
        if ensemble:
            raise InputError(
                f"{next(iter(ensemble))} is an option for ensembles, or no option at all: runs are"
                f" shown with {', '.join(Options._fields)}"
            )
        return pack(runs, options)
    if len(given) > 1:
        raise InputError(f"runs must be one ensemble alone, or runs, got {len(given)} results")
    for name, value in options._asdict().items():
        if name not in ("theme", "title", "show") and value is not getattr(Options(), name):
            raise InputError(f"{name} is an option for runs; got {value!r} with an ensemble")
    shared = {"theme": options.theme, "title": options.title, "show": options.show}
    return crowd.pack(given[0], **shared, **ensemble)


def html_path(path: str | os.PathLike) -> Path:
    """Check that a path is that of a page."""
    file = Path(path)
    if file.suffix not in SUFFIXES:
        raise FileError(f"path must end in {' or '.join(SUFFIXES)}, got {str(path)!r}")
    return file


def _temporary(text: str) -> Path:
    """Write a page that only this user can read, into a directory of its own."""
    path = Path(tempfile.mkdtemp(prefix="polhode-")) / "view.html"
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(text.encode())
    return path


class _Room(ModuleType):
    """This room can be called: Python gives ``ph.view`` its name as soon as a file is imported."""

    __call__ = staticmethod(view)


sys.modules[__name__].__class__ = _Room
