"""This library as users call it: a prepared solver with its default method, and a tolerance."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import polhode as ph
from polhode.bench.overview.cases import BINARY, FREE, Case, Run, decades
from polhode.bench.time_to_accuracy.kinematics import TIGHTEST

OURS, CLOSED = "polhode", "polhode, closed form"


def by_polhode(case: Case, quick: bool) -> Iterator[Run]:
    """The default method; of a free body it is the closed form, and another is the general one."""
    if case.problem is None:
        for tolerance in (each for each in decades(4, 13.5, quick) if each >= TIGHTEST):
            rates = ph.prepare_angular_velocity(BINARY.omega, frame="inertial", rtol=tolerance)
            call = partial(rates, (0.0, case.end), attitude=case.start, scalar_first=True)
            yield ended(OURS, call, tolerance)
        return
    given: dict[str, Any]
    if case.name == FREE:  # only the end is kept
        for given in ({"t_eval": [case.end]}, {"method": "strang", "dt": case.end}):
            yield ended(CLOSED, partial(ph.prepare(case.problem, **given), (0.0, case.end)))
    method = "extrapolation" if case.name == FREE else "auto"
    for tolerance in decades(5, 14.5, quick):
        given = {"method": method, "rtol": tolerance, "atol": 0.0}
        yield ended(OURS, partial(ph.prepare(case.problem, **given), (0.0, case.end)), tolerance)


def ended(name: str, call: Callable, tolerance: float | None = None) -> Run:
    setting = "" if tolerance is None else f"tol {tolerance:.0e}"
    return Run(name, call().method, setting, call, lambda run: run.q[-1])
