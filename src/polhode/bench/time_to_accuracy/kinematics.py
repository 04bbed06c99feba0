"""Attitude from a given angular velocity: time to a given accuracy, against other integrators.

Boyle's precessing binary (T = 1e5), the four stand-ins for the examples of Zupan and Saje, and a
noise-like rate of thirty sines.  The error is Boyle's norm (25), √2 times the angle, the largest at
the ends 0.81 T, 0.87 T, 0.93 T and T, against closed forms with 40 digits (the sines: heyoka with
extended precision).

Ours is ``gauss-taylor``, prepared, as a user calls it, with its own choice of s for the tolerance.
heyoka is used in its best form: ω simplified by hand, ``fast_math=True``, compiled beforehand.  For
each error and each integrator the fastest run of all tolerances that reaches it counts, even by
luck.  SciPy's DOP853 has a compiled right-hand side; numpy-quaternion gets the function as a user
would give it, compiled (quaternionic has no such integrator).

All variants take turns in one process; ratios are of the least times.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

import polhode as ph
from polhode.bench.angles import angle
from polhode.bench.peers import peer
from polhode.bench.records import Bench, Finding, Key, Settings, Verdict, at_most
from polhode.bench.time_to_accuracy import heyoka as taylor_series
from polhode.bench.time_to_accuracy.race import Race, Variant, columns, fastest, row
from polhode.bench.timing import Times
from polhode.compiler.machine import compiled
from polhode.compiler.tree import bind
from polhode.integrators.gauss_taylor import choose
from polhode.kernels.trig import ELEMENTARY
from polhode.problems import given_motions as motions

ERRORS = 1e-6, 1e-9, 1e-11, 3e-13, 1e-13
ENDS = 0.81, 0.87, 0.93, 1.0
OURS = "gauss-taylor"
TIGHTEST = choose(0.0).tightest
TOLERANCES = 10.0 ** -np.arange(4.0, 15.51, 0.25)  # ours
THEIRS = (*(10.0 ** -np.arange(4.0, 15.51, 0.5)), 2.3e-16)  # heyoka's


# ---- problems
SINES = 10
_rng = np.random.default_rng(7)
FREQUENCIES = tuple(np.sort(_rng.uniform(0.5, 12.0, SINES)).tolist())
AMPLITUDES = tuple(tuple(_rng.normal(0, 0.6, SINES).tolist()) for _ in range(3))
PHASES = tuple(tuple(_rng.uniform(0, 6.28, SINES).tolist()) for _ in range(3))


def total_of_sines(count: int) -> Callable:
    """Return the rate of the first ``count`` frequencies, written out."""
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


def for_heyoka(vector: Callable, slope: Callable, series: bool) -> Callable:
    """Return ω = dexp of a rotation vector without branches: by series, or in closed form."""

    def rate(t: Any) -> tuple:
        functions = taylor_series.functions()
        v, dv = (bind(each, functions)(t) for each in (vector, slope))
        n2 = v[0] * v[0] + v[1] * v[1] + v[2] * v[2]
        if series:
            p, q = 1 / 479001600, 1 / 6227020800
            for k in (10, 8, 6, 4, 2):
                p = 1 / math.factorial(k) - n2 * p
                q = 1 / math.factorial(k + 1) - n2 * q
        else:
            n = functions[math.sqrt](n2)
            p, q = (1.0 - functions[math.cos](n)) / n2, (n - functions[math.sin](n)) / (n * n2)
        c = taylor_series.cross(v, dv)
        e = taylor_series.cross(v, c)
        return tuple(dv[i] + p * c[i] + q * e[i] for i in range(3))

    return rate


@dataclass(frozen=True)
class Case:
    """A rate, its motion where that is known, and the ratios claimed at ``ERRORS``."""

    name: str
    omega: Callable
    end: float
    attitude: Callable | None = None
    simplified: Callable | None = None  # for heyoka; default: ω itself
    least: tuple[float | None, ...] = (None,) * len(ERRORS)

    @cache  # noqa: B019, there are only six cases
    def exact(self, t: float) -> np.ndarray:
        """Return the attitude at a time."""
        if self.attitude is None:
            return taylor_series.extended(equations(self), np.array(self.start), t)
        mp = peer("mpmath")
        in_mp = {math.sin: mp.sin, math.cos: mp.cos, math.sqrt: mp.sqrt}
        with mp.workdps(40):
            return np.array([float(x) for x in bind(self.attitude, in_mp)(mp.mpf(t))])

    @property
    def start(self) -> tuple[float, ...]:
        return (1.0, 0.0, 0.0, 0.0) if self.attitude is None else tuple(self.exact(0.0).tolist())


def _stand_in(name: str, least: tuple, simplified: Callable | None = None) -> Case:
    motion, (_, end) = motions.ZUPAN_SAJE[name]
    return Case(name, motion.omega, end, motion.attitude, simplified, least)


def _by_vector(name: str, vector: Callable, slope: Callable, series: bool = True) -> Case:
    return _stand_in(name, (2.6, 3.0, 3.5, 4.0, None), for_heyoka(vector, slope, series))


BINARY = motions.PRECESSING_BINARY
CASES = {
    case.name: case
    for case in (
        Case("binary", BINARY.omega, 1e5, BINARY.attitude, least=(2.5, 2.5, 3.0, None, 3.0)),
        _by_vector("regular", motions.regular, motions.regular_slope, series=False),
        _by_vector("vibrational", motions.vibrational, motions.vibrational_slope),
        _by_vector(
            "strongly vibrational",
            motions.strongly_vibrational,
            motions.strongly_vibrational_slope,
        ),
        _stand_in("unbounded", (1.5, 1.5, 1.5, 1.5, None)),
        Case("thirty sines", total_of_sines(SINES), 100.0, least=(1.5, 1.5, 1.5, None, None)),
    )
}


# ---- integrators: each a function of the end, which gives (attitude there, evaluations or steps)
def by_gauss_taylor(case: Case, tolerance: float) -> Callable[[float], tuple]:
    """``gauss-taylor`` as users call it; the trajectory is evaluated only for its error."""
    solver = ph.prepare_angular_velocity(case.omega, frame="inertial", rtol=tolerance)
    start = case.start

    def call(end: float) -> tuple:
        run = solver((0.0, end), attitude=start, scalar_first=True)
        return run, run.nfev

    return call


def equations(case: Case) -> list:
    """q' = ω q/2 for heyoka, with ω in inertial axes."""
    heyoka = peer("heyoka")
    omega = case.simplified or bind(case.omega, taylor_series.functions())
    q = heyoka.make_vars("w", "x", "y", "z")
    return list(zip(q, turned(q, omega(heyoka.time)), strict=True))


