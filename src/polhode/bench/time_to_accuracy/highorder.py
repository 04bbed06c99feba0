"""Time to a given accuracy of adaptive integrators with a torque, against heyoka's Taylor series.

Three tops: the asymmetric one of ``precision``, one whose motion is dominated by its weight, and
the first one with a user's torque in Python, with sine, cosine and square root.  For each attitude
error at the end (radians): the loosest tolerance that reaches it (three in a row must, a quarter of
a decade apart), and the time of the prepared solver, as a user calls it.

The second top has six starts: errors are root mean squares over them, and times means.

heyoka is used in its best form and at its best tolerance, as in ``precision``: of all that reach
the error the fastest counts, even by luck.  The reference is heyoka in extended precision.  All
variants take turns in one process; ratios are of least times.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import polhode as ph
from polhode.bench.records import Bench, Finding, Key, Settings
from polhode.bench.time_to_accuracy.race import Race, Variant
from polhode.bench.time_to_accuracy.tops import ASYMMETRIC, Top, one_by_one
from polhode.bench.timing import timed

ERRORS = 1e-6, 1e-10, 1e-12, 1e-13
TOLERANCES = 10.0 ** -np.arange(5.0, 14.51, 0.25)
TOPS = {
    "1": Top("asymmetric top", **ASYMMETRIC, least=(6.5, 10.0, 8.5, 7.5)),
    "2": Top(
        "top that its weight dominates",
        inertia=(1.0, 1.6, 2.2),
        weight=(4.0, -3.0, 12.0),
        omega=(1.0, 6.0, 2.0),
        turn=(1.1, 0.4, -0.3),
        end=8.0,
        others=5,
        least=(4.5, 6.0, 7.0, 4.5),
    ),
    "3": Top(
        "asymmetric top, a user's torque",
        **ASYMMETRIC,
        sways=True,
        least=(5.0, 8.0, 7.0, 6.0),
    ),
}


def our_variants(top: Top, name: str, right: np.ndarray, quick: bool) -> Iterator[Variant]:
    """Yield a run for each tolerance; its error is the worst of three tolerances in a row."""
    span, runs = (0.0, top.end), []
    for tolerance in TOLERANCES[:: 6 if quick else 1]:
        options: dict[str, Any] = {"method": name, "rtol": float(tolerance), "atol": 0.0}
        solvers = [ph.prepare(each.problem, **options) for each in top.starts]
        found = [solver(span) for solver in solvers]
        trials = np.mean([run.nsteps + run.rejected for run in found])
        text = f"{name}, tol {tolerance:.1e}, {trials:.3g} trials"
        error = top.error([run.q[-1] for run in found], right)
        runs.append((text, error, one_by_one([partial(solver, span) for solver in solvers])))
    for (text, first, call), (_, second, _), (_, third, _) in zip(
        runs, runs[1:], runs[2:], strict=False
    ):
        yield Variant(name, text, max(first, second, third), call)


@Bench(
    name="highorder",
    place=70,
    summary="time to a given accuracy of adaptive integrators, against heyoka's Taylor series",
    needs=("heyoka",),
    vital=("heyoka",),
    keys={
        "methods": Key("extrapolation", "names; the first is judged"),
        "tops": Key("", "which of the three tops, from 1 on; default: all"),
    },
)
def benchmark(settings: Settings) -> Iterator[Finding]:
    quick, names = settings.quick, settings.parts("methods")
    for number in settings.choose("tops", list(TOPS))[: 1 if quick else None]:
        top = TOPS[number]
        settings.report(top.title)
        right = top.extended()
        yield from Race(
            f"{top.title}, t = {top.end:g} s",
            dict.fromkeys(ERRORS) if quick else dict(zip(ERRORS, top.least, strict=True)),
            top.heyoka_variants(right, quick),
            [variant for name in names for variant in our_variants(top, name, right, quick)],
            problem=top.title,
            judged=names[0],
            clock=partial(timed, steps=len(top.starts)),
        ).run(settings)
