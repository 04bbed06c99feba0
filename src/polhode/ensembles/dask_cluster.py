"""Chunks of an ensemble on the workers of a Dask cluster.  The only module that knows Dask.

A chunk is a function of the task and of the numbers of its members, so it can run anywhere, and
twice.  The task goes to the scheduler once, as bytes; a process that works on its chunks reads it
once, and so compiles once.  What stands in arrays, one entry for each member, goes with the chunks.

A worker that dies costs the chunks that it had: Dask gives them to others, ``allowed-failures``
times.  A chunk that raises an error is not tried again.
"""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode._version import __version__
from polhode.ensembles.chunk import Arrays, Chunk, Task
from polhode.ensembles.distributions import GROUP
from polhode.errors import InputError, PolhodeError

if TYPE_CHECKING:
    from distributed import Client, Future

SECONDS = 2.0  # that a chunk shall last, if nobody says how long it is
MOST = 64 * GROUP  # members of a chunk, however quick, if nobody says
BYTES = 2**28  # of its results, the same
AHEAD = 2  # chunks for each thread of the workers that are on their way at the same time
SPARING = {  # a cluster of our own does less on the side, and keeps the memory that it will reuse
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
def _read(sent: bytes) -> Task:
    """One task for all chunks of a process: its functions are then the same, and known."""
    import pickle

    return pickle.loads(sent)


def run_piece(
    version: str, sent: bytes, parts: dict[str, Part], first: int, last: int, threads: int
) -> tuple[Arrays, float]:
    """(results, seconds) of the members from ``first`` to ``last``, on a worker."""
    if version != __version__:
        raise InputError(
            f"a worker has polhode {__version__}, but {version} is asking: install the same"
        )
    with _starting:  # the threads of a worker do not compile the same at the same time
        task = _read(sent)
        members = copy(task.members)
        members.vary = members.vary | parts
        chunk = Chunk(replace(task, members=members), first, last, threads)
    begun = time.perf_counter()
    return chunk.run(), time.perf_counter() - begun


def sent_as_is(value: bytes) -> bytes:
    """A task whose result the scheduler can make again when the worker that had it has died."""
    return value


# ---- here
def run_chunks(
    client: "Client",
    task: Task,
    size: int | None,
    threads: int,
    put: Callable[[int, int, Arrays], None],
    report: Callable[[float], None],
    gaps: Sequence[tuple[int, int]],
) -> None:
    """The members from the first to the last of each of ``gaps`` on the workers of a client.

    ``put(first, last, results)`` is called in the order in which they come.  Without ``size`` every
    thread gets a group first, and their time decides.
    """
    Dispatch(client, task, size, threads, gaps).run(put, report)


class Dispatch:
    """The chunks of one task, on their way to the workers and back."""

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
        self.arrays = {k: v for k, v in task.members.vary.items() if isinstance(v, np.ndarray)}
        members = copy(task.members)
        members.vary = {k: None if k in self.arrays else v for k, v in members.vary.items()}
        small = replace(task, members=members)
        self.sent = client.submit(sent_as_is, cloudpickle.dumps(small), pure=False)
        self.bytes = 8 * task.saved.sum() * (13 if members.problem.moves else 7) + 8 * (
            len(task.quantiles) * task.reduced.sum() + len(task.first_times) + 4
        )  # of the results of a member
        self.left = list(gaps)  # nobody has them
        self.pace = 0.0  # seconds for a member
        self.running: dict[Future, tuple[int, int]] = {}

    def run(self, put: Callable[[int, int, Arrays], None], report: Callable[[float], None]) -> None:
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
                report(done / count)
        finally:
            self.client.cancel([self.sent, *self.running])

    def _more(self) -> "list[Future]":
        """New chunks, as many as keep all workers busy."""
        made = []
        slots = sum(self.client.nthreads().values()) or 1
        while self.left and len(self.running) < AHEAD * slots:
            if not self.size and not self.pace and len(self.running) >= slots:
                break  # until it is known how long a group takes
            first, end = self.left.pop(0)
            last = min(first + self._length(slots), end)
            parts = {name: Part(first, array[first:last]) for name, array in self.arrays.items()}
            future = self.client.submit(
                run_piece, __version__, self.sent, parts, first, last, self.threads, pure=False
            )
            self.running[future] = first, last
            if last < end:
                self.left.insert(0, (last, end))
            made.append(future)
        return made

    def _length(self, slots: int) -> int:
        """Members of the next chunk: of about ``SECONDS``, but something for everyone."""
        if self.size or not self.pace:
            return self.size or GROUP
        count = self.task.members.count
        rounds = max(round(count * self.pace / (slots * SECONDS)), 1)
        most = min(MOST, BYTES // (self.bytes * GROUP) * GROUP)
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
                f"{whose}: workers died while they had them, several times; if they ran out of"
                " memory give a smaller chunk="
            ) from error
        except ImportError as error:
            raise ClusterError(
                f"{whose}: a worker cannot import what it needs: {error}; install it there"
            ) from error
        except Exception as error:
            raise ClusterError(f"{whose}: {type(error).__name__}: {error}") from error


class ClusterError(PolhodeError, RuntimeError):
    """Workers could not do what they were asked for."""


# ---- clusters
def _dask() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise InputError(
            "many machines need the package 'distributed': pip install 'polhode[dask]'"
        ) from error
    return distributed


@contextmanager
def connected(client: Any) -> "Iterator[Client]":
    """The client of ``client=``: itself, or a new one for an address."""
    dask = _dask()
    if isinstance(client, dask.Client):
        if client.asynchronous:
            raise InputError("client is asynchronous: give one made by Client(…)")
        with _patient(client) as ready:
            yield ready
    elif isinstance(client, str):
        try:
            made = dask.Client(client, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError) as error:
            raise InputError(
                f"client = {client!r}: no scheduler answers there ({error}); addresses are such as"
                " 'tcp://127.0.0.1:8786'"
            ) from error
        with made, _patient(made) as ready:
            yield ready
    else:
        raise InputError(
            f"client must be a dask.distributed.Client or the address of a scheduler, got"
            f" {client!r}"
        )


@contextmanager
def _patient(client: "Client") -> "Iterator[Client]":
    """A client that has a worker, and does not mind long arrays."""
    address = getattr(client.scheduler, "address", "")
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        raise InputError(
            f"the scheduler at {address} has no workers: start some, with `dask worker {address}`"
        ) from None
    with configured({"distributed.admin.large-graph-warning-threshold": "1GB"}):
        yield client


def configured(settings: dict[str, Any]) -> Any:
    """Settings of Dask, for a while."""
    import dask

    return dask.config.set(settings)


@contextmanager
def local(workers: int, log_level: int = logging.ERROR) -> "Iterator[Client]":
    """A cluster on this machine: processes with one thread each, no dashboard."""
    dask = _dask()
    with (
        configured(SPARING),
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
