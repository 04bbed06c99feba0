"""How many torques of the real Earth a second, and what 50 years take and leave, by switches."""

from collections.abc import Iterator
from functools import partial

import numpy as np

import polhode as ph
from polhode.bench.moon import summing, torques
from polhode.bench.peers import missing
from polhode.bench.records import Asked, Bench, Finding, Table
from polhode.bench.timing import round_robin
from polhode.celestial import precession

START, DAY, YEARS = "1975-01-01", 86400.0, 50.0
NEEDS = "de421", "erfa"
HEAD = {
    "what": "Earth",
    "s_min": "s",
    "steps": "steps",
    "torques": "torques",
    "rms_1": "rms 1 (mas)",
    "rms_2": "rms 2 (mas)",
    "trend_1": "trend 1 (mas/year)",
    "trend_2": "trend 2 (mas/year)",
    "core": "free core nutation (d)",
}


def measure(asked: Asked) -> Iterator[Finding]:
    if missing(NEEDS):
        return
    problems = {
        "Moon and Sun": ph.celestial.earth(START),
        "with geodetic precession": ph.celestial.earth(START, geodetic=True),
        "with planets too": ph.celestial.earth(START, planets=True, geodetic=True),
    }
    asked.say("torques")
    yield torques(asked, summing(precession.torque), problems)
    days = np.arange(18263) * DAY
    end, rows, calls = float(days[-1]), [], {}
    for name, problem in problems.items():
        asked.say(name)
        solver = ph.prepare(problem, method="extrapolation", rtol=1e-12, t_eval=days)
        calls[name] = partial(solver, (0.0, end)), 1e9
        run = solver((0.0, end))
        gaps = ph.celestial.earth_residuals(run, START)
        raw = ph.celestial.earth_residuals(run, START, detrend=False)
        trend = ((raw - gaps)[-1] - (raw - gaps)[0]) / YEARS
        core = ph.celestial.core_resonance(ph.celestial.earth_nutations(run, START))
        rms = np.sqrt((gaps**2).mean(axis=0))
        rows.append(
            {
                "what": name,
                "steps": run.nsteps,
                "torques": run.nfev,
                "rms_1": float(rms[0]),
                "rms_2": float(rms[1]),
                "trend_1": float(trend[0]),
                "trend_2": float(trend[1]),
                "core": float(-core.period),
            }
        )
    times = round_robin(calls, asked.repeats)
    for row in rows:
        row["s_min"] = times[row["what"]].minimum
    yield Table(f"{YEARS:g} years", HEAD, rows)


BENCH = Bench(
    name="earth",
    summary="torques of the real Earth a second, and what 50 years take and leave",
    measure=measure,
    needs=NEEDS,
    repeats=3,
)
