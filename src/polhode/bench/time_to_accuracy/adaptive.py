"""Time to a given accuracy of many different tops with adaptive steps, against heyoka's batch mode.

1024 tops, each with its own moments, weight, centre of mass, attitude and momentum, for 10 seconds
on one thread.  For each attitude error (radians, root mean square over all tops): of all tolerances
that reach it the fastest, per top.

heyoka is used in its best form: batches of 4 and of 8, equations reduced by hand, the attitude as a
quaternion or as two inertial axes in the body, ``fast_math=True``, the state and the parameters
copied into a prepared integrator and out again.  Each of our tops has its own steps, and the same
bits as in a run of its own.  The reference is heyoka in extended precision.  All variants take
turns in one process; ratios are of least times.

The second table is of the same tops by ``ph.solve_ensemble``, which sets up the members, checks
them and makes a result, against the compiled loop alone.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.bench.angles import rms_angle
from polhode.bench.peers import peer
from polhode.bench.records import Bench, Finding, Key, Note, Settings, Table
from polhode.bench.time_to_accuracy import heyoka
from polhode.bench.time_to_accuracy.race import Race, Variant
from polhode.bench.timing import columns, round_robin, row, timed
from polhode.compiler.tree import flat
from polhode.formulations import FORMULATIONS
from polhode.integrators import INTEGRATORS
from polhode.loops.lanes import adaptive
from polhode.loops.lanes.blocks import pack, unpack

END = 10.0
CLAIMS = {1e-8: None, 1e-11: 3.0, 3e-14: 2.0}  # error -> the least ratio
TOLERANCES = np.append(10.0 ** -np.arange(7.0, 14.51, 0.5), 2e-15)
THEIRS = 10.0 ** -np.arange(5.0, 16.01, 0.5)
FRONT = 1e-8, 1e-12, 2e-15  # tolerances of the second table


# ---- the tops
@dataclass(frozen=True)
class Tops:
    """Rows of numbers, with a column for each top."""

    inertia: np.ndarray
    weight: np.ndarray  # times the centre of mass, in body axes
    q: np.ndarray
    m: np.ndarray

    @staticmethod
    def random(count: int) -> "Tops":
        rng = np.random.default_rng(1)
        q = rng.normal(size=(4, count))
        return Tops(
            inertia=rng.uniform(1.0, 2.0, (3, count)),
            weight=rng.normal(size=(3, count)),
            q=q / np.linalg.norm(q, axis=0),
            m=rng.normal(size=(3, count)),
        )

    @property
    def count(self) -> int:
        return len(self.q.T)

    def parameters(self, kind: type = float) -> np.ndarray:
        """The parameters of ``equations``."""
        a, b, c = inverse = kind(1.0) / self.inertia.astype(kind)
        return np.vstack([inverse, self.weight, c - b, a - c, b - a])


# ---- heyoka
def equations(form: str) -> list:
    """Return the equations of a top; its parameters are 1/I, the weight, and differences of 1/I."""
    par = [peer("heyoka").par[k] for k in range(9)]
    return heyoka.top_equations(form, par[:3], par[3:6], par[6:])


def heyoka_variants(tops: Tops, right: np.ndarray, quick: bool) -> Iterator[Variant]:
    """Yield a run for each form, size of a batch, and tolerance."""
    parameters = tops.parameters()
    for form in ("quaternion", "axes"):
        first, system = heyoka.state(form, tops.m, tops.q), equations(form)
        for batch in (4, 8):
            for tolerance in THEIRS[:: 6 if quick else 1]:
                call = heyoka.batches(
                    system, first, parameters, batch, tolerance, END, fast_math=True
                )
                name = f"heyoka, {form}, batch {batch}, tol {tolerance:.0e}"
                error = rms_angle(heyoka.attitude(form, call()), right)
                yield Variant(f"{form} {batch}", name, error, call)


def extended(tops: Tops) -> np.ndarray:
    """Return the attitudes at the end by heyoka in extended precision."""
    form = "quaternion"
    first, parameters = heyoka.state(form, tops.m, tops.q), tops.parameters(np.longdouble)
    return heyoka.extended(equations(form), first, END, parameters)[-4:]


# ---- ours
MODEL = ph.models.heavy_top(1.0, centre=(1.0, 2.0, 5.0))
BODY = ph.RigidBody((1.0, 2.0, 2.5))


class Ours:
    """The tops in lanes, by the compiled loop of an integrator."""

    def __init__(self, name: str, tops: Tops):
        self.name, self.count = name, tops.count
        self.runs = adaptive.Pursuits(INTEGRATORS[name], FORMULATIONS["quaternion"], MODEL)
        first = 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0
        self.slots = self.runs.slots_of(first, BODY.data, MODEL.params)
        self.places = adaptive.places(self.slots)
        table = np.tile(np.array(flat(self.slots))[:, None], tops.count)
        table[self.places.state] = np.vstack([tops.q, tops.m])
        table[self.places.body][:6] = np.vstack([tops.inertia, 1.0 / tops.inertia])
        table[self.places.numbers][1:] = tops.weight
        self.start = pack(table, tops.count)
        self.work = self.start.copy()

    def run(self, tolerance: float) -> None:
        self.work[:] = self.start
        accuracy = float(tolerance), 0.0
        self.runs.begin(self.work, 0.0, END, 0.0, np.inf, accuracy, (), self.slots)
        self.runs.advance(self.work, END, END, np.inf, accuracy, (), self.slots)

    def variant(self, tolerance: float, right: np.ndarray) -> Variant:
        self.run(tolerance)
        rows = unpack(self.work, self.count)
        assert not rows[self.places.status].any()
        trials = (rows[self.places.accepted] + rows[self.places.rejected]).mean()
        text = f"{self.name}, tol {tolerance:.1e}, {trials:.1f} trials"
        error = rms_angle(rows[self.places.state][:4], right)
        return Variant(self.name, text, error, partial(self.run, tolerance))


def solve_ensemble(name: str, tops: Tops, tolerance: float) -> ph.EnsembleResult:
    """Solve the tops as a user does."""
    vary = {
        "inertia": tops.inertia.T,
        "attitude": Rotation.from_quat(tops.q.T, scalar_first=True),
        "angular_momentum": tops.m.T,
        "model.centre": tops.weight.T,
    }
    problem = ph.Problem(BODY, MODEL, omega=[0.0, 0.0, 1.0])
    return ph.solve_ensemble(
        problem, (0.0, END), members=tops.count, vary=vary, method=name, rtol=tolerance, threads=1
    )


# ---- results
def against_heyoka(tops: Tops, names: list[str], settings: Settings) -> Iterator[Finding]:
    settings.report("the reference, by heyoka in extended precision")
    right = extended(tops)
    settings.report("all tolerances, then timing")
    tolerances = TOLERANCES[:: 6 if settings.quick else 1]
    yield from Race(
        f"{tops.count} tops, t = {END:g} s, a top",
        {1e-11: None} if settings.quick else CLAIMS,
        list(heyoka_variants(tops, right, settings.quick)),
        [ours.variant(t, right) for n in names for ours in [Ours(n, tops)] for t in tolerances],
        judged=names[0],
        clock=partial(timed, steps=tops.count),
    ).run(settings)


def by_the_front_door(tops: Tops, name: str, settings: Settings) -> Iterator[Finding]:
    """Measure the cost of ``solve_ensemble`` beyond the compiled loop."""
    settings.report("solve_ensemble")
    ours, tolerances = Ours(name, tops), FRONT[1:2] if settings.quick else FRONT
    calls: dict[Any, tuple[Callable, float]] = {}
    for t in tolerances:
        calls[t, "loop"] = partial(ours.run, t), tops.count
        calls[t, "solve_ensemble"] = partial(solve_ensemble, name, tops, t), tops.count
    times = round_robin(calls, settings.repeats)
    rows, over = [], []
    for t in tolerances:
        loop, whole = times[t, "loop"], times[t, "solve_ensemble"]
        rows.append(row(f"tol {t:.0e}, loop", loop))
        rows.append(row(f"tol {t:.0e}, solve_ensemble", whole, whole.minimum / loop.minimum))
        over.append(whole.minimum - loop.minimum)
    head = columns(f"{name}, {tops.count} tops, a top", "/ loop")
    yield Table("By the front door", head, rows)
    mean = sum(over) / len(over) / 1e3
    yield Note(f"solve_ensemble costs {mean:.2g} µs a top more than the loop")


@Bench(
    name="adaptive",
    place=60,
    summary="different tops with their own steps to a given accuracy, against heyoka's batches",
    needs=("heyoka",),
    keys={
        "methods": Key("extrapolation", "names; the first is judged"),
        "tops": Key("1024", "number of tops"),
    },
)
def benchmark(settings: Settings) -> Iterator[Finding]:
    names = settings.choose("methods", [n for n, each in INTEGRATORS.items() if each.adaptive])
    tops = Tops.random(settings.count("tops", quick=64))
    if peer("heyoka") is not None:
        yield from against_heyoka(tops, names, settings)
    yield from by_the_front_door(tops, names[0], settings)
