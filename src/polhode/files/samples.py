"""Sampled data in text tables."""

import csv
import itertools
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from io import TextIOWrapper
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import FileError, InputError, PolhodeWarning
from polhode.files import headers
from polhode.files.given import open_file

DELIMITERS = ",;\t"
NAMES = "time, x, y and z"
ANGLES = "rad", "deg", "mrad", "mdeg"
FASTEST = 35.0  # rad/s, 2000 degrees a second: the range of most gyros
BUSY = 10.0  # rad/s, root mean square: 1.6 turns a second, all the time
DATE = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:[.,](\d+))?\s*(Z|UTC|[+-]\d\d(?::?\d\d)?)?"
)


@dataclass(frozen=True)
class Log:
    """Samples and their line numbers; missing values are NaN."""

    times: np.ndarray  # seconds; from the first line, if the stamps are dates
    values: np.ndarray  # in radians
    lines: np.ndarray
    columns: tuple[str, ...]
    unit: str  # of the angles in the file, one of ANGLES
    time_unit: str  # of the times in the file, or "dates"
    told: str  # what the names of the columns decided, or nothing
    doubts: tuple[str, ...]  # what looks wrong

    def in_radians(self, values: Any) -> np.ndarray:
        """Return values in the unit of the file in radians."""
        return in_radians(np.asarray(values, dtype=float), self.unit)


