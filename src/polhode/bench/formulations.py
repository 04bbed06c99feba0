"""The cost of a step of Adams's method in the variables of Fukushima 1995 and in others.

The model Earth, 128 steps a revolution; ratios to Euler's angles, all variables in turn in one
process, by the CPU time of the thread.  The time of a run of one revolution is subtracted, and with
it that of the call and of the first steps.  Then the worst attitude within 33 000 revolutions.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import polhode as ph
from polhode.bench.records import Bench, Finding, Key, Settings, Table, at_most
from polhode.bench.timing import Times, columns, round_robin, row
from polhode.celestial.model_orbits import orientation_error, truth

EULERIAN = "euler-angles"
FASTER = "encke-quaternion", "encke-euler", "fukushima-departures"  # than the Eulerian ones
NAMES = (
    EULERIAN,
    "quaternion",
    "encke-euler",
    "encke-quaternion",
    "fukushima",
    "fukushima-departures",
)
JUDGED = EULERIAN, *FASTER
A_TURN = 128  # steps


def costs(
    problem: ph.Problem, names: tuple[str, ...], turns: int, repeats: int
) -> dict[str, Times]:
    """Time a step in each of the variables."""
    runs: dict[Any, tuple[Callable, float]] = {}
    for name in names:
        solver = ph.prepare(
            problem, formulation=name, method="adams", dt=1 / A_TURN, save_every=A_TURN * turns
        )
        for count in (turns, 1):
            runs[name, count] = partial(solver, (0.0, float(count))), A_TURN * (turns - 1)
    times = round_robin(runs, repeats)
    calls = {name: times[name, 1].minimum for name in names}
    return {name: Times(tuple(ns - calls[name] for ns in times[name, turns].ns)) for name in names}


def worst(problem: ph.Problem, name: str, turns: int) -> float:
    """Return the largest error of the attitude, in radians."""
    right = {float(turn): q for turn, (q, _) in truth(problem.name).items() if turn <= turns}
    given: dict[str, Any] = {"formulation": name, "method": "adams", "dt": 1 / A_TURN}
    run = ph.solve(problem, (0.0, max(right)), t_eval=[*right], **given)
    return max(map(orientation_error, run.q, right.values()))


@Bench(
    name="formulations",
    place=150,
    summary="a step of Adams's method in the variables of Fukushima 1995 and in others",
    long=True,
    repeats=101,
    keys={
        "turns": Key("40", "revolutions of a timed run"),
        "far": Key("33000", "revolutions for the accuracy"),
    },
)
def benchmark(settings: Settings) -> Iterator[Finding]:
    names = tuple(n for n in NAMES if n in JUDGED) if settings.quick else NAMES
    turns, far = settings.count("turns", quick=40), settings.count("far", quick=1000)
    problem = ph.celestial.rigid_earth_model()
    settings.report("timing")
    times = costs(problem, names, turns, settings.repeats)
    least = times[EULERIAN].minimum
    rows = []
    for name, taken in times.items():
        settings.report(f"{name} over {far} revolutions")
        rows.append(row(name, taken, taken.minimum / least) | {"worst": worst(problem, name, far)})
    head = columns("variables, a step", "/ Eulerian") | {"worst": "worst attitude"}
    yield Table(f"Adams's method, {A_TURN} steps a revolution", head, rows)
    for name in FASTER:
        ratio = times[name].minimum / least
        yield at_most(f"{name}: a step over the Eulerian one", ratio, 1.0)
