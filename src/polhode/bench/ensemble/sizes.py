"""Every map of the registry in lanes, and many bodies: in lanes alone, and by solve_ensemble."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from polhode.bench.ensemble.rivals import H, in_slices, one_by_one, over_slices
from polhode.bench.records import Finding, Settings, Table, at_least, at_most
from polhode.bench.timing import columns, round_robin, row
from polhode.bench.tops import HEAVY, Lanes, Tops
from polhode.compiler.machine import LANES
from polhode.loops.join import variant
from polhode.methods import METHODS
from polhode.models import free

LEAST_OF_EXPLICIT, LEAST_OF_IMPLICIT = 5.0, {"imidm": 3.5}
LEAST_OF_EXACT = 3.0  # over the exact motion of a free body
BODIES = {"asymmetric": None, "symmetric": 2}  # -> the axis


# ---- the registry
def registry(settings: Settings) -> Iterator[Finding]:
    """Every map with lanes: its cost in lanes against that of one body.

    Methods that differ for symmetric bodies are measured with bodies of both kinds.
    """
    bodies, alone, steps = LANES, 8, 100 if settings.quick else 250  # short runs find quiet moments
    tops = Tops.random(bodies)
    groups, rows, verdicts = {"asymmetric": tops, "symmetric": tops.symmetric()}, [], []
    names = [name for name, method in METHODS.items() if method.width > 1]
    wanted = settings.choose("methods", names)
    if settings.quick and not settings.parts("methods"):  # those with claims
        wanted = [name for name in names if least_of(name) is not None]
    for name in wanted:
        exact = METHODS[name].exact_when_free
        for kind, axis in BODIES.items() if exact else [("asymmetric", None)]:
            settings.report(f"{name} in lanes, {kind} bodies")
            method = variant(METHODS[name], axis, compensated=False)
            model = free() if method.free_only else HEAVY
            lanes = Lanes(method, model, groups[kind], H / 5)
            one = one_by_one(method, model, groups[kind].first(alone), steps, H / 5)
            calls: dict[str, tuple[Callable, float]] = {
                "lanes": (partial(lanes.advance, steps), bodies * steps),
                "one": (one, alone * steps),
            }
            times = round_robin(calls, 8 * settings.repeats, before=partial(_reset, lanes))
            gain = times["one"].minimum / times["lanes"].minimum
            form = "implicit" if method.implicit else "explicit"
            ns = times["one"].minimum, times["lanes"].minimum
            rows.append((name, form, kind, method.width, *ns, gain))
            least = LEAST_OF_EXACT if exact else least_of(name)
            if least is not None:
                what = f"{name}, {kind}" if exact else name
                verdicts.append(at_least(f"{what}: lanes over one body", gain, least))
    head = {
        "what": "method",
        "kind": "kind",
        "bodies": "bodies",
        "width": "width",
        "ns_one": "one body, ns",
        "ns_lanes": "in lanes, ns",
        "gain": "gain",
    }
    yield Table.of("Lanes over one body, a body and step", head, rows, bars="gain")
    yield from verdicts


def least_of(name: str) -> float | None:
    """Return the gain that is claimed for a map."""
    return LEAST_OF_IMPLICIT.get(name) if METHODS[name].implicit else LEAST_OF_EXPLICIT


def _reset(lanes: Lanes, key: str) -> None:
    lanes.reset()


# ---- many bodies
def scale(settings: Settings) -> Iterator[Finding]:
    """Measure the cost of a body and step, and the memory, for a thousand to a million bodies."""
    counts = (1_000, 10_000) if settings.quick else (1_000, 10_000, 100_000, 1_000_000)
    method, rows = METHODS["mr2"], []
    made: dict[int, Lanes] = {}
    slices: dict[Any, tuple[Callable, float]] = {}
    for count in counts:
        settings.report(f"{count} bodies")
        made[count] = Lanes(method, HEAVY, Tops.random(count), H)
        slices |= in_slices((str(count), ""), made[count])
    settings.report("timing")
    found = over_slices(round_robin(slices, min(settings.repeats, 11)))
    times = {count: found[str(count), ""] for count in counts}
    lowest = min(taken.minimum for taken in times.values())
    for count, taken in times.items():
        facts = row(f"{count} bodies", taken, taken.minimum / lowest)
        rows.append(facts | {"megabytes": made[count].work.nbytes / 1e6})
    head = columns("mr2, a body and step", "/ least") | {"megabytes": "MB of states"}
    yield Table("Many bodies", head, rows)
    worst = max(taken.minimum for taken in times.values()) / lowest - 1.0
    yield at_most(f"cost from {counts[0]} to {counts[-1]} bodies: changes by", worst, 0.15)


# ---- by the front door
DEBRIS = """
import resource, sys, time
from pathlib import Path
from polhode.bench.tops import solve_debris
def most():  # megabytes; on Linux ru_maxrss would include the parent's
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().split("VmHWM:")[1].split()[0]) / 1024
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used / 2**20 if sys.platform == "darwin" else used / 2**10
members, steps = int(sys.argv[1]), int(sys.argv[2])
solve_debris(64, 10)
before = most()
begun = time.process_time()
solve_debris(members, steps, threads=1)
used = time.process_time() - begun
print(used / members / steps * 1e9, before, most())
"""


def front(settings: Settings) -> Iterator[Finding]:
    """The cost and the memory of ``solve_ensemble`` with reductions, in a separate process."""
    steps = 100 if settings.quick else 1000
    rows: list[tuple] = []
    for members in (1_000, 10_000) if settings.quick else (1_000, 30_000, 1_000_000):
        settings.report(f"solve_ensemble, {members} members")
        said = subprocess.run(
            [sys.executable, "-c", DEBRIS, str(members), str(steps)],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        rows.append((f"{members} members, {steps} steps", *map(float, said.split())))
    head = {
        "what": "mr2, mean, attitude and extremes at 11 times",
        "ns": "ns a body and step",
        "before": "MB before",
        "peak": "MB at most",
    }
    yield Table.of("solve_ensemble", head, rows)
    if not settings.quick:
        yield at_most("memory of a million members with reductions, in MB", rows[-1][-1], 1500)
