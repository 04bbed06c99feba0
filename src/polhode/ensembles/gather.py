"""The results of chunks, put together in the order of the members."""

import os
from collections.abc import Mapping
from functools import partial
from functools import reduce as folded
from typing import Any

import numpy as np

from polhode.ensembles.chunk import Arrays, Task
from polhode.ensembles.movers import Reached
from polhode.ensembles.reductions import FirstTime, Quantiles
from polhode.ensembles.result import EnsembleResult
from polhode.ensembles.store import Kept, Labelled, Store, reduced
from polhode.errors import PolhodeError
from polhode.solvers.base import plain_data
from polhode.solvers.exact import EXACT
from polhode.solvers.solvers import AdaptiveSolver, FreeSolver, Solver


class Gathering:
    """What came of chunks so far.

    With ``out`` their states go into a store, in pieces of ``size`` members.  ``parts`` are known
    already, and so is the store if it was ``stored`` before.  In ``with``, nothing is left of a
    store in which no chunk is whole when an error of ours comes.
    """

    def __init__(
        self,
        task: Task,
        solver: Solver | FreeSolver | AdaptiveSolver,
        out: str | os.PathLike | None,
        size: int,
        parts: Mapping[int, Arrays] | None = None,
        stored: bool = False,
    ):
        self.task, problem = task, task.members.problem
        self.parts: dict[int, Arrays] = dict(parts or {})
        self.facts: dict[str, Any] = {
            "method": solver_name(solver),
            "reason": solver.reason,
            "arguments": solver.arguments,
            "problem": plain_data(problem, problem.state, problem.model.params),
        }
        self.store = None if out is None else Store(out, task, size, self.facts, stored)

    def __enter__(self) -> "Gathering":
        return self

    def __exit__(self, kind: type | None, *_: object) -> None:
        ours = kind is not None and issubclass(kind, PolhodeError)
        if ours and self.store is not None and not self.parts and not self.store.again:
            self.store.remove()

    def drain(self, first: int) -> tuple:
        """Where the states of a chunk go while it runs."""
        store = self.store
        return () if store is None else (partial(store.write, first), store.rows)

    def put(self, first: int, last: int, arrays: Arrays) -> None:
        if self.store is not None:
            self.store.put(first, last, arrays)
            arrays = {key: value for key, value in arrays.items() if key != "states"}
        self.parts[first] = arrays

    def _joined(self, key: str, axis: int) -> np.ndarray:
        return np.concatenate([self.parts[first][key] for first in sorted(self.parts)], axis=axis)

    def result(self, finished: bool = False) -> EnsembleResult:
        """All that is known; a store that is ``finished`` is not written again."""
        task = self.task
        reached = {name: self._joined(f"reached {name}", 0) for name in Reached._fields}
        facts = {
            **self.facts,
            "t_reduced": task.times[task.reduced],
            "count": self._joined("count", 1).sum(axis=1) if task.reductions else np.empty(0),
        }
        reductions = self._reductions()
        if self.store is None:
            saved: Any = Kept(task.members, task.times[task.saved], self._joined("states", 1))
        else:
            saved = self.store.stored() if finished else self.store.finish(reductions, facts)
            facts["path"] = self.store.path
        return EnsembleResult(task.members, saved, reached, reductions, facts)

    def _reductions(self) -> dict[str, Labelled]:
        found: dict[str, Labelled] = {}
        for one in self.task.reductions:
            if isinstance(one, FirstTime):
                made = {one.result: self._joined(one.key, 0)}
            elif isinstance(one, Quantiles):
                made = one.of_values(self._joined(one.key, 1))
            else:
                ends = [one.end(folded(one.join, groups)) for groups in self._joined(one.key, 1)]
                made = {name: np.array([end[name] for end in ends]) for name in ends[0]}
            found |= {name: reduced(one, name, values) for name, values in made.items()}
        return found


def solver_name(solver: Any) -> str:
    if isinstance(solver, FreeSolver):
        return EXACT
    return solver.method.name if isinstance(solver, Solver) else solver.integrator.name
