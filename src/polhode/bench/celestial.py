"""The real Moon and the real Earth: torques a second, ephemeris included, and 50 years of each.

The Moon's runs are timed; the Earth's also show what is left between the pole and IAU 2006/2000A,
for each of the switches.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

import polhode as ph
from polhode.bench.records import Bench, Finding, Settings, Table
from polhode.bench.timing import round_robin
from polhode.compiler.machine import compiled
from polhode.compiler.tree import bind
from polhode.kernels.trig import ELEMENTARY

COUNT, STEP = 1_000_000, 1500.0  # torques, and seconds between them
DAY, YEARS = 86400.0, 50.0
YEAR = 365.25 * DAY
RUN = {"what": "", "s_min": "s", "steps": "steps", "torques": "torques"}
RESIDUALS = {
    "rms_1": "rms 1 (mas)",
    "rms_2": "rms 2 (mas)",
    "trend_1": "trend 1 (mas/year)",
    "trend_2": "trend 2 (mas/year)",
    "core": "free core nutation (d)",
}


def sum_torques(torque: Callable) -> Callable:
    """Return the compiled sum of the torques at n times."""
    bound = bind(torque, ELEMENTARY)

    def total(n, h, q, m, body, params):
        found = 0.0
        for i in range(n):
            found += bound(i * h, q, m, body, params)[0]
        return found

    return compiled(total)


def torques(problems: Mapping[str, ph.Problem], settings: Settings) -> Table:
    """Count the torques of each problem in a second."""
    settings.report("torques")
    count, calls = COUNT // 100 if settings.quick else COUNT, {}
    (torque,) = {problem.model.torque for problem in problems.values()}
    loop = sum_torques(torque)
    for name, p in problems.items():
        arguments = p.attitude, p.angular_momentum, p.body.data, p.model.params
        calls[name] = partial(loop, count, STEP, *arguments), count
    times = round_robin(calls, settings.repeats)
    rows = [(name, 1e3 / taken.minimum) for name, taken in times.items()]
    return Table.of("Torques", {"what": "torque of", "rate": "million a second"}, rows)


def runs(
    head: Mapping[str, str],
    ready: Mapping[str, Callable],
    span: tuple[float, float],
    settings: Settings,
    more: Callable[[Any], Mapping[str, float]] = lambda run: {},
    **options: Any,
) -> Table:
    """Time a run of each, which ``ready`` prepares, and find ``more(run)`` about it."""
    calls, rows = {}, []
    for name, prepare in ready.items():
        settings.report(name)
        solver = prepare(method="extrapolation", rtol=1e-12, **options)
        run = solver(span)
        calls[name] = partial(solver, span), 1e9
        rows.append({"what": name, "steps": run.nsteps, "torques": run.nfev, **more(run)})
    times = round_robin(calls, settings.repeats)
    for row in rows:
        row["s_min"] = times[row["what"]].minimum
    return Table(f"{span[1] / YEAR:.3g} years", head, rows)


# ---- the Moon
@Bench(
    name="moon",
    place=170,
    summary="torques of the real Moon a second, and the time of 50 years",
    needs=("de421",),
    vital=("de421",),
    repeats=5,
    long=True,
)
def moon(settings: Settings) -> Iterator[Finding]:
    start = "1970-01-01"
    problems = {
        "Earth and Sun": ph.celestial.moon(start),
        "with planets and oblateness": ph.celestial.moon(start, planets=True, oblateness=True),
    }
    if settings.quick:
        problems = {"Earth and Sun": problems["Earth and Sun"]}
    yield torques(problems, settings)
    variants: dict[str, Callable] = {"rigid": partial(ph.prepare, problems["Earth and Sun"])}
    if not settings.quick:  # the others take long to compile
        variants |= {
            "tides and core": ph.celestial.layered_moon(start, model="layered").prepare,
            "DE421's model": ph.celestial.layered_moon(start).prepare,
        }
    span = 0.0, (5.0 if settings.quick else YEARS) * YEAR
    yield runs(RUN | {"what": "Moon"}, variants, span, settings)


# ---- the Earth
@Bench(
    name="earth",
    place=180,
    summary="torques of the real Earth a second, and the time and the residuals of 50 years",
    needs=("de421", "erfa"),
    vital=("de421", "erfa"),
    repeats=3,
    long=True,
)
def earth(settings: Settings) -> Iterator[Finding]:
    start, days = "1975-01-01", np.arange(18263) * DAY
    problems = {
        "Moon and Sun": ph.celestial.earth(start),
        "with geodetic precession": ph.celestial.earth(start, geodetic=True),
        "with planets too": ph.celestial.earth(start, planets=True, geodetic=True),
    }
    if settings.quick:
        problems = {"Moon and Sun": problems["Moon and Sun"]}
    yield torques(problems, settings)
    yield runs(
        RUN | {"what": "Earth"} | RESIDUALS,
        {name: partial(ph.prepare, problem) for name, problem in problems.items()},
        (0.0, float(days[-1])),
        settings,
        partial(earth_residuals, start=start),
        t_eval=days,
    )


def earth_residuals(run: Any, start: str) -> dict[str, float]:
    """Residuals of the pole, their trends, and the free core nutation of a run."""
    gaps = ph.celestial.earth_residuals(run, start)
    drift = ph.celestial.earth_residuals(run, start, detrend=False) - gaps
    core = ph.celestial.core_resonance(ph.celestial.earth_nutations(run, start))
    values = *np.sqrt((gaps**2).mean(axis=0)), *((drift[-1] - drift[0]) / YEARS), -core.period
    return dict(zip(RESIDUALS, map(float, values), strict=True))