def turned(q, omega):
    """q' = ω q/2."""
    w, x, y, z = q
    a, b, c = omega
    return (
        -0.5 * (a * x + b * y + c * z),
        0.5 * (a * w + b * z - c * y),
        0.5 * (b * w + c * x - a * z),
        0.5 * (c * w + a * y - b * x),
    )


def by_heyoka(case: Case, tolerance: float) -> Callable[[float], tuple]:
    return taylor_series.taylor(equations(case), np.array(case.start), tolerance)


@cache
def compiled_rate(case: Case) -> Callable:
    import numba

    omega = compiled(bind(case.omega, ELEMENTARY))
    rate: Callable = numba.njit(lambda t: omega(t))
    return rate


@cache
def compiled_slope(case: Case) -> Callable:
    import numba

    rate, rates = compiled_rate(case), numba.njit(turned)
    slope: Callable = numba.njit(lambda t, q: np.array(rates((q[0], q[1], q[2], q[3]), rate(t))))
    return slope


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


def variant(
    case: Case, kind: str, make: Callable, tolerance: float, ends: tuple[float, ...] = ENDS
) -> Variant:
    """Make a run with a tolerance; its error is the largest at the ends."""
    call = make(case, float(tolerance))
    errors, count = [], 0
    for fraction in ends:
        q, count = call(fraction * case.end)
        q = np.asarray(q.q[-1] if isinstance(q, ph.Trajectory) else q)
        errors.append(math.sqrt(2) * float(angle(q, case.exact(fraction * case.end))))
    name = f"{kind}, tol {tolerance:.1e}"
    return Variant(kind, name, max(errors), partial(call, case.end), int(count))


