"""A bar on stderr for what takes long, if someone can see it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from polhode.cli.consoles import stderr


@contextmanager
def bar(
    at_first: str, then: Callable[[float], str], quiet: bool
) -> Iterator[Callable[[float], None]]:
    """A function to call with the fraction done; ``then(fraction)`` says what is being done."""
    from rich.progress import Progress

    console = stderr()
    with Progress(
        console=console, transient=True, disable=quiet or not console.is_terminal
    ) as made:
        task = made.add_task(at_first, total=None)

        def report(fraction: float) -> None:
            made.update(task, description=then(fraction), total=1.0, completed=fraction)

        yield report
