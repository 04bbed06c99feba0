"""Run an ensemble chunk by chunk, here or on a cluster, and collect the results."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.ensembles.chunk import Arrays, Chunk, make_mover
from polhode.ensembles.dask_cluster import Dispatch
from polhode.ensembles.movers import Reached
from polhode.ensembles.quantities import Labelled
from polhode.ensembles.result import EnsembleResult
from polhode.ensembles.store import MemoryStates, Store, check_store
from polhode.ensembles.task import Task
from polhode.errors import PolhodeError
from polhode.solvers.progress import reporter

if TYPE_CHECKING:
    from polhode.ensembles.checkpoint import EnsembleSaver


class Joined:
    """The reductions by groups of the members up to ``upto``, joined in the order of the members.

    Chunks that arrive before an earlier one wait.  So a run of any number of members keeps one row
    for each reduction and time.
    """

    def __init__(self, task: Task):
        self.reductions, self.upto = task.by_group, 0
        self.count = np.zeros(int(task.at_reduce.sum()) if task.reductions else 0)
        self.rows: dict[str, list[np.ndarray]] = {}
        self.waiting: dict[int, tuple[int, Arrays]] = {}

    def put(self, first: int, last: int, arrays: Arrays) -> None:
        """Join the groups of a chunk: rows (times, groups, numbers), and how many are counted."""
        self.waiting[first] = last, arrays
        while self.upto in self.waiting:
            self.upto, arrays = self.waiting.pop(self.upto)
            if "count" in arrays:
                self.count = self.count + arrays["count"].sum(axis=1)
            for key, one in self.reductions.items():
                self.rows[key] = one.joined(arrays[key], self.rows.get(key))


class Run:
    """An ensemble and the results of its chunks so far.

    With ``out`` the states go into a store, in pieces of ``size`` members.  ``parts`` are results
    from before, and ``reopen`` says that the store was created before.  ``saver`` writes the
    checkpoint.
    """

    def __init__(
        self,
        task: Task,
        solver: Any,
        out: str | os.PathLike | None,
        size: int,
        saver: "EnsembleSaver | None" = None,
        parts: Mapping[int, Arrays] | None = None,
        reopen: bool = False,
        run: str | None = None,
    ):
        self.task, self.size, self.saver = task, size, saver
        self.joined = Joined(task)
        self.whole: Arrays = {}  # what has an entry for each member
        self.begun = bool(parts)
        self.facts: dict[str, Any] = {
            "method": solver.bound.name,
            "reason": solver.reason,
            "arguments": solver.arguments,
        }
        self.store = None if out is None else Store(out, task, size, self.facts, run, reopen)
        if self.store is not None and saver is not None:
            saver.settle = self.store.settle
        for first, arrays in sorted((parts or {}).items()):
            self._keep(first, first + len(arrays["reached status"]), arrays)

    def finish(
        self,
        threads: int,
        progress: bool | Callable[[float], None],
        client: Any = None,
        length: int | None = None,
    ) -> EnsembleResult:
        """Run all chunks that are left, and return the result.

        ``client``: on the workers of this one, in chunks of ``length`` members if that is given.
        """
        saver = self.saver
        gaps = [(0, self.task.members.count)] if saver is None else saver.gaps()
        try:
            with reporter(progress) if progress else nullcontext() as report:
                if client is not None and gaps:
                    if saver is not None:
                        saver.forget_chunk()
                    Dispatch(client, self.task, length, threads, gaps).run(self.put, report)
                elif gaps:
                    self._run_here(gaps, threads, report)
        except PolhodeError as error:
            keep = saver is not None and saver.keeps_after(error)
            if self.store is not None and not (self.begun or self.store.reopen or keep):
                self.store.remove()  # nothing in it is whole
            raise
        result = self.result()
        if saver is not None:
            saver.write(finished=True)
        return result

    def _run_here(
        self, gaps: Sequence[tuple[int, int]], threads: int, report: Callable[[float], None] | None
    ) -> None:
        saver, store = self.saver, self.store
        drain = () if store is None else (store.write, store.rows)
        mover = make_mover(self.task, threads)
        for first, last in _chunks(gaps, self.size, None if saver is None else saver.chunk):
            chunk = Chunk(self.task, mover, first, last, *drain)
            if saver is not None:
                saver.enter(chunk)
            self.put(first, last, chunk.run(report, saver))

    def put(self, first: int, last: int, arrays: Arrays) -> None:
        """Keep the results of the members from ``first`` to ``last``."""
        self.begun = True
        if self.store is not None:
            self.store.put(first, last, arrays)
        self._keep(first, last, arrays)
        if self.saver is not None:
            self.saver.put(first, last, arrays)

    def _keep(self, first: int, last: int, arrays: Arrays) -> None:
        """Join what is by groups; put what is by members into arrays of all of them."""
        by_group = {"count", *self.joined.reductions}
        self.joined.put(first, last, {k: v for k, v in arrays.items() if k in by_group})
        by_time = {"states", *self.task.by_value}  # rows (times, members)
        for key, values in arrays.items():
            if key in by_group or (key == "states" and self.store is not None):
                continue
            axis = 1 if key in by_time else 0
            if key not in self.whole:
                shape = *values.shape[:axis], self.task.members.count, *values.shape[axis + 1 :]
                self.whole[key] = np.empty(shape, values.dtype)
            place = (slice(None),) * axis + (slice(first, last),)
            self.whole[key][place] = values

    def result(self, written: bool = False) -> EnsembleResult:
        """The result of all chunks; ``written``: its store is finished."""
        task = self.task
        reached = {name: self.whole[f"reached {name}"] for name in Reached._fields}
        facts = {
            **self.facts,
            "t_reduced": task.times[task.at_reduce],
            "count": self.joined.count,
        }
        reductions = self._reductions()
        if self.store is None:
            times = task.times[task.at_save]
            directions = None if task.growth else task.directions
            saved = self.whole["states"]
            states: Any = MemoryStates(task.members, times, saved, directions=directions)
        else:
            if written:
                check_store(self.store.path)
            states = self.store.states() if written else self.store.finish(reductions, facts)
            facts["path"] = self.store.path
        return EnsembleResult(task.members, states, reached, reductions, facts)

    def _reductions(self) -> dict[str, Labelled]:
        found: dict[str, Labelled] = {}
        for one in self.task.reductions:
            rows: Any = self.joined.rows.get(one.key, self.whole.get(one.key))
            for name, values in one.combine(rows).items():
                found[name] = one.describe(name, values)
        return found


def _chunks(
    gaps: Sequence[tuple[int, int]], size: int, unfinished: tuple[int, int] | None
) -> Iterator[tuple[int, int]]:
    """The members that are left, in chunks; an unfinished one is the first."""
    if unfinished is not None:
        yield unfinished
        a, b = unfinished
        gaps = [some for x, y in gaps for some in ((x, min(y, a)), (max(x, b), y))]
    for first, last in gaps:
        yield from ((k, min(k + size, last)) for k in range(first, last, size))
