"""Error and cost of every method on the paper's problems: ``python benchmarks/accuracy.py``.

For each problem and step: the error of the final attitude (spectral norm of the difference of the
matrices) against SciPy's DOP853 on Euler's equations at tolerance 1e-13, Newton iterations and
torque evaluations a step, and nanoseconds a step (prepared solver, minimum over the repeats).
"""

import json
import sys
import time

import numpy as np
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import polhode as ph
from common import listed, parser

CASES = (("krysl-free", 100.0, 0.05), ("slow-top", 20.0, 0.01), ("fast-top", 10.0, 0.002))


def reference(problem: ph.Problem, t_end: float) -> np.ndarray:
    """The final attitude matrix, by an integrator and equations that are not the library's."""
    inertia = np.diag(problem.body.inertia)
    strength = problem.model.parameters.get("strength", 0.0)

    def rate(t, y):
        matrix, m = y[:9].reshape(3, 3), y[9:]
        w = m / inertia
        skew = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
        torque = strength * np.cross(matrix[2], [0, 0, 1])
        return np.concatenate([(matrix @ skew).ravel(), np.cross(m, w) + torque])

    first = Rotation.from_quat(problem.attitude, scalar_first=True).as_matrix()
    y = np.concatenate([first.ravel(), problem.angular_momentum])
    end = solve_ivp(rate, (0, t_end), y, method="DOP853", rtol=1e-13, atol=1e-14).y[:9, -1]
    return end.reshape(3, 3)


def rows(repeats: int, methods: list[str]):
    for name, t_end, dt in CASES:
        problem = ph.problems.CATALOGUE[name].make()
        exact = reference(problem, t_end)
        solvers = {
            m: ph.prepare(problem, method=m, dt=dt, save_every=10**9)
            for m in methods
            if ph.METHODS[m].takes(problem.model)
        }
        runs = {m: solver((0, t_end)) for m, solver in solvers.items()}
        best = dict.fromkeys(solvers, np.inf)
        for _ in range(repeats):
            for method, solver in solvers.items():
                begun = time.thread_time()
                solver((0, t_end))
                best[method] = min(best[method], time.thread_time() - begun)
        for method, run in runs.items():
            error = np.linalg.norm(run.rotation[-1].as_matrix() - exact, 2)
            yield {
                "problem": name,
                "dt": dt,
                "method": method,
                "error": float(error) if run.success else None,
                "iterations": run.niter / max(run.nsteps, 1),
                "torques": run.nfev / max(run.nsteps, 1),
                "ns": best[method] / max(run.nsteps, 1) * 1e9,
            }


def main() -> None:
    asked = parser(__doc__, 7, 1)
    asked.add_argument("--methods", type=listed, help="names, separated by commas; default all")
    options = asked.parse_args()
    methods = options.methods or list(ph.METHODS)
    table = []
    print("| problem | dt | method | attitude error | iterations | torques | ns a step |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for row in rows(options.repeats, methods):
        table.append(row)
        error = "failed" if row["error"] is None else f"{row['error']:.1e}"
        print(
            f"| {row['problem']} | {row['dt']} | `{row['method']}` | {error} |"
            f" {row['iterations']:.2f} | {row['torques']:.1f} | {row['ns']:.0f} |"
        )
        sys.stdout.flush()
    if options.json:
        options.json.write_text(json.dumps(table, indent=1))


if __name__ == "__main__":
    main()
