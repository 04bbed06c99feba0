"""Consoles: results go to stdout, messages and progress bars to stderr."""

import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console

BARE: dict[str, Any] = {"box": None, "pad_edge": False, "padding": (0, 2, 0, 0)}  # no frames


def stdout() -> Console:
    """The console for results; wide in a file or a pipe, so that no cell is broken."""
    return Console(width=None if sys.stdout.isatty() else 200, highlight=False, emoji=False)


def stderr() -> Console:
    """The console for messages."""
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


def duration(seconds: float) -> str:
    """A duration with three digits in s, ms, µs or ns."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
