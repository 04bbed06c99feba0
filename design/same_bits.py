"""Hash the states of a fixed list of runs: python design/same_bits.py [--runs FILE]

The runs: every method, every allowed pair of integrator and formulation (bodies, and given angular
velocities), six degrees of freedom, compensated sums, dense output, events, ensembles, resumed
runs, sampled rates and the Simulator.  Methods, integrators and ensembles run compiled; the pairs,
of which there are some 200, run in plain Python.

The last line is the hash of all.  Two versions of the library give the same results, to the last
bit, if it is the same for both (same machine, same Python and NumPy).  ``--runs`` writes a line
for each run, so that ``diff`` shows which one differs.
"""

import argparse
import hashlib
import importlib
import math
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

import polhode as ph

Run = tuple[str, Callable[[], Any]]
TILTED = ph.RigidBody([[2.0, 0.1, 0.2], [0.1, 3.0, 0.3], [0.2, 0.3, 4.0]], mass=2.0)
START = {"attitude": [0.8, 0.6, 0.0, 0.0], "scalar_first": True, "omega": [0.3, -0.7, 1.1]}
ASYMMETRIC = ph.Problem(ph.RigidBody([1.0, 2.0, 2.5]), ph.models.heavy_top(1.5), **START)
FREE = ph.Problem(ph.RigidBody([1.0, 2.0, 2.5]), **START)
SYMMETRIC = ph.Problem(ph.RigidBody([2.0, 2.0, 1.0]), ph.models.heavy_top(1.5), **START)


def push(t, q, omega, params):
    return params[0] * math.sin(t), -0.1 * omega[1], 0.2 * q[1]


def height(t, q, omega):
    return q[1] - 0.3


def rates(t):
    return 1.0 + 0.5 * math.sin(t), 0.3 * math.cos(2.0 * t), -0.2 * t


PUSHED = ph.Problem(TILTED, ph.torque(push, 0.3), omega=[1.0, 2.0, 3.0], name="pushed")


def whole(run: Any) -> tuple:
    """Everything a trajectory of a body says that is a number."""
    moving = () if run.x is None else (run.x, run.v)
    return run.t, run.q, run.angular_momentum, *moving, float(run.nsteps), float(run.nfev)


# ---- the runs
def methods() -> Iterator[Run]:
    for name, method in ph.METHODS.items():
        for kind, problem in (("asymmetric", ASYMMETRIC), ("symmetric", SYMMETRIC)):
            start = problem if not method.free_only else FREE
            asked = {"method": name, "dt": 0.05}
            yield f"{kind} {name}", lambda p=start, a=asked: whole(ph.solve(p, (0, 1.02), **a))
        if method.compensates:
            asked = {"method": name, "dt": 0.05, "compensated": True}
            yield f"sums {name}", lambda a=asked: whole(ph.solve(SYMMETRIC, (0, 1), **a))
    for name in ("imidm", "rkn4", "mkrk:gauss4"):
        asked = {"method": name, "dt": 0.05, "t_eval": [0.0, 0.11, 0.7]}
        yield f"user {name}", lambda a=asked: whole(ph.solve(PUSHED, (0, 1), **a))
    for name in ("mr2", "imidm", "strang4", "rkn4"):
        asked = {"method": name, "dt": 0.05}
        spring = ph.problems.off_centre_spring()
        yield f"moving {name}", lambda a=asked, p=spring: whole(ph.solve(p, (0, 1), **a))


