"""The checkpoint of an ensemble: when it is written, and how a resumed one begins.

Two files belong together.  The checkpoint is replaced as a whole each time, and holds the arguments
and the members that are running, as the loops see them; its size does not grow.  The journal beside
it grows: first the values given for each member and the times of the rows, then, chunk after chunk,
its rows and how its members ended.  Everything is written once.
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from polhode.contracts import Status
from polhode.ensembles.chunk import Arrays, Chunk
from polhode.ensembles.distributions import GROUP, Distribution, Sweep
from polhode.ensembles.members import make_members
from polhode.ensembles.movers import Reached
from polhode.ensembles.places import RUN, new_run
from polhode.ensembles.plain_data import describe_crowd, rebuild_crowd
from polhode.ensembles.reductions import Reduction
from polhode.ensembles.task import Task, remake_task
from polhode.errors import FileError, InputError, PolhodeError
from polhode.files.checkpoint import MARK, Journal, Mark, remove, write
from polhode.files.given import damage_refused
from polhode.solvers.checkpoint import SECONDS, Stored, check_place
from polhode.solvers.plain_data import ABOUT, describe_run
from polhode.solvers.solver import Solver

KIND = "ensemble"
COUNT = range(1, 2**53)
SEED = range(10**4300)  # whole numbers with as many digits as Python reads
FORM = {  # of the header, see ``check_form``
    **ABOUT,
    "span": [float, float],
    "chosen": str,
    "members": {"count": COUNT, "seed": SEED, "vary": dict},
    "reductions": [{"name": str, "kind": str, "of": (str, dict), "called": (None, str)}],
    "out": (None, str),
    "store": bool,
    "given": {str: [int]},
    "finished": bool,
    "every": (None, COUNT),
    "size": COUNT,
    "counts": {"done": [[int, int]], "chunk": (None, [int, int])},
    "mark": MARK,
    "whole": MARK,
    "widths": dict,
}
CLOCK_SECONDS = 0.25 * SECONDS  # between two looks at the clock
STATE = "chunk "  # begins the names of the arrays of the running chunk


class Layout:
    """How the rows of a chunk, and its end, become one row of numbers.

    Each row of its task has the saved states (unless they are ``stored`` elsewhere), then the count
    of members that have not failed, the parts of reductions by groups and the values for quantiles.
    The end has first times and ``Reached``.
    """

    def __init__(self, task: Task, stored: bool, widths: Mapping[str, int]):
        self.task, self.stored = task, stored
        self.widths = dict(widths)  # numbers for each group, as soon as they are known
        self.saved = [] if stored else ["states"]
        self.reduced = [*(["count"] if task.reductions else []), *task.by_group, *task.by_value]

    def _pieces(self, row: int) -> Iterator[tuple[str, int]]:
        """(array, index in it) of all that a row holds."""
        before = self.task.rows_before[:, row].tolist()
        if self.task.at_save[row]:
            yield from ((key, before[0]) for key in self.saved)
        if self.task.at_reduce[row]:
            yield from ((key, before[1]) for key in self.reduced)

    def rows(self, arrays: Mapping[str, np.ndarray], first: int, last: int) -> np.ndarray:
        """The numbers of the rows from ``first`` to ``last``."""
        self.widths |= {key: arrays[key].shape[2] for key in self.task.by_group if key in arrays}
        found = [
            arrays[key][place].ravel()
            for row in range(first, last)
            for key, place in self._pieces(row)
        ]
        return np.concatenate(found) if found else np.empty(0)

    def end(self, arrays: Mapping[str, np.ndarray]) -> np.ndarray:
        ends = (f"reached {name}" for name in Reached._fields)
        return np.concatenate([arrays[key].astype(float) for key in (*self.task.by_member, *ends)])

    def _room(self, members: int) -> Arrays:
        task, groups = self.task, -(-members // GROUP)
        saved, reduced = int(task.at_save.sum()), int(task.at_reduce.sum())
        states = np.empty((0 if self.stored else saved, members, task.width))
        room = {} if self.stored else {"states": states}
        if task.reductions:
            room["count"] = np.zeros((reduced, groups))
        room |= {key: np.zeros((reduced, groups, width)) for key, width in self.widths.items()}
        return room | {key: np.full((reduced, members), np.nan) for key in task.by_value}

    def read_rows(self, numbers: "Numbers", members: int, last: int) -> Arrays:
        """The arrays of the rows before ``last``."""
        room = self._room(members)
        for row in range(last):
            for key, place in self._pieces(row):
                part = room[key][place]
                part[...] = numbers.next(part.size).reshape(part.shape)
        return room

    def read_end(self, numbers: "Numbers", members: int) -> Arrays:
        found = {key: numbers.next(members).copy() for key in self.task.by_member}
        for name in Reached._fields:
            values = numbers.next(members)
            found[f"reached {name}"] = values.copy() if name == "t" else values.astype(np.int64)
        if not np.isin(found["reached status"], list(Status)).all():
            raise numbers.mismatch()
        return found


class Numbers:
    """The numbers of a journal, read in order."""

    def __init__(self, path: Path, values: np.ndarray):
        self.path, self.values, self.place = path, values, 0

    def next(self, count: int) -> np.ndarray:
        first, self.place = self.place, self.place + count
        if self.place > len(self.values):
            raise self.mismatch()
        return self.values[first : self.place]

    def arrays(self, shapes: Mapping[str, Any]) -> Arrays:
        """Some arrays by name."""
        sizes = {name: int(np.prod(shape, dtype=np.int64)) for name, shape in shapes.items()}
        return {name: self.next(sizes[name]).reshape(shapes[name]).copy() for name in shapes}

    def mismatch(self) -> FileError:
        return FileError(
            f"{str(self.path)!r} has {len(self.values)} numbers, not those that this version of"
            " polhode needs; resume with the version that began it"
        )


class EnsembleSaver:
    """Writes the checkpoint of one ensemble.

    ``done`` are the chunks whose results are in the journal, in its order; ``chunk`` is the running
    one.
    """

    def __init__(
        self,
        path: Path,
        journal: Journal,
        layout: Layout,
        data: Mapping[str, Any],
        tables: Mapping[str, np.ndarray],
    ):
        self.path, self.journal, self.layout = path, journal, layout
        self.data, self.tables, self.every = dict(data), dict(tables), data["every"]
        counts = data.get("counts") or {"done": [], "chunk": None}
        self.done: list[tuple[int, int]] = [(a, b) for a, b in counts["done"]]
        self.chunk = None if counts["chunk"] is None else tuple(counts["chunk"])
        check_ranges([*self.done, *([self.chunk] if self.chunk else [])], layout.task.members.count)
        self.settle: Callable[[], None] = lambda: None  # brings the store to the disk
        self.whole = Mark(*data["whole"]) if "whole" in data else journal.mark  # after them
        self._before: tuple[Mapping[str, np.ndarray], Arrays] | None = None
        self._row = 0  # of the running chunk, the first that is not in the journal
        self._way = self._due = 0.0
        self._from, self._began = 0.0, time.monotonic()
        self._last = self._began

    def keeps_after(self, error: PolhodeError) -> bool:
        """Whether there is something to resume after an error.

        Not if nothing was saved yet; but where a disk is full, all can go on once there is room.
        """
        is_empty = not self.done and self.chunk is None
        return not is_empty or (isinstance(error, FileError) and self.data["store"])

    # ---- files
    def write(self, state: Mapping[str, np.ndarray] | None = None, **news: Any) -> None:
        self.data |= {
            "counts": {"done": self.done, "chunk": self.chunk},
            "mark": self.journal.mark,
            "whole": self.whole,
            "widths": self.layout.widths,
            **news,
        }
        arrays = {f"{STATE}{key}": value for key, value in (state or {}).items()}
        self.settle()
        write(self.path, KIND, self.data, {**self.tables, **arrays})
        self._last = time.monotonic()

    def read(self, numbers: Numbers, arrays: Mapping[str, np.ndarray]) -> dict[int, Arrays]:
        """The results of the finished chunks, by their first member."""
        rows, parts = len(self.layout.task.times), {}
        for first, last in self.done:
            part = self.layout.read_rows(numbers, last - first, rows)
            parts[first] = part | self.layout.read_end(numbers, last - first)
        if self.chunk is not None:
            state = {k.removeprefix(STATE): v for k, v in arrays.items() if k.startswith(STATE)}
            self._row = int(state["place"][0])
            if not 0 <= self._row < rows:
                raise ValueError(f"it is at row {self._row} of {rows}")
            members = self.chunk[1] - self.chunk[0]
            self._before = state, self.layout.read_rows(numbers, members, self._row)
        if numbers.place != len(numbers.values):
            raise numbers.mismatch()
        return parts

    # ---- chunks
    def gaps(self) -> list[tuple[int, int]]:
        """The ranges of members that are not done, each from its first to its last."""
        found, begin = [], 0
        for first, last in sorted([*self.done, (self.layout.task.members.count,) * 2]):
            if first > begin:
                found.append((begin, first))
            begin = last
        return found

    def forget_chunk(self) -> None:
        """Drop the running chunk, which will start again."""
        if self.chunk is not None:
            self.chunk = self._before = None
            self._row, self.journal.mark = 0, self.whole
            self.write()  # before the rows that it no longer counts are gone
            self.journal.cut(self.whole)

    def enter(self, chunk: Chunk) -> None:
        """Prepare a chunk to run; it continues from where the last process left it."""
        if self._before is not None:
            state, rows = self._before
            try:
                chunk.restore(state, rows)
            except (LookupError, TypeError, ValueError) as error:
                raise FileError(
                    f"{str(self.path)!r} does not hold the numbers of members that this version of"
                    f" polhode needs ({error}); resume with the version that began it"
                ) from error
        else:
            self._row = 0
        self._before = None
        if self.every is not None:
            self._due = (chunk.steps // self.every + 1) * self.every
        self._began, self._from = time.monotonic(), chunk.done

    def limit(self, chunk: Chunk) -> float:
        """How far a chunk may go before it is time to see whether a checkpoint is due."""
        if self.every is not None:
            return chunk.mover.next_pause(chunk.done, self.every)
        self._way = self._way or chunk.mover.SHORTEST
        return chunk.done + self._way

    def after(self, chunk: Chunk) -> None:
        """Save a chunk if a checkpoint is due."""
        now = time.monotonic()
        if self.every is not None:
            due = chunk.steps >= self._due
        else:
            due = now - self._last >= SECONDS
            pace = (chunk.done - self._from) / max(now - self._began, 1e-9)
            if pace > 0:
                self._way = max(min(8 * self._way, pace * CLOCK_SECONDS), chunk.mover.SHORTEST)
        if due and chunk.row < len(chunk.task.times):
            self.mark(chunk)
        self._began, self._from = time.monotonic(), chunk.done

    def mark(self, chunk: Chunk) -> None:
        """Save a running chunk."""
        self.journal.append(self.layout.rows(chunk.arrays, self._row, chunk.row))
        self._row, self.chunk = chunk.row, (chunk.first, chunk.last)
        self.write(chunk.state())
        if self.every is not None:
            self._due = (chunk.steps // self.every + 1) * self.every

    def put(self, first: int, last: int, arrays: Arrays) -> None:
        """Save the results of a finished chunk."""
        rows = self.layout.rows(arrays, self._row, len(self.layout.task.times))
        self.whole = self.journal.append(np.concatenate([rows, self.layout.end(arrays)]))
        self.done.append((first, last))
        self.chunk, self._row = None, 0
        self.write()


def check_ranges(ranges: list[tuple[int, ...]], count: int) -> None:
    """Raise an error unless ranges of members follow each other without overlapping."""
    ends = [end for pair in sorted(ranges) for end in pair]
    good = all(len(pair) == 2 and pair[0] < pair[1] for pair in ranges)
    if not good or ends != sorted(ends) or (ends and (ends[0] < 0 or ends[-1] > count)):
        raise ValueError(f"it has the members {ranges} of {count}")


def journal_of(path: Path) -> Path:
    return path.with_name(path.name + ".rows")


def progress(data: Mapping[str, Any]) -> str:
    """How far an ensemble is, in words."""
    done = sum(last - first for first, last in data["counts"]["done"])
    return f"{done} of {data['members']['count']} members"


def describe_task(
    task: Task, path: Path, out: str | os.PathLike | None
) -> tuple[dict[str, Any], Arrays, Arrays]:
    """(plain data, tables, arrays with an entry for each member or row) of a task."""
    members = task.members
    assert task.bound is not None
    about, tables = describe_run(members.problem, task.arguments)
    vary, reductions, arrays = describe_crowd(members.vary, task.reductions)
    data = {
        **about,
        "span": [task.t0, task.t1],
        "chosen": task.bound.name,
        "members": {"count": members.count, "seed": members.seed, "vary": vary},
        "reductions": reductions,
        "out": None if out is None else _relative(path, out),
        "store": False,  # whether it was created
        "run": None if out is None else new_run(),
    }
    flags = task.at_save + 2.0 * task.at_reduce + 4.0 * task.at_event
    return data, tables, {"times": task.times, "flags": flags, **arrays}


def _relative(path: Path, out: str | os.PathLike) -> str:
    """The place of a store relative to the checkpoint: they may be moved together."""
    try:
        return os.path.relpath(os.path.abspath(out), os.path.abspath(path.parent))
    except ValueError:  # on another drive
        return os.path.abspath(out)


def place_of_store(
    path: Path, data: Mapping[str, Any], given: str | os.PathLike | None = None
) -> Path | None:
    """Return where the states of an ensemble are; None if it has no store.

    A checkpoint may come from anywhere: a place outside its own directory must be given again.
    """
    if data["out"] is None:
        if given is not None:
            raise InputError(f"{str(path)!r} has no store: leave out={str(given)!r} out")
        return None
    if not RUN.fullmatch(data.get("run") or "0" * 32):
        raise FileError(f"{str(path)!r} was edited or damaged: its run is {data['run']!r}")
    named = Path(os.path.normpath(path.parent / data["out"]))
    place = named if given is None else Path(given)
    if place.suffix != ".zarr":
        raise FileError(f"{str(path)!r} must keep its states in a .zarr store, not {str(place)!r}")
    if given is None and not named.resolve().is_relative_to(path.parent.resolve()):
        raise FileError(
            f"{str(path)!r} keeps its states in {str(named)!r}, outside its own directory: confirm"
            " this by giving out= again (--out on the command line)"
        )
    return place


@contextmanager
def new_checkpoint(
    path: Path, task: Task, out: str | os.PathLike | None, **others: Any
) -> Iterator[EnsembleSaver]:
    """Begin a checkpoint; nothing is left of it if an error comes before anything was saved."""
    data, tables, given = describe_task(task, path, out)
    check_place(path, KIND, progress)
    if path.exists():  # a finished one, whose journal is about to be emptied
        remove(path)
    with Journal(journal_of(path)) as journal:
        try:
            journal.append(np.concatenate([array.ravel() for array in given.values()]))
            shapes = {name: list(array.shape) for name, array in given.items()}
            about = {**data, **others, "given": shapes, "finished": False}
            saver = EnsembleSaver(path, journal, Layout(task, out is not None, {}), about, tables)
            saver.write()
        except BaseException:
            journal.remove()
            raise
        try:
            yield saver
        except PolhodeError as error:
            if not saver.keeps_after(error):
                remove(path)
                journal.remove()
            raise


@contextmanager
def old_checkpoint(
    path: Path,
    stored: Stored,
    solver: Solver,
    reductions: tuple[Reduction, ...] | None,
    out: str | os.PathLike | None,
) -> Iterator[tuple[EnsembleSaver, dict[int, Arrays], Path | None]]:
    """Open a checkpoint again; ``reductions`` and ``out`` are those that were given again.

    Returns (saver, results of finished chunks by their first member, place of the store).
    """
    data, arrays = stored
    with damage_refused(path):
        store = place_of_store(path, data, out)
    with Journal(journal_of(path), Mark(*data["mark"])) as journal:
        numbers, journal.rows = Numbers(journal.path, journal.rows), np.empty(0)
        with damage_refused(path):
            task = _rebuild_task(str(path), data, solver, numbers, reductions, store is None)
            layout = Layout(task, store is not None, data["widths"])
            tables = {key: arrays[key] for key in arrays if not key.startswith(STATE)}
            saver = EnsembleSaver(path, journal, layout, data, tables)
            parts = saver.read(numbers, arrays)
        del numbers, arrays
        yield saver, parts, store


def _rebuild_task(
    file: str,
    data: Mapping[str, Any],
    solver: Solver,
    numbers: Numbers,
    wanted: tuple[Reduction, ...] | None,
    in_memory: bool,
) -> Task:
    given, about = numbers.arrays(data["given"]), data["members"]
    vary, reductions = rebuild_crowd(file, about["vary"], data["reductions"], given, wanted)
    members = make_members(solver.problem, about["count"], vary, about["seed"])
    for name, source in vary.items():
        if isinstance(source, Distribution):
            continue  # which draws values of the right shape
        values = source.values if isinstance(source, Sweep) else source
        count = len(values) if isinstance(source, Sweep) else members.count
        if values.shape not in [(count, *shape) for shape in (members.shapes[name], (3, 3))]:
            raise ValueError(f"vary[{name!r}] has the shape {values.shape}")
    times, flags = given["times"], given["flags"].astype(int)
    if times.ndim != 1 or flags.shape != times.shape or not len(times):
        raise ValueError(f"it has {times.shape} times and {flags.shape} flags")
    rows = times, flags & 1 != 0, flags & 2 != 0, flags & 4 != 0
    what = reductions, in_memory, wanted is not None
    return remake_task(members, solver.keywords, solver, data["span"], rows, *what)
