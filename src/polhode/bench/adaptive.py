"""Time to a given accuracy of many unlike tops with adaptive steps, against heyoka's batch mode.

1024 tops, each with moments, a weight, a centre of mass, an attitude and a momentum of its own, for
10 seconds on one thread.  For each attitude error (radians, root of the mean square over all tops):
of all tolerances that reach it the fastest, per top.

heyoka is taken in its best form: batches of 4 and of 8, equations reduced by hand, the attitude as
a quaternion or as two inertial axes in the body, ``fast_math=True``, the state and the parameters
copied into a prepared integrator and out again.  Every top of ours has steps of its own, and the
bits of a run of its own.  The truth is heyoka in extended precision.  All variants take turns in
one process; ratios are of least times.

The second table is of the same tops by ``ph.solve_ensemble``, which draws up the members, checks
them and makes a result, against the compiled loop alone.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.bench.peers import peer
from polhode.bench.records import Asked, Bench, Finding, Key, Note, Table, Verdict, at_least
from polhode.bench.timing import Times, columns, round_robin, row
from polhode.compiler.tree import flat
from polhode.formulations import FORMULATIONS
from polhode.integrators import INTEGRATORS
from polhode.loops.lanes import adaptive
from polhode.loops.lanes.blocks import pack, unpack

END = 10.0
ERRORS = {1e-8: None, 1e-11: 3.0, 3e-14: 2.0}  # and the least ratio that is promised
TOLERANCES = np.append(10.0 ** -np.arange(7.0, 14.51, 0.5), 2e-15)
THEIRS = 10.0 ** -np.arange(5.0, 16.01, 0.5)
FRONT = 1e-8, 1e-12, 2e-15  # tolerances of the second table
SHOWN = 3  # of each kind are timed well


# ---- the tops
@dataclass(frozen=True)
class Tops:
    """Rows of numbers, a column for each top."""

    inertia: np.ndarray
    weight: np.ndarray  # times centre of mass, in body axes
    q: np.ndarray
    m: np.ndarray

    @property
    def count(self) -> int:
        return len(self.q.T)


def tops(count: int) -> Tops:
    rng = np.random.default_rng(1)
    q = rng.normal(size=(4, count))
    return Tops(
        inertia=rng.uniform(1.0, 2.0, (3, count)),
        weight=rng.normal(size=(3, count)),
        q=q / np.linalg.norm(q, axis=0),
        m=rng.normal(size=(3, count)),
    )


def error(q: np.ndarray, right: np.ndarray) -> float:
    """The root of the mean square of the angle between attitudes, which are columns."""
    q = q / np.linalg.norm(q, axis=0)
    sign = np.sign(np.sum(q * right, axis=0))
    return float(np.sqrt(np.mean(np.sum((2.0 * (q * sign - right)) ** 2, axis=0))))


@dataclass(frozen=True)
class Variant:
    kind: str
    name: str
    error: float
    call: Callable


# ---- heyoka
FORMS = "quaternion", "axes"


def equations(form: str) -> list:
    """p' = p x ω + γ x weight; the parameters are 1/I, the weight, and differences of 1/I."""
    heyoka = peer("heyoka")
    p1, p2, p3 = heyoka.make_vars("p1", "p2", "p3")
    a, b, c, w1, w2, w3, d1, d2, d3 = (heyoka.par[i] for i in range(9))
    o1, o2, o3 = p1 * a, p2 * b, p3 * c
    if form == "quaternion":
        w, x, y, z = heyoka.make_vars("w", "x", "y", "z")
        g1, g2, g3 = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w + z * z - x * x - y * y
    else:
        g1, g2, g3 = heyoka.make_vars("g1", "g2", "g3")
    system = [
        (p1, d1 * (p2 * p3) + (g2 * w3 - g3 * w2)),
        (p2, d2 * (p3 * p1) + (g3 * w1 - g1 * w3)),
        (p3, d3 * (p1 * p2) + (g1 * w2 - g2 * w1)),
    ]
    if form == "quaternion":
        return [
            *system,
            (w, -0.5 * (x * o1 + y * o2 + z * o3)),
            (x, 0.5 * (w * o1 + y * o3 - z * o2)),
            (y, 0.5 * (w * o2 + z * o1 - x * o3)),
            (z, 0.5 * (w * o3 + x * o2 - y * o1)),
        ]
    for v1, v2, v3 in ((g1, g2, g3), heyoka.make_vars("h1", "h2", "h3")):
        system += [
            (v1, v2 * o3 - v3 * o2),
            (v2, v3 * o1 - v1 * o3),
            (v3, v1 * o2 - v2 * o1),
        ]
    return system