def integrators() -> Iterator[Run]:
    for name, record in ph.INTEGRATORS.items():
        if not record.linear:
            yield f"compiled {name}", lambda n=name: of_body(n, None)
            yield f"compiled user {name}", lambda n=name: of_body(n, None, PUSHED)
        yield f"compiled rates {name}", lambda n=name: of_rates(n, None)
    yield "auto", lambda: whole(ph.solve(ASYMMETRIC, (0, 3)))
    yield "auto dt", lambda: whole(ph.solve(ASYMMETRIC, (0, 3), dt=0.05))
    times = np.linspace(0, 30, 201)  # what 0.1.0 returned by default
    yield "closed form", lambda: whole(ph.solve(FREE, (0, 30), t_eval=times))
    yield "dense", lambda: ph.solve(ASYMMETRIC, (0, 3)).sol(np.linspace(0, 3, 40)).q
    yield "events", lambda: tuple(ph.solve(ASYMMETRIC, (0, 9), events=height).t_events)
    yield "breakpoints", lambda: whole(ph.solve(ASYMMETRIC, (0, 3), breakpoints=[1.0, 2.2]))
    yield "backwards", lambda: whole(ph.solve(ASYMMETRIC, (3, 0), method="dop853"))


def of_body(name: str, formulation: str | None, problem: Any = ASYMMETRIC) -> tuple:
    adaptive = ph.INTEGRATORS[name].adaptive
    asked = {"rtol": 1e-8} if adaptive else {"dt": 0.05}
    return whole(ph.solve(problem, (0, 1), method=name, formulation=formulation, **asked))


def of_rates(name: str, formulation: str | None) -> tuple:
    asked = {"rtol": 1e-8} if ph.INTEGRATORS[name].adaptive else {"dt": 0.05}
    given = {"method": name, "frame": "body", "formulation": formulation}
    run = ph.integrate_angular_velocity(rates, (0, 1), **given, **asked)
    return run.t, run.q, float(run.nsteps)


def pairs() -> Iterator[Run]:
    for name, record in ph.INTEGRATORS.items():
        for formulation in ph.FORMULATIONS:
            yield f"rates {name} {formulation}", lambda n=name, f=formulation: of_rates(n, f)
        for formulation in () if record.linear else (*ph.FORMULATIONS, *ph.COORDINATES):
            yield f"body {name} {formulation}", lambda n=name, f=formulation: of_body(n, f)


def ensembles() -> Iterator[Run]:
    vary = {"omega": ph.distributions.Normal([0.3, -0.7, 1.1], 0.2)}
    asked = {"members": 203, "vary": vary, "seed": 7, "save": [0.5, 1.0]}
    reduce = ["mean(omega)", "quantiles(speed, 0.1, 0.9)", "attitude"]
    for name in ("mr2", "imidm", "mkrk:rk4"):
        more = {"method": name, "dt": 0.05, "reduce": reduce}
        yield f"ensemble {name}", lambda m=more: result(ph.solve_ensemble, ASYMMETRIC, **asked, **m)
    for name in ("extrapolation", "dop853"):
        more = {"method": name, "rtol": 1e-8}
        yield f"ensemble {name}", lambda m=more: result(ph.solve_ensemble, ASYMMETRIC, **asked, **m)
    yield "ensemble closed form", lambda: result(ph.solve_ensemble, FREE, **asked)


def result(solve: Callable, problem: Any, **asked: Any) -> tuple:
    made = solve(problem, (0, 1), **asked)
    return made.t, made.q, made.omega, made.success, *made.reductions.values()


class Enough(Exception):
    """Ends a run on its way."""


def resumed() -> Iterator[Run]:
    cases = {
        "mr2": (ASYMMETRIC, {"method": "mr2", "dt": 0.001, "save_every": 7}),
        "adams": (ASYMMETRIC, {"method": "adams", "dt": 0.001}),
        "dop853": (ASYMMETRIC, {"method": "dop853", "rtol": 1e-10}),
        "extrapolation": (ASYMMETRIC, {"rtol": 1e-10, "events": height}),
    }
    for name, (problem, asked) in cases.items():
        yield f"resumed {name}", lambda p=problem, a=asked: cut_and_resumed(p, a)
    yield "resumed ensemble", cut_ensemble


def cut(report: list, share: float) -> Callable[[float], None]:
    def progress(fraction):
        report.append(fraction)
        if fraction > share:
            raise Enough

    return progress


