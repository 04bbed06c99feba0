"""Sampled data in text tables."""

import csv
import itertools
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path

import numpy as np

from polhode.errors import FileError, InputError
from polhode.files.given import check_room, open_file

UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
DELIMITERS = ",;\t"
NAMES = "time, x, y and z"


@dataclass(frozen=True)
class Log:
    """Samples and their line numbers; missing values are NaN."""

    times: np.ndarray
    values: np.ndarray
    lines: np.ndarray
    columns: tuple[str, ...]


def read_samples(
    path: str | os.PathLike,
    *,
    kind: str,
    columns: Sequence[str | int] | None = None,
    degrees: bool = False,
    time_unit: str = "s",
) -> tuple[np.ndarray, np.ndarray]:
    """Read (values, times) from a text table, for ``integrate_samples``.

    Parameters
    ----------
    path : columns separated by commas, semicolons, tabs or blanks, with or without a header line of
        names; lines that start with # are skipped
    kind : "rate", or "increment": the rotation since the previous line; the first line then gives
        only the first time
    columns : names, or numbers from 1, of time, x, y and z; default: the first four
    degrees : whether the values are in degrees
    time_unit : "s", "ms", "us" or "ns"

    Returns
    -------
    values in rad/s or rad, NaN where a cell is empty or nan, and times in seconds.  A cell that is
    not a number, and a time that does not increase, are errors that name the line.
    """
    if kind not in ("rate", "increment"):
        raise InputError(f"kind must be 'rate' or 'increment', got {kind!r}")
    log = read_log(path, columns, time_unit)
    values = np.radians(log.values) if degrees else log.values
    return (values if kind == "rate" else values[1:]), log.times


def read_log(
    path: str | os.PathLike, columns: Sequence[str | int] | None = None, time_unit: str = "s"
) -> Log:
    """Read the four columns of a table unchanged, with times in seconds."""
    if time_unit not in UNITS:
        raise InputError(f"time_unit must be one of {', '.join(UNITS)}, got {time_unit!r}")
    if columns is not None and len(columns) != 4:
        raise InputError(f"columns must be four, {NAMES}, got {list(columns)}")
    file = Path(path)
    if not file.is_file():
        raise FileError(f"there is no file {str(path)!r}")
    check_room(path, file.stat().st_size)
    rows = _rows(file)
    first = next(rows, None)
    if first is None:
        raise FileError(f"{str(path)!r} has no samples")
    names: list[str] = []
    if not any(_is_number(cell) for cell in first[1]):
        names = [cell.strip() for cell in first[1]]
    places = _places(columns, names, len(first[1]), file)
    table, lines = [], []
    for line, cells in rows if names else itertools.chain([first], rows):
        try:
            table.append([float(cells[place]) for place in places])
        except (ValueError, IndexError):
            table.append(_numbers(cells, places, line, file))
        lines.append(line)
    if not table:
        raise FileError(f"{str(path)!r} has a line of names but no samples")
    numbers = np.array(table)
    times = numbers[:, 0] * UNITS[time_unit]
    _check_finite(numbers, lines, file)
    _check_times(times, numbers[:, 0], lines, file)
    titles = tuple(names[p] if names else f"column {p + 1}" for p in places)
    return Log(times, np.ascontiguousarray(numbers[:, 1:]), np.array(lines), titles)


def _rows(file: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield (number, cells) of each line that is neither empty nor a comment."""
    try:
        with TextIOWrapper(open_file(file), newline="", encoding="utf-8-sig") as text:
            delimiter = ""
            for number, line in enumerate(text, 1):
                line = line.strip()
                if not line or line.startswith("#"):
                    continue
                if not delimiter:
                    delimiter = next((d for d in DELIMITERS if d in line), " ")
                if '"' in line and delimiter != " ":
                    cells = next(csv.reader([line], delimiter=delimiter))
                else:
                    cells = line.split(None if delimiter == " " else delimiter)
                yield number, cells
    except UnicodeDecodeError:
        raise FileError(f"{str(file)!r} is not a text file") from None
    except (csv.Error, OSError) as error:
        raise FileError(f"cannot read {str(file)!r}: {error}") from error


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _places(
    columns: Sequence[str | int] | None, names: list[str], count: int, file: Path
) -> list[int]:
    if columns is None:
        columns = (1, 2, 3, 4)
    places = []
    for column in columns:
        text = str(column).strip()
        if text in names:
            place = names.index(text)
        elif text.isdecimal() and len(text) < 10:
            place = int(text) - 1
        else:
            known = f"its columns are {', '.join(names)}" if names else "it has no line of names"
            raise InputError(f"there is no column {text!r} in {file.name!r}; {known}")
        if not 0 <= place < count:
            raise InputError(
                f"there is no column {text} in {file.name!r}: it has {count}, counted from 1;"
                f" {NAMES} are needed"
            )
        places.append(place)
    return places


def _numbers(cells: list[str], places: list[int], line: int, file: Path) -> list[float]:
    """Return time, x, y, z of a line; NaN for an empty cell."""
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


def _check_finite(numbers: np.ndarray, lines: list[int], file: Path) -> None:
    untimed, infinite = np.isnan(numbers[:, 0]), np.isinf(numbers).any(axis=1)
    if untimed.any():
        line = lines[int(np.argmax(untimed))]
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
