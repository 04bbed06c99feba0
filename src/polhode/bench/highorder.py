"""Time to a given accuracy of adaptive integrators with a torque, against heyoka's Taylor series.

Three tops: the asymmetric one of ``precision.py``, one whose motion its weight dominates, and the
first with a user's torque in Python, with sine, cosine and square root.  For each attitude error at
the end (radians): the loosest tolerance that reaches it (three in turn must, a quarter of a decade
apart), and the time of the prepared solver, as a user calls it.

heyoka is taken in its best form and at its best tolerance, as in ``precision.py``: of all that
reach the error the fastest counts, a lucky one too.  The truth is heyoka in extended precision.
All variants take turns in one process; ratios are of least times.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.bench import precision
from polhode.bench.peers import peer
from polhode.bench.precision import SHOWN, Top, Variant
from polhode.bench.records import Asked, Bench, Finding, Key, Table, Verdict
from polhode.bench.timing import timed

ERRORS = 1e-6, 1e-10, 1e-12, 1e-13
TOLERANCES = 10.0 ** -np.arange(5.0, 14.51, 0.25)


def swaying(t, q, omega, params):
    """A user's torque: a weight that sways, a push that turns, a drag that grows with the rate."""
    w, x, y, z = q
    (c1, c2, c3), sway, push, drag = params
    f = 1.0 + sway * math.sin(3.0 * t)
    g1, g2, g3 = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w**2 + z**2 - x**2 - y**2
    d = drag * math.sqrt(1.0 + omega[0] ** 2 + omega[1] ** 2 + omega[2] ** 2)
    return (
        f * (g2 * c3 - g3 * c2) - d * omega[0] + push * math.cos(2.0 * t),
        f * (g3 * c1 - g1 * c3) - d * omega[1],
        f * (g1 * c2 - g2 * c1) - d * omega[2],
    )


SWAY, PUSH, DRAG = 0.1, 0.3, 0.002


@dataclass(frozen=True)
class Case(Top):
    """A top, and the start of its motion."""

    turn: tuple[float, float, float] = (0.3, 0.0, 0.0)
    sways: bool = False

    @property
    def problem(self) -> ph.Problem:
        model = ph.models.heavy_top(1.0, centre=self.weight)
        if self.sways:
            model = ph.torque(swaying, (self.weight, SWAY, PUSH, DRAG))
        return ph.Problem(
            ph.RigidBody(self.inertia),
            model,
            attitude=Rotation.from_rotvec(self.turn),
            omega=self.omega,
            name=self.title,
        )

    def equations(self, form: str, reduced: bool = True) -> list:
        system = super().equations(form, reduced)
        if not self.sways:
            return system
        heyoka = peer("heyoka")
        p = [variable for variable, _ in system[:3]]
        g = [variable for variable, _ in system[3:6]]
        if form == "quaternion":
            w, x, y, z = heyoka.make_vars("w", "x", "y", "z")
            g = [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w + z * z - x * x - y * y]
        omega = [a / moment for a, moment in zip(p, self.inertia, strict=True)]
        (c1, c2, c3), t = self.weight, heyoka.time
        sway = SWAY * heyoka.sin(3.0 * t)
        d = DRAG * heyoka.sqrt(1.0 + omega[0] ** 2.0 + omega[1] ** 2.0 + omega[2] ** 2.0)
        more = [
            sway * (g[1] * c3 - g[2] * c2) - d * omega[0] + PUSH * heyoka.cos(2.0 * t),
            sway * (g[2] * c1 - g[0] * c3) - d * omega[1],
            sway * (g[0] * c2 - g[1] * c1) - d * omega[2],
        ]
        changed = [(a, b + c) for (a, b), c in zip(system[:3], more, strict=True)]
        return [*changed, *system[3:]]


