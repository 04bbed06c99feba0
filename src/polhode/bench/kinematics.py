"""Orientation from a given angular velocity: time to a given accuracy, against other integrators.

Boyle's precessing binary (T = 1e5), the four stand-ins for the examples of Zupan and Saje, and a
noise-like rate of thirty sines.  The error is Boyle's norm (25), √2 times the angle, the largest at
the ends 0.81 T, 0.87 T, 0.93 T and T, against closed forms with 40 digits (the sines: heyoka with
extended precision).

Ours is ``gauss-taylor``, prepared, as a user calls it, s from the tolerance by its own rule.
heyoka is taken in its best form: ω simplified by hand, ``fast_math=True``, compiled beforehand.
For each error and each integrator the fastest run of all tolerances that reaches it counts, a lucky
one too.  SciPy's DOP853 has a compiled right-hand side; numpy-quaternion has the function as it
would be given, compiled (quaternionic has no such integrator).

All variants take turns in one process; ratios are of the least times.
"""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

import polhode as ph
from polhode.bench.peers import missing, peer
from polhode.bench.records import Asked, Bench, Finding, Key, Table, Verdict, at_most
from polhode.bench.timing import Times, timed
from polhode.compiler.machine import compiled
from polhode.compiler.tree import bind
from polhode.integrators.gauss_taylor import choose
from polhode.kernels.trig import ELEMENTARY
from polhode.problems.given_motions import PRECESSING_BINARY, ZUPAN_SAJE, Turning

ERRORS = 1e-6, 1e-9, 1e-11, 3e-13, 1e-13
ENDS = 0.81, 0.87, 0.93, 1.0
OURS = "gauss-taylor"
TIGHTEST = choose(0.0).tightest
TOLERANCES = 10.0 ** -np.arange(4.0, 15.51, 0.25)  # ours
THEIRS = (*(10.0 ** -np.arange(4.0, 15.51, 0.5)), 2.3e-16)  # heyoka's
SHOWN = 3  # of an integrator's tolerances that reach an error, as many are timed well


# ---- problems
SINES = 10
_rng = np.random.default_rng(7)
FREQUENCIES = tuple(np.sort(_rng.uniform(0.5, 12.0, SINES)).tolist())
AMPLITUDES = tuple(tuple(_rng.normal(0, 0.6, SINES).tolist()) for _ in range(3))
PHASES = tuple(tuple(_rng.uniform(0, 6.28, SINES).tolist()) for _ in range(3))


def total_of_sines(count: int) -> Callable:
    """The rate by the first so many frequencies, written out."""
    f = FREQUENCIES[count - 1]
    a, b, c = (amplitudes[count - 1] for amplitudes in AMPLITUDES)
    u, v, w = (phases[count - 1] for phases in PHASES)

    def first(t):
        return a * math.sin(f * t + u), b * math.sin(f * t + v), c * math.sin(f * t + w)

    if count == 1:
        return first
    before = total_of_sines(count - 1)

    def total(t):
        x, y, z = before(t)
        p, q, r = first(t)
        return x + p, y + q, z + r

    return total


def of_vector(vector: Any, slope: Any, series: bool) -> tuple:
    """dexp for heyoka, which has no branches: the series, or the closed form."""
    heyoka = peer("heyoka")
    n2 = vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2]
    if series:
        p, q = 1 / 479001600, 1 / 6227020800
        for k in (10, 8, 6, 4, 2):
            p = 1 / math.factorial(k) - n2 * p
            q = 1 / math.factorial(k + 1) - n2 * q
    else:
        n = heyoka.sqrt(n2)
        p, q = (1.0 - heyoka.cos(n)) / n2, (n - heyoka.sin(n)) / (n * n2)

    def cross(u: Any, v: Any) -> tuple:
        return (
            u[1] * v[2] - u[2] * v[1],
            u[2] * v[0] - u[0] * v[2],
            u[0] * v[1] - u[1] * v[0],
        )

    c = cross(vector, slope)
    e = cross(vector, c)
    return tuple(slope[i] + p * c[i] + q * e[i] for i in range(3))


def regular_for_heyoka(t: Any) -> tuple:
    heyoka = peer("heyoka")
    c, s = heyoka.cos(2.0 * t), heyoka.sin(2.0 * t)
    vector = 1.5 * c, 1.5 * s, 0.5 * heyoka.sin(t)
    return of_vector(vector, (-3.0 * s, 3.0 * c, 0.5 * heyoka.cos(t)), False)