def read_samples(
    path: str | os.PathLike,
    *,
    kind: str,
    columns: Sequence[str | int] | None = None,
    degrees: bool | None = None,
    time_unit: str | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Read (values, times) from a text table, for ``integrate_samples``.

    Parameters
    ----------
    path : columns separated by commas, semicolons, tabs or blanks, with or without a header line of
        names; lines that start with # are skipped, unless the last of them has the names
    kind : "rate", or "increment": the rotation since the previous line; the first line then gives
        only the first time
    columns : names, or numbers from 1, of time, x, y and z.  Default: found by their names (gx, wx,
        gyro_x, GyrX, angular_velocity.x …), whatever their order; names that leave a doubt are an
        error.  Without names there must be four columns.
    degrees : whether the values are in degrees.  Default: as the names say (gyro_x_dps, wx [deg/s],
        gx (rad/s)), else radians
    time_unit : "s", "ms", "us" or "ns".  Default: as the name says (time_ms, TimeUS), else seconds.
        Dates (2026-03-01T12:00:00.123456789Z, with or without a zone) need none.

    Returns
    -------
    values in rad/s or rad, NaN where a cell is empty or nan, and times in seconds, for dates from
    the first line.  A cell that is not a number, and a time that does not increase, are errors that
    name the line.  A warning tells which units the names decided.  If neither they nor ``degrees``
    do, rates above 35 rad/s (2000 degrees/s, the range of most gyros), or above 10 rad/s in root
    mean square, are answered with a warning that they look like degrees.

    Examples
    --------
    >>> import polhode as ph
    >>> with open("log.csv", "w") as file:
    ...     done = file.write("time_ms,gx,gy,gz\\n0,0,0,1.5\\n10,0,0,1.4\\n20,0,0,1.3\\n")
    >>> values, times = ph.read_samples("log.csv", kind="rate", degrees=True, time_unit="ms")
    >>> values.shape, times.tolist()
    ((3, 3), [0.0, 0.01, 0.02])
    """
    if kind not in ("rate", "increment"):
        raise InputError(f"kind must be 'rate' or 'increment', got {kind!r}")
    log = read_log(path, columns, time_unit, kind=kind, degrees=degrees)
    told = f"{log.told}; give degrees= and time_unit= to decide it yourself" if log.told else ""
    for message in filter(None, (told, *log.doubts)):
        warnings.warn(message, PolhodeWarning, stacklevel=2)
    return (log.values if kind == "rate" else log.values[1:]), log.times


def read_log(
    path: str | os.PathLike,
    columns: Sequence[str | int] | None = None,
    time_unit: str | None = None,
    *,
    kind: str = "rate",
    degrees: bool | None = None,
) -> Log:
    """Read the four columns of a table, in seconds and radians; of three, the time is found."""
    if columns is not None and len(columns) not in (3, 4):
        raise InputError(f"columns must be four, {NAMES}, got {list(columns)}")
    file, rows, names, count = _opened(path, time_unit)
    places, doubts = _places(columns, names, count, kind, file)
    titles = tuple(names[p] if names else f"column {p + 1}" for p in places)
    said = headers.units(titles, degrees is not None) if names else ("", "")
    stamps, numbers, lines, dated = _table(rows, places, file)
    clock = "dates" if dated else time_unit or said[0] or "s"
    times = stamps if dated else stamps * headers.TIMES[clock]
    _check_finite(times, numbers, lines, file)
    _check_times(times, stamps, lines, file)
    unit = said[1] or "rad" if degrees is None else "deg" if degrees else "rad"
    values = in_radians(numbers, unit)
    if not (time_unit or said[0] or dated):
        doubts += _doubtful_times(stamps)
    if degrees is None and not said[1] and kind == "rate":
        doubts += looks_like_degrees(values)
    guessed = [f"{unit}{'/s' if kind == 'rate' else ''}"] if degrees is None and said[1] else []
    guessed += [clock] if said[0] and time_unit is None and not dated else []
    told = f"read in {' and '.join(guessed)}, as the names of the columns say" if guessed else ""
    found = np.ascontiguousarray(values), np.array(lines), titles
    return Log(times, *found, unit, clock, told, tuple(doubts))


class Columns(NamedTuple):
    """Times in seconds, and rows of the values of some columns; missing values are NaN."""

    times: np.ndarray
    values: np.ndarray


def read_columns(
    path: str | os.PathLike, columns: Sequence[str | int], time_unit: str | None = None
) -> Columns:
    """Read some columns of a table, and the time, which is found by its name."""
    file, rows, names, count = _opened(path, time_unit)
    if not names:
        raise InputError(f"{file.name!r} has no line of names, so its time is not known")
    places = [headers.find_time(names)]
    places += [_place(str(column).strip(), names, count, file) for column in columns]
    stamps, numbers, lines, dated = _table(rows, places, file)
    said = headers.take_apart(names[places[0]]).time_unit
    times = stamps if dated else stamps * headers.TIMES[time_unit or said or "s"]
    _check_finite(times, numbers, lines, file)
    _check_times(times, stamps, lines, file)
    return Columns(times, np.ascontiguousarray(numbers))


def _opened(path: str | os.PathLike, time_unit: str | None) -> tuple[Path, Any, list[str], int]:
    """Return (file, rows of cells, names of the columns, how many there are) of a table."""
    if time_unit is not None and time_unit not in headers.TIMES:
        raise InputError(f"time_unit must be one of {', '.join(headers.TIMES)}, got {time_unit!r}")
    file = Path(path)
    if not file.is_file():
        raise FileError(f"there is no file {str(path)!r}")
    rows = _rows(file)
    first = next(rows, None)
    if first is None:
        raise FileError(f"{str(path)!r} has no samples")
    names: list[str] = []
    if not any(_is_number(cell) for cell in first[1]):
        names = [cell.strip() for cell in first[1]]
    else:
        rows = itertools.chain([first], rows)
    return file, rows, names or _names_in_comment(file, len(first[1])), len(first[1])


def in_radians(values: np.ndarray, unit: str) -> np.ndarray:
    """Return values in one of ``ANGLES`` in radians."""
    values = values * 1e-3 if unit.startswith("m") else values
    return np.radians(values) if unit.endswith("deg") else values


def looks_like_degrees(rates: np.ndarray, busy: float = BUSY) -> list[str]:
    """Return a doubt about rates in rad/s beyond ``FASTEST``, or ``busy`` in root mean square."""
    squares = np.einsum("ij,ij->i", rates, rates)
    squares = squares[~np.isnan(squares)]
    if not len(squares):
        return []
    top, mean = float(np.sqrt(squares.max())), float(np.sqrt(squares.mean()))
    if top <= FASTEST and mean <= busy:
        return []
    return [
        f"the rates look like degrees per second: as rad/s they reach {top:.3g}"
        f" ({np.degrees(top):.3g} degrees/s), {mean:.3g} in root mean square; give degrees=True or"
        " False to read_samples (--degrees or --radians)"
    ]


def _doubtful_times(stamps: np.ndarray) -> list[str]:
    """Return a doubt about stamps that are whole numbers and far apart."""
    step = float(np.median(np.diff(stamps))) if len(stamps) > 1 else 0.0
    if step <= 1.0 or (stamps != np.rint(stamps)).any():
        return []
    return [
        f"the times are whole numbers, {step:g} apart, and were read as seconds; give time_unit="
        f" (--time-unit): {', '.join(headers.TIMES)}"
    ]


def _table(
    rows: Iterable[tuple[int, list[str]]], places: list[int], file: Path
) -> tuple[np.ndarray, np.ndarray, list[int], bool]:
    """Return stamps, values and line numbers, and whether the stamps are dates."""
    table: list[list[float]] = []
    dates: list[int] = []
    lines: list[int] = []
    like = None  # the first date, if the stamps are dates
    time, *others = places
    for line, cells in rows:
        if not lines and time < len(cells):
            like = date(cells[time])
        if like:
            dates.append(_date(cells, time, like, line, file))
            table.append(_numbers(cells, others, line, file))
        else:
            try:
                table.append([float(cells[place]) for place in places])
            except (ValueError, IndexError):
                table.append(_numbers(cells, places, line, file))
        lines.append(line)
    if not table:
        raise FileError(f"{str(file)!r} has a line of names but no samples")
    numbers = np.array(table)
    if like:
        return np.array([stamp - dates[0] for stamp in dates]) / 1e9, numbers, lines, True
    return numbers[:, 0], numbers[:, 1:], lines, False


def _date(cells: list[str], place: int, like: tuple[int, bool], line: int, file: Path) -> int:
    """Return the date of a line in nanoseconds; it must have a zone if the first one has."""
    text = cells[place].strip() if place < len(cells) else ""
    found = date(text)
    if found is None or found[1] != like[1]:
        raise FileError(
            f"line {line} of {file.name!r}: {text!r} in column {place + 1} is not a date"
            f" {'with' if like[1] else 'without'} a zone, as in the first line of samples"
        )
    return found[0]


def date(text: str) -> tuple[int, bool] | None:
    """Return a date as nanoseconds since 1970 (in UTC, if it has a zone) and whether it has one.

    None if the text is not a date.
    """
    found = DATE.fullmatch(text.strip())
    if found is None:
        return None
    day, clock, fraction, zone = found.groups()
    try:
        if zone and zone[0] in "+-":
            zone = f"{zone[:3]}:{zone[3:].lstrip(':') or '00'}"
        when = datetime.fromisoformat(f"{day}T{clock}{zone if zone and zone[0] in '+-' else ''}")
    except ValueError:
        return None
    whole = when if when.tzinfo else when.replace(tzinfo=UTC)
    passed = whole - datetime(1970, 1, 1, tzinfo=UTC)
    count = (passed.days * 86_400 + passed.seconds) * 10**9 + int(f"{fraction or 0:0<9}"[:9])
    return count, zone is not None


def _names_in_comment(file: Path, count: int) -> list[str]:
    """Return the names in the last comment above the samples, if it has as many and a time."""
    names: list[str] = []
    with file.open(encoding="utf-8-sig") as text:
        for line in text:
            if line.strip() and not line.startswith("#"):
                break
            if line.startswith("#"):
                names = _cells(line.lstrip("# \t").strip(), _delimiter(line))
    return names if len(names) == count and headers.has_time(names) else []


def _delimiter(line: str) -> str:
    return next((d for d in DELIMITERS if d in line), " ")


def _cells(line: str, delimiter: str) -> list[str]:
    if '"' in line and delimiter != " ":
        return next(csv.reader([line], delimiter=delimiter))
    return line.split(None if delimiter == " " else delimiter)


def _rows(file: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield (number, cells) of each line that is neither empty nor a comment."""
    try:
        with TextIOWrapper(open_file(file), newline="", encoding="utf-8-sig") as text:
            delimiter = ""
            for number, line in enumerate(text, 1):
                line = line.strip()
                if not line or line.startswith("#"):
                    continue
                delimiter = delimiter or _delimiter(line)
                yield number, _cells(line, delimiter)
    except UnicodeDecodeError:
        raise FileError(f"{str(file)!r} is not a text file") from None
    except (csv.Error, OSError) as error:
        raise FileError(f"cannot read {str(file)!r}: {error}") from error


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return date(cell) is not None
    return True


def _places(
    columns: Sequence[str | int] | None, names: list[str], count: int, kind: str, file: Path
) -> tuple[list[int], list[str]]:
    """Return the places of time, x, y and z, and doubts about them."""
    if columns is not None:
        if len(columns) == 3 and not names:
            raise InputError(
                f"columns must be four, {NAMES}, in a table without names, got {list(columns)}"
            )
        found = [_place(str(column).strip(), names, count, file) for column in columns]
        return found if len(found) == 4 else [headers.find_time(names), *found], []
    if count < 4:
        _place("4", names, count, file)
    if names and not (count == 4 and headers.says_nothing(names)):
        return headers.find(names, kind), []
    if count > 4:
        raise InputError(
            f"{file.name!r} has {count} columns and no line of names; {headers.CHOOSE}"
        )
    doubt = f"the names {', '.join(names)} say nothing: the columns were read as {NAMES}"
    return [0, 1, 2, 3], [f"{doubt}; give columns= (--columns)"] if names else []


def _place(text: str, names: list[str], count: int, file: Path) -> int:
    """Return the place of a column that is given by its name or number."""
    if names.count(text) > 1:
        raise InputError(
            f"{names.count(text)} columns of {file.name!r} are called {text!r};"
            " give their numbers, from 1"
        )
    if text in names:
        return names.index(text)
    if not text.isdecimal() or len(text) > 9:
        known = f"its columns are {', '.join(names)}" if names else "it has no line of names"
        raise InputError(f"there is no column {text!r} in {file.name!r}; {known}")
    if not 1 <= int(text) <= count:
        raise InputError(
            f"there is no column {text} in {file.name!r}: it has {count}, counted from 1;"
            f" {NAMES} are needed"
        )
    return int(text) - 1


def _numbers(cells: list[str], places: list[int], line: int, file: Path) -> list[float]:
    """Return the numbers of a line; NaN for an empty cell."""
    numbers = []
    for place in places:
        if place >= len(cells):
            raise FileError(
                f"line {line} of {file.name!r} has {len(cells)} columns, but column {place + 1} is"
                " needed; check that the line is complete"
            )
        try:
            numbers.append(float(cells[place].strip() or "nan"))
        except ValueError:
            raise FileError(
                f"line {line} of {file.name!r}: {cells[place][:40]!r} in column {place + 1} is not"
                " a number; leave the cell empty, or write nan, if the value is missing"
            ) from None
    return numbers


def _check_finite(times: np.ndarray, numbers: np.ndarray, lines: list[int], file: Path) -> None:
    infinite = np.isinf(times) | np.isinf(numbers).any(axis=1)
    if np.isnan(times).any():
        line = lines[int(np.argmax(np.isnan(times)))]
        raise FileError(f"line {line} of {file.name!r} has no time; remove the line")
    if infinite.any():
        line = lines[int(np.argmax(infinite))]
        raise FileError(f"line {line} of {file.name!r} has an infinite value; leave the cell empty")


def _check_times(times: np.ndarray, stamps: np.ndarray, lines: list[int], file: Path) -> None:
    backward = np.flatnonzero(np.diff(times) <= 0)
    if len(backward):
        k = int(backward[0])
        what = "repeats" if times[k + 1] == times[k] else "is before"
        more = f" ({len(backward)} such lines)" if len(backward) > 1 else ""
        raise FileError(
            f"line {lines[k + 1]} of {file.name!r}: the time {stamps[k + 1]:.12g} {what} that of"
            f" line {lines[k]}, {stamps[k]:.12g}{more}; sort the lines, remove repeated ones, or"
            " choose another time column"
        )
