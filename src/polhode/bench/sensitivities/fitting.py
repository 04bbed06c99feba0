"""A fit with derivatives of the motion, against the same one with finite differences."""

import time
from collections.abc import Iterator

import numpy as np
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.bench.records import Finding, Note, Settings, Table, at_least
from polhode.bench.timing import round_robin

INERTIA, STRENGTH, CENTRE, OMEGA = (2.0, 3.0, 4.5), 1.0, (1.0, 2.0, 5.0), (0.5, 1.0, 2.0)
COUNT, END, SIGMA, RTOL = 60, 6.0, 2e-3, 1e-9
FREE, HOLD = ["state", "moments", "model.strength"], "sum of moments"
LEAST = 3.0
NAMES = "derivatives of the motion", "finite differences"


def problem(inertia: tuple = INERTIA, strength: float = STRENGTH, turn=None, m=None) -> ph.Problem:
    """Return the top with other moments, strength and start."""
    body = ph.RigidBody(inertia)
    momentum = np.array(INERTIA) * OMEGA if m is None else m
    attitude = None if turn is None else Rotation.from_rotvec(turn)
    model = ph.models.heavy_top(strength, centre=CENTRE)
    return ph.Problem(body, model, attitude, angular_momentum=momentum)


def observed() -> tuple[np.ndarray, Rotation]:
    """Return times and noisy attitudes."""
    times = np.linspace(0.0, END, COUNT)
    noise = np.random.default_rng(4).normal(0.0, SIGMA, (COUNT, 3))
    run = ph.solve(problem(), (0.0, END), method="extrapolation", rtol=1e-12, t_eval=times)
    return times, run.rotation * Rotation.from_rotvec(noise)


def guess() -> ph.Problem:
    return problem((2.05, 2.9, 4.55), 1.03, (0.02, -0.01, 0.01), np.array([1.05, 2.9, 9.1]))


def ours(times: np.ndarray, seen: Rotation) -> ph.Fit:
    data = ph.observe.attitudes(times, seen, sigma=SIGMA)
    return ph.fit(guess(), data, free=FREE, hold=HOLD, rtol=RTOL)


def by_differences(times: np.ndarray, seen: Rotation) -> tuple[np.ndarray, float]:
    """Return (moments, χ²) of the same fit by SciPy's differences of prepared runs."""
    first = guess()
    solver = ph.prepare(first, method="vern9", rtol=RTOL, t_eval=times)
    whole = sum(first.body.data[0])
    turn = Rotation.from_quat(first.attitude, scalar_first=True).as_rotvec()

    def residuals(x: np.ndarray) -> np.ndarray:
        inertia = x[6], x[7], whole - x[6] - x[7]
        run = solver.of(problem(inertia, x[8], x[:3], x[3:6]))((0.0, END))
        return (seen.inv() * run.rotation).as_rotvec().ravel() / SIGMA

    start = np.array([*turn, *first.angular_momentum, *first.body.data[0][:2], 1.03])
    found = least_squares(residuals, start, method="lm", jac="2-point", x_scale="jac")
    return np.array([*found.x[6:8], whole - found.x[6] - found.x[7]]), 2.0 * found.cost


def fits(settings: Settings) -> Iterator[Finding]:
    """Time both fits in turn."""
    settings.report("fit of 9 unknowns to 60 attitudes")
    data = observed()
    fit, (moments, square) = ours(*data), by_differences(*data)
    calls = {NAMES[0]: (lambda: ours(*data), 1.0), NAMES[1]: (lambda: by_differences(*data), 1.0)}
    times = round_robin(calls, settings.repeats, clock=time.thread_time_ns)
    least = times[NAMES[0]].minimum
    found = (fit.values["moments"], fit.chi_square), (moments, square)
    rows = [
        (name, times[name].minimum / 1e6, times[name].median / 1e6, times[name].minimum / least, s)
        for name, (_, s) in zip(NAMES, found, strict=True)
    ]
    head = dict(zip(("what", "min", "median", "ratio", "square"),
                    ("jacobian", "ms min", "ms median", "/ ours", "χ²"), strict=True))  # fmt: skip
    yield Table.of("A fit of 9 unknowns to 60 attitudes", head, rows)
    apart = np.abs(fit.values["moments"] - moments).max()
    yield Note(f"the moments of both fits differ by {apart:.1e} kg m²")
    ratio = times[NAMES[1]].minimum / least
    yield at_least("fit: finite differences over derivatives of the motion", ratio, LEAST)
