"""Many bodies: tangents in SIMD lanes over the plain ensemble, and a map of chaos."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.bench.records import Finding, Note, Settings, Table, at_most
from polhode.bench.timing import columns, round_robin, row

MEMBERS, STEPS, DT = 2000, 1000, 0.005
SIDE, ORBITS, ORBIT, STEPS_OF_ORBIT = 300, 100, 2 * np.pi, 200
SECONDS, THREADS = 120.0, 2
KINDS: tuple[tuple[str, dict[str, Any], float], ...] = (
    ("one tangent", {"sensitivities": ["model.strength"]}, 2.1),
    ("one tangent, looked at every 10 steps (FLI)", {"reduce": "fli"}, 2.1),
    ("six tangents", {"sensitivities": ["state"]}, 6.0),
)


def lanes(settings: Settings) -> Iterator[Finding]:
    """Time ensembles with and without tangents in turn, one thread, as called."""
    settings.report("tangents in lanes")
    steps = STEPS // 2 if settings.quick else STEPS
    top = ph.problems.celledoni_heavy_top()
    spins = {"omega": top.omega + 0.1 * np.random.default_rng(1).normal(size=(MEMBERS, 3))}
    given: dict[str, Any] = {"vary": spins, "method": "mr2", "dt": DT, "threads": 1}
    asked: dict[str, dict] = {"plain": {}, **{name: options for name, options, _ in KINDS}}
    per, span = float(MEMBERS * steps), (0.0, steps * DT)
    calls: dict[str, tuple[Callable, float]] = {
        name: (partial(ph.solve_ensemble, top, span, **given, **options), per)
        for name, options in asked.items()
    }
    times = round_robin(calls, settings.repeats)
    plain = times["plain"].minimum
    yield Table(
        f"Tangents in lanes: mr2, {MEMBERS} heavy tops",
        columns("a body and step", "/ plain"),
        [row(name, found, found.minimum / plain) for name, found in times.items()],
    )
    for name, _, most in KINDS:
        yield at_most(f"{name} in lanes, over plain", times[name].minimum / plain, most)


def chaos(settings: Settings) -> Iterator[Finding]:
    """Time a map of Hyperion's phase space by FLI."""
    side, orbits = (60, 10) if settings.quick else (SIDE, ORBITS)
    settings.report(f"map of chaos, {side} × {side} starts over {orbits} orbits")
    angles, rates = np.linspace(-np.pi / 2, np.pi / 2, side), np.linspace(0.0, 3.2, side)
    angle, rate = (x.ravel() for x in np.meshgrid(angles, rates, indexing="ij"))
    up = np.array([0.0, 0.0, 1.0])
    vary = {"attitude": Rotation.from_rotvec(np.outer(angle, up)), "omega": np.outer(rate, up)}
    given: dict[str, Any] = {"vary": vary, "method": "mr2", "save": None}
    given |= {"dt": ORBIT / STEPS_OF_ORBIT, "reduce": "fli", "threads": THREADS}
    hyperion = ph.problems.hyperion()

    def run(orbits: float) -> Any:
        return ph.solve_ensemble(hyperion, (0.0, orbits * ORBIT), **given)

    run(0.1)  # compiled, or read from the cache
    wall, work = time.perf_counter(), time.process_time()
    result = run(float(orbits))
    wall, work = time.perf_counter() - wall, time.process_time() - work
    share = float((result.reductions["fli"] > np.log(orbits * ORBIT) + 3).mean())
    scale = SIDE * SIDE * ORBITS / (side * side * orbits)
    head = {"what": "map", "wall": "s, clock", "cpu": "s, CPU", "share": "chaotic"}
    name = f"Hyperion, {side} × {side} starts, {orbits} orbits, {THREADS} threads"
    yield Table.of("A map of chaos", head, [(name, wall, work, share)])
    if settings.quick:
        yield Note(f"scaled to {SIDE} × {SIDE} starts and {ORBITS} orbits by {scale:.0f}")
    text = (
        f"map of {SIDE} × {SIDE} starts over {ORBITS} orbits, seconds of each of {THREADS} threads"
    )
    yield at_most(text, work / THREADS * scale, SECONDS)
