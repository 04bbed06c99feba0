"""Error and cost of every method on Krysl's problems.

For each problem and step: the error of the final attitude (spectral norm of the difference of the
matrices) against SciPy's DOP853 on Euler's equations at tolerance 1e-13, Newton iterations and
torque evaluations per step, and nanoseconds per step (prepared solver, minimum of the repeats).
"""

from collections.abc import Iterator
from functools import partial

import numpy as np
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.bench.records import Bench, Finding, Key, Settings, Table
from polhode.bench.timing import round_robin

CASES = (("krysl-free", 100.0, 0.05), ("slow-top", 20.0, 0.01), ("fast-top", 10.0, 0.002))
HEAD = {
    "method": "method",
    "error": "attitude error",
    "iterations": "iterations",
    "torques": "torques",
    "ns_min": "ns a step",
}


def reference(problem: ph.Problem, t_end: float) -> np.ndarray:
    """The final attitude matrix, by an integrator and equations independent of the library."""
    from scipy.integrate import solve_ivp

    inertia = np.diag(problem.body.inertia)
    strength = problem.model.parameters.get("strength", 0.0)

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        matrix, m = y[:9].reshape(3, 3), y[9:]
        w = m / inertia
        skew = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
        torque = strength * np.cross(matrix[2], [0, 0, 1])
        return np.concatenate([(matrix @ skew).ravel(), np.cross(m, w) + torque])

    first = Rotation.from_quat(problem.attitude, scalar_first=True).as_matrix()
    y = np.concatenate([first.ravel(), problem.angular_momentum])
    run = solve_ivp(rate, (0, t_end), y, method="DOP853", rtol=1e-13, atol=1e-14)
    return np.reshape(run.y[:9, -1], (3, 3))


@Bench(
    name="accuracy",
    place=40,
    summary="error and cost of every method on Krysl's problems",
    long=True,
    repeats=7,
    keys={"methods": Key("", "names; default: all")},
)
def benchmark(settings: Settings) -> Iterator[Finding]:
    methods = settings.choose("methods", list(ph.METHODS))
    for name, t_end, dt in CASES[:1] if settings.quick else CASES:
        settings.report(name)
        if settings.quick:
            t_end = t_end / 10
        problem = ph.problems.CATALOGUE[name].make()
        exact = reference(problem, t_end)
        solvers = {
            m: ph.prepare(problem, method=m, dt=dt, save_every=10**9)
            for m in methods
            if ph.METHODS[m].takes(problem.model)
        }
        runs = {m: solver((0, t_end)) for m, solver in solvers.items()}
        calls = {
            m: (partial(solver, (0, t_end)), max(runs[m].nsteps, 1))
            for m, solver in solvers.items()
        }
        times = round_robin(calls, settings.repeats)
        rows = []
        for method, run in runs.items():
            error = np.linalg.norm(run.rotation[-1].as_matrix() - exact, 2)
            shown, steps = float(error) if run.success else "failed", max(run.nsteps, 1)
            work = run.niter / steps, run.nfev / steps
            rows.append((method, shown, *work, times[method].minimum))
        yield Table.of(f"{name}, dt = {dt:g}, t = {t_end:g}", HEAD, rows)
