"""One body with six degrees of freedom: RKN4 on a spring against the same in C.

``C, same operations`` is ``motion.c`` compiled without liberties: it must give the library's result
to the last bit, and this is checked.  ``C, fastest`` is the same source with -Ofast.  Ratios are
C's time over ours, of the minima.  Below them: what other methods need for a step.
"""

import ctypes
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import polhode as ph
from polhode import loops
from polhode.bench.in_c import compilers, workshop
from polhode.bench.peers import COMPILER
from polhode.bench.records import Asked, Bench, Finding, Table, at_least
from polhode.bench.single import KINDS, QUICK_STEPS, SAME
from polhode.bench.timing import columns, round_robin, row
from polhode.compiler.tree import flat
from polhode.contracts import OK
from polhode.methods.translation import with_translation

STEPS, STEP, LEAST = 20_000, 1e-3, 0.9
OTHERS = "mr2", "imidm", "strang4", "mkrk:rk4"
PROBLEM = ph.Problem(
    ph.RigidBody([2.0, 3.0, 4.5], mass=1.3),
    ph.models.spring(3.0, anchor=(0.2, 0.0, 0.1), point=(0.5, -0.3, 0.8)),
    omega=(0.5, 0.7, -0.6),
    position=(1.0, 0.3, -0.2),
    velocity=(0.1, 0.4, 0.0),
)


def recorder(name: str, steps: int) -> Callable[[], tuple]:
    """A call of the compiled loop, which returns the last state."""
    method, model, body = with_translation(ph.METHODS[name], False), PROBLEM.model, PROBLEM.body
    run = loops.build(loops.record, method, model)
    weights, offsets = loops.substeps(method)
    out, sides, state = np.empty((1, 13)), np.zeros(1), PROBLEM.state
    carry = loops.joined(method.start, None, model)(0.0, STEP, state, body.data, model.params)
    grid = 0.0, STEP, 0, np.array([steps]), sides, weights, offsets, True

    def go() -> tuple:
        found, _, status, *_ = run(*grid, state, carry, body.data, model.params, out)
        assert status == OK
        return tuple(flat(found))

    return go


def in_c(library: ctypes.CDLL, steps: int) -> Callable[[], np.ndarray]:
    function = library.rkn4
    function.restype = ctypes.c_long
    array = np.ctypeslib.ndpointer(np.float64)
    function.argtypes = ctypes.c_long, ctypes.c_double, array, array, array
    inertia, inverse, _, mass, light = PROBLEM.body.data
    body, spring = np.array([*inertia, *inverse, mass, light]), flat(PROBLEM.model.numbers)
    first, work, numbers = np.array(flat(PROBLEM.state)), np.empty(13), np.array(spring)

    def go() -> np.ndarray:
        work[:] = first
        assert function(steps, STEP, work, body, numbers) >= 0
        return work

    return go


def measure(asked: Asked) -> Iterator[Finding]:
    steps = QUICK_STEPS if asked.quick else STEPS
    asked.say("compiling")
    ours = recorder("rkn4", steps)
    calls: dict[Any, Callable] = {("rkn4", None): ours}
    with workshop() as shop:
        for kind, flags in KINDS.items():
            for compiler in compilers():
                call = in_c(shop.library(compiler, flags, "motion.c"), steps)
                same = np.array_equal(call(), ours())
                assert same or kind != SAME, f"{compiler} gives other bits"
                calls[kind, compiler] = call
    calls |= {(name, None): recorder(name, steps) for name in OTHERS}
    asked.say("timing")
    times = round_robin({key: (call, steps) for key, call in calls.items()}, asked.repeats)
    least = times["rkn4", None].minimum
    rows: list[dict[str, Any]] = []
    ratios: dict[Any, float] = {}
    for (what, compiler), taken in times.items():
        if compiler is not None:
            ratios[what, compiler] = taken.minimum / least
        title = what if compiler is None else f"  {what}, {compiler}"
        rows.append(row(title, taken, ratios.get((what, compiler))))
    yield Table("Six degrees of freedom", columns("a step", "C / ours"), rows, bars="ns_min")
    if ratios:
        exact = min(ratio for (kind, _), ratio in ratios.items() if kind == SAME)
        yield at_least("rkn4: speed over the same operations in C", exact, LEAST)
        yield at_least("rkn4: speed over the fastest C", min(ratios.values()), LEAST)


BENCH = Bench(
    name="motion",
    summary="a step with six degrees of freedom, against the same operations in C",
    measure=measure,
    needs=(COMPILER,),
)
