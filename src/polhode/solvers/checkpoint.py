"""The checkpoint of a run: when it is written, and how a run continues from it.

Every n steps a run hands over its counts, its numbers and the rows that are new.  The rows are
appended to a journal beside the checkpoint, so that its cost does not grow with the run.  At the
end everything goes into one file.
"""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import FileError, InputError
from polhode.files.checkpoint import MARK, Journal, Mark, head, remove_journal, write
from polhode.files.given import check_form, damage_refused
from polhode.problems.problem import Problem
from polhode.solvers.arguments import Arguments
from polhode.solvers.events import Watch
from polhode.solvers.plain_data import ABOUT, describe_run

KIND = "run"
FORM = {  # of the header, see ``check_form``
    **ABOUT,
    "span": [float, float],
    "chosen": str,
    "every": (None, int),
    "counts": (None, {"steps": int}),
    "mark": MARK,
    "finished": bool,
}
SECONDS = 10.0  # between two checkpoints, by default
NEVER = 2**62  # steps


class Checkpoint(NamedTuple):
    """A file, after how many steps it is written again, and what it says about the run."""

    path: Path
    every: int | None
    data: dict[str, Any]
    arrays: dict[str, np.ndarray]


def describe_checkpoint(
    place: tuple[Path, int | None], problem: Problem, arguments: Arguments
) -> Checkpoint:
    """Return the checkpoint of a run, at a place that ``check_checkpoint`` returned."""
    return Checkpoint(*place, *describe_run(problem, arguments, geometry=True))


def check_checkpoint(path: Any, every: Any) -> tuple[Path, int | None] | None:
    """Check the arguments of that name; None if no checkpoint was requested."""
    if path is None:
        if every is not None:
            raise InputError(f"checkpoint_every={every!r} needs a file: give checkpoint=, too")
        return None
    try:
        file = Path(path)
    except TypeError:
        raise InputError(f"checkpoint must be the name of a file, got {path!r}") from None
    if file.is_dir():
        raise FileError(f"checkpoint must be the name of a file, and {str(path)!r} is a directory")
    whole = isinstance(every, (int, np.integer)) and not isinstance(every, bool) and every >= 1
    if every is not None and not whole:
        raise InputError(f"checkpoint_every must be a whole number of steps, got {every!r}")
    return file, None if every is None else int(every)


class Stored(NamedTuple):
    """What a checkpoint holds: the header, and numbers by name, all rows among them.

    In the header are "counts" of the run, None before its first checkpoint on the way, what a
    ``Watch`` had "seen", and whether the run is "finished".
    """

    data: dict[str, Any]
    arrays: dict[str, np.ndarray]


class Saver:
    """Writes the checkpoint of one run, in ``with``; ``before`` is what the run continues from."""

    watch: Watch | None = None

    def __init__(
        self,
        checkpoint: Checkpoint,
        data: Mapping[str, Any],
        arrays: Mapping[str, np.ndarray],
        before: Stored | None = None,
    ):
        self.path, self.every, self.before = checkpoint.path, checkpoint.every, before
        self._rows = checkpoint.path.with_name(checkpoint.path.name + ".rows")
        self._data = {**checkpoint.data, **data, "every": checkpoint.every}
        self._arrays = {**checkpoint.arrays, **arrays}
        self._journal: Journal | None = None
        self._last = time.monotonic()

    def __enter__(self) -> "Saver":
        if self.before is None:
            check_place(
                self.path, KIND, lambda old: f"{(old['counts'] or {}).get('steps', 0)} steps"
            )
            self._journal = Journal(self._rows)
            try:
                self._write({"counts": None, "mark": self._journal.mark, "finished": False}, {})
            except BaseException:
                self._journal.remove()
                raise
        elif self.before.data["finished"]:
            remove_journal(self._rows)  # a killed process may have left it
        else:
            self._journal = Journal(self._rows, Mark(*self.before.data["mark"]))
            self.before.arrays["rows"] = self._journal.rows
        return self

    def __exit__(self, *error: object) -> None:
        if self._journal is not None:
            self._journal.__exit__(*error)

    def restore(
        self, row: np.ndarray, width: int, form: Mapping[str, Any]
    ) -> tuple[dict[str, Any], np.ndarray, dict[str, np.ndarray]] | None:
        """Return (counts, rows, numbers) to continue from; its state is put into ``row``.

        ``form`` is that of the counts; those of a run that is finished have a "status", too.
        """
        if self.before is None or self.before.data["counts"] is None:
            return None
        counts, finished = self.before.data["counts"], self.before.data["finished"]
        check_form(self.path, counts, {**form, "status": int} if finished else form, "counts")
        if finished != ("status" in counts):
            raise FileError(f"{str(self.path)!r} was edited or damaged: a run under way has ended")
        arrays = {key: array.astype(float) for key, array in self.before.arrays.items()}
        rows, old = arrays["rows"], arrays["row"]
        if old.shape != row.shape or rows.size % width:
            raise FileError(
                f"{str(self.path)!r} holds {old.shape[1]} numbers of its run, and this version of"
                f" polhode needs {row.shape[1]}; continue it with the version that began it"
            )
        row[:] = old
        return counts, rows.reshape(-1, width), arrays

    def left(self, steps: int) -> int:
        """Return the number of steps to the next checkpoint."""
        return NEVER if self.every is None else self.every - steps % self.every

    def due(self, steps: int) -> bool:
        """Whether the next checkpoint is to be written."""
        if self.every is None:
            return time.monotonic() - self._last >= SECONDS
        return steps > 0 and steps % self.every == 0

    def mark(
        self, counts: dict[str, Any], numbers: dict[str, np.ndarray], rows: np.ndarray
    ) -> None:
        """Write a run under way; ``rows`` are those since the mark before."""
        assert self._journal is not None
        place = self._journal.append(rows)
        self._write({"counts": counts, "mark": place, "finished": False}, numbers)
        self._last = time.monotonic()

    def finish(
        self, counts: dict[str, Any], numbers: dict[str, np.ndarray], rows: np.ndarray
    ) -> None:
        """Write a run at its end; ``rows`` are all of them."""
        assert self._journal is not None
        self._write({"counts": counts, "mark": Mark(), "finished": True}, {**numbers, "rows": rows})
        self._journal.remove()

    def _write(self, data: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        seen = {} if self.watch is None else {"seen": self.watch.plain_data}
        write(self.path, KIND, {**self._data, **seen, **data}, {**self._arrays, **arrays})


def check_place(path: Path, kind: str, progress: Callable[[dict[str, Any]], str]) -> None:
    """Raise an error if a new run would overwrite another file, or a run that is not finished.

    ``progress`` says, from the header of such a run, how far it is.
    """
    if not path.parent.is_dir():
        raise FileError(
            f"there is no directory {str(path.parent)!r} to write the checkpoint {path.name!r} into"
        )
    if not path.exists():
        return
    try:
        old = head(path, kind)
        with damage_refused(path):
            finished = old["finished"] is True
            far = "" if finished else progress(old)
    except FileError as error:
        raise FileError(
            f"checkpoint={str(path)!r} would replace a file that is not a checkpoint of"
            f" {'a run' if kind == KIND else 'an ensemble'} ({error}); take another name, or remove"
            " it"
        ) from error
    if not finished:
        raise FileError(
            f"checkpoint={str(path)!r} holds a run that is not finished, after {far}:"
            " continue it with ph.resume (or `polhode resume`), take another name, or remove the"
            " file"
        )
