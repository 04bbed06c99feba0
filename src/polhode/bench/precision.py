"""Time to a given accuracy, against heyoka's Taylor integrator.

Two tops for 10 seconds: Krysl's fast Lagrange top, and an asymmetric one whose centre of mass lies
on none of its axes.  For each attitude error at the end (radians) and each explicit method of order
2 or more: the longest step that reaches it (``ph.compare``: three steps in turn must, an eighth of
an octave apart), then the time of the prepared solver, as a user calls it.

heyoka is taken in its best form: equations reduced by hand (no products with zeros and ones, the
momentum along the axis of a Lagrange top a constant), the attitude as a quaternion, as two inertial
axes in the body, or as the vertical and a quaternion, ``fast_math=True``.  Of all forms and all
tolerances the fastest that reaches the error counts, a lucky one too.

All variants take turns in one process; ratios are heyoka's least time over ours.  The truth is a
method of order 8 with its step halved down to rounding (``polhode.comparison.reference``);
heyoka with extended precision confirms it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.bench.peers import peer
from polhode.bench.records import Asked, Bench, Finding, Key, Note, Table, Verdict
from polhode.bench.timing import Times, timed
from polhode.comparison.reference import angle, true_end

END = 10.0
ERRORS = 1e-6, 1e-10, 1e-12
TOLERANCES = 10.0 ** -np.arange(4.0, 17.01, 0.5)
QUICK = ["srkn14", "strang4"]
SHOWN = 3  # of our methods for each error; as many of heyoka's tolerances are timed well


@dataclass(frozen=True)
class Top:
    """Moments, the moment of the weight in body axes, and what is promised for it."""

    title: str
    inertia: tuple[float, float, float]
    weight: tuple[float, float, float]
    omega: tuple[float, float, float]
    least: tuple[float, ...] = ()  # ratios at the errors
    end: float = END

    @property
    def problem(self) -> ph.Problem:
        return ph.Problem(
            ph.RigidBody(self.inertia),
            ph.models.heavy_top(1.0, centre=self.weight)
            if any(self.weight[:2])
            else ph.models.heavy_top(self.weight[2]),
            attitude=Rotation.from_rotvec([0.3, 0.0, 0.0]),
            omega=self.omega,
            name=self.title,
        )

    @property
    def is_lagrange(self) -> bool:
        return self.inertia[0] == self.inertia[1] and not any(self.weight[:2])

    def equations(self, form: str, reduced: bool = True) -> list:
        """For heyoka."""
        return equations(self, form, reduced)


TOPS = (
    Top("fast Lagrange top", (5.0, 5.0, 1.0), (0.0, 0.0, 20.0), (0.0, 0.0, 50.0), (10.0, 4.0, 2.5)),
    Top("asymmetric top", (2.0, 3.0, 4.5), (1.0, 2.0, 5.0), (2.0, 3.0, 10.0)),
)


# ---- heyoka
def equations(top: Top, form: str, reduced: bool = True) -> list:
    """p' = p × ω + γ × weight, and the attitude in one of three forms.

    Not ``reduced``: without differences of moments, whose rounding turns the fast top by 3e-14.
    """
    heyoka = peer("heyoka")
    lagrange = reduced and top.is_lagrange
    p1, p2, p3 = heyoka.make_vars("p1", "p2", "p3")
    i1, i2, i3 = (1.0 / moment for moment in top.inertia)
    if lagrange:
        p3 = top.inertia[2] * top.omega[2]
    w1, w2, w3 = p1 * i1, p2 * i2, p3 * i3
    if form == "quaternion":
        w, x, y, z = heyoka.make_vars("w", "x", "y", "z")
        g = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w + z * z - x * x - y * y
    else:
        g = heyoka.make_vars("g1", "g2", "g3")
    c1, c2, c3 = top.weight
    if lagrange:
        spin = (i3 - i1) * p3
        system = [(p1, spin * p2 + c3 * g[1]), (p2, -spin * p1 - c3 * g[0])]
    elif not reduced:
        system = [
            (p1, p2 * w3 - p3 * w2 + (c3 * g[1] - c2 * g[2])),
            (p2, p3 * w1 - p1 * w3 + (c1 * g[2] - c3 * g[0])),
            (p3, p1 * w2 - p2 * w1 + (c2 * g[0] - c1 * g[1])),
        ]
    else:
        system = [
            (p1, (i3 - i2) * (p2 * p3) + (c3 * g[1] - c2 * g[2])),
            (p2, (i1 - i3) * (p3 * p1) + (c1 * g[2] - c3 * g[0])),
            (p3, (i2 - i1) * (p1 * p2) + (c2 * g[0] - c1 * g[1])),
        ]

    def turning(v: Any) -> list:
        """An inertial direction, seen from the body: v' = v × ω."""
        a, b, c = v
        return [(a, b * w3 - c * w2), (b, c * w1 - a * w3), (c, a * w2 - b * w1)]

    if form != "quaternion":
        system += turning(g)
    if form == "axes":
        return system + turning(heyoka.make_vars("a1", "a2", "a3"))
    w, x, y, z = heyoka.make_vars("w", "x", "y", "z")
    return [
        *system,
        (w, -0.5 * (x * w1 + y * w2 + z * w3)),
        (x, 0.5 * (w * w1 + y * w3 - z * w2)),
        (y, 0.5 * (w * w2 + z * w1 - x * w3)),
        (z, 0.5 * (w * w3 + x * w2 - y * w1)),
    ]


