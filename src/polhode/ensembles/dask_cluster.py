"""Chunks of an ensemble on the workers of a Dask cluster.  The only module that uses Dask.

A chunk depends only on the task and on the numbers of its members, so it can run anywhere, and
twice.  The task goes to the scheduler once, as bytes; a process that works on its chunks reads it
once, and so prepares and compiles once.  Arrays with one entry for each member go with the chunks.

If a worker dies, Dask gives its chunks to others, ``allowed-failures`` times.  A chunk that raises
an error is not tried again.
"""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode._version import __version__
from polhode.ensembles.chunk import Arrays, Chunk, Mover, make_mover
from polhode.ensembles.distributions import GROUP
from polhode.ensembles.task import Task, bounds_of
from polhode.errors import InputError, PolhodeError
from polhode.solvers.entry import prepare_from

if TYPE_CHECKING:
    from distributed import Client, Future

CHUNK_SECONDS = 2.0  # target duration of a chunk, by default
MOST_MEMBERS = 64 * GROUP  # of a chunk, by default
MOST_BYTES = 2**28  # of the results of a chunk, by default
AHEAD = 2  # chunks in flight for each thread of the workers
LOCAL_SETTINGS = {  # less background work, and memory kept for reuse, on a cluster of our own
    "distributed.worker.profile.enabled": False,
    "distributed.worker.memory.monitor-interval": "500ms",
    "distributed.admin.tick.interval": "500ms",
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": 2**28,
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": 2**25,
}
PATIENCE = 30.0  # seconds to wait for a scheduler, and for its first worker


# ---- on a worker
@dataclass(frozen=True)
class Part:
    """The entries from ``first`` on of an array with one for each member."""

    first: int
    entries: np.ndarray

    def __getitem__(self, some: slice) -> np.ndarray:
        return self.entries[some.start - self.first : some.stop - self.first]


_starting = Lock()


@lru_cache(4)
def _read(data: bytes, threads: int) -> tuple[Task, Mover]:
    """The task and its mover, once for all chunks of a process."""
    import pickle

    task: Task = pickle.loads(data)
    bound, wide = bounds_of(prepare_from(task.members.problem, task.arguments))
    task = replace(task, bound=bound, wide=wide)
    return task, make_mover(task, threads)


def run_piece(
    version: str, data: bytes, parts: dict[str, Part], first: int, last: int, threads: int
) -> tuple[Arrays, float]:
    """(results, seconds) of the members from ``first`` to ``last``, on a worker."""
    if version != __version__:
        raise InputError(
            f"a worker has polhode {__version__}, but the client has {version}: install the same"
        )
    with _starting:  # the threads of a worker must not compile the same code at the same time
        task, mover = _read(data, threads)
        if parts:
            task = replace(task, members=task.members.with_vary(parts))
        chunk = Chunk(task, mover, first, last)
    begun = time.perf_counter()
    return chunk.run(), time.perf_counter() - begun


def identity(value: bytes) -> bytes:
    """A Dask task whose result can be computed again if the worker that holds it dies."""
    return value


