"""What accuracy costs over a matrix of problems: the data behind the choice of a method.

    python design/work_precision.py [--csv FILE] [--methods NAME,…] [--repeats N] [--quick]

Bodies: symmetric and asymmetric.  Torques: linear (a potential linear in the attitude matrix, a
heavy top), quadratic (a gravity gradient), rate (a heavy top with damping).  Strengths: the torque
over I ω², weak 0.01, equal 1, strong 100.  The body turns at 1 rad/s at first; the span is 40 / f
seconds, f² = 1 + strength the square of the larger of both rates.

One line for each case and method, and in it for each attitude error at the end (radians) the steps,
the torque evaluations, and the cost: their CPU time, without that of the call, in units of a step
of imidm in the same case (at its error 1e-4).  Empty: not reached.  Steps are searched by
``ph.compare``; all methods of order 2 or more that take the torque are there, each once.
"""

import argparse
import csv
import sys
from dataclasses import dataclass
from pathlib import Path

import polhode as ph
from polhode.bench.timing import round_robin

ERRORS = tuple(10.0**-k for k in (2, 4, 6, 8, 10, 12))
UNIT, UNIT_ERROR = "imidm", 1e-4
TWINS = "mkrk:midpoint", "mkrk:trapezoid"  # imidm and bbtrapwd once more
LONG = 4096  # steps to time
TURN = 40.0  # radians of the faster of rotation and torque
DAMPING = 0.02
BODIES = {  # moments, centre of mass
    "symmetric": ((1.0, 1.0, 0.6), (0.0, 0.0, 1.0)),
    "asymmetric": ((1.0, 1.5, 2.0), (0.36, -0.48, 0.8)),
}
STRENGTHS = {"weak": 0.01, "equal": 1.0, "strong": 100.0}
TORQUES = "linear", "quadratic", "rate"
START = {"attitude": [0.8, 0.4, -0.2, 0.4], "scalar_first": True, "omega": [0.36, 0.48, 0.8]}


def damping(t, q, omega, params):
    (c,) = params
    return -c * omega[0], -c * omega[1], -c * omega[2]


@dataclass(frozen=True)
class Case:
    body: str
    torque: str
    strength: str

    @property
    def span(self) -> tuple[float, float]:
        return 0.0, TURN / (1.0 + STRENGTHS[self.strength]) ** 0.5

    @property
    def problem(self) -> ph.Problem:
        (inertia, centre), strength = BODIES[self.body], STRENGTHS[self.strength]
        if self.torque == "quadratic":
            model = ph.models.gravity_gradient(mu=strength / 3.0, r=1.0)
        elif centre == (0.0, 0.0, 1.0):
            model = ph.models.heavy_top(strength)
        else:
            model = ph.models.heavy_top(strength, centre=centre)
        if self.torque == "rate":
            model = model + ph.torque(damping, [DAMPING])
        name = f"{self.body}, {self.torque}, {self.strength}"
        return ph.Problem(ph.RigidBody(inertia), model, **START, name=name)


CASES = [Case(b, t, s) for b in BODIES for t in TORQUES for s in STRENGTHS]


def methods_for(problem: ph.Problem, names: list[str] | None) -> list[str]:
    """With the one that is the unit."""
    able = [
        name
        for name, method in ph.METHODS.items()
        if method.takes(problem.model) and method.order > 1 and name not in TWINS
    ]
    return able if names is None else [n for n in able if n in {*names, UNIT}]


def lines(case: Case, names: list[str] | None, errors: tuple[float, ...], repeats: int):
    """(method, {error: (steps, torques, cost)}) of one case."""
    problem, span = case.problem, case.span
    methods = methods_for(problem, names)
    found = ph.compare(problem, span, methods=methods, errors=errors, repeats=1)
    chosen = {}
    for method in methods:
        for error in errors:
            good = [r for r in found.of(method) if r.attitude_error <= error]
            if good:
                chosen[method, error] = min(good, key=lambda r: r.steps)
    runs = {(row.method, row.steps) for row in chosen.values()}
    costs = costs_of(problem, span, sorted(runs), repeats)
    unit = costs[UNIT, chosen[UNIT, UNIT_ERROR].steps]
    for method in methods:
        yield (
            method,
            {
                error: (row.steps, row.torques, row.steps * costs[method, row.steps] / unit)
                for (name, error), row in chosen.items()
                if name == method
            },
        )


def costs_of(problem: ph.Problem, span: tuple, runs: list, repeats: int) -> dict:
    """Nanoseconds a step of each (method, steps in the span), without the call.

    From a run of ``LONG`` steps of that size, so that the call does not count; over the span alone
    if that is shorter and the motion does not get further.
    """
    variants = {}
    for method, steps in runs:
        dt = (span[1] - span[0]) / steps
        for count in (LONG, min(steps, LONG)):
            solver = ph.prepare(problem, method=method, dt=dt, save_every=count)
            run = solver((span[0], span[0] + count * dt))
            if run.success:
                break
        end = float(run.t[-1])
        variants[method, steps] = lambda s=solver, end=end: s((span[0], end)), run.nsteps
    return {key: times.minimum for key, times in round_robin(variants, repeats).items()}


def cells(reached: dict, errors: tuple[float, ...]) -> list[str]:
    empty = ["", "", ""]
    return [
        text
        for error in errors
        for text in (
            [str(reached[error][0]), str(reached[error][1]), f"{reached[error][2]:.3g}"]
            if error in reached
            else empty
        )
    ]


def main() -> None:
    asked = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    asked.add_argument("--repeats", type=int, default=11, help="of every timing; default 11")
    asked.add_argument("--csv", type=Path, help="write the lines to this file, not to stdout")
    asked.add_argument(
        "--methods",
        type=lambda text: text.split(","),
        help="names, separated by commas; default: all of order 2",
    )
    asked.add_argument("--quick", action="store_true", help="errors 1e-4 and 1e-8, two repeats")
    options = asked.parse_args()
    errors = (1e-4, 1e-8) if options.quick else ERRORS
    repeats = 2 if options.quick else options.repeats

    head = ["body", "torque", "strength", "method"]
    head += [f"{what}_{error:.0e}" for error in errors for what in ("steps", "torques", "cost")]
    rows = []
    for case in CASES:
        print(f"{case.problem.name}", file=sys.stderr, flush=True)
        for method, reached in lines(case, options.methods, errors, repeats):
            rows.append([case.body, case.torque, case.strength, method, *cells(reached, errors)])
    with options.csv.open("w", newline="") if options.csv else sys.stdout as file:
        csv.writer(file, lineterminator="\n").writerows([head, *rows])


if __name__ == "__main__":
    main()
