"""Execution times with their range, for claims about speed.

Calls take turns, by the CPU time of their thread, in many rounds.  The rounds form ``GROUPS``, in
each of which the least time of a call counts; the range of a ratio is that over the groups.  Times
are shown with their range, and a busy machine must not turn a verdict.  Claims
about speed are judged by the work that is counted (``counted``), or, where the claim is about
hardware, by a ratio that is beyond its limit by a margin which no load makes up for.
"""

from collections.abc import Callable, Hashable, Mapping
from time import thread_time
from typing import Any, TypeVar

import numpy as np

GROUPS = 4

Key = TypeVar("Key", bound=Hashable)


def least(samples: Any) -> np.ndarray:
    """The least of each column of samples (rounds, …), for each group of rounds."""
    return np.array([group.min(axis=0) for group in np.array_split(np.asarray(samples), GROUPS)])


def take_turns(calls: Mapping[Key, Callable[[], Any]], rounds: int) -> dict[Key, np.ndarray]:
    """Seconds of each call, one for each group of rounds; all are called once before."""
    for call in calls.values():
        call()
    samples = np.empty((rounds, len(calls)))
    for row in samples:
        for k, call in enumerate(calls.values()):
            begin = thread_time()
            call()
            row[k] = thread_time() - begin
    return dict(zip(calls, least(samples).T, strict=True))


def ranged(values: Any, form: str = ".2f") -> str:
    """The smallest and the largest of values, in words: "1.02 to 1.10", or "1.05" if they agree."""
    low, high = (format(float(value), form) for value in (np.min(values), np.max(values)))
    return low if low == high else f"{low} to {high}"