FORMS = "quaternion", "axes", "vertical and quaternion"


def start(top: Top, form: str, reduced: bool = True) -> np.ndarray:
    problem = top.problem
    momentum = list(problem.angular_momentum)[: 2 if reduced and top.is_lagrange else 3]
    matrix = Rotation.from_quat(problem.attitude, scalar_first=True).as_matrix()
    vertical = [] if form == "quaternion" else list(matrix[2])
    return np.array([*momentum, *vertical, *(matrix[0] if form == "axes" else problem.attitude)])


def attitude(state: np.ndarray, form: str) -> np.ndarray:
    """The quaternion at the end."""
    if form != "axes":
        return state[-4:]
    vertical, first = state[-6:-3], state[-3:]
    vertical = vertical / np.linalg.norm(vertical)
    first = first - vertical * (vertical @ first)
    first = first / np.linalg.norm(first)
    matrix = np.array([first, np.cross(vertical, first), vertical])
    return Rotation.from_matrix(matrix).as_quat(scalar_first=True)


@dataclass(frozen=True)
class Variant:
    """A run that reaches some error: what it is called, the call."""

    kind: str  # a method, or a form of heyoka's equations
    name: str
    error: float
    call: Callable


def heyoka_variants(top: Top, right: np.ndarray, quick: bool = False) -> list[Variant]:
    heyoka, found = peer("heyoka"), []
    for form in FORMS:
        first = start(top, form)
        for tolerance in TOLERANCES[:: 6 if quick else 1]:
            solver = heyoka.taylor_adaptive(
                top.equations(form), first.copy(), tol=float(tolerance), fast_math=True
            )

            def call(solver: Any = solver, first: np.ndarray = first) -> np.ndarray:
                solver.time = 0.0
                solver.state[:] = first
                solver.propagate_until(top.end)
                state: np.ndarray = solver.state
                return state

            error = apart(attitude(call(), form), right)
            found.append(Variant(form, f"heyoka, {form}, tol {tolerance:.0e}", error, call))
    return found


def extended(top: Top) -> np.ndarray:
    """The attitude at the end by heyoka in extended precision."""
    heyoka = peer("heyoka")
    first = start(top, "quaternion", False).astype(np.longdouble)
    system = top.equations("quaternion", False)
    tolerance = np.longdouble(1e-20)
    solver = heyoka.taylor_adaptive(system, first, tol=tolerance, fp_type=np.longdouble)
    solver.propagate_until(np.longdouble(top.end))
    return np.array(solver.state, dtype=float)[-4:]


def apart(q: np.ndarray, right: np.ndarray) -> float:
    """The angle between two attitudes."""
    return angle(q.tolist(), right.tolist())


# ---- ours
def candidates(problem: ph.Problem, names: list[str] | None) -> list[str]:
    if names is not None:
        return names
    return [
        name
        for name, method in ph.METHODS.items()
        if method.takes(problem.model) and not method.implicit and method.order > 1
    ]


