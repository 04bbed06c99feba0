"""The viewer in a cell of a notebook: as a widget where anywidget is installed, else in a frame."""

import html
import json
import struct
import sys
from functools import cache
from typing import Any

from polhode.errors import InputError
from polhode.view.packing import Packed
from polhode.view.page import html_page, module

HEIGHT = 560  # pixels
INSTALL = "pip install 'polhode[notebook]', and restart the notebook"


def in_notebook() -> bool:
    """Whether this is a session whose results a notebook shows."""
    interactive = sys.modules.get("IPython")
    shell = interactive.get_ipython() if interactive else None
    if hasattr(shell, "kernel"):
        return True
    marimo = sys.modules.get("marimo")
    return bool(marimo and marimo.running_in_notebook())


def cell(packed: Packed, height: int) -> Any:
    """Return what a notebook shows as the viewer."""
    if (made := widget_class()) is None:
        return Frame(packed, height)
    starts = (first_time(run, packed.data) for run in packed.header["runs"])
    header = json.dumps(packed.header)
    return made(
        header=header, data=packed.data, time=min(starts, default=0.0), height=f"{height}px"
    )


def first_time(run: dict[str, Any], data: bytes) -> float:
    """Return the time of the first keyframe of a run."""
    return float(struct.unpack_from("<d", data, run["t"][0])[0])


class Frame:
    """The viewer as a page inside a frame, which no code can move."""

    def __init__(self, packed: Packed, height: int):
        self._page, self._height = html_page(packed), height

    def _repr_html_(self) -> str:
        source = html.escape(self._page, quote=True)
        allowed = 'sandbox="allow-scripts allow-downloads" allow="fullscreen"'
        return (
            f'<iframe {allowed} style="width:100%;height:{self._height}px;border:0"'
            f' title="polhode" srcdoc="{source}"></iframe>'
        )

    @property
    def time(self) -> float:
        """The time shown, which only the widget of anywidget knows."""
        raise InputError(f"time is known, and can be set, only with anywidget: {INSTALL}")

    @time.setter
    def time(self, value: float) -> None:
        raise InputError(f"time = {value!r} moves the viewer only with anywidget: {INSTALL}")


def show_frame(address: str, height: int) -> bool:
    """Show a page of a server on this machine in the cell, now; False if this is not known how."""
    if "IPython" not in sys.modules:
        return False
    from IPython.display import IFrame, display

    display(IFrame(address, width="100%", height=height))
    return True


@cache
def widget_class() -> Any:
    """Return the class of widgets, or None where anywidget is not installed."""
    try:
        import anywidget
        import traitlets
    except ImportError:
        return None

    class View(anywidget.AnyWidget):
        """The viewer: ``widget.time = 3.2`` moves it, and moving it sets ``widget.time``.

        ``picked`` is the point that was picked last by a double click, ``{"run": 0, "point":
        [x, y, z]}`` in body axes; of an ensemble the numbers of the members that are picked, which
        can be set, too.
        """

        _esm = module(with_default=True)
        header = traitlets.Unicode().tag(sync=True)
        data = traitlets.Bytes().tag(sync=True)
        time = traitlets.Float(0.0).tag(sync=True)
        picked = traitlets.Union(
            [traitlets.Dict(), traitlets.List(traitlets.Int())], default_value=None, allow_none=True
        ).tag(sync=True)
        height = traitlets.Unicode(f"{HEIGHT}px").tag(sync=True)

    return View
