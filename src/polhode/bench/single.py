"""One body: the compiled loop against the same algorithms in C; and many bodies in SIMD lanes.

``C, same operations`` is ``single.c`` compiled without liberties: it must give the library's result
to the last bit, and this is checked.  ``C, fastest`` is the same source with -Ofast, with and
without SLP vectors.  Ratios are C's time over ours, of the minima.

The body is Krysl's fast top.  In lanes there are random tops, each with its own inertia and
strength; ``one after another`` is the mean over some of the same tops, with the same results.
"""

import dataclasses
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from polhode.bench.in_c import Loop, against_c
from polhode.bench.peers import COMPILER
from polhode.bench.records import Bench, Finding, Note, Settings, Table, at_least
from polhode.bench.timing import columns, round_robin, row
from polhode.bench.tops import HEAVY, PLAIN, Lanes, Tops, body_of, recorder
from polhode.compiler.tree import flat
from polhode.methods import METHODS

STEPS, STEP, STRENGTH = 20_000, 1e-3, 20.0
INERTIA, TILT, MOMENTUM = (5.0, 5.0, 1.0), 0.3, (0.0, 0.0, 50.0)
BODIES, ALONE, LANE_STEPS, LANE_STEP = 4096, 64, 500, 5e-3
QUICK_STEPS, QUICK_BODIES = 2_000, 128
WIDTHS = 4, 8, 16
CASES = {  # what -> method, model, name in single.c, least ratio to the same operations in C
    "imidm": ("imidm", HEAVY, "imidm", 0.95),
    "imidm, user's torque": ("imidm", PLAIN, "imidm_plain", 0.90),
    "mkrk:rk4": ("mkrk:rk4", HEAVY, "rk4", 0.95),
    "forward-euler-m": ("forward-euler-m", HEAVY, "forward_euler_m", 0.95),
}
LEAST_OF_FASTEST, LEAST_OF_LANES = 0.8, 3.5


# ---- one body
def one_body(settings: Settings) -> Iterator[Finding]:
    """One body against C; asserts that the bits agree."""
    steps = QUICK_STEPS if settings.quick else STEPS
    c, s = np.cos(0.5 * TILT).item(), np.sin(0.5 * TILT).item()
    state, body = ((c, s, 0.0, 0.0), MOMENTUM), body_of(INERTIA)
    in_c, loops = (1.0 / np.array(INERTIA), STRENGTH), {}
    for what, (method, model, name, least) in CASES.items():
        ours = partial(recorder(METHODS[method], model), steps, STEP, state, body, model.params)
        loops[what] = Loop(ours, name, in_c, least, LEAST_OF_FASTEST)
    yield from against_c("One body", "single.c", loops, (steps, STEP, state), settings)


# ---- many bodies
def many_bodies(settings: Settings) -> Iterator[Finding]:
    """IMIDM in lanes against the same bodies one after another."""
    method, tops = METHODS["imidm"], Tops.random(QUICK_BODIES if settings.quick else BODIES)
    record, members = recorder(method, HEAVY), list(tops.first(ALONE).members())

    def alone() -> list:
        return [record(LANE_STEPS, LANE_STEP, *member) for member in members]

    settings.report("compiling lanes")
    lanes = {w: Lanes(dataclasses.replace(method, width=w), HEAVY, tops, LANE_STEP) for w in WIDTHS}
    expected = np.array([flat(state) for state, _ in alone()])
    for width, each in lanes.items():
        each.advance(LANE_STEPS)
        same = np.array_equal(each.states().T[:ALONE], expected)
        assert same, f"width {width}: other bits"
    iterations = lanes[method.width].iterations() / len(tops) / LANE_STEPS
    yield Note(f"Lanes equal single bodies bit for bit; {iterations:.2f} iterations a step.")

    settings.report("timing lanes")
    calls: dict[Any, tuple[Callable, float]] = {"alone": (alone, ALONE * LANE_STEPS)}
    for width, each in lanes.items():
        calls[width] = partial(each.advance, LANE_STEPS), len(tops) * LANE_STEPS

    def before(name: Any) -> None:
        if name in lanes:
            lanes[name].reset()

    times = round_robin(calls, settings.repeats, before=before)
    gains = {w: times["alone"].minimum / times[w].minimum for w in WIDTHS}
    rows = [row("imidm, tops one after another", times["alone"])]
    rows += [row(f"  in lanes, width {w}", times[w], gains[w]) for w in WIDTHS]
    yield Table("Many bodies", columns("a body and step", "gain"), rows)
    what = f"imidm: speed in lanes, width {method.width}, over one body"
    yield at_least(what, gains[method.width], LEAST_OF_LANES)


@Bench(
    name="single",
    place=10,
    summary="a step of one body, against the same operations in C and the fastest C",
    needs=(COMPILER,),
)
def benchmark(settings: Settings) -> Iterator[Finding]:
    yield from one_body(settings)
    yield from many_bodies(settings)