def cut_and_resumed(problem: Any, asked: dict) -> tuple:
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "run.ckpt"
        with suppress(Enough):
            ph.solve(problem, (0, 40), **asked, checkpoint=file, checkpoint_every=50,
                     progress=cut([], 0.4))  # fmt: skip
        again = {"events": asked["events"]} if "events" in asked else {}
        return whole(ph.resume(file, **again))


def cut_ensemble() -> tuple:
    vary = {"omega": ph.distributions.Normal([0.3, -0.7, 1.1], 0.2)}
    asked = {"members": 203, "vary": vary, "seed": 7, "save": [5.0, 10.0], "chunk": 80}
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "many.ckpt"
        with suppress(Enough):
            ph.solve_ensemble(ASYMMETRIC, (0, 10), method="mr2", dt=0.01, **asked, checkpoint=file,
                              checkpoint_every=100, progress=cut([], 0.5))  # fmt: skip
        made = ph.resume(file)
        return made.t, made.q, made.omega, made.success


def others() -> Iterator[Run]:
    times = np.linspace(0.0, 2.0, 101)
    samples = np.array([rates(t) for t in times])
    for order in (2, 4, 6, 8):
        yield f"samples {order}", lambda o=order: sampled(times, samples, o)
    yield "simulator", simulated
    yield "exact", exact


def sampled(times: np.ndarray, samples: np.ndarray, order: int) -> np.ndarray:
    return ph.integrate_samples(samples, times, frame="body", kind="rate", order=order).q


def exact() -> tuple:
    times = np.linspace(0.0, 20.0, 50)
    run = ph.exact_free_motion(FREE.body, None, FREE.omega, times)
    return run.q, run.angular_momentum


def simulated() -> tuple:
    simulator = ph.Simulator(FREE.body, attitude=[1.0, 0, 0, 0], scalar_first=True, omega=[1, 2, 3])
    rows = []
    for k in range(60):
        simulator.apply_torque([0.1 * math.sin(k), 0.0, 0.05], frame="body")
        state = simulator.step(0.02 + 0.001 * (k % 3))
        rows.append([*state.q, *state.omega, *state.x])
    return (np.array(rows),)


# ---- hashing
@contextmanager
def plain_python() -> Iterator[None]:
    """Nothing is compiled: the bound trees run as they are."""
    try:
        machine = importlib.import_module("polhode.compiler.machine")
    except ImportError:
        machine = importlib.import_module("polhode._compile")
    kind = machine.CompiledOrPlain
    before = kind.__init__, kind.__call__

    def plain(self, function, what, *_):
        self.function, self.what, self.machine, self.called = function, what, None, True

    kind.__init__, kind.__call__ = plain, lambda self, *given: self.function(*given)
    try:
        yield
    finally:
        kind.__init__, kind.__call__ = before


def digest(value: Any) -> str:
    made = hashlib.sha256()
    for part in value if isinstance(value, tuple) else (value,):
        array = np.ascontiguousarray(part)
        made.update(f"{array.dtype.str}{array.shape}".encode())
        made.update(array.tobytes())
    return made.hexdigest()[:16]


def outcome(run: Callable) -> str:
    """The hash of what a run returns, or which kind of error it raises."""
    try:
        return digest(run())
    except ph.PolhodeError as error:
        return type(error).__name__


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--runs", type=Path, help="write the hash of every run to this file")
    asked.add_argument("--only", default="", help="only runs whose name contains this text")
    options = asked.parse_args()
    warnings.simplefilter("ignore")
    lines = []

    def take(groups: list[Callable[[], Iterator[Run]]]) -> None:
        for group in groups:
            for name, run in group():
                if options.only in name:
                    lines.append(f"{name}: {outcome(run)}")
                    sys.stderr.write(f"\r{len(lines)} runs")

    take([methods, integrators, ensembles, resumed, others])
    with plain_python():  # last: loops that are bound in plain Python stay plain
        take([pairs])
    sys.stderr.write("\n")
    if options.runs:
        options.runs.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16])


if __name__ == "__main__":
    main()
