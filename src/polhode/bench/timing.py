"""Times of variants that take turns in one process, so that a busy moment hits them alike.

The clock is the CPU time of the thread.
"""

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

SAMPLE = 2e6  # nanoseconds: shorter runs are called several times for one sample


@dataclass(frozen=True)
class Times:
    """Nanoseconds of one variant, one entry for each repeat."""

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
    """Times of each (call, steps in a call), per step, all taken in turn ``repeats`` times.

    ``before(name)`` comes ahead of every call, and is not timed.  What runs in threads of its own
    needs ``clock=time.process_time_ns``.
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


def timed(variants: Sequence, repeats: int) -> dict[Any, Times]:
    """Times of each variant's ``call``.

    Short ones are called several times for one sample, so that the clock's own cost does not show.
    """
    first = round_robin({v: (v.call, 1) for v in variants}, 3)
    calls = {}
    for variant in variants:
        count = max(1, int(SAMPLE / max(1e3, first[variant].minimum)))
        calls[variant] = partial(repeated, variant.call, count), count
    return round_robin(calls, repeats)


def repeated(call: Callable, count: int) -> None:
    """The results are not kept: to hold many of them would cost more than to make one."""
    for _ in range(count):
        call()


def row(what: str, times: Times, ratio: float | None = None) -> dict[str, Any]:
    """For a table with the columns of ``columns``."""
    return {"what": what, "ns_min": times.minimum, "ns_median": times.median, "ratio": ratio}


def columns(what: str, ratio: str) -> dict[str, str]:
    return {"what": what, "ns_min": "ns min", "ns_median": "ns median", "ratio": ratio}
