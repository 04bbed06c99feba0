"""A bar on stderr for what takes long, if someone can see it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from polhode.cli.consoles import stderr


@contextmanager
def bar(
    at_first: str, then: Callable[[float], str], quiet: bool
) -> Iterator[Callable[[float], None]]:
    """A function to call with the fraction done; ``then(fraction)`` says what is being done."""
    console = stderr()
    if quiet or not console.is_terminal:
        yield lambda fraction: None
        return
    from rich.progress import Progress

    with Progress(console=console, transient=True) as made:
        task = made.add_task(at_first, total=None)

        def report(fraction: float) -> None:
            made.update(task, description=then(fraction), total=1.0, completed=fraction)

        yield report