def vibrational_for_heyoka(t: Any) -> tuple:
    heyoka = peer("heyoka")
    c, s, f = heyoka.cos(10.0 * t), heyoka.sin(10.0 * t), 10.0 * math.sqrt(2)
    vector = 0.1 * s, 0.1 * heyoka.sin(f * t), 0.1 * (c - 1.0)
    return of_vector(vector, (c, 0.1 * f * heyoka.cos(f * t), -s), True)


def strongly_vibrational_for_heyoka(t: Any) -> tuple:
    heyoka = peer("heyoka")
    c, s = heyoka.cos(100.0 * t), heyoka.sin(100.0 * t)
    vector = 0.01 * s, 0.01 * (c - 1.0), 0.01 * heyoka.sin(73.0 * t)
    return of_vector(vector, (c, -s, 0.73 * heyoka.cos(73.0 * t)), True)


@dataclass(frozen=True)
class Case:
    """A rate, what is known of its motion, and the ratios that are promised at ``ERRORS``."""

    name: str
    omega: Callable
    end: float
    attitude: Callable | None = None
    for_heyoka: Callable | None = None  # if it is not ω itself
    least: tuple[float | None, ...] = (None,) * len(ERRORS)

    @cache  # noqa: B019, there are six of them
    def exact(self, t: float) -> np.ndarray:
        if self.attitude is None:
            return extended(self, t)
        mp = peer("mpmath")
        in_mp = {math.sin: mp.sin, math.cos: mp.cos, math.sqrt: mp.sqrt}
        with mp.workdps(40):
            return np.array([float(x) for x in bind(self.attitude, in_mp)(mp.mpf(t))])

    @property
    def start(self) -> tuple[float, ...]:
        return (1.0, 0.0, 0.0, 0.0) if self.attitude is None else tuple(self.exact(0.0).tolist())


def _stand_in(name: str, for_heyoka: Callable | None, least: tuple) -> Case:
    motion, (_, end) = ZUPAN_SAJE[name]
    assert isinstance(motion, Turning)
    return Case(name, motion.omega, end, motion.attitude, for_heyoka, least)


CASES = {
    case.name: case
    for case in (
        Case(
            "binary",
            PRECESSING_BINARY.omega,
            1e5,
            PRECESSING_BINARY.attitude,
            least=(2.5, 2.5, 3.0, None, 3.0),
        ),
        _stand_in("regular", regular_for_heyoka, (2.6, 3.0, 3.5, 4.0, None)),
        _stand_in("vibrational", vibrational_for_heyoka, (2.6, 3.0, 3.5, 4.0, None)),
        _stand_in(
            "strongly vibrational", strongly_vibrational_for_heyoka, (2.6, 3.0, 3.5, 4.0, None)
        ),
        _stand_in("unbounded", None, (1.5, 1.5, 1.5, 1.5, None)),
        Case("thirty sines", total_of_sines(SINES), 100.0, least=(1.5, 1.5, 1.5, None, None)),
    )
}


# ---- integrators: each a function of the end, which gives the attitude there
def prepared(case: Case, tolerance: float) -> Callable[[float], tuple]:
    """``gauss-taylor`` by the front door, prepared; its state is asked for only where it counts."""
    solver = ph.prepare_angular_velocity(case.omega, frame="inertial", rtol=tolerance)
    start = case.start

    def call(end: float) -> tuple:
        run = solver((0.0, end), attitude=start, scalar_first=True)
        return run, run.nfev

    return call


def equations(case: Case) -> list:
    heyoka = peer("heyoka")
    t = heyoka.time
    in_heyoka = {math.sin: heyoka.sin, math.cos: heyoka.cos, math.sqrt: heyoka.sqrt}
    a, b, c = (case.for_heyoka or bind(case.omega, in_heyoka))(t)
    w, x, y, z = heyoka.make_vars("w", "x", "y", "z")
    return [
        (w, -0.5 * (a * x + b * y + c * z)),
        (x, 0.5 * (a * w + b * z - c * y)),
        (y, 0.5 * (b * w + c * x - a * z)),
        (z, 0.5 * (c * w + a * y - b * x)),
    ]


