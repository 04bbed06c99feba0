"""The cost of variables beside a body, in an adaptive run.

A heavy top with three rings of fluid, whose momenta are three variables of the model, against the
same top with the friction of rings that never turn, and without friction; all in turn in one
process.
"""

from collections.abc import Iterator
from functools import partial

import polhode as ph
from polhode.bench.records import Bench, Finding, Settings, Table, at_most
from polhode.bench.timing import columns, round_robin, row

BODY, START = ph.RigidBody([1.0, 1.6, 2.2]), [0.6, 1.1, -0.8]
NUMBERS = 2.0, 0.02, 0.1  # weight, drag, inertia of a ring
END = 50.0
RUNS = ("extrapolation", 1e-6), ("extrapolation", 1e-10), ("dop853", 1e-8), ("vern9", 1e-10)
RINGS, FRICTION, TOP = "with three rings", "with friction", "without friction"


def top(t, q, omega, params):
    k, (w, x, y, z) = 2.0 * params[0], q
    return k * (y * z + w * x), -k * (x * z - w * y), 0.0


def damped(t, q, omega, params):
    (a, b, c), d = top(t, q, omega, params), params[1]
    return a - d * omega[0], b - d * omega[1], c - d * omega[2]


def with_rings(t, q, omega, h, params):
    (a, b, c), d, i = top(t, q, omega, params), params[1], params[2]
    drag = d * (omega[0] - h[0] / i), d * (omega[1] - h[1] / i), d * (omega[2] - h[2] / i)
    return (a - drag[0], b - drag[1], c - drag[2]), drag


MODELS = {
    TOP: ph.torque(top, NUMBERS),
    FRICTION: ph.torque(damped, NUMBERS),
    RINGS: ph.coupled(with_rings, {"ring": (0.0, 0.0, 0.0)}, NUMBERS, scale={"ring": 0.1}),
}


@Bench(
    name="companions",
    place=155,
    summary="adaptive runs with three variables of a model beside the body, and without",
    repeats=31,
    keys={},
)
def benchmark(settings: Settings) -> Iterator[Finding]:
    for method, rtol in RUNS[:2] if settings.quick else RUNS:
        settings.report(f"{method}, rtol {rtol:g}")
        solvers = {
            name: ph.prepare(ph.Problem(BODY, model, omega=START), method=method, rtol=rtol)
            for name, model in MODELS.items()
        }
        runs = {name: (partial(solver, (0.0, END)), 1.0) for name, solver in solvers.items()}
        times = round_robin(runs, settings.repeats)
        steps = {name: solver((0.0, END)).nsteps for name, solver in solvers.items()}
        least = times[TOP].minimum
        rows = [
            row(name, t, t.minimum / least) | {"steps": steps[name]} for name, t in times.items()
        ]
        head = columns("a run", f"/ {TOP}") | {"steps": "steps"}
        yield Table(f"{method}, rtol = {rtol:g}", head, rows)
        ratio = times[RINGS].minimum / least
        yield at_most(f"{method}, rtol = {rtol:g}: {RINGS} over {TOP}", ratio, 1.5)
