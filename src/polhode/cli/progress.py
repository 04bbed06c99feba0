"""A progress bar on stderr, in a terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from polhode.cli.consoles import stderr


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