def by_heyoka(case: Case, tolerance: float) -> Callable[[float], tuple]:
    heyoka, first = peer("heyoka"), np.array(case.start)
    solver = heyoka.taylor_adaptive(equations(case), first.copy(), tol=tolerance, fast_math=True)

    def call(end: float) -> tuple:
        solver.time = 0.0
        solver.state[:] = first
        steps = solver.propagate_until(end)[3]
        return solver.state.copy(), steps

    return call


def extended(case: Case, t: float) -> np.ndarray:
    """heyoka's answer with 80-bit numbers."""
    heyoka = peer("heyoka")
    first = np.array(case.start).astype(np.longdouble)
    solver = heyoka.taylor_adaptive(equations(case), first, fp_type=np.longdouble)
    solver.propagate_until(np.longdouble(t))
    return np.array(solver.state, dtype=float)


@cache
def compiled_rate(case: Case) -> Callable:
    import numba

    omega = compiled(bind(case.omega, ELEMENTARY))
    made: Callable = numba.njit(lambda t: omega(t))
    return made


@cache
def compiled_slope(case: Case) -> Callable:
    import numba

    rate = compiled_rate(case)

    @numba.njit
    def slope(t, q):
        a, b, c = rate(t)
        w, x, y, z = q
        return np.array(
            [
                -0.5 * (a * x + b * y + c * z),
                0.5 * (a * w + b * z - c * y),
                0.5 * (b * w + c * x - a * z),
                0.5 * (c * w + a * y - b * x),
            ]
        )

    made: Callable = slope
    return made


def by_scipy(case: Case, tolerance: float) -> Callable[[float], tuple]:
    from scipy.integrate import solve_ivp

    slope, start = compiled_slope(case), np.array(case.start)

    def call(end: float) -> tuple:
        rtol = max(tolerance, 2.3e-14)
        run = solve_ivp(slope, (0.0, end), start, method="DOP853", rtol=rtol, atol=tolerance)
        return run.y[:, -1], run.nfev

    return call


def by_quaternion(case: Case, tolerance: float) -> Callable[[float], tuple]:
    quaternion = peer("numpy-quaternion")
    rate, start = compiled_rate(case), quaternion.quaternion(*case.start)

    def call(end: float) -> tuple:
        _, q = quaternion.integrate_angular_velocity(
            lambda t: np.array(rate(t)), 0.0, end, start, tolerance
        )
        return quaternion.as_float_array(q[-1]), 0

    return call


# ---- results
@dataclass(frozen=True)
class Variant:
    """A run: the integrator, its tolerance, the error reached, evaluations or steps, the call."""

    kind: str
    tolerance: float
    error: float
    count: int
    call: Callable

    @property
    def name(self) -> str:
        return f"{self.kind}, tol {self.tolerance:.1e}"


def frame_error(p: np.ndarray, q: np.ndarray) -> float:
    p, q = p / np.linalg.norm(p), q / np.linalg.norm(q)
    half = min(np.linalg.norm(p - q), np.linalg.norm(p + q)) / 2
    return math.sqrt(2) * 4 * math.asin(min(1.0, float(half)))


def variant(
    case: Case, kind: str, make: Callable, tolerance: float, ends: tuple[float, ...] = ENDS
) -> Variant:
    call = make(case, float(tolerance))
    errors, count = [], 0
    for fraction in ends:
        q, count = call(fraction * case.end)
        q = q.q[-1] if isinstance(q, ph.Trajectory) else q
        errors.append(frame_error(np.asarray(q), case.exact(fraction * case.end)))
    return Variant(kind, tolerance, max(errors), int(count), partial(call, case.end))


def fastest(variants: list[Variant], times: dict[Variant, Times], error: float) -> list[Variant]:
    good = [v for v in variants if v.error <= error]
    return sorted(good, key=lambda v: times[v].minimum)[:SHOWN]


HEAD = {
    "what": "error and run",
    "error": "error",
    "count": "evaluations, steps",
    "us_min": "µs min",
    "us_median": "µs median",
    "ratio_min": "/ ours",
    "ratio_median": "median",
}


