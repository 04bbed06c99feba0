"""Progress of a run: a bar on stderr, or the user's function."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def reporter(progress: bool | Callable[[float], None]) -> Iterator[Callable[[float], None]]:
    """Yield a function that reports the fraction done."""
    if callable(progress):
        yield progress
    elif not progress:
        yield lambda fraction: None
    else:
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("integrating", total=1.0)
            yield lambda fraction: bar.update(task, completed=fraction)