def our_variants(
    top: Top, names: list[str] | None, errors: tuple[float, ...]
) -> dict[float, list[Variant]]:
    """For each error the fastest of ours, by a first look at the clock."""
    problem = top.problem
    found = ph.compare(
        problem, (0.0, END), methods=candidates(problem, names), errors=errors, repeats=5
    )
    variants = {}
    for error in errors:
        good = [row for row in found.rows if row.attitude_error and row.attitude_error <= error]
        best: dict[str, Any] = {}  # of each method
        for row in sorted(good, key=lambda row: row.seconds):
            best.setdefault(row.method, row)
        variants[error] = [ours(problem, row) for row in list(best.values())[:SHOWN]]
    return variants


def ours(problem: ph.Problem, row: Any) -> Variant:
    solver = ph.prepare(problem, method=row.method, dt=row.dt, save_every=row.steps)
    name = f"{row.method}, {row.steps} steps"
    return Variant(row.method, name, row.attitude_error, lambda: solver((0.0, END)))


# ---- results
HEAD = {
    "what": "error and variant",
    "error": "error",
    "us_min": "µs min",
    "us_median": "µs median",
    "ratio_min": "heyoka / ours, min",
    "ratio_median": "median",
}


def measured(
    top: Top, names: list[str] | None, errors: tuple[float, ...], asked: Asked
) -> Iterator[Finding]:
    truth = true_end(top.problem, (0.0, END))
    off = apart(extended(top), np.array(truth.q))
    yield Note(
        f"{top.title}: truth by {truth.route}, its error {truth.attitude_error:.1e} rad;"
        f" heyoka in extended precision differs by {off:.1e} rad"
    )
    theirs = heyoka_variants(top, np.array(truth.q), asked.quick)
    mine = our_variants(top, names, errors)
    quick = timed(theirs, 5)
    best: dict[float, list[Variant]] = {}
    for error in errors:
        best[error] = []
        for form in FORMS:
            good = [v for v in theirs if v.kind == form and v.error <= error]
            best[error] += sorted(good, key=lambda v: quick[v].minimum)[:SHOWN]
    variants = dict.fromkeys(v for e in errors for v in (*best[e], *mine[e]))
    times = timed(list(variants), asked.repeats)
    rows: list[dict] = []
    verdicts: list[Finding] = []
    for k, error in enumerate(errors):
        if not best[error]:
            yield Note(f"heyoka does not reach {error:.0e}")
            continue
        fastest: dict[str, Variant] = {}  # of each form
        for variant in sorted(best[error], key=lambda v: times[v].minimum):
            fastest.setdefault(variant.kind, variant)
        first, *others = fastest.values()
        rows += [row(error, v, times[v], None) for v in (first, *others)]
        ratios = []
        for variant in sorted(mine[error], key=lambda v: times[v].minimum):
            rows.append(row(error, variant, times[variant], times[first]))
            ratios.append(rows[-1]["ratio_min"])
        if errors == ERRORS and top.least:
            least = top.least[k]
            met = bool(ratios and ratios[0] >= least)
            what = f"{top.title}, {error:.0e}: heyoka / ours"
            value = ratios[0] if ratios else "not reached"
            verdicts.append(Verdict(what, f"at least {least:g}", value, met))
    yield Table(f"{top.title}, t = {END:g} s", HEAD, rows)
    yield from verdicts


def row(target: float, variant: Variant, times: Times, peer: Times | None) -> dict:
    return {
        "what": f"{target:.0e}  {variant.name}",
        "error": variant.error,
        "us_min": times.minimum / 1e3,
        "us_median": times.median / 1e3,
        "ratio_min": None if peer is None else peer.minimum / times.minimum,
        "ratio_median": None if peer is None else peer.median / times.median,
    }


def measure(asked: Asked) -> Iterator[Finding]:
    if peer("heyoka") is None:
        return
    given = asked.listed("errors")
    errors = tuple(map(float, given)) if given else ERRORS[:1] if asked.quick else ERRORS
    for top in TOPS[:1] if asked.quick else TOPS:
        asked.say(top.title)
        names = asked.listed("methods") or (QUICK if asked.quick else None)
        yield from measured(top, names, errors, asked)


BENCH = Bench(
    name="precision",
    summary="time to a given accuracy with a torque, against heyoka's Taylor series",
    measure=measure,
    needs=("heyoka",),
    keys={
        "methods": Key("", "names; default all explicit ones of order 2 or more"),
        "errors": Key("", "attitude errors in radians; default those that are judged"),
    },
)
