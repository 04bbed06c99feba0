"""Output of the commands: results go to stdout, messages and progress to stderr, and files."""

import os
import signal
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console

from polhode.errors import FileError, InputError

BARE: dict[str, Any] = {"box": None, "pad_edge": False, "padding": (0, 2, 0, 0)}  # no frames


def stdout() -> Console:
    """Return the console for results; wide in a file or a pipe, so that no cell is broken."""
    return Console(width=None if sys.stdout.isatty() else 200, highlight=False, emoji=False)


def stderr() -> Console:
    """Return the console for messages."""
    return Console(stderr=True, highlight=False, emoji=False, soft_wrap=True)


def complain(message: str) -> None:
    """Print an error as one line on stderr."""
    stderr().print(f"[bold red]error:[/] {plain(message)}")


def warn(message: str) -> None:
    """Print a warning as one line on stderr."""
    stderr().print(f"[bold yellow]warning:[/] {plain(message)}")


def plain(text: str) -> str:
    """Escape what Rich would read as markup."""
    from rich.markup import escape

    return escape(text)


def table(
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    left: int | None = None,
    wrapped: Collection[str] = (),
) -> Any:
    """Make a table without frames; columns from ``left`` on are aligned to the right.

    Columns with ``wrapped`` headings are text that may take several lines.
    """
    from rich.table import Table

    made = Table(**BARE, header_style="bold")
    for k, heading in enumerate(headings):
        wraps = heading in wrapped
        right = left is not None and k >= left and not wraps
        side: Any = "right" if right else "left"
        made.add_column(heading, justify=side, no_wrap=not wraps, overflow="fold")
    for row in rows:
        made.add_row(*row)
    return made


def print_summary(rows: Mapping[str, str]) -> None:
    """Print names and values in two columns on stdout; values may contain markup."""
    from rich.table import Table

    made = Table(**BARE, show_header=False)
    made.add_column(style="bold", no_wrap=True)
    made.add_column()
    for row in rows.items():
        made.add_row(*row)
    stdout().print(made)


def checkpoint_arguments(checkpoint: Path | None, every: int | None, file: Path) -> dict[str, Any]:
    """Return the arguments of a solver for a checkpoint, which must not be the results' file."""
    if checkpoint is not None and checkpoint.resolve() == file.resolve():
        raise InputError(f"--out and --checkpoint must be different files, got {checkpoint} twice")
    return {"checkpoint": checkpoint, "checkpoint_every": every}


class Stopped(BaseException):
    """A signal to stop.  (An interrupt inside ``exec`` would decide the exit code of Python.)"""


@contextmanager
def stoppable(
    checkpoint: Path | None, advice: str = "with --checkpoint FILE a run can be continued"
) -> Iterator[None]:
    """End at Ctrl-C or SIGTERM with exit code 130 or 143, and say how a run can be continued.

    Without a checkpoint, the message ends with the ``advice``.
    """

    def stop(number: int, _: object) -> None:
        raise Stopped(128 + number)

    signals = signal.SIGINT, signal.SIGTERM
    before = [signal.signal(number, stop) for number in signals]
    try:
        yield
    except Stopped as stopped:
        if checkpoint is None or not checkpoint.exists():
            warn(f"stopped; {advice}")
        else:
            warn(f"stopped; continue with: polhode resume {checkpoint}")
        sys.exit(stopped.args[0])
    finally:
        for number, handler in zip(signals, before, strict=True):
            signal.signal(number, handler)


def duration(seconds: float) -> str:
    """Write a duration with three digits in s, ms, µs or ns."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


@contextmanager
def bar(
    at_first: str, then: Callable[[float], str], quiet: bool
) -> Iterator[Callable[[float], None]]:
    """Show a bar; yields a function to call with the fraction done.

    The bar is labelled ``at_first``, and ``then(fraction)`` after the first call.
    """
    console = stderr()
    if quiet or not console.is_terminal:
        yield lambda fraction: None
        return
    from rich.progress import Progress

    with Progress(console=console, transient=True) as shown:
        task = shown.add_task(at_first, total=None)

        def report(fraction: float) -> None:
            shown.update(task, description=then(fraction), total=1.0, completed=fraction)

        yield report


# ---- files
def place(out: Path | None, name: str, suffixes: Collection[str]) -> Path:
    """Return the file to write: ``out`` if it ends in one of the suffixes, else ``name`` inside it.

    A path that looks like a file of another kind counts as a directory only if it exists.  The
    directory is made if needed and must be writable, so that a long run does not end in vain.
    """
    out = out or Path()
    file = out if out.suffix in suffixes else out / name
    if file is not out and out.suffix[1:2].isalpha() and not out.is_dir():
        raise FileError(
            f"--out {str(out)!r} must end in {' or '.join(suffixes)}, or be a directory; make it"
            " first if it is meant to be one"
        )
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot make {str(file.parent)!r}: {error.strerror}") from error
    if not os.access(file.parent, os.W_OK):
        raise FileError(f"cannot write into {str(file.parent)!r}")
    return file


def title(name: str | None, checkpoint: Path) -> str:
    """Return the name of a run for its files: never one that leads to another directory."""
    plain_name = name and name == os.path.basename(name) and name.isprintable() and len(name) < 200
    return name if name and plain_name and name not in (".", "..") else checkpoint.stem


def save_picture(draw: Callable[[], Any], file: Path) -> Path:
    """Draw a picture and save it beside a file."""
    from polhode import plot

    plot.style.import_quickly()
    return plot.save(draw(), file.with_suffix(".png"))
