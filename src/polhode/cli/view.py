"""``polhode view``: show runs or an ensemble from files as moving pictures."""

import warnings
from pathlib import Path
from typing import Annotated, Any

from polhode.cli import options
from polhode.cli.output import plain, stdout, warn


def view(
    files: Annotated[list[Path], options.RUN_FILES],
    html: Annotated[Path | None, options.PAGE] = None,
    ghosts: Annotated[bool, options.GHOSTS] = False,
    theme: Annotated[str, options.THEME] = "auto",
    no_open: Annotated[bool, options.NO_OPEN] = False,
    where: Annotated[str | None, options.WHERE] = None,
    colour: Annotated[str | None, options.COLOUR] = None,
    members: Annotated[int | None, options.SHOWN_MEMBERS] = None,
    frames: Annotated[int | None, options.FRAMES] = None,
    budget: Annotated[float | None, options.BUDGET] = None,
) -> None:
    """Show runs or an ensemble from files as moving pictures, in the browser.

    The page is one file and asks nobody for anything; without `--html` it lies in a new temporary
    directory, which stays until the system tidies up. Several runs share one time. An ensemble is
    shown alone, as points; the last five options are for it.

    Examples:

    - `polhode view fast-top.nc`
    - `polhode view strang.nc akw.nc --ghosts`
    - `polhode view fast-top.nc --html top.html --theme dark`
    - `polhode view debris.zarr --where space --colour speed`
    """
    from polhode.errors import PolhodeWarning
    from polhode.view import save_html, view

    runs = [_loaded(file) for file in files]
    asked: dict[str, Any] = {"layout": "ghosts" if ghosts else "side", "theme": theme}
    own = {
        "where": where, "colour": colour, "members": members, "frames": frames, "budget": budget
    }  # fmt: skip
    asked |= {name: value for name, value in own.items() if value is not None}
    if len(runs) > 1:
        asked["names"] = _names(files)
    if html is not None:
        _print(save_html(runs, html, **asked))
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PolhodeWarning)
        path = view(runs, browser=not no_open, **asked)
    for message in caught:
        warn(str(message.message))
    _print(path)


def _print(path: Path) -> None:
    stdout().print(plain(str(path)), soft_wrap=True)


def _loaded(file: Path) -> Any:
    from polhode import load

    return load(file)


def _names(files: list[Path]) -> list[str]:
    """Return the names of files, as short as they differ."""
    stems = [file.stem for file in files]
    return stems if len(set(stems)) == len(stems) else [str(file) for file in files]
