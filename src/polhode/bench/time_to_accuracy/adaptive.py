"""Time to a given accuracy of many different tops with adaptive steps, against heyoka's batch mode.

1024 tops, each with its own moments, weight, centre of mass, attitude and momentum, for 10 seconds
on one thread.  For each attitude error (radians, root mean square over all tops): of all tolerances
that reach it the fastest, per top.

heyoka is used in its best form: batches of 4 and of 8, equations reduced by hand, the attitude as a
quaternion or as two inertial axes in the body, ``fast_math=True``, the state and the parameters
copied into a prepared integrator and out again.  Each of our tops has its own steps, and the same
bits as in a run of its own.  The reference is heyoka in extended precision.  All variants take
turns in one process; ratios are of least times.

The second table is the same race as called: heyoka's fastest variants against
``ph.solve_ensemble``, which sets up the members, checks them and makes a result, for 10 000 tops on
one thread each.  The third is the cost of this door, beyond the compiled loop.  The last is the
gain of the lanes: the speed of our loop over tops in lanes against that over one after another,
which gives the same bits.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode import loops
from polhode.bench.angles import rms_angle
from polhode.bench.peers import peer
from polhode.bench.records import (
    Bench,
    Finding,
    Key,
    Note,
    Settings,
    Table,
    at_least,
    at_most,
)
from polhode.bench.time_to_accuracy import heyoka
from polhode.bench.time_to_accuracy.race import Race, Variant, fastest
from polhode.bench.timing import columns, round_robin, row, timed
from polhode.compiler.machine import CompiledOrPlain, put, take
from polhode.compiler.tree import flat
from polhode.contracts import Integrator
from polhode.formulations import FORMULATIONS
from polhode.integrators import INTEGRATORS
from polhode.loops.join import bind_integrator
from polhode.loops.lanes import adaptive
from polhode.loops.lanes.blocks import pack, unpack

END = 10.0
CLAIMS = {1e-8: None, 1e-11: 3.0, 3e-14: 2.0}  # error -> the least ratio, of the loop
AS_CALLED = {1e-8: 4.0, 1e-11: 3.5, 3e-14: 3.0}  # the same of solve_ensemble
FINALISTS = 3  # variants for each error that are timed as called
TOLERANCES = np.append(10.0 ** -np.arange(7.0, 14.51, 0.5), 2e-15)
THEIRS = 10.0 ** -np.arange(5.0, 16.01, 0.5)
DOOR = {1_000: 1.0, 10_000: 0.5}  # tops -> microseconds a top that solve_ensemble may add
DOOR_TOLERANCE = 1e-5  # loose, so that the loop does not hide the door
IN_LANES, LEAST_GAIN = ("dopri5", "dop853", "vern9"), 3.0  # speed over one top after another
GAIN_TOLERANCES = 1e-8, 1e-11
PARTS = "heyoka", "door", "lanes"


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


@dataclass(frozen=True)
class Taylor:
    """A way to use heyoka: the form of the equations, the size of a batch, the tolerance."""

    form: str
    batch: int
    tolerance: float

    def variant(self, tops: Tops, right: np.ndarray) -> Variant:
        first = heyoka.state(self.form, tops.m, tops.q)
        given = equations(self.form), first, tops.parameters(), self.batch, self.tolerance, END
        call = heyoka.batches(*given, fast_math=True)
        error = rms_angle(heyoka.attitude(self.form, call()), right)
        name = f"heyoka, {self.form}, batch {self.batch}, tol {self.tolerance:.0e}"
        return Variant(f"{self.form} {self.batch}", name, error, call)


def all_of_heyoka(quick: bool) -> list[Taylor]:
    return [
        Taylor(form, batch, tolerance)
        for form in ("quaternion", "axes")
        for batch in (4, 8)
        for tolerance in THEIRS[:: 6 if quick else 1]
    ]


def extended(tops: Tops) -> np.ndarray:
    """Return the attitudes at the end by heyoka in extended precision."""
    form = "quaternion"
    first, parameters = heyoka.state(form, tops.m, tops.q), tops.parameters(np.longdouble)
    return heyoka.extended(equations(form), first, END, parameters)[-4:]


# ---- ours
MODEL = ph.models.heavy_top(1.0, centre=(1.0, 2.0, 5.0))
BODY = ph.RigidBody((1.0, 2.0, 2.5))


@cache
def lanes_of(integrator: Integrator) -> adaptive.Pursuits:
    return adaptive.Pursuits(integrator, FORMULATIONS["quaternion"], MODEL)


class Ours:
    """The tops in lanes, by the compiled loop of an integrator for a tolerance."""

    def __init__(self, name: str, tops: Tops, tolerance: float):
        self.name, self.count, self.tolerance = name, tops.count, float(tolerance)
        self.integrator = INTEGRATORS[name].suited_for(self.tolerance)
        self.runs = lanes_of(self.integrator)
        first = 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0
        self.slots = self.runs.slots_of(first, BODY.data, MODEL.params)
        self.places = adaptive.places(self.slots)
        table = np.tile(np.array(flat(self.slots))[:, None], tops.count)
        table[self.places.state] = np.vstack([tops.q, tops.m])
        table[self.places.body][:6] = np.vstack([tops.inertia, 1.0 / tops.inertia])
        table[self.places.numbers][1:] = tops.weight
        self.start = pack(table, tops.count)
        self.work = self.start.copy()

    def run(self) -> None:
        self.work[:] = self.start
        accuracy = self.tolerance, 0.0
        self.runs.begin(self.work, 0.0, END, 0.0, np.inf, accuracy, (), self.slots)
        self.runs.advance(self.work, END, END, np.inf, accuracy, (), self.slots)

    def variant(self, right: np.ndarray) -> Variant:
        self.run()
        rows = unpack(self.work, self.count)
        assert not rows[self.places.status].any()
        trials = (rows[self.places.accepted] + rows[self.places.rejected]).mean()
        text = f"{self.name}, tol {self.tolerance:.1e}, {trials:.1f} trials"
        error = rms_angle(rows[self.places.state][:4], right)
        return Variant(self.name, text, error, self.run)


class OneByOne:
    """The tops one after another, by the compiled loop of single runs."""

    def __init__(self, ours: Ours):
        parts = bind_integrator(ours.integrator, FORMULATIONS["quaternion"], MODEL, True)
        *_, state, carry, body, numbers = ours.slots
        self.pattern = state, carry, body, numbers
        self.loop = CompiledOrPlain(loops.bound(one_after_another, *parts.layers), "the top")
        places, table = ours.places, unpack(ours.start, ours.count)
        self.ours = ours
        self.start = table[places.state.start : places.numbers.stop].T.copy()
        self.work = self.start.copy()

    def run(self) -> int:
        """Return the number of trial steps."""
        self.work[:] = self.start
        return self.loop(self.work, self.pattern, END, self.ours.tolerance, np.empty((0, 9)))

    def same_bits(self) -> bool:
        """Whether lanes give the same bits."""
        self.run()
        self.ours.run()
        states = unpack(self.ours.work, self.ours.count)[self.ours.places.state]
        return np.array_equal(self.work[:, :7].T, states)


def one_after_another(rows, pattern, end, tolerance, out):
    """Step every row from 0 to ``end``; return the number of trial steps."""
    count, tolerances = 0, (tolerance, 0.0)
    for i in range(len(rows)):
        state, carry, body, numbers = take(rows, i, 0, pattern)
        given = True, state, carry, body, (numbers, ()), tolerances, np.inf, out
        found = loops.adapt(0.0, 0.0, end, 0.0, np.inf, *given)
        put(rows, i, found[3])
        count += found[6] + found[7]
    return count


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


def as_called(name: str, tops: Tops, tolerance: float, right: np.ndarray) -> Variant:
    result = solve_ensemble(name, tops, tolerance)
    assert result.success.all()
    assert result.q is not None
    error = rms_angle(result.q[-1].T, right)
    text = f"solve_ensemble, {name}, tol {tolerance:.1e}"
    return Variant(name, text, error, partial(solve_ensemble, name, tops, tolerance))


# ---- results
def against_heyoka(tops: Tops, called: int, names: list[str], settings: Settings) -> Iterator:
    """Race our loop over the tops, then ``solve_ensemble`` over ``called`` tops."""
    settings.report("the reference, by heyoka in extended precision")
    right = extended(tops)
    settings.report("all tolerances, then timing")
    tolerances = TOLERANCES[:: 6 if settings.quick else 1]
    theirs = {each.variant(tops, right): each for each in all_of_heyoka(settings.quick)}
    ours: dict[Variant, tuple[str, float]] = {}
    for name in names:
        ours |= {Ours(name, tops, t).variant(right): (name, float(t)) for t in tolerances}
    claims = {1e-11: None} if settings.quick else CLAIMS
    times = yield from Race(
        f"{tops.count} tops, t = {END:g} s, a top",
        claims,
        list(theirs),
        list(ours),
        judged=names[0],
        clock=partial(timed, steps=tops.count),
    ).run(settings)
    settings.report(f"solve_ensemble, {called} tops")
    judged = [v for v in ours if v.kind == names[0]]

    def best(ways: dict[Variant, Any], of: list[Variant]) -> list:
        """Return the ways of the fastest variants, each once."""
        found = {
            ways[v]: None for e in claims for v in fastest(of, e, times, FINALISTS)[:FINALISTS]
        }
        return list(found)

    many = Tops.random(called)
    right = extended(many)
    yield from Race(
        f"{called} tops as called, one thread, a top",
        {1e-11: None} if settings.quick else AS_CALLED,
        [way.variant(many, right) for way in best(theirs, list(theirs))],
        [as_called(name, many, t, right) for name, t in best(ours, judged)],
        problem="as called",
        judged=names[0],
        clock=partial(timed, steps=called),
    ).run(settings)


def door(name: str, settings: Settings) -> Iterator[Finding]:
    """Measure the cost of ``solve_ensemble`` beyond the compiled loop."""
    rows, verdicts = [], []
    for count, most in {64: 0.0}.items() if settings.quick else DOOR.items():
        settings.report(f"the door, {count} tops")
        tops = Tops.random(count)
        calls: dict[Any, tuple[Callable, float]] = {
            "loop": (Ours(name, tops, DOOR_TOLERANCE).run, count),
            "solve_ensemble": (partial(solve_ensemble, name, tops, DOOR_TOLERANCE), count),
        }
        times = round_robin(calls, 4 * settings.repeats)
        loop, whole = times.values()
        rows.append(row(f"{count} tops, loop", loop))
        rows.append(row(f"{count} tops, solve_ensemble", whole, whole.minimum / loop.minimum))
        added = (whole.minimum - loop.minimum) / 1e3
        what = f"{count} tops: microseconds that solve_ensemble adds, a top"
        verdicts.append(Note(f"{what}: {added:.2g}") if most == 0 else at_most(what, added, most))
    head = columns(f"{name}, tol {DOOR_TOLERANCE:.0e}, a top", "/ loop")
    yield Table("By the front door", head, rows)
    yield from verdicts


def gain_of_lanes(tops: Tops, settings: Settings) -> Iterator[Finding]:
    """Measure lanes against the same tops one after another, with the same bits."""
    rows: list[tuple] = []
    verdicts = []
    for name in IN_LANES[: 1 if settings.quick else None]:
        for t in GAIN_TOLERANCES:
            settings.report(f"{name} in lanes, tol {t:.0e}")
            ours = Ours(name, tops, t)
            alone = OneByOne(ours)
            assert alone.same_bits(), f"{name}: lanes give other bits than one top after another"
            trials = alone.run()
            calls = {"one": (alone.run, trials), "lanes": (ours.run, trials)}
            one, lanes = round_robin(calls, 2 * settings.repeats).values()
            gain = one.minimum / lanes.minimum
            text = f"{name}, tol {t:.0e}, {trials / tops.count:.1f} trials"
            rows.append((text, one.minimum, lanes.minimum, gain))
            what = f"{name}, tol {t:.0e}: speed in lanes over one top after another"
            verdicts.append(at_least(what, gain, LEAST_GAIN))
    head = {
        "what": "tops",
        "ns_one": "one by one, ns a trial",
        "ns_lanes": "in lanes",
        "gain": "gain",
    }
    yield Table.of(f"{tops.count} tops in lanes", head, rows)
    if not settings.quick:  # few tops keep lanes waiting at the end
        yield from verdicts


@Bench(
    name="adaptive",
    place=60,
    summary="different tops with their own steps to a given accuracy, against heyoka's batches",
    needs=("heyoka",),
    keys={
        "methods": Key("extrapolation", "names; the first is judged"),
        "tops": Key("1024", "number of tops"),
        "called": Key("10000", "number of tops for solve_ensemble"),
        "parts": Key("", f"of {', '.join(PARTS)}; default: all"),
    },
)
def benchmark(settings: Settings) -> Iterator[Finding]:
    names = settings.choose("methods", [n for n, each in INTEGRATORS.items() if each.adaptive])
    parts = settings.choose("parts", PARTS)
    tops = Tops.random(settings.count("tops", quick=64))
    if "heyoka" in parts and peer("heyoka") is not None:
        yield from against_heyoka(tops, settings.count("called", quick=64), names, settings)
    if "door" in parts:
        yield from door(names[0], settings)
    if "lanes" in parts:
        yield from gain_of_lanes(tops, settings)
