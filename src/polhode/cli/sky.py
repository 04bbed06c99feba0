"""The parts that the commands ``moon`` and ``earth`` share."""

import csv
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from polhode.cli.consoles import plain, stdout
from polhode.cli.files import place
from polhode.errors import InputError

if TYPE_CHECKING:
    import numpy as np

METHOD = "extrapolation"
YEAR = 365.25 * 86400.0  # s
LONGEST = 300.0  # years


class Run(NamedTuple):
    """A run, its residuals in rows, and its cost."""

    years: "np.ndarray"
    gaps: "np.ndarray"
    steps: int
    evaluations: int
    seconds: float


def date_of(start: str) -> float:
    """The TDB Julian date of a date or of a number."""
    from polhode.celestial.ephemeris import julian_date

    try:
        return float(start)
    except ValueError:
        return julian_date(start)


def rows_file(
    out: Path | None, name: str, start: str, years: float, rtol: float, shortest: float = 0.0
) -> Path:
    """The CSV file to write, once all options are found to be right."""
    from polhode.celestial.ephemeris import DAY, de421

    if not years or not shortest <= abs(years) <= LONGEST:
        least = f"at least {shortest:g}" if shortest else "not 0"
        raise InputError(
            f"--years must be {least} and at most {LONGEST:g}, or as much back in time (negative),"
            f" got {years!r}"
        )
    if not 1e-15 <= rtol < 1e-3:
        raise InputError(f"--rtol must be between 1e-15 and 1e-3, got {rtol!r}")
    file = place(out, name, (".csv", ".png")).with_suffix(".csv")
    days = years * YEAR / DAY
    de421().check(date_of(start), min(days, 0.0), max(days, 0.0))
    return file


def timed_run(name: str, solver: Any, end: float) -> tuple[Any, float]:
    """(trajectory, seconds) of a solver up to a time."""
    begin = time.perf_counter()
    run = solver((0.0, end))
    seconds = time.perf_counter() - begin
    if not run.success:
        raise InputError(f"the run of {name!r} stopped early: {run.message}")
    return run, seconds


def rms(values: "np.ndarray") -> float:
    """The root mean square over time, of numbers or of the lengths of rows."""
    import numpy as np

    return float(np.sqrt(np.mean(np.square(values).reshape(len(values), -1).sum(axis=1))))


# ---- output
def write(
    file: Path, head: Sequence[str], rows: Iterable[Sequence], draw: Callable[[], Any] | None
) -> str:
    """Write a CSV file, and a picture beside it; the names of the files written."""
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(head)
        writer.writerows(rows)
    if draw is None:
        return str(file)
    from polhode import plot

    return f"{file}, {plot.save(draw(), file.with_suffix('.png'))}"


def print_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table with text in the first column, and in the last if that has no heading."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for k, head in enumerate(heads):
        table.add_column(head, justify="right" if k and head else "left", no_wrap=bool(head))
    for row in rows:
        table.add_row(*row)
    stdout().print(table)


def print_line(bold: str, dim: str) -> None:
    """A heading, and remarks in grey."""
    stdout().print(f"[bold]{plain(bold)}[/]   [dim]{plain(dim)}[/]")
