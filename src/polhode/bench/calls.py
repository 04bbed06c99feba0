"""Calls from Python: what prepared solvers cost besides their compiled loops.

Microseconds of CPU time of short runs of an asymmetric top, of a given angular velocity, and of one
step of a simulator.  Each takes turns with its compiled loops alone, which are called with the same
numbers; the difference of the least times is spent on arguments, on rows of numbers and on the
result.  Nothing of a result is read: it computes its quantities when they are asked for.  With
``t_eval`` there are two loops, one for the steps and one for the states between them.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import polhode as ph
from polhode.bench.records import Bench, Finding, Settings, Table, at_most
from polhode.bench.time_to_accuracy.tops import ASYMMETRIC, Top
from polhode.bench.timing import timed
from polhode.compiler.machine import exactly
from polhode.solvers.simulator import compiled_step

SPAN = 0.0, 10.0
TIMES = np.linspace(*SPAN, 101)
OMEGA = 0.5, 1.0, 5.0  # of another start
RTOL = 3e-7  # which makes an error of 1e-6 at the end
DT, MAP_STEP = 1e-3, 0.1
BODY = ph.RigidBody([1.0, 2.0, 3.0], mass=2.0)
ADAPTIVE, STEP = "adaptive run", "step of a simulator"
MOST, MOST_OF_STEP = 12.0, 1.2  # microseconds
LOOPS = "run", "sampled"
Call = Callable[[], Any]


def coning(t):
    """A given angular velocity."""
    return 0.1 * math.cos(t), 0.1 * math.sin(t), 1.0


def swinging(t, q):
    """A given angular velocity that depends on the attitude."""
    return 0.1 * q[1], 0.1 * math.sin(t), 1.0


# ---- the loops alone
def alone(make: Callable[[], Call], loops: Any) -> Call:
    """Return a call of the compiled loops of a call, with the same numbers.

    ``make`` makes the call anew; ``loops`` are the loops that it uses.
    """
    make()()  # compiles
    known = {name: vars(loops)[name] for name in LOOPS if name in vars(loops)}
    calls: list[Call] = []

    def recorded(function: Callable) -> Callable:
        def record(*args: Any) -> Any:
            row, *others = args
            loop, copy = exactly(function, *args), row.copy().copy
            calls.append(lambda: loop(copy(), *others))
            return function(*args)

        return record

    for name, function in known.items():
        setattr(loops, name, recorded(function))
    try:
        make()()
    finally:
        for name, function in known.items():
            setattr(loops, name, function)
    return calls[0] if len(calls) == 1 else lambda: [call() for call in calls]


# ---- calls
def calls() -> Iterator[tuple[str, Call, Call]]:
    """Yield what is called, the call, and its loops alone."""
    problem = Top("asymmetric top", **ASYMMETRIC).problem

    def prepared(arguments: dict[str, Any], **start: Any) -> tuple[Call, Call]:
        def make() -> Call:
            return partial(ph.prepare(problem, **arguments), SPAN, **start)

        loops = ph.prepare(problem, **arguments).bound.loops
        return make(), alone(make, loops)

    def rates(omega: Callable, **arguments: Any) -> tuple[Call, Call]:
        def make() -> Call:
            return partial(solver(), SPAN)

        solver = partial(ph.prepare_angular_velocity, omega, frame="body", **arguments)
        return make(), alone(make, solver().loops)

    adaptive = {"method": "extrapolation", "rtol": RTOL, "atol": 0.0}
    fixed = {"method": "mr2", "dt": MAP_STEP}
    yield ADAPTIVE, *prepared(adaptive)
    yield "  from another ω", *prepared(adaptive, omega=OMEGA)
    yield f"  t_eval, {len(TIMES)} times", *prepared({**adaptive, "t_eval": TIMES})
    yield f"map, mr2, {SPAN[1] / MAP_STEP:.0f} steps", *prepared(fixed)
    yield "  from another ω", *prepared(fixed, omega=OMEGA)
    yield "  t_eval", *prepared({**fixed, "t_eval": TIMES + 0.05 * (TIMES < 9.0)})
    yield "given ω(t), gauss-taylor", *rates(coning, rtol=1e-6)
    yield "given ω(t, q), dop853", *rates(swinging, method="dop853", rtol=1e-6)
    yield "  t_eval", *rates(swinging, method="dop853", rtol=1e-6, t_eval=TIMES)
    step, loop = (ph.Simulator(BODY, omega=OMEGA) for _ in range(2))
    yield STEP, partial(step.step, DT), partial(compiled_step(loop), DT)


@Bench(
    name="calls",
    place=105,
    summary="what a call of a prepared solver costs besides its compiled loop",
    repeats=40,
)
def benchmark(settings: Settings) -> Iterator[Finding]:
    settings.report("compiling")
    whole, loops = {}, {}
    for name, call, loop in calls():
        key = f"{name} " if name in whole else name
        whole[key], loops[f"{key}: loop"] = call, loop
    settings.report("timing")
    times = timed(whole | loops, settings.repeats)
    columns = {
        "what": "a call",
        "us_min": "µs min",
        "us_median": "µs median",
        "us_loop": "loop, µs min",
        "us_besides": "besides, µs",
        "share": "share of the loop",
    }
    rows = []
    for name in whole:
        least, inside = times[name].minimum / 1e3, times[f"{name}: loop"].minimum / 1e3
        shares = inside, least - inside, inside / least
        rows.append((name.rstrip(), least, times[name].median / 1e3, *shares))
    yield Table.of("Calls", columns, rows, bars="us_min")
    yield at_most(f"{ADAPTIVE} at 1e-6, whole call in µs", times[ADAPTIVE].minimum / 1e3, MOST)
    yield at_most(f"{STEP}, in µs", times[STEP].minimum / 1e3, MOST_OF_STEP)
