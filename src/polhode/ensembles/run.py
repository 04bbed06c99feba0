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
from polhode.ensembles.reductions.first_time import FirstTime
from polhode.ensembles.result import EnsembleResult
from polhode.ensembles.store import MemoryStates, Store, check_store
from polhode.ensembles.task import Task
from polhode.errors import PolhodeError
from polhode.solvers.progress import reporter

if TYPE_CHECKING:
    from polhode.ensembles.checkpoint import EnsembleSaver


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
        self.parts: dict[int, Arrays] = dict(parts or {})
        self.facts: dict[str, Any] = {
            "method": solver.bound.name,
            "reason": solver.reason,
            "arguments": solver.arguments,
        }
        self.store = None if out is None else Store(out, task, size, self.facts, run, reopen)
        if self.store is not None and saver is not None:
            saver.settle = self.store.settle

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
            if self.store is not None and not (self.parts or self.store.reopen or keep):
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
        kept = arrays
        if self.store is not None:
            self.store.put(first, last, arrays)
            kept = {key: value for key, value in arrays.items() if key != "states"}
        self.parts[first] = kept
        if self.saver is not None:
            self.saver.put(first, last, arrays)

    def _join(self, key: str, axis: int) -> np.ndarray:
        return np.concatenate([self.parts[first][key] for first in sorted(self.parts)], axis=axis)

    def result(self, written: bool = False) -> EnsembleResult:
        """The result of all chunks; ``written``: its store is finished."""
        task = self.task
        reached = {name: self._join(f"reached {name}", 0) for name in Reached._fields}
        facts = {
            **self.facts,
            "t_reduced": task.times[task.at_reduce],
            "count": self._join("count", 1).sum(axis=1) if task.reductions else np.empty(0),
        }
        reductions = self._reductions()
        if self.store is None:
            times = task.times[task.at_save]
            states: Any = MemoryStates(task.members, times, self._join("states", 1))
        else:
            if written:
                check_store(self.store.path)
            states = self.store.states() if written else self.store.finish(reductions, facts)
            facts["path"] = self.store.path
        return EnsembleResult(task.members, states, reached, reductions, facts)

    def _reductions(self) -> dict[str, Labelled]:
        found: dict[str, Labelled] = {}
        for one in self.task.reductions:
            axis = 0 if isinstance(one, FirstTime) else 1
            for name, values in one.combine(self._join(one.key, axis)).items():
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
