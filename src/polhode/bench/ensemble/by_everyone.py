"""The same map in our lanes, in C and in JAX; and in two threads."""

import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from polhode.bench.ensemble import rivals
from polhode.bench.ensemble.rivals import FASTEST, KINDS, ONE, SAME, STEPS, H
from polhode.bench.records import Finding, Note, Settings, Table, at_least
from polhode.bench.timing import Times, columns, round_robin, row
from polhode.bench.tops import BUSY, HEAVY, PLAIN, Lanes, Tops, recorder
from polhode.methods import METHODS

LEAST = {SAME: 0.95, FASTEST: 0.83, ONE: 7.5, "JAX": 35.0}
LEAST_OF_USER, LEAST_OF_THREADS, LEAST_OF_C_THREADS = 0.6, 1.8, 0.95
OURS = "polhode, mr2"


def same_map(settings: Settings) -> Iterator[Finding]:
    """mr2 in our lanes, in C and in JAX."""
    tops, mr2 = Tops.random(settings.count("bodies")), METHODS["mr2"]
    settings.report("compiling the lanes")
    ours = {
        OURS: Lanes(mr2, HEAVY, tops, H),
        "polhode, a user's torque": Lanes(mr2, PLAIN, tops, H),
        "polhode, a user's torque with sine, root and branch": Lanes(mr2, BUSY, tops, H),
    }
    yield from check_against_one(ours[OURS], tops)
    settings.report("compiling C")
    theirs = rivals.in_c(tops, ours[OURS])
    if theirs:
        text = "C with the same operations gives our results bit for bit"
        yield Note(f"{text}, {len(tops)} bodies, {STEPS} steps.")
    settings.report("compiling JAX")
    by_jax = rivals.in_jax(tops)
    count, few, longer = len(tops) * STEPS, tops.first(min(16, len(tops))), 40 * STEPS
    alone = rivals.one_by_one(mr2, HEAVY, few, longer)
    variants: dict[Any, tuple[Callable, float]] = {}
    for name, lanes in ours.items():
        variants |= rivals.in_slices((name, ""), lanes)
    variants["polhode, one by one", "", 0] = alone, len(few) * longer
    for key, made in theirs.items():
        variants |= rivals.in_slices(key, made)
    settings.report("timing")
    times = rivals.over_slices(round_robin(variants, settings.repeats))
    mine, rows = times[OURS, ""], []
    for (kind, how), taken in times.items():
        title = f"{kind}, {how}" if how else kind
        ratio = None if kind == OURS else taken.minimum / mine.minimum
        rows.append(row(title, taken, ratio))
    best = fastest_of(times)
    ratios = {kind: best[kind].minimum / mine.minimum for kind in KINDS if kind in best}
    if by_jax is not None:  # it works in its own threads
        ours[OURS].reset()
        ours[OURS].advance(STEPS)
        off = rivals.difference(by_jax(), ours[OURS].states())
        assert off < 1e-10, f"JAX: wrong by {off}"
        pair: dict[str, tuple[Callable, float]]
        pair = {"JAX": (by_jax, count), OURS: (partial(ours[OURS].advance, STEPS), count)}
        both = round_robin(pair, settings.repeats, time.process_time_ns)
        ratios["JAX"] = both["JAX"].minimum / both[OURS].minimum
        rows.append(row("JAX", both["JAX"], ratios["JAX"]))
    yield Table("The same map", columns("mr2, a body and step", "/ ours"), rows, bars="ns_min")
    for kind, ratio in ratios.items():
        what = f"mr2 in lanes: speed over {kind}"
        yield at_least(what, ratio, LEAST[kind]) if kind in LEAST else Note(f"{what}: {ratio:.2f}.")
    if FASTEST in best:
        user = times["polhode, a user's torque", ""].minimum
        what = "mr2 in lanes with a user's torque: speed over C, fastest"
        yield at_least(what, best[FASTEST].minimum / user, LEAST_OF_USER)
    same = [key for key in theirs if key[0] == SAME]
    in_c = theirs[min(same, key=lambda key: times[key].minimum)] if same else None
    yield from in_two_threads(ours[OURS], in_c, settings)


def fastest_of(times: dict[Any, Times]) -> dict[str, Times]:
    best: dict[str, Times] = {}
    for (kind, _), taken in times.items():
        if kind not in best or taken.minimum < best[kind].minimum:
            best[kind] = taken
    return best


def check_against_one(lanes: Lanes, tops: Tops) -> Iterator[Finding]:
    few = tops.first(8)
    lanes.advance(STEPS)
    record, found = recorder(lanes.method, HEAVY), lanes.states()
    for k, (state, body, params) in enumerate(few.members()):
        (q, m), _ = record(STEPS, H, state, body, params)
        assert np.array_equal(found[:, k], [*q, *m]), "lanes give other bits than one body"
    yield Note("Lanes give the results of one body bit for bit.")


def in_two_threads(lanes: Lanes, in_c: rivals.InC | None, settings: Settings) -> Iterator[Finding]:
    """Two threads against one by wall time, ours and in C: the best of many short runs in turns.

    The threads of C are made for each run, those of ours wait in a pool.
    """
    cores = os.cpu_count() or 1
    if cores < 2:
        yield Note("One core: threads are not measured.")
        return
    settings.report("two threads")
    steps, count = 4 * STEPS, len(lanes.tops) * 4 * STEPS
    both: dict[str, Any] = {OURS: lanes} if in_c is None else {OURS: lanes, SAME: in_c}
    variants: dict[Any, tuple[Callable, float]] = {
        (kind, n): (partial(made.advance, steps, n), count)
        for n in (1, 2)
        for kind, made in both.items()
    }
    times = round_robin(variants, 9 * settings.repeats, time.perf_counter_ns)
    gains = {kind: times[kind, 1].minimum / times[kind, 2].minimum for kind in both}
    rows = [
        row(f"{kind}, {n} thread{'s' * (n > 1)}", times[kind, n], gains[kind] if n > 1 else 1.0)
        for kind in both
        for n in (1, 2)
    ]
    head = columns("mr2, a body and step, on the wall", "gain")
    yield Table("Threads", head, rows)
    yield at_least("mr2 in lanes: two threads over one", gains[OURS], LEAST_OF_THREADS)
    if in_c is not None:
        what = "mr2 in lanes: gain by two threads, over that of C with the same operations"
        yield at_least(what, gains[OURS] / gains[SAME], LEAST_OF_C_THREADS)