def measured(case: Case, slow: bool, asked: Asked) -> Iterator[Finding]:
    few = slice(None, None, 8) if asked.quick else slice(None)
    mine = [variant(case, OURS, prepared, float(x)) for x in TOLERANCES[few] if x >= TIGHTEST]
    theirs = [variant(case, "heyoka", by_heyoka, float(x)) for x in THEIRS[few]]
    quick = timed([*mine, *theirs], 5)
    chosen = {e: [fastest(group, quick, e) for group in (mine, theirs)] for e in ERRORS}
    well = dict.fromkeys(v for groups in chosen.values() for group in groups for v in group)
    times = timed(list(well), asked.repeats)
    once = slow_ones(case) if slow else {}
    rows: list[dict] = []
    verdicts: list[Verdict] = []
    for error, least in zip(ERRORS, case.least, strict=True):
        ours, peers = (fastest(group, times, error) for group in chosen[error])
        for v in (*ours[:1], *peers[:1]):
            rows.append(_row(error, v, times[v], times[ours[0]] if ours else None))
        for kind in dict.fromkeys(v.kind for v in once):
            good = [v for v in once if v.kind == kind and v.error <= error]
            if good and ours:
                v = min(good, key=lambda v: once[v].minimum)
                rows.append(_row(error, v, once[v], times[ours[0]]))
        if least is not None and not asked.quick:
            ratio: float | str = "not reached"
            if ours and peers:
                ratio = times[peers[0]].minimum / times[ours[0]].minimum
            met = isinstance(ratio, float) and ratio >= least
            what = f"{case.name}, {error:.0e}: heyoka / ours"
            verdicts.append(Verdict(what, f"at least {least:g}", ratio, met))
    yield Table(f"{case.name}, T = {case.end:g}", HEAD, rows)
    yield from verdicts
    if case.name == "binary" and not asked.quick:
        yield from tolerances_kept(mine)


def slow_ones(case: Case) -> dict[Variant, Times]:
    """SciPy and numpy-quaternion, one call each, to one end: they take their time."""
    kinds: list[tuple[str, Callable, tuple[float, ...]]] = [
        ("SciPy DOP853", by_scipy, (1e-7, 1e-10, 1e-12, 1e-13))
    ]
    if peer("numpy-quaternion") is not None and case.name == "binary":
        kinds.append(("numpy-quaternion", by_quaternion, (1e-7,)))
    found = {}
    for kind, make, tolerances in kinds:
        for tolerance in tolerances:
            make(case, tolerance)(1e-3 * case.end)  # compiled
            begin = time.thread_time_ns()
            v = variant(case, kind, make, tolerance, (1.0,))
            found[v] = Times((float(time.thread_time_ns() - begin),))
    return found


def tolerances_kept(mine: list[Variant]) -> Iterator[Verdict]:
    """Error over tolerance and evaluations, as promised for the binary."""
    ratios = [v.error / v.tolerance for v in mine if 0.9e-12 < v.tolerance < 1.1e-4]
    inside = min(ratios) >= 0.01 and max(ratios) <= 3
    what = "binary: error / tolerance for tolerances 1e-4 … 1e-12"
    yield Verdict(what, "0.01 to 3", f"{min(ratios):.2g} to {max(ratios):.2g}", inside)
    for error, most in ((1e-6, 1200), (1e-9, 1700), (1e-11, 2100)):
        least = min(v.count for v in mine if v.error <= error)
        yield at_most(f"binary, {error:.0e}: evaluations", float(least), most)


def _row(error: float, v: Variant, times: Times, ours: Times | None) -> dict:
    return {
        "what": f"{error:.0e}  {v.name}",
        "error": v.error,
        "count": v.count,
        "us_min": times.minimum / 1e3,
        "us_median": times.median / 1e3,
        "ratio_min": None if ours is None else times.minimum / ours.minimum,
        "ratio_median": None if ours is None else times.median / ours.median,
    }


def measure(asked: Asked) -> Iterator[Finding]:
    if missing(("heyoka", "mpmath")):
        return
    for name in asked.chosen("problems", list(CASES))[: 1 if asked.quick else None]:
        asked.say(name)
        slow = asked.values["slow"] == "yes" and not asked.quick
        yield from measured(CASES[name], slow, asked)


BENCH = Bench(
    name="kinematics",
    summary="attitude from a given ω(t) to an accuracy, against heyoka, SciPy, numpy-quaternion",
    measure=measure,
    needs=("heyoka", "mpmath", "SciPy", "numpy-quaternion"),
    keys={
        "problems": Key("", f"of {', '.join(CASES)}; default all"),
        "slow": Key("yes", "no leaves out SciPy and numpy-quaternion, which take their time"),
    },
)
