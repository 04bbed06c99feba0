"""Ensembles on a local Dask cluster, one worker for each processor, against threads.

Wall time, because workers are separate processes, and the CPU time of all of them together, which
is less disturbed by other users of the machine.
"""

import os
import time
from collections.abc import Callable, Iterator
from typing import Any

from polhode.bench.records import Bench, Finding, Key, Note, Settings, Table, at_least
from polhode.bench.timing import Times
from polhode.bench.tops import solve_debris


@Bench(
    name="cluster",
    place=30,
    summary="ensembles on Dask against threads, on one machine",
    needs=("Dask",),
    vital=("Dask",),
    repeats=5,
    keys={
        "members": Key("262144", "members of the ensemble"),
        "steps": Key("2000", "steps of each"),
    },
)
def benchmark(settings: Settings) -> Iterator[Finding]:
    from polhode.ensembles.dask_cluster import local

    members = settings.count("members") // (4 if settings.quick else 1)
    steps, workers = settings.count("steps"), len(os.sched_getaffinity(0))
    with local(workers) as client:
        settings.report(f"a cluster of {workers} workers")
        pieces: list[float] = []

        def there() -> Any:
            pieces[:] = []
            return solve_debris(members, steps, client=client, progress=pieces.append)

        def here() -> Any:
            return solve_debris(members, steps, threads=workers)

        def spent() -> float:
            """CPU seconds of this process and of the workers."""
            return time.process_time() + sum(client.run(time.process_time).values())

        calls: dict[str, Callable[[], Any]] = {f"{workers} threads": here, "Dask": there}
        same = _same_bits(here(), there())  # and everything is compiled
        wall, cpu = _in_turn(calls, settings, spent, members * steps)
    threads, dask = calls
    rows = [
        (name, w.minimum, w.median, cpu[name].minimum, wall[threads].minimum / w.minimum)
        for name, w in wall.items()
    ]
    heads = {
        "what": "",
        "wall_min": "ns wall min",
        "wall_median": "ns wall median",
        "cpu_min": "ns CPU min",
        "ratio": "throughput / threads",
    }
    yield Table.of(f"{members} members, {steps} steps, ns for each body-step", heads, rows)
    mean = wall[dask].minimum * members * steps * 1e-9 * workers / max(len(pieces), 1)
    yield Note(f"{len(pieces)} chunks of {mean:.1f} s on average")
    yield Note("the same bits" if same else "THE BITS DIFFER")
    whats = "throughput of Dask / of threads, least wall times", "the same by least CPU times"
    for what, taken in zip(whats, (wall, cpu), strict=True):
        yield at_least(what, taken[threads].minimum / taken[dask].minimum, 0.9)


def _same_bits(a: Any, b: Any) -> bool:
    pairs = ((a.reductions[name], b.reductions[name]) for name in a.reductions)
    return all(x.tobytes() == y.tobytes() for x, y in pairs)


def _in_turn(
    calls: dict[str, Callable], settings: Settings, spent: Callable[[], float], steps: int
) -> tuple[dict[str, Times], dict[str, Times]]:
    """Nanoseconds of wall and of CPU time for each body-step."""
    wall, cpu = ({name: Times(()) for name in calls} for _ in range(2))
    for k in range(settings.repeats):
        for name, call in calls.items():
            settings.report(f"{name}, {k + 1} of {settings.repeats}")
            used, begun = spent(), time.perf_counter()
            call()
            taken = time.perf_counter() - begun
            wall[name] = Times((*wall[name].ns, 1e9 * taken / steps))
            cpu[name] = Times((*cpu[name].ns, 1e9 * (spent() - used) / steps))
    return wall, cpu
