"""One line on stderr when compiling takes long, for users of a terminal or a notebook.

The environment variable ``POLHODE_MESSAGES=0`` turns it off.
"""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from numba.core import event

PATIENCE = 0.5  # seconds
_done = threading.Event()  # set once the line has been printed


class Announcer(event.Listener):
    """Prints the line if Numba compiles for longer than ``PATIENCE``.

    Numba reports the start and the end of each function that it compiles, functions within
    functions; what it finds on disk is not reported.
    """

    def __init__(self, text: str):
        self.text, self.depth = text, 0
        self.timer: threading.Timer | None = None

    def on_start(self, event) -> None:
        self.depth += 1
        if self.depth == 1 and not _done.is_set():
            self.timer = threading.Timer(PATIENCE, self.announce)
            self.timer.daemon = True
            self.timer.start()

    def on_end(self, event) -> None:
        self.depth -= 1
        if self.depth == 0 and self.timer is not None:
            self.timer.cancel()

    def announce(self) -> None:
        if not _done.is_set():
            _done.set()
            sys.stderr.write(f"{self.text}\n")
            sys.stderr.flush()


@contextmanager
def announced(text: str) -> Iterator[None]:
    """Print ``text`` once per process if something is compiled for long meanwhile."""
    if _done.is_set() or os.environ.get("POLHODE_MESSAGES", "1") == "0" or not _is_watched():
        yield
        return
    with event.install_listener("numba:compile", Announcer(text)):
        yield


def _is_watched() -> bool:
    """Whether stderr is a terminal, or the output of a notebook."""
    shell = sys.modules.get("IPython")
    kernel = getattr(shell.get_ipython(), "kernel", None) if shell is not None else None
    return kernel is not None or (sys.stderr is not None and sys.stderr.isatty())