# ---- on the client
class Dispatch:
    """Runs the ranges of members ``gaps`` of one task on the workers of a client.

    Without ``size`` every thread first gets one group, and the time that takes decides the length
    of the chunks.
    """

    def __init__(
        self,
        client: "Client",
        task: Task,
        size: int | None,
        threads: int,
        gaps: Sequence[tuple[int, int]],
    ):
        import cloudpickle

        self.client, self.task, self.size, self.threads = client, task, size, threads
        members = task.members
        self.arrays = {k: v for k, v in members.vary.items() if isinstance(v, np.ndarray)}
        rest = members.with_vary(dict.fromkeys(self.arrays))
        small = replace(task, members=rest, bound=None, wide=None)
        self.data = client.submit(identity, cloudpickle.dumps(small), pure=False)
        client.replicate(self.data)  # or chunks would wait for the one worker that holds it
        self.bytes = 8 * task.at_save.sum() * task.width + 8 * (
            len(task.by_value) * task.at_reduce.sum() + len(task.by_member) + 4
        )  # of the results of a member
        self.left = list(gaps)  # not yet sent
        self.pace = 0.0  # seconds for a member
        self.running: dict[Future, tuple[int, int]] = {}

    def run(
        self, put: Callable[[int, int, Arrays], None], report: Callable[[float], None] | None
    ) -> None:
        """Run them all; ``put(first, last, results)`` is called as results arrive."""
        from distributed import as_completed

        count = self.task.members.count
        done = count - sum(last - first for first, last in self.left)
        try:
            waiting = as_completed(self._more(), loop=self.client.loop)
            for future in waiting:
                first, last = self.running.pop(future)
                arrays, seconds = self._result(future, first, last)
                self.pace = seconds / (last - first)
                waiting.update(self._more())
                put(first, last, arrays)
                done += last - first
                if report is not None:
                    report(done / count)
        finally:
            self.client.cancel([self.data, *self.running])

    def _more(self) -> "list[Future]":
        """Send as many new chunks as keep all workers busy."""
        made = []
        slots = sum(self.client.nthreads().values()) or 1
        while self.left and len(self.running) < AHEAD * slots:
            if not self.size and not self.pace and len(self.running) >= slots:
                break  # until the time of a group is known
            first, end = self.left.pop(0)
            last = min(first + self._length(slots), end)
            parts = {name: Part(first, array[first:last]) for name, array in self.arrays.items()}
            future = self.client.submit(
                run_piece, __version__, self.data, parts, first, last, self.threads, pure=False
            )
            self.running[future] = first, last
            if last < end:
                self.left.insert(0, (last, end))
            made.append(future)
        return made

    def _length(self, slots: int) -> int:
        """Members of the next chunk: ``CHUNK_SECONDS`` long, but with work for every thread."""
        if self.size or not self.pace:
            return self.size or GROUP
        count = self.task.members.count
        rounds = max(round(count * self.pace / (slots * CHUNK_SECONDS)), 1)
        most = min(MOST_MEMBERS, MOST_BYTES // (self.bytes * GROUP) * GROUP)
        return max(min(-(-count // (slots * rounds * GROUP)) * GROUP, most), GROUP)

    def _result(self, future: "Future", first: int, last: int) -> tuple[Arrays, float]:
        from distributed import KilledWorker

        whose = f"members {first} to {last - 1}"
        try:
            return future.result()
        except PolhodeError as error:
            raise type(error)(f"{whose}: {error}") from error
        except KilledWorker as error:
            raise ClusterError(
                f"{whose}: workers died several times while running them; if they ran out of"
                " memory, give a smaller chunk="
            ) from error
        except ImportError as error:
            raise ClusterError(
                f"{whose}: a worker cannot import what it needs: {error}; install it there"
            ) from error
        except Exception as error:
            raise ClusterError(f"{whose}: {type(error).__name__}: {error}") from error


class ClusterError(PolhodeError, RuntimeError):
    """Workers could not run their chunks."""


# ---- clusters
def _dask() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise InputError(
            "client= needs the package 'distributed': pip install 'polhode[dask]'"
        ) from error
    return distributed


@contextmanager
def connect(client: Any) -> "Iterator[Client]":
    """The client of ``client=``: itself, or a new one for the address of a scheduler."""
    dask = _dask()
    if isinstance(client, dask.Client):
        if client.asynchronous:
            raise InputError("client is asynchronous: give one created by Client(…)")
        with _ready(client) as ready:
            yield ready
    elif isinstance(client, str):
        try:
            made = dask.Client(client, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError) as error:
            raise InputError(
                f"client = {client!r}: no scheduler answers there ({error}); an address looks like"
                " 'tcp://127.0.0.1:8786'"
            ) from error
        with made, _ready(made) as ready:
            yield ready
    else:
        raise InputError(
            f"client must be a dask.distributed.Client or the address of a scheduler, got"
            f" {client!r}"
        )


@contextmanager
def _ready(client: "Client") -> "Iterator[Client]":
    """A client that has a worker, and does not warn about long arrays."""
    address = getattr(client.scheduler, "address", "")
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        raise InputError(
            f"the scheduler at {address} has no workers: start some, with `dask worker {address}`"
        ) from None
    with settings({"distributed.admin.large-graph-warning-threshold": "1GB"}):
        yield client


def settings(values: dict[str, Any]) -> Any:
    """Settings of Dask, inside ``with``."""
    import dask

    return dask.config.set(values)


@contextmanager
def local(workers: int, log_level: int = logging.ERROR) -> "Iterator[Client]":
    """A cluster on this machine: processes with one thread each, no dashboard."""
    dask = _dask()
    with (
        settings(LOCAL_SETTINGS),
        dask.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},
            silence_logs=log_level,
        ) as cluster,
        dask.Client(cluster, set_as_default=False) as client,
    ):
        yield client
