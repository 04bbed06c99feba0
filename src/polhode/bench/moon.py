"""How many torques of the real Moon a second, ephemeris included, and how long 50 years take."""

from collections.abc import Callable, Iterator
from functools import partial

import polhode as ph
from polhode.bench.peers import missing
from polhode.bench.records import Asked, Bench, Finding, Table
from polhode.bench.timing import round_robin
from polhode.celestial import libration
from polhode.compiler.machine import compiled
from polhode.compiler.tree import bind
from polhode.kernels.trig import ELEMENTARY

COUNT, STEP = 1_000_000, 1500.0
YEAR = 365.25 * 86400.0
START = "1970-01-01"
NEEDS = ("de421",)
TORQUES = {"what": "torque of", "rate": "million a second"}


def summing(torque: Callable) -> Callable:
    """The compiled sum of the torques at n times."""
    bound = bind(torque, ELEMENTARY)

    def summed(n, h, q, m, body, params):
        total = 0.0
        for i in range(n):
            total += bound(i * h, q, m, body, params)[0]
        return total

    return compiled(summed)


def torques(asked: Asked, loop: Callable, problems: dict[str, ph.Problem]) -> Table:
    """How many a second, of each problem."""
    count, calls = COUNT // 100 if asked.quick else COUNT, {}
    for name, p in problems.items():
        arguments = p.attitude, p.angular_momentum, p.body.data, p.model.params
        calls[name] = partial(loop, count, STEP, *arguments), count
    times = round_robin(calls, asked.repeats)
    rows = [{"what": name, "rate": 1e3 / taken.minimum} for name, taken in times.items()]
    return Table("Torques", TORQUES, rows)


def measure(asked: Asked) -> Iterator[Finding]:
    if missing(NEEDS):
        return
    asked.say("torques")
    more = {"planets": True, "oblateness": True}
    problems = {
        "Earth and Sun": ph.celestial.moon(START),
        "with planets and oblateness": ph.celestial.moon(START, **more),
    }
    yield torques(asked, summing(libration.torque), problems)
    layered, variables = ph.celestial.layered_moon(START)
    end, rows, calls = (5 if asked.quick else 50) * YEAR, [], {}
    for name, problem, formulation in (
        ("rigid", problems["Earth and Sun"], None),
        ("tides and core", layered, variables),
    ):
        asked.say(name)
        solver = ph.prepare(problem, method="extrapolation", formulation=formulation, rtol=1e-12)
        run = solver((0.0, end))
        calls[name] = partial(solver, (0.0, end)), 1e9
        rows.append({"what": name, "steps": run.nsteps, "torques": run.nfev})
    times = round_robin(calls, asked.repeats)
    for row in rows:
        row["s_min"] = times[row["what"]].minimum
    head = {"what": "Moon", "s_min": "s", "steps": "steps", "torques": "torques"}
    yield Table(f"{end / YEAR:g} years", head, rows)


BENCH = Bench(
    name="moon",
    summary="torques of the real Moon a second, and how long 50 years take",
    measure=measure,
    needs=NEEDS,
    repeats=5,
)
