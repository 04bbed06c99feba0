"""The checkpoint of a run: when it is written, and what a run that goes on begins with.

A run hands over its counts and numbers every so many steps, and the rows that are new since then:
they go to a journal beside the checkpoint, so that its cost does not grow with the run.  At the end
all is one file.
"""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from polhode.errors import FileError, InputError
from polhode.files.checkpoint import Journal, Mark, head, read, remove, write

KIND = "run"
SECONDS = 10.0  # between two checkpoints, if nobody says after how many steps
MOST = 2**62  # steps


class Checkpoint(NamedTuple):
    """A file, after how many steps it is written anew, and what it says of the run."""

    path: Path
    every: int | None
    data: dict[str, Any]
    arrays: dict[str, np.ndarray]


def check_checkpoint(path: Any, every: Any) -> tuple[Path, int | None] | None:
    """What was asked for; None if nothing was."""
    if path is None:
        if every is not None:
            raise InputError(f"checkpoint_every={every!r} needs a file: give checkpoint=, too")
        return None
    try:
        file = Path(path)
    except TypeError:
        raise InputError(f"checkpoint must be the name of a file, got {path!r}") from None
    whole = isinstance(every, (int, np.integer)) and not isinstance(every, bool) and every >= 1
    if every is not None and not whole:
        raise InputError(f"checkpoint_every must be a whole number of steps, got {every!r}")
    return file, None if every is None else int(every)


class Known(NamedTuple):
    """What a checkpoint holds: the header, and numbers by name, all rows among them."""

    data: dict[str, Any]
    arrays: dict[str, np.ndarray]

    @property
    def counts(self) -> dict[str, Any] | None:
        """Those of the run; None before its first checkpoint on the way."""
        return self.data["counts"]

    @property
    def seen(self) -> dict[str, Any] | None:
        """What a watch for events saw so far."""
        return self.data.get("seen")

    @property
    def finished(self) -> bool:
        return bool(self.data["finished"])


def known(path: Path) -> Known:
    return Known(*read(path, KIND))


class Seen(Protocol):
    """A watch for events, of which plain data say what it saw."""

    @property
    def seen(self) -> dict[str, Any]: ...


class Saver:
    """Writes the checkpoint of one run, in ``with``.  ``before``: what the run goes on from."""

    watch: Seen | None = None

    def __init__(
        self,
        asked: Checkpoint,
        data: Mapping[str, Any],
        arrays: Mapping[str, np.ndarray],
        before: Known | None = None,
    ):
        self.path, self.every, self.before = asked.path, asked.every, before
        self._rows = asked.path.with_name(asked.path.name + ".rows")
        self._data = {**asked.data, **data, "every": asked.every}
        self._arrays = {**asked.arrays, **arrays}
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
        elif self.before.finished:
            remove(self._rows)  # a kill may have left it
        else:
            self._journal = Journal(self._rows, Mark(*self.before.data["mark"]))
            self.before.arrays["rows"] = self._journal.rows
        return self

    def __exit__(self, *error: object) -> None:
        if self._journal is not None:
            self._journal.__exit__(*error)

    def begun(
        self, row: np.ndarray, width: int
    ) -> tuple[dict[str, Any], np.ndarray, dict[str, np.ndarray]] | None:
        """(counts, rows so far, numbers) of a run that goes on; its state is now in ``row``."""
        if self.before is None or self.before.counts is None:
            return None
        rows, old = self.before.arrays["rows"], self.before.arrays["row"]
        if old.shape != row.shape or rows.size % width:
            raise FileError(
                f"{str(self.path)!r} holds {old.shape[1]} numbers of its run, and this version of"
                f" polhode needs {row.shape[1]}; go on with the version that began it"
            )
        row[:] = old
        return self.before.counts, rows.reshape(-1, width), self.before.arrays

    def left(self, steps: int) -> int:
        """Steps to the next checkpoint."""
        return MOST if self.every is None else self.every - steps % self.every

    def due(self, steps: int) -> bool:
        if self.every is None:
            return time.monotonic() - self._last >= SECONDS
        return steps > 0 and steps % self.every == 0

    def mark(
        self, counts: dict[str, Any], numbers: dict[str, np.ndarray], rows: np.ndarray
    ) -> None:
        """A run on its way; ``rows`` are those since the mark before."""
        assert self._journal is not None
        place = self._journal.append(rows)
        self._write({"counts": counts, "mark": place, "finished": False}, numbers)
        self._last = time.monotonic()

    def finish(
        self, counts: dict[str, Any], numbers: dict[str, np.ndarray], rows: np.ndarray
    ) -> None:
        """A run at its end; ``rows`` are all of them."""
        assert self._journal is not None
        self._write({"counts": counts, "mark": Mark(), "finished": True}, {**numbers, "rows": rows})
        self._journal.remove()

    def _write(self, data: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        seen = {} if self.watch is None else {"seen": self.watch.seen}
        write(self.path, KIND, {**self._data, **seen, **data}, {**self._arrays, **arrays})


def check_place(path: Path, kind: str, progress: Callable[[dict[str, Any]], str]) -> None:
    """Whether a new run may write there: a run that is not finished is not lost by mistake.

    ``progress`` says how far the one is whose header it is given.
    """
    if not path.parent.is_dir():
        raise FileError(
            f"there is no directory {str(path.parent)!r} to write the checkpoint {path.name!r} into"
        )
    if not path.exists():
        return
    try:
        old = head(path, kind)
    except FileError as error:
        raise FileError(
            f"checkpoint={str(path)!r} would replace a file that is no checkpoint of"
            f" {'a run' if kind == KIND else 'an ensemble'} ({error}); take another name, or remove"
            " it"
        ) from error
    if not old["finished"]:
        raise FileError(
            f"checkpoint={str(path)!r} holds a run that is not finished, after {progress(old)}: go"
            " on with ph.resume (or `polhode resume`), take another name, or remove the file"
        )


checked = check_checkpoint
