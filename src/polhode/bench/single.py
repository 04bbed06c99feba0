"""One body: the compiled loop against the same algorithms in C; and many bodies in SIMD lanes.

``C, same operations`` is ``single.c`` compiled without liberties: it must give the library's result
to the last bit, and this is checked.  ``C, fastest`` is the same source with -Ofast, with and
without SLP vectors.  Ratios are C's time over ours, of the minima.

The body is Krysl's fast top.  In lanes there are random tops, each with its own inertia and
strength; ``one after another`` is the mean over some of the same tops, with the same results.
"""

import ctypes
import dataclasses
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from polhode.bench.in_c import compilers, workshop
from polhode.bench.peers import COMPILER
from polhode.bench.records import Asked, Bench, Finding, Note, Table, Verdict, at_least
from polhode.bench.timing import columns, round_robin, row
from polhode.bench.tops import HEAVY, PLAIN, Lanes, Tops, body_of, recorder
from polhode.compiler.tree import flat
from polhode.methods import METHODS

STEPS, STEP, STRENGTH = 20_000, 1e-3, 20.0
INERTIA, TILT, MOMENTUM = (5.0, 5.0, 1.0), 0.3, (0.0, 0.0, 50.0)
BODIES, ALONE, LANE_STEPS, LANE_STEP = 4096, 64, 500, 5e-3
QUICK_STEPS, QUICK_BODIES = 2_000, 128
WIDTHS = 4, 8, 16

KINDS = {  # how a source is compiled -> flags
    "C, same operations": ("-O3", "-march=native", "-ffp-contract=off"),
    "C, fastest": ("-Ofast", "-march=native"),
    "C, fastest, no SLP": ("-Ofast", "-march=native", "-fno-tree-slp-vectorize"),
}
SAME, *FASTEST = KINDS
CASES = {  # what -> method, model, name in single.c, least ratio to the same operations in C
    "imidm": ("imidm", HEAVY, "imidm", 0.95),
    "imidm, user's torque": ("imidm", PLAIN, "imidm_plain", 0.90),
    "mkrk:rk4": ("mkrk:rk4", HEAVY, "rk4", 0.95),
    "forward-euler-m": ("forward-euler-m", HEAVY, "forward_euler_m", 0.95),
}
LEAST_OF_FASTEST, LEAST_OF_LANES = 0.8, 3.5


# ---- one body
def in_c(library: ctypes.CDLL, name: str, state: tuple, steps: int) -> Callable[[], np.ndarray]:
    """A call of a loop of single.c, which returns the last state."""
    function = getattr(library, name)
    function.restype = ctypes.c_long
    array = np.ctypeslib.ndpointer(np.float64)
    function.argtypes = ctypes.c_long, ctypes.c_double, array, array, ctypes.c_double
    first, inverse, work = np.array(flat(state)), 1.0 / np.array(INERTIA), np.empty(7)

    def go() -> np.ndarray:
        work[:] = first
        assert function(steps, STEP, work, inverse, STRENGTH) >= 0
        return work

    return go


def one_body(asked: Asked) -> Iterator[Finding]:
    """One body against C; asserts that the bits agree."""
    steps = QUICK_STEPS if asked.quick else STEPS
    c, s = np.cos(0.5 * TILT).item(), np.sin(0.5 * TILT).item()
    state, body, found = ((c, s, 0.0, 0.0), MOMENTUM), body_of(INERTIA), compilers()
    variants: dict[Any, Callable] = {}
    with workshop() as shop:
        asked.say("compiling C")
        libraries = {
            (kind, compiler): shop.library(compiler, flags, "single.c")
            for kind, flags in KINDS.items()
            for compiler in found
        }
    for what, (method, model, name, _) in CASES.items():
        asked.say(f"compiling {what}")
        ours = partial(recorder(METHODS[method], model), steps, STEP, state, body, model.params)
        variants[what, None, None] = ours
        for (kind, compiler), library in libraries.items():
            call = variants[what, kind, compiler] = in_c(library, name, state, steps)
            same = np.array_equal(call(), flat(ours()[0]))
            assert same or kind != SAME, f"{what}: {compiler} gives other bits"
    if found:
        text = f"After {steps} steps all results equal those of C, same operations, bit for bit."
        yield Note(text)
    asked.say("timing")
    times = round_robin({key: (call, steps) for key, call in variants.items()}, asked.repeats)
    rows: list[dict[str, Any]] = []
    verdicts: list[Verdict] = []
    for what, (*_, least) in CASES.items():
        mine = times[what, None, None]
        rows.append(row(what, mine))
        ratios = {}
        for kind, compiler in libraries:
            in_this = times[what, kind, compiler]
            ratios[kind, compiler] = in_this.minimum / mine.minimum
            rows.append(row(f"  {kind}, {compiler}", in_this, ratios[kind, compiler]))
        for title, kinds, limit in (
            ("the same operations in C", [SAME], least),
            ("the fastest C", FASTEST, LEAST_OF_FASTEST),
        ):
            if found:
                ratio = min(ratios[kind, compiler] for kind in kinds for compiler in found)
                verdicts.append(at_least(f"{what}: speed over {title}", ratio, limit))
    yield Table("One body", columns("a step", "C / ours"), rows, bars="ns_min")
    yield from verdicts


# ---- many bodies
def many_bodies(asked: Asked) -> Iterator[Finding]:
    """IMIDM in lanes against the same bodies one after another."""
    method, tops = METHODS["imidm"], Tops.random(QUICK_BODIES if asked.quick else BODIES)
    record, members = recorder(method, HEAVY), list(tops.first(ALONE).members())

    def alone() -> list:
        return [record(LANE_STEPS, LANE_STEP, *member) for member in members]

    asked.say("compiling lanes")
    lanes = {w: Lanes(dataclasses.replace(method, width=w), HEAVY, tops, LANE_STEP) for w in WIDTHS}
    expected = np.array([flat(state) for state, _ in alone()])
    for width, each in lanes.items():
        each.advance(LANE_STEPS)
        same = np.array_equal(each.states().T[:ALONE], expected)
        assert same, f"width {width}: other bits"
    iterations = lanes[method.width].iterations() / len(tops) / LANE_STEPS
    yield Note(f"Lanes equal single bodies bit for bit; {iterations:.2f} iterations a step.")

    asked.say("timing lanes")
    calls: dict[Any, tuple[Callable, float]] = {"alone": (alone, ALONE * LANE_STEPS)}
    for width, each in lanes.items():
        calls[width] = partial(each.advance, LANE_STEPS), len(tops) * LANE_STEPS

    def before(name: Any) -> None:
        if name in lanes:
            lanes[name].reset()

    times = round_robin(calls, asked.repeats, before=before)
    gains = {w: times["alone"].minimum / times[w].minimum for w in WIDTHS}
    rows = [row("imidm, tops one after another", times["alone"])]
    rows += [row(f"  in lanes, width {w}", times[w], gains[w]) for w in WIDTHS]
    yield Table("Many bodies", columns("a body and step", "gain"), rows)
    what = f"imidm: speed in lanes, width {method.width}, over one body"
    yield at_least(what, gains[method.width], LEAST_OF_LANES)


def measure(asked: Asked) -> Iterator[Finding]:
    yield from one_body(asked)
    yield from many_bodies(asked)


BENCH = Bench(
    name="single",
    summary="a step of one body, against the same operations in C and the fastest C",
    measure=measure,
    needs=(COMPILER,),
)
