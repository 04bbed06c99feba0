"""Variants that several tables time: blocks in short slices, and one body after another."""

from collections.abc import Callable
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Any

from polhode.bench.timing import Times
from polhode.bench.tops import Lanes, Tops, recorder
from polhode.compiler.machine import LANES

if TYPE_CHECKING:
    from polhode.bench.ensemble.rivals import InC

H, STEPS = 5e-3, 50
SLICE = 16  # blocks in one sample


def in_slices(key: tuple[str, str], made: "Lanes | InC") -> dict[Any, tuple[Callable, float]]:
    """Calls that advance ``SLICE`` blocks each; short samples find quiet moments."""
    slices: dict[Any, tuple[Callable, float]] = {}
    for k in range(0, len(made.work), SLICE):
        part = made.work[k : k + SLICE]
        slices[*key, k] = partial(made.advance, STEPS, 1, part), len(part) * LANES * STEPS
    return slices


def over_slices(found: dict[Any, Times]) -> dict[Any, Times]:
    """The means over the slices of a variant: of the best times, the second best, and so on."""
    groups: dict[Any, list[Times]] = {}
    for (*key, _), taken in found.items():
        groups.setdefault(tuple(key), []).append(taken)
    return {
        key: Times(tuple(map(fmean, zip(*(sorted(each.ns) for each in group), strict=True))))
        for key, group in groups.items()
    }


def one_by_one(method: Any, model: Any, tops: Tops, steps: int = STEPS, h: float = H) -> Callable:
    """The compiled loop of one body, over some of the tops."""
    record, members = recorder(method, model), list(tops.members())
    empty: tuple = ((), ())

    def go() -> int:
        total = 0
        for state, body, params in members:
            total += record(steps, h, state, body, params if model.numbers else empty)[1]
        return total

    return go
