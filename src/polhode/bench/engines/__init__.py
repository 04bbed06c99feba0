"""A freely tumbling body in physics engines and in this library: the cost of an error.

I = (1, 2, 3), ω = (0.3, 1, 0.4) rad/s, no torque, 100 s, some twenty turns.  Peers: MuJoCo with
each of its integrators, Basilisk's spacecraft of one rigid hub, SciPy with a compiled right-hand
side.  Errors are the largest along the run: of the energy, of the momentum in inertial axes (both
relative) and of the attitude (rad).  With a given step they are measured every five seconds,
otherwise after every step.  The reference is a Taylor series in decimal numbers of 34 digits.

Cost is CPU time for a simulated second, of one call that does the whole span and returns its end:
MuJoCo's ``mj_step(nstep=…)``, a loop in C, with everything switched off that can be; Basilisk's
``ExecuteSimulation`` without its initialisation; ``solve_ivp``; a solver of ``ph.prepare``.
All have costs that do not depend on the method; these are printed.

Ours are of three kinds.  General ones do the same work as with a torque.  Some of these also carry
a position and a velocity, as the engines do (``+ x``).  The others (``strang``, ``srkn14``,
``auto``, ``exact_free_motion``) know the motion of a free body, and are exact at any step.

All variants take turns in one process; ratios are of least times.  Basilisk works in its own
thread, so the clock is the CPU time of the process.  The observed order of every integrator with a
given step shows that it solves this problem.
"""

from collections.abc import Callable, Iterator
from functools import partial

import polhode as ph
from polhode.bench.engines import results
from polhode.bench.engines.basilisk import NANO, Spacecraft, by_basilisk
from polhode.bench.engines.by_scipy import START, by_scipy, slope
from polhode.bench.engines.mujoco import MuJoCo, by_mujoco
from polhode.bench.engines.ours import OURS, ours
from polhode.bench.engines.picture import picture
from polhode.bench.engines.results import TARGETS, Point, compare, measure_times, reached
from polhode.bench.engines.tumbling import END, FEWEST, METRICS, PROBLEM, Truth, errors
from polhode.bench.peers import missing
from polhode.bench.records import Bench, Finding, Key, Note, Settings, Table, Verdict
from polhode.bench.timing import Times, time_table

MAKERS = {OURS: ours, "MuJoCo": by_mujoco, "Basilisk": by_basilisk, "SciPy": by_scipy}
PEERS = tuple(name for name in MAKERS if name != OURS)


# ---- overheads
def overheads(engines: list[str], repeats: int) -> dict[str, Times]:
    """Times that do not depend on the method."""
    one = ph.prepare(PROBLEM, method="mr2", dt=1.0)
    calls: dict[str, Callable] = {
        f"{OURS}: a prepared call, one step of mr2": lambda: one((0.0, 1.0)),
        f"{OURS}: ph.solve, the same": lambda: ph.solve(PROBLEM, (0.0, 1.0), method="mr2", dt=1.0),
    }
    if "MuJoCo" in engines:
        single = MuJoCo("Euler", FEWEST)
        calls["MuJoCo: state set, mj_step from Python, one step of Euler"] = partial(single.call, 1)
    if "Basilisk" in engines:
        craft, empty = Spacecraft("Euler", 100), Spacecraft(None, 1000)
        calls |= {
            "Basilisk: initialisation (not counted elsewhere)": lambda: Spacecraft("Euler", 100),
            "Basilisk: ExecuteSimulation, one step of Euler": partial(craft.advance, NANO),
            "Basilisk: ExecuteSimulation, 1000 steps without a body": empty.advance,
        }
    if "SciPy" in engines:
        from scipy.integrate import solve_ivp

        calls |= {
            "SciPy: the right-hand side from Python": lambda: slope()(0.0, START),
            "SciPy: solve_ivp, one step of RK45": lambda: solve_ivp(slope(), (0.0, 1e-3), START),
        }
    return measure_times(calls, repeats, {})


# ---- all together
POINTS = {"what": "integrator", "setting": "setting", "us_min": "µs / s min", "us_median": "median"}
ORDERS = {
    "what": "integrator",
    "order": "order",
    "observed": "observed",
    "ns_a_step": "ns a step",
    "verdict": "",
}


@Bench(
    name="engines",
    place=120,
    summary="a freely tumbling body in MuJoCo, Basilisk, SciPy and ours: the cost of an error",
    needs=PEERS,
    long=True,
    keys={"only": Key("", f"peers of {', '.join(PEERS)}; default: all")},
    draw=picture,
)
def benchmark(settings: Settings) -> Iterator[Finding]:
    chosen = settings.choose("only", PEERS)
    absent = [each.name for each in missing(chosen)]
    peers = [name for name in chosen if name not in absent]
    settings.report("the reference and the errors")
    truth = Truth()
    variants = [v for name in (OURS, *peers) for v in MAKERS[name](settings.quick)]
    wrong = {v: errors(v.motion(), truth) for v in variants}
    resets = {v: v.reset for v in variants if v.reset is not None}
    settings.report("timing")
    times = measure_times({v: v.call for v in variants}, settings.repeats, resets)
    points = [Point(v, wrong[v], times[v]) for v in variants]
    yield Table(f"{END:g} s", POINTS | METRICS, [point.row for point in points])

    found = results.curves(points)
    steps = [curve.row for curve in found if curve.variant.order is not None]
    yield Table.of("Orders", ORDERS, steps)
    head = {"what": "µs / s to reach"}
    head |= {f"{n}_{e:.0e}": f"{n} {e:.0e}" for n, sizes in TARGETS.items() for e in sizes}
    yield Table.of("Cost of an error", head, [reached(curve) for curve in found])
    fixed = overheads(peers, settings.repeats)
    yield time_table("Overheads", "what does not depend on the method", fixed, "us")

    theirs = [curve for curve in found if curve.variant.engine != OURS]
    mine = [p for p in points if p.variant.engine == OURS]
    kinds = {
        "general": [p for p in mine if p.variant.general and not p.variant.placed],
        "general, with a position": [p for p in mine if p.variant.placed],
        "with those that know free bodies": mine,
    }
    yield from (Note(text) for text in results.twins(found))
    head = {"what": "theirs / ours"}
    head |= {f"{what}_{m}": f"{what}: {m}" for what in ("cost", "error") for m in METRICS}
    for kind, rivals in kinds.items():
        if rivals and theirs:
            rows, ahead = compare(theirs, rivals)
            yield Table.of(f"Ours, {kind}: cost at equal error, error at equal cost", head, rows)
            what = f"ours, {kind}: ahead of all in error at equal cost"
            yield Verdict(what, "yes", "yes" if ahead else "no", ahead)
