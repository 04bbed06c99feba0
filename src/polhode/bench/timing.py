"""Times of variants that take turns in one process, so that a busy moment affects them alike.

The clock is the CPU time of the thread.
"""

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

from polhode.bench.records import Table

SAMPLE = 2e6  # nanoseconds: shorter runs are called several times for one sample
UNITS = {"ns": 1.0, "us": 1e3, "s": 1e9}  # in nanoseconds
SYMBOLS = {"ns": "ns", "us": "µs", "s": "s"}


@dataclass(frozen=True)
class Times:
    """The nanoseconds of one variant, one for each repeat."""

    ns: tuple[float, ...]

    @property
    def minimum(self) -> float:
        return min(self.ns)

    @property
    def median(self) -> float:
        return statistics.median(self.ns)


def round_robin(
    variants: Mapping[Any, tuple[Callable, float]],
    repeats: int,
    clock: Callable[[], int] = time.thread_time_ns,
    before: Callable[[Any], None] = lambda name: None,
) -> dict[Any, Times]:
    """The times of each (call, steps in a call), per step; all take turns ``repeats`` times.

    ``before(name)`` is called before every call, and not timed.  What runs in its own threads needs
    ``clock=time.process_time_ns``.
    """
    samples: dict[Any, list[float]] = {name: [] for name in variants}
    for name, (call, _) in variants.items():
        before(name)
        call()
    for _ in range(repeats):
        for name, (call, steps) in variants.items():
            before(name)
            begin = clock()
            call()
            samples[name].append((clock() - begin) / steps)
    return {name: Times(tuple(ns)) for name, ns in samples.items()}


def timed(
    calls: Mapping[Any, Callable],
    repeats: int,
    steps: float = 1,
    clock: Callable[[], int] = time.thread_time_ns,
    resets: Mapping[Any, Callable] = MappingProxyType({}),
) -> dict[Any, Times]:
    """Time each call, per step; a reset comes before a call, and is not timed.

    Short calls without a reset are made several times for one sample, so that the cost of the clock
    itself does not show.
    """

    def before(name: Any) -> None:
        if name in resets:
            resets[name]()

    first = round_robin({name: (call, 1) for name, call in calls.items()}, 3, clock, before)
    several = {}
    for name, call in calls.items():
        count = 1 if name in resets else max(1, int(SAMPLE / max(1e3, first[name].minimum)))
        several[name] = partial(repeat, call, count), count * steps
    return round_robin(several, repeats, clock, before)


def repeat(call: Callable, count: int) -> None:
    """Call several times; results are dropped, because keeping many costs more than making one."""
    for _ in range(count):
        call()


# ---- tables
def row(what: str, times: Times, ratio: float | None = None) -> dict[str, Any]:
    """Make a row of a table with the columns of ``columns``."""
    return {"what": what, "ns_min": times.minimum, "ns_median": times.median, "ratio": ratio}


def columns(what: str, ratio: str) -> dict[str, str]:
    """Headings: what is timed, the least time, the median, a ratio."""
    return {"what": what, "ns_min": "ns min", "ns_median": "ns median", "ratio": ratio}


def time_table(
    title: str, what: str, times: Mapping[str, Times], unit: str, bars: str | None = None
) -> Table:
    """Make a table of least and median times in a unit."""
    size, symbol = UNITS[unit], SYMBOLS[unit]
    rows = [(name, each.minimum / size, each.median / size) for name, each in times.items()]
    head = {"what": what, f"{unit}_min": f"{symbol} min", f"{unit}_median": f"{symbol} median"}
    return Table.of(title, head, rows, bars)