ASYMMETRIC: dict[str, Any] = {
    "inertia": (2.0, 3.0, 4.5),
    "weight": (1.0, 2.0, 5.0),
    "omega": (2.0, 3.0, 10.0),
}
CASES = (
    Case("asymmetric top", **ASYMMETRIC, least=(5.0, 6.0, 6.5, 5.5)),
    Case(
        "top that its weight dominates",
        inertia=(1.0, 1.6, 2.2),
        weight=(4.0, -3.0, 12.0),
        omega=(1.0, 6.0, 2.0),
        turn=(1.1, 0.4, -0.3),
        end=8.0,
        least=(4.0, 4.5, 5.0, 4.0),
    ),
    Case(
        "asymmetric top, a user's torque",
        **ASYMMETRIC,
        sways=True,
        least=(4.0, 4.8, 5.2, 4.4),
    ),
)


def ours(case: Case, name: str, right: np.ndarray, quick: bool = False) -> list[Variant]:
    """A variant for each tolerance; its error is that of the worst of three in turn."""
    problem, span, runs = case.problem, (0.0, case.end), []
    for tolerance in TOLERANCES[:: 6 if quick else 1]:
        solver = ph.prepare(problem, method=name, rtol=float(tolerance), atol=0.0)
        run = solver(span)
        error = precision.apart(run.q[-1], right)
        runs.append((tolerance, run.nsteps + run.rejected, error, solver))
    found = []
    for k, (tolerance, steps, _, solver) in enumerate(runs[:-2]):
        worst = max(error for _, _, error, _ in runs[k : k + 3])
        text = f"{name}, tol {tolerance:.1e}, {steps} trials"
        found.append(Variant(name, text, worst, lambda solver=solver: solver(span)))
    return found


def best(variants: list[Variant], error: float, quick: dict) -> list[Variant]:
    """Of each kind the few fastest, by a first look."""
    chosen = []
    for kind in dict.fromkeys(v.kind for v in variants):
        good = [v for v in variants if v.kind == kind and v.error <= error]
        chosen += sorted(good, key=lambda v: quick[v].minimum)[:SHOWN]
    return chosen


def measured(case: Case, names: list[str], asked: Asked) -> Iterator[Finding]:
    right = precision.extended(case)
    others = precision.heyoka_variants(case, right, asked.quick)
    mine = [variant for name in names for variant in ours(case, name, right, asked.quick)]
    quick = timed([*others, *mine], 5)
    chosen = {e: (best(others, e, quick), best(mine, e, quick)) for e in ERRORS}
    wanted = dict.fromkeys(v for a, b in chosen.values() for v in (*a, *b))
    times = timed(list(wanted), asked.repeats)
    rows: list[dict] = []
    verdicts: list[Verdict] = []
    for error, least in zip(ERRORS, case.least, strict=True):
        peers, good = chosen[error]
        if not peers:
            continue
        first = min(peers, key=lambda v: times[v].minimum)
        rows.append(precision.row(error, first, times[first], None))
        fastest: dict[str, Variant] = {}
        for variant in sorted(good, key=lambda v: times[v].minimum):
            fastest.setdefault(variant.kind, variant)
        rows += [precision.row(error, v, times[v], times[first]) for v in fastest.values()]
        ratio: float | str = "not reached"
        if names[0] in fastest:
            ratio = times[first].minimum / times[fastest[names[0]]].minimum
        met = isinstance(ratio, float) and ratio >= least
        what = f"{case.title}, {error:.0e}: heyoka / {names[0]}"
        if not asked.quick:
            verdicts.append(Verdict(what, f"at least {least:g}", ratio, met))
    yield Table(f"{case.title}, t = {case.end:g} s", precision.HEAD, rows)
    yield from verdicts


def measure(asked: Asked) -> Iterator[Finding]:
    if peer("heyoka") is None:
        return
    numbers = [str(k + 1) for k in range(len(CASES))]
    for which in asked.chosen("tops", numbers)[: 1 if asked.quick else None]:
        case = CASES[int(which) - 1]
        asked.say(case.title)
        yield from measured(case, asked.listed("methods"), asked)


BENCH = Bench(
    name="highorder",
    summary="time to a given accuracy of adaptive integrators, against heyoka's Taylor series",
    measure=measure,
    needs=("heyoka",),
    keys={
        "methods": Key("extrapolation", "names; the first is judged"),
        "tops": Key("", "which of the three tops, from 1 on; default all"),
    },
)