def start(group: Tops, form: str) -> tuple[np.ndarray, np.ndarray]:
    """(state, parameters)."""
    a = 1.0 / group.inertia
    parameters = np.vstack([a, group.weight, a[2] - a[1], a[0] - a[2], a[1] - a[0]])
    if form == "quaternion":
        return np.vstack([group.m, group.q]), parameters
    w, x, y, z = group.q
    vertical = 2 * (x * z - w * y), 2 * (y * z + w * x), w * w + z * z - x * x - y * y
    first = w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)
    return np.vstack([group.m, *vertical, *first]), parameters


def attitudes(state: np.ndarray, form: str) -> np.ndarray:
    if form == "quaternion":
        return state[3:]
    vertical, first = state[3:6], state[6:9]
    vertical = vertical / np.linalg.norm(vertical, axis=0)
    first = first - vertical * np.sum(vertical * first, axis=0)
    first = first / np.linalg.norm(first, axis=0)
    matrix = np.stack([first, np.cross(vertical.T, first.T).T, vertical])
    quaternions = Rotation.from_matrix(np.moveaxis(matrix, 2, 0)).as_quat(scalar_first=True)
    return np.asarray(quaternions.T)


def propagate(
    solver: Any, batch: int, first: np.ndarray, parameters: np.ndarray, out: np.ndarray
) -> None:
    for k in range(0, first.shape[1], batch):
        solver.set_time(0.0)
        solver.state[:] = first[:, k : k + batch]
        solver.pars[:] = parameters[:, k : k + batch]
        solver.propagate_until(END)
        out[:, k : k + batch] = solver.state


def heyoka_variants(group: Tops, right: np.ndarray, quick: bool) -> list[Variant]:
    heyoka, found = peer("heyoka"), []
    for form in FORMS:
        first, parameters = start(group, form)
        for batch in (4, 8):
            for tolerance in THEIRS[:: 6 if quick else 1]:
                solver = heyoka.taylor_adaptive_batch(
                    equations(form),
                    first[:, :batch].copy(),
                    pars=parameters[:, :batch].copy(),
                    tol=float(tolerance),
                    fast_math=True,
                )
                out = np.empty_like(first)
                call = partial(propagate, solver, batch, first, parameters, out)
                call()
                name = f"heyoka, {form}, batch {batch}, tol {tolerance:.0e}"
                off = error(attitudes(out, form), right)
                found.append(Variant(f"{form} {batch}", name, off, call))
    return found


def extended(group: Tops) -> np.ndarray:
    """The attitudes at the end by heyoka in extended precision."""
    heyoka, kind = peer("heyoka"), np.longdouble
    first, parameters = (x.astype(kind) for x in start(group, "quaternion"))
    a = kind(1.0) / group.inertia.astype(kind)
    parameters[:3] = a
    parameters[6:] = a[2] - a[1], a[0] - a[2], a[1] - a[0]
    solver = heyoka.taylor_adaptive(
        equations("quaternion"), first[:, 0], pars=parameters[:, 0], tol=kind(1e-20), fp_type=kind
    )
    right = np.empty((4, group.count))
    for k in range(group.count):
        solver.time = kind(0.0)
        solver.state[:], solver.pars[:] = first[:, k], parameters[:, k]
        solver.propagate_until(kind(END))
        right[:, k] = solver.state[3:]
    return right


# ---- ours
MODEL = ph.models.heavy_top(1.0, centre=(1.0, 2.0, 5.0))
BODY = ph.RigidBody((1.0, 2.0, 2.5))


class Ours:
    """The tops in lanes, by the compiled loop of an integrator."""

    def __init__(self, name: str, group: Tops):
        self.name, self.count = name, group.count
        self.runs = adaptive.Pursuits(INTEGRATORS[name], FORMULATIONS["quaternion"], MODEL)
        first = 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0
        self.slots = self.runs.slots_of(first, BODY.data, MODEL.params)
        self.places = adaptive.places(self.slots)
        table = np.tile(np.array(flat(self.slots))[:, None], group.count)
        table[self.places.state] = np.vstack([group.q, group.m])
        table[self.places.body][:6] = np.vstack([group.inertia, 1.0 / group.inertia])
        table[self.places.numbers][1:] = group.weight
        self.start = pack(table, group.count)
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
        off = error(rows[self.places.state][:4], right)
        return Variant(self.name, text, off, partial(self.run, tolerance))


def front_door(name: str, group: Tops, tolerance: float) -> ph.EnsembleResult:
    """The tops as a user runs them."""
    given = {
        "inertia": group.inertia.T,
        "attitude": Rotation.from_quat(group.q.T, scalar_first=True),
        "angular_momentum": group.m.T,
        "model.centre": group.weight.T,
    }
    problem = ph.Problem(BODY, MODEL, omega=[0.0, 0.0, 1.0])
    return ph.solve_ensemble(
        problem, (0.0, END), members=group.count, vary=given, method=name, rtol=tolerance, threads=1
    )


# ---- results
HEAD = {
    "what": "error and variant",
    "error": "error",
    "us_min": "µs min",
    "us_median": "µs median",
    "ratio_min": "heyoka / ours, min",
    "ratio_median": "median",
}


