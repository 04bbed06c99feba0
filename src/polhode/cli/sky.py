"""What ``polhode moon`` and ``polhode earth`` share: dates, runs with residuals, files."""

import csv
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from polhode.cli.output import place, plain, save_picture, stdout
from polhode.errors import InputError

if TYPE_CHECKING:
    import numpy as np

    from polhode.results.trajectory import Trajectory

METHOD = "extrapolation"
DAY = 86400.0  # s
YEAR = 365.25 * DAY
LONGEST = 300.0  # years


class Run(NamedTuple):
    """A run, its residuals in rows, and how long it took."""

    trajectory: "Trajectory"
    gaps: "np.ndarray"
    seconds: float

    @property
    def years(self) -> "np.ndarray":
        return self.trajectory.t / YEAR

    @property
    def rows(self) -> Iterator[list[float]]:
        """Rows of the time and the residuals."""
        for when, gap in zip(self.years.tolist(), self.gaps.tolist(), strict=True):
            yield [when, *gap]


# ---- dates and runs
def date_of(start: str) -> float:
    """Return the TDB Julian date of a date or of a number."""
    from polhode.celestial.ephemeris import julian_date

    try:
        return float(start)
    except ValueError:
        return julian_date(start)


def rows_file(
    out: Path | None,
    name: str,
    start: str,
    years: float,
    rtol: float,
    shortest: float = 0.0,
    ephemeris: str = "de421",
) -> Path:
    """Return the CSV file to write, once all options are found to be right."""
    from polhode.celestial.ephemeris import opened

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
    opened(ephemeris).check(date_of(start), min(days, 0.0), max(days, 0.0))
    return file


def timed(name: str, solver: Any, end: float, residuals: Callable[[Any], "np.ndarray"]) -> Run:
    """Run a solver up to a time, and find the residuals of the run."""
    begin = time.perf_counter()
    run = solver((0.0, end))
    seconds = time.perf_counter() - begin
    if not run.success:
        raise InputError(f"the run of {name!r} stopped early: {run.message}")
    return Run(run, residuals(run), seconds)


def rms(values: "np.ndarray") -> float:
    """Return the root mean square over time, of numbers or of the lengths of rows."""
    import numpy as np

    return float(np.sqrt(np.mean(np.square(values).reshape(len(values), -1).sum(axis=1))))


# ---- output
def write(
    file: Path, head: Sequence[str], rows: Iterable[Sequence], draw: Callable[[], Any] | None
) -> str:
    """Write a CSV file, and a picture beside it; return the names of the files written."""
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(head)
        writer.writerows(rows)
    return str(file) if draw is None else f"{file}, {save_picture(draw, file)}"


def print_line(bold: str, dim: str) -> None:
    """Print a heading, and remarks in grey."""
    stdout().print(f"[bold]{plain(bold)}[/]   [dim]{plain(dim)}[/]")
