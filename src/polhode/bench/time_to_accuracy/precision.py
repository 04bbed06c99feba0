"""Time to a given accuracy, against heyoka's Taylor integrator.

Two tops for 10 seconds: Krysl's fast Lagrange top, and an asymmetric one whose centre of mass lies
on none of its axes.  For each attitude error at the end (radians) and each explicit method of order
2 or more: the longest step that reaches it (``ph.compare``: three steps in a row must, an eighth of
an octave apart), then the time of the prepared solver, as a user calls it.

heyoka is used in its best form: equations reduced by hand (no products with zeros and ones, the
momentum along the axis of a Lagrange top a constant), the attitude as a quaternion, as two inertial
axes in the body, or as the vertical and a quaternion, ``fast_math=True``.  Of all forms and all
tolerances the fastest that reaches the error counts, even by luck.

All variants take turns in one process; ratios are heyoka's least time over ours.  The reference is
a method of order 8 with its step halved down to rounding (``polhode.comparison.reference``); heyoka
with extended precision confirms it.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

import polhode as ph
from polhode.bench.angles import angle
from polhode.bench.records import Bench, Finding, Key, Note, Settings
from polhode.bench.time_to_accuracy.race import ALL_FORMS, SHOWN, Race, Variant
from polhode.bench.time_to_accuracy.tops import ASYMMETRIC, Top
from polhode.comparison.reference import true_end

ERRORS = 1e-6, 1e-10, 1e-12
QUICK = ["srkn14", "strang4"]
TOPS = (
    Top("fast Lagrange top", (5.0, 5.0, 1.0), (0.0, 0.0, 20.0), (0.0, 0.0, 50.0), (12.0, 6.0, 3.5)),
    Top("asymmetric top", **ASYMMETRIC),
)


def our_variants(top: Top, names: list[str], errors: tuple[float, ...]) -> Iterator[Variant]:
    """For each error the fastest methods, by a first look at the clock."""
    problem, span = top.problem, (0.0, top.end)
    methods = names or [
        name
        for name, method in ph.METHODS.items()
        if method.takes(problem.model) and not method.implicit and method.order > 1
    ]
    found = ph.compare(problem, span, methods=methods, errors=errors, repeats=5)
    for error in errors:
        good = [row for row in found.rows if row.attitude_error and row.attitude_error <= error]
        best = {row.method: row for row in sorted(good, key=lambda row: -row.seconds)}
        for row in sorted(best.values(), key=lambda row: row.seconds)[:SHOWN]:
            solver = ph.prepare(problem, method=row.method, dt=row.dt, save_every=row.steps)
            name, reached = f"{row.method}, {row.steps} steps", row.attitude_error
            assert reached is not None
            yield Variant(row.method, name, reached, partial(solver, span), target=error)


@Bench(
    name="precision",
    place=50,
    summary="time to a given accuracy with a torque, against heyoka's Taylor series",
    needs=("heyoka",),
    vital=("heyoka",),
    keys={
        "methods": Key("", "names; default: all explicit ones of order 2 or more"),
        "errors": Key("", "attitude errors in radians; default: those of the claims"),
    },
)
def benchmark(settings: Settings) -> Iterator[Finding]:
    errors = tuple(map(float, settings.parts("errors"))) or ERRORS[: 1 if settings.quick else None]
    names = settings.parts("methods") or (QUICK if settings.quick else [])
    for top in TOPS[: 1 if settings.quick else None]:
        settings.report(top.title)
        truth = true_end(top.problem, (0.0, top.end))
        right = np.array(truth.q)
        yield Note(
            f"{top.title}: truth by {truth.route}, its error {truth.attitude_error:.1e} rad; heyoka"
            f" in extended precision differs by {float(angle(top.extended()[0], right)):.1e} rad"
        )
        judged = errors == ERRORS and top.least
        yield from Race(
            f"{top.title}, t = {top.end:g} s",
            dict(zip(errors, top.least, strict=True)) if judged else dict.fromkeys(errors),
            top.heyoka_variants(right[None], settings.quick),
            list(our_variants(top, names, errors)),
            problem=top.title,
            rows=ALL_FORMS,
        ).run(settings)
