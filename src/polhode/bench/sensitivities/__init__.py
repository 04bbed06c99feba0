"""Derivatives of the motion: what they cost besides the motion, and against heyoka's.

A heavy asymmetric top.  The first table has prepared solvers as called, with and without
``sensitivities``: the whole 6×6, and with moments and the model's parameters.  heyoka's variational
equations (``var_ode_sys``, first order) give the same matrix with a quaternion and with two space
axes, not in compact mode; its error is that of the matrix relative to its largest entry, against
sixth-order differences of heyoka's runs in extended precision.

MᵀJM - J is the defect of a symplectic map, relative to \\|M\\|²\\|m\\|, which rounding multiplies.

Tangents of ensembles are slots beside those of the bodies: one direction, or the whole 6×6, over
``ph.solve_ensemble`` without derivatives, as called, on one thread.  The map of chaos is that of
``examples/hyperion_chaos.py``, on two threads.

The fit has nine unknowns and 60 attitudes; with finite differences it is the same search with
SciPy's ``2-point`` Jacobian.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.bench.records import Bench, Finding, Settings, Table, at_most
from polhode.bench.sensitivities.against_heyoka import race
from polhode.bench.sensitivities.fitting import fits
from polhode.bench.sensitivities.many import chaos, lanes
from polhode.bench.timing import columns, round_robin, row

INERTIA, CENTRE, OMEGA, END = (2.0, 3.0, 4.5), (1.0, 2.0, 5.0), (2.0, 3.0, 10.0), 10.0
TURN = 0.3, 0.0, 0.0
STATE = ("state",)
ALL = "state", "moments", "model.centre"
STEPS, LONG = 20_000, 100_000
COSTS: tuple[tuple[str, dict[str, Any], tuple[str, ...], float], ...] = (
    ("mr2", {"dt": 0.01}, STATE, 1.7),
    ("mr2", {"dt": 0.01}, ALL, 2.0),
    ("strang", {"dt": 0.01}, STATE, 3.0),
    ("imidm", {"dt": 0.01}, STATE, 3.5),
    ("extrapolation", {"rtol": 1e-9}, STATE, 14.0),
)
SYMPLECTIC = "mr2", "strang"


def top() -> ph.Problem:
    """Return the top of all tables but the fit's."""
    model = ph.models.heavy_top(1.0, centre=CENTRE)
    turned = Rotation.from_rotvec(TURN)
    return ph.Problem(ph.RigidBody(INERTIA), model, attitude=turned, omega=OMEGA)


def costs(settings: Settings) -> Iterator[Finding]:
    """Measure solvers with and without derivatives, in turn."""
    rows, verdicts = [], []
    steps = STEPS // 10 if settings.quick else STEPS
    for method, options, names, most in COSTS:
        settings.report(f"{method}, {', '.join(names)}")
        fixed = "dt" in options
        end = steps * options["dt"] if fixed else END
        given = {"method": method, **options, **({"save_every": steps} if fixed else {})}
        plain, wide = ph.prepare(top(), **given), ph.prepare(top(), **given, sensitivities=names)
        assert np.array_equal(plain((0.0, end)).q, wide((0.0, end)).q)
        per = steps if fixed else 1.0
        calls: dict[str, tuple[Callable, float]] = {
            "plain": (partial(plain, (0.0, end)), per),
            "wide": (partial(wide, (0.0, end)), per),
        }
        times = round_robin(calls, settings.repeats)
        ratio = times["wide"].minimum / times["plain"].minimum
        unit = "a step" if fixed else "a run"
        rows.append(row(f"{method}, {unit}", times["plain"]))
        rows.append(row(f"&nbsp;&nbsp;by {', '.join(names)}", times["wide"], ratio))
        verdicts.append(at_most(f"{method}: by {', '.join(names)}, over plain", ratio, most))
    yield Table("What derivatives cost", columns("a step or a run", "/ plain"), rows)
    yield from verdicts


def symplectic_defect(method: str, steps: int) -> float:
    """Return |MᵀJM - J| / (|M|² |m|) after some steps of 0.01 s."""
    solver = ph.prepare(top(), method=method, dt=0.01, save_every=steps, sensitivities=STATE)
    run = solver((0.0, steps * 0.01))
    matrix = run.stm[-1]
    start, end = (_form(m) for m in (run.angular_momentum[0], run.angular_momentum[-1]))
    defect = np.abs(matrix.T @ end @ matrix - start).max()
    size = np.linalg.norm(matrix, 2) ** 2 * np.linalg.norm(run.angular_momentum[-1])
    return float(defect / size)


def _form(m: np.ndarray) -> np.ndarray:
    """Return J at a momentum in body axes."""
    form = np.zeros((6, 6))
    form[:3, :3] = -np.array([[0, -m[2], m[1]], [m[2], 0, -m[0]], [-m[1], m[0], 0]])
    form[:3, 3:], form[3:, :3] = np.eye(3), -np.eye(3)
    return form


def defects(settings: Settings) -> Iterator[Finding]:
    """Measure how symplectic maps with derivatives are."""
    counts = (LONG // 100, LONG // 10) if settings.quick else (LONG // 100, LONG // 10, LONG)
    rows = [(m, n, symplectic_defect(m, n)) for m in SYMPLECTIC for n in counts]
    head = {"what": "map", "steps": "steps", "defect": "defect / (\\|M\\|² \\|m\\|)"}
    yield Table.of("Symplectic maps", head, rows)
    for method in SYMPLECTIC:
        worst = max(defect for name, n, defect in rows if name == method and n == counts[-1])
        yield at_most(f"{method}: relative defect after {counts[-1]} steps", worst, 1e-16)


@Bench(
    name="sensitivities",
    place=157,
    summary="derivatives of the motion: cost, heyoka's variational equations, lanes, a fit",
    needs=("heyoka",),
    repeats=15,
    keys={},
)
def benchmark(settings: Settings) -> Iterator[Finding]:
    yield from costs(settings)
    yield from defects(settings)
    yield from race(settings, top(), END)
    yield from lanes(settings)
    yield from chaos(settings)
    yield from fits(settings)