def best(variants: list[Variant], limit: float, quick: dict[Any, Times]) -> list[Variant]:
    """Of each kind the few fastest, by a first look."""
    chosen = []
    for kind in dict.fromkeys(v.kind for v in variants):
        good = [v for v in variants if v.kind == kind and v.error <= limit]
        chosen += sorted(good, key=lambda v: quick[v].minimum)[:SHOWN]
    return chosen


def against_heyoka(group: Tops, names: list[str], asked: Asked) -> Iterator[Finding]:
    errors = {1e-11: None} if asked.quick else ERRORS
    asked.say("the truth, by heyoka in extended precision")
    right = extended(group)
    asked.say("all tolerances")
    theirs = heyoka_variants(group, right, asked.quick)
    tolerances = TOLERANCES[::6] if asked.quick else TOLERANCES
    mine = [ours.variant(t, right) for n in names for ours in [Ours(n, group)] for t in tolerances]
    quick = round_robin({v: (v.call, group.count) for v in (*theirs, *mine)}, 3)
    chosen = {e: (best(theirs, e, quick), best(mine, e, quick)) for e in errors}
    variants = dict.fromkeys(v for a, b in chosen.values() for v in (*a, *b))
    asked.say("timing")
    times = round_robin({v: (v.call, group.count) for v in variants}, asked.repeats)
    rows: list[dict[str, Any]] = []
    verdicts: list[Finding] = []
    for limit, least in errors.items():
        peers, good = (sorted(x, key=lambda v: times[v].minimum) for x in chosen[limit])
        if not peers:
            yield Note(f"heyoka does not reach {limit:.0e}")
            continue
        fastest: dict[str, Variant] = {}
        for variant in good:
            fastest.setdefault(variant.kind, variant)
        rows.append(compared(limit, peers[0], times[peers[0]], None))
        ratios = {}
        for kind, variant in fastest.items():
            rows.append(compared(limit, variant, times[variant], times[peers[0]]))
            ratios[kind] = rows[-1]["ratio_min"]
        what = f"{limit:.0e}: heyoka / {names[0]}"
        if least is not None and names[0] in ratios:
            verdicts.append(at_least(what, ratios[names[0]], least))
        elif least is not None:
            verdicts.append(Verdict(what, f"at least {least:g}", "not reached", False))
    yield Table(f"{group.count} tops, t = {END:g} s, a top", HEAD, rows)
    yield from verdicts


def compared(limit: float, variant: Variant, times: Times, peer: Times | None) -> dict[str, Any]:
    return {
        "what": f"{limit:.0e}  {variant.name}",
        "error": variant.error,
        "us_min": times.minimum / 1e3,
        "us_median": times.median / 1e3,
        "ratio_min": None if peer is None else peer.minimum / times.minimum,
        "ratio_median": None if peer is None else peer.median / times.median,
    }


def by_the_front_door(group: Tops, name: str, asked: Asked) -> Iterator[Finding]:
    """What ``solve_ensemble`` costs over the compiled loop."""
    asked.say("solve_ensemble")
    ours, tolerances = Ours(name, group), FRONT[1:2] if asked.quick else FRONT
    calls: dict[Any, tuple[Callable, float]] = {}
    for tolerance in tolerances:
        calls[tolerance, "loop"] = partial(ours.run, tolerance), group.count
        calls[tolerance, "solve_ensemble"] = (
            partial(front_door, name, group, tolerance),
            group.count,
        )
    times = round_robin(calls, asked.repeats)
    rows = []
    for (tolerance, how), taken in times.items():
        ratio = taken.minimum / times[tolerance, "loop"].minimum if how != "loop" else None
        rows.append(row(f"tol {tolerance:.0e}, {how}", taken, ratio))
    head = columns(f"{name}, {group.count} tops, a top", "/ loop")
    yield Table("By the front door", head, rows)
    over = [
        times[tolerance, "solve_ensemble"].minimum - times[tolerance, "loop"].minimum
        for tolerance in tolerances
    ]
    yield Note(
        f"solve_ensemble costs {sum(over) / len(over) / 1e3:.2g} µs a top more than the loop"
    )


def measure(asked: Asked) -> Iterator[Finding]:
    names = asked.chosen("methods", [n for n, each in INTEGRATORS.items() if each.adaptive])
    count = min(asked.count("tops"), 64) if asked.quick else asked.count("tops")
    group = tops(count)
    if peer("heyoka") is not None:
        yield from against_heyoka(group, names, asked)
    yield from by_the_front_door(group, names[0], asked)


BENCH = Bench(
    name="adaptive",
    summary="unlike tops, each with its own steps, to a given accuracy, against heyoka's batches",
    measure=measure,
    needs=("heyoka",),
    keys={
        "methods": Key("extrapolation", "names, the first is judged"),
        "tops": Key("1024", "how many"),
    },
)
