"""The state transition matrix of an adaptive run, against heyoka's variational equations."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.bench.peers import missing, peer
from polhode.bench.records import Finding, Settings, Table, at_least
from polhode.bench.time_to_accuracy import heyoka
from polhode.bench.timing import timed

FORMS = "quaternion", "axes"
OURS = 10.0 ** -np.arange(8.0, 14.01, 0.25)
TARGETS = {1e-9: (1e-8, 1e-9, 1e-10), 3e-13: (1e-11, 1e-12, 1e-13)}  # and heyoka's tolerances
STEP = 1e-4  # of the differences for the reference
WEIGHTS = ((1, 45), (2, -9), (3, 1))  # of sixth-order differences, over 60 steps
LEAST = 12.0


def skew(v: np.ndarray) -> np.ndarray:
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def seeds(form: str, q: np.ndarray) -> np.ndarray:
    """Return how the variables (m, attitude) change with (θ, m), at an attitude."""
    rows = [np.hstack([np.zeros((3, 3)), np.eye(3)])]
    if form == "quaternion":
        w, x, y, z = q
        inner = 0.5 * np.array([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]])
        rows.append(np.hstack([inner, np.zeros((4, 3))]))
    else:
        matrix = Rotation.from_quat(q, scalar_first=True).as_matrix()
        for axis in (matrix[2], matrix[0]):
            rows.append(np.hstack([skew(axis), np.zeros((3, 3))]))
    return np.vstack(rows)


def outward(form: str, state: np.ndarray, change: np.ndarray) -> np.ndarray:
    """Return the changes of (θ, m) from those of the variables at the end."""
    q = heyoka.attitude(form, state)
    turn, *_ = np.linalg.lstsq(seeds(form, q)[3:, :3], change[3:], rcond=None)
    return np.vstack([turn, change[:3]])


def system(problem: ph.Problem, form: str) -> tuple[list, np.ndarray]:
    """Return heyoka's equations and the first state."""
    inverse = [1.0 / i for i in problem.body.data[0]]
    strength, centre = problem.model.numbers
    weight = [strength * c for c in centre]
    m, q = np.array(problem.angular_momentum), np.array(problem.attitude)
    return heyoka.top_equations(form, inverse, weight), heyoka.state(form, m, q)


def reference(problem: ph.Problem, end: float) -> np.ndarray:
    """Return the matrix by differences of runs in extended precision."""
    equations, first = system(problem, "quaternion")
    long = np.longdouble
    solver = peer("heyoka").taylor_adaptive(equations, first.astype(long), fp_type=long)

    def ended(state: np.ndarray) -> np.ndarray:
        solver.time = long(0)
        solver.state[:] = state
        solver.propagate_until(long(end))
        return np.array(solver.state)

    moved = seeds("quaternion", np.array(problem.attitude))
    there, columns = ended(first.astype(long)), []
    for k in range(6):
        change = long(STEP) * moved[:, k].astype(long)
        pairs = ((w, ended(first + j * change) - ended(first - j * change)) for j, w in WEIGHTS)
        columns.append(sum(w * d for w, d in pairs) / (60 * long(STEP)))
    slopes = np.stack(columns, axis=1).astype(float)
    return outward("quaternion", there.astype(float), slopes)


def variational(problem: ph.Problem, form: str, tolerance: float, end: float) -> Callable:
    """Return a call of heyoka that integrates state and matrix, and returns the matrix."""
    of = peer("heyoka")
    equations, first = system(problem, form)
    both = of.var_ode_sys(equations, of.var_args.vars, order=1)
    solver = of.taylor_adaptive(both, first, tol=tolerance, fast_math=True)
    count, start = len(first), np.array(solver.state)
    moved = seeds(form, np.array(problem.attitude))

    def call() -> np.ndarray:
        solver.time = 0.0
        solver.state[:] = start
        solver.propagate_until(end)
        slopes = solver.state[count:].reshape(count, count) @ moved
        return outward(form, solver.state[:count], slopes)

    return call


def ours(problem: ph.Problem, tolerance: float, end: float) -> Callable:
    """Return our call, and the matrix."""
    solver = ph.prepare(
        problem, method="extrapolation", rtol=float(tolerance), sensitivities=["state"]
    )

    def call() -> np.ndarray:
        return solver((0.0, end))[-1:].stm[0]

    return call


def race(settings: Settings, problem: ph.Problem, end: float) -> Iterator[Finding]:
    """Time both at equal errors of the matrix."""
    if missing(("heyoka",)):
        return
    settings.report("reference in extended precision")
    right = reference(problem, end)
    size = np.abs(right).max()

    def error(call: Callable) -> float:
        return float(np.abs(call() - right).max() / size)

    runs = [(f"extrapolation, tol {tol:.1e}", ours(problem, tol, end)) for tol in OURS]
    known = [(name, error(call), call) for name, call in runs]
    rows: list[tuple] = []
    verdicts: list[Finding] = []
    for target, tolerances in list(TARGETS.items())[: 1 if settings.quick else None]:
        first = next(k for k in known if k[1] <= target)
        peers = []
        for form in FORMS:
            for tolerance in tolerances[1:2] if settings.quick else tolerances:
                settings.report(f"heyoka, {form}, tol {tolerance:g}")
                begin = time.process_time()
                call = variational(problem, form, tolerance, end)
                took = time.process_time() - begin
                name = f"heyoka, {form}, tol {tolerance:g} (compiled in {took:.0f} s)"
                if (off := error(call)) <= target:
                    peers.append((name, off, call))
        calls: dict[str, Any] = {name: call for name, _, call in (first, *peers)}
        times = timed(calls, settings.repeats)
        least = times[first[0]].minimum
        for name, off, _ in (*peers, first):
            each = times[name]
            rows.append((f"{target:g}", name, off, each.minimum / 1e3, each.median / 1e3,
                         each.minimum / least))  # fmt: skip
        best = min((times[name].minimum for name, *_ in peers), default=None)
        ratio = None if best is None else best / least
        what = f"matrix to {target:g}: heyoka / extrapolation"
        verdicts.append(at_least(what, ratio, LEAST))
    head = dict(zip(("target", "what", "error", "min", "median", "ratio"),
                    ("error", "variant", "reached", "µs min", "µs median", "/ ours"),
                    strict=True))  # fmt: skip
    yield Table.of(f"The matrix at t = {end:g} s", head, rows)
    yield from verdicts
