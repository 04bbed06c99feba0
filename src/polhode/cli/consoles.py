"""Where words go: data to stdout, messages and progress bars to stderr."""

import sys

from rich.console import Console


def stdout() -> Console:
    """For results; wide when they go into a file or a pipe, so that no cell is broken."""
    return Console(width=None if sys.stdout.isatty() else 200, highlight=False, emoji=False)


def stderr() -> Console:
    """For messages."""
    return Console(stderr=True, highlight=False, emoji=False, soft_wrap=True)


def complain(message: str) -> None:
    """One line on stderr."""
    stderr().print(f"[bold red]error:[/] {plain(message)}")


def plain(text: str) -> str:
    from rich.markup import escape

    return escape(text)