# ---- results
def rows_over_ours(
    error: float,
    theirs: list[Variant],
    ours: list[Variant],
    times: Mapping[Variant, Times],
    once: Mapping[Variant, Times],
) -> list[tuple]:
    """Ours, heyoka and those that are timed once, each with its time over ours."""
    first = times[ours[0]] if ours else None
    shown = [(v, times[v]) for v in (*ours[:1], *theirs[:1])]
    if ours:
        shown += [(v, once[v]) for v in fastest(once, error, once)]
    return [row(error, v, taken, (taken, first) if first else None) for v, taken in shown]


def slow_peers(case: Case) -> dict[Variant, Times]:
    """SciPy and numpy-quaternion, one call each to one end, because they are slow."""
    kinds: list[tuple[str, Callable, tuple[float, ...]]] = [
        ("SciPy DOP853", by_scipy, (1e-7, 1e-10, 1e-12, 1e-13))
    ]
    if peer("numpy-quaternion") is not None and case.name == "binary":
        kinds.append(("numpy-quaternion", by_quaternion, (1e-7,)))
    found = {}
    for kind, make, tolerances in kinds:
        for tolerance in tolerances:
            make(case, tolerance)(1e-3 * case.end)  # compiles
            begin = time.thread_time_ns()
            v = variant(case, kind, make, tolerance, (1.0,))
            found[v] = Times((float(time.thread_time_ns() - begin),))
    return found


def check_tolerances(runs: Mapping[float, Variant]) -> Iterator[Verdict]:
    """Error over tolerance, and evaluations, as claimed for the binary."""
    ratios = [v.error / tolerance for tolerance, v in runs.items() if 0.9e-12 < tolerance < 1.1e-4]
    inside = min(ratios) >= 0.01 and max(ratios) <= 3
    what = "binary: error / tolerance for tolerances 1e-4 … 1e-12"
    yield Verdict(what, "0.01 to 3", f"{min(ratios):.2g} to {max(ratios):.2g}", inside)
    for error, most in ((1e-6, 1200), (1e-9, 1700), (1e-11, 2100)):
        least = min(v.count or 0 for v in runs.values() if v.error <= error)
        yield at_most(f"binary, {error:.0e}: evaluations", float(least), most)


@Bench(
    name="kinematics",
    place=80,
    summary="attitude from a given ω(t) to an accuracy, against heyoka, SciPy, numpy-quaternion",
    needs=("heyoka", "mpmath", "SciPy", "numpy-quaternion"),
    vital=("heyoka", "mpmath"),
    keys={
        "problems": Key("", f"of {', '.join(CASES)}; default: all"),
        "slow": Key("yes", "no: without SciPy and numpy-quaternion, which are slow"),
    },
)
def benchmark(settings: Settings) -> Iterator[Finding]:
    quick, slow = settings.quick, settings.values["slow"] == "yes"
    few = slice(None, None, 8 if quick else 1)
    for name in settings.choose("problems", list(CASES))[: 1 if quick else None]:
        settings.report(name)
        case = CASES[name]
        tolerances = [float(x) for x in TOLERANCES[few] if x >= TIGHTEST]
        ours = {x: variant(case, OURS, by_gauss_taylor, x) for x in tolerances}
        yield from Race(
            f"{name}, T = {case.end:g}",
            dict.fromkeys(ERRORS) if quick else dict(zip(ERRORS, case.least, strict=True)),
            [variant(case, "heyoka", by_heyoka, float(x)) for x in THEIRS[few]],
            list(ours.values()),
            problem=name,
            rows=partial(rows_over_ours, once=slow_peers(case) if slow and not quick else {}),
            head=columns("error and run", "/ ours", "evaluations, steps"),
        ).run(settings)
        if name == "binary" and not quick:
            yield from check_tolerances(ours)
