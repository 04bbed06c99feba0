"""Ensembles on a local Dask cluster, one worker for each processor, against threads.

Wall time, because workers are separate processes, and the CPU time of all of them together, which
is less disturbed by other users of the machine.

The second table is about memory: the most that a worker and the client ever had, in a new cluster
for each number of members.  Runs are short, so chunks are as long as they ever get.  A worker has
its chunk, whatever the number of members; the client has some numbers of each member.  From the two
largest runs follow the bytes a member, and what ``EXPECTED`` members would take.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from polhode.bench.records import Bench, Finding, Key, Note, Settings, Table, at_least, at_most
from polhode.bench.timing import Times
from polhode.bench.tops import solve_debris
from polhode.errors import InputError

PARTS = "speed", "memory"
SHORT = 20  # steps of the runs whose memory is measured
QUICK, WHOLE = (262_144, 1_048_576), (262_144, 1_048_576, 4_194_304)  # their members
EXPECTED = 1e8  # members
GROWTH, OF_CLIENT = 0.1, 64.0  # of a worker, from the second largest run on; bytes a member


@Bench(
    name="cluster",
    place=30,
    summary="ensembles on Dask against threads, on one machine",
    needs=("Dask",),
    vital=("Dask",),
    long=True,
    repeats=5,
    keys={
        "members": Key("262144", "members of the ensemble"),
        "steps": Key("2000", "steps of each"),
        "parts": Key("", f"of {', '.join(PARTS)}; default: all"),
        "crowds": Key("", "numbers of members of the second table"),
    },
)
def benchmark(settings: Settings) -> Iterator[Finding]:
    parts = {"speed": speed, "memory": memory}
    for part in settings.choose("parts", PARTS):
        yield from parts[part](settings)


# ---- speed
def speed(settings: Settings) -> Iterator[Finding]:
    """Measure Dask against threads."""
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


# ---- memory
def memory(settings: Settings) -> Iterator[Finding]:
    """Measure the memory of workers and client for more and more members."""
    usual = QUICK if settings.quick else WHOLE
    crowds = [int(float(x)) for x in settings.parts("crowds")] or list(usual)
    if len(crowds) < 2:
        raise InputError(f"crowds must be two or more numbers, got {crowds[0]}")
    workers, rows = len(os.sched_getaffinity(0)), []
    for members in crowds:
        settings.report(f"{members} members on {workers} workers")
        code = (
            "import json; from polhode.bench.cluster import measured;"
            f" print(json.dumps(measured({members}, {workers})))"
        )
        said = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
        rows.append({"what": f"{members} members", **json.loads(said.splitlines()[-1])})
    heads = {
        "what": f"{SHORT} steps, reductions at 11 times",
        "seconds": "s wall",
        "worker_before": "MB of a worker before",
        "worker": "at most",
        "client_before": "MB of the client before",
        "client": "at most",
    }
    yield Table("Memory on a cluster", heads, rows)
    before, last = rows[-2:]
    more = crowds[-1] - crowds[-2]
    slope = {who: (last[who] - before[who]) / more for who in ("worker", "client")}  # MB a member
    whole = {who: last[who] + (EXPECTED - crowds[-1]) * slope[who] for who in slope}
    pace = (last["seconds"] - before["seconds"]) * workers / more
    yield Note(
        f"{EXPECTED:.0e} members, extrapolated: {last['worker']:.0f} MB a worker"
        f" ({slope['worker'] * 2**20:.2g} bytes more for each member of the whole), the client"
        f" {whole['client'] / 1e3:.1f} GB, {EXPECTED * pace / 3600:.1f} hours of one processor for"
        f" {SHORT} steps"
    )
    yield at_most(
        f"memory of a worker from {crowds[-2]} to {crowds[-1]} members: grows by",
        last["worker"] / before["worker"] - 1.0,
        GROWTH,
    )
    yield at_most("memory of the client: bytes a member", slope["client"] * 2**20, OF_CLIENT)


def measured(members: int, workers: int) -> dict[str, float]:
    """Return the seconds of a run on a new cluster, and the most memory of workers and client."""
    from polhode.ensembles.dask_cluster import local

    with local(workers) as client:
        solve_debris(2 * workers * 1024, SHORT, client=client)  # everything is compiled
        before = max(client.run(most_memory).values()), most_memory()
        begun = time.perf_counter()
        solve_debris(members, SHORT, client=client)
        seconds = time.perf_counter() - begun
        after = max(client.run(most_memory).values()), most_memory()
    names = "worker_before", "client_before", "worker", "client"
    return {"seconds": seconds, **dict(zip(names, (*before, *after), strict=True))}


def most_memory() -> float:
    """Return the most megabytes that this process ever had."""
    status = Path("/proc/self/status")
    if status.exists():  # on Linux ru_maxrss would include the parent's
        return int(status.read_text().split("VmHWM:")[1].split()[0]) / 1024
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used / 2**20 if sys.platform == "darwin" else used / 2**10
