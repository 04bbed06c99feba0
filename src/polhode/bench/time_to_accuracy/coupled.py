"""Attitude from an angular velocity that depends on it: time to a given accuracy, against heyoka.

Four rates ω(t, q) in inertial axes: Boyle's precessing binary with a rate of 0.1 or 1 of its orbit
about the body's third axis added (``weak`` and ``strong``, T = 1e5), a rate with feedback on the
attitude (``steered``, T = 50), and ``strong`` with ten sines of the time (``sines``), which is
expensive to evaluate.  The error is the angle, the largest at the ends 0.81 T, 0.87 T, 0.93 T and
T, against heyoka in extended precision.

Ours is the default, prepared, as a user calls it.  heyoka integrates the quaternion, from the same
source, compiled beforehand, with and without ``fast_math``.  For each error the fastest run of all
tolerances that reaches it counts, even by luck, on both sides.  All variants take turns in one
process; ratios are of the least times.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

import polhode as ph
from polhode.bench.angles import angle
from polhode.bench.peers import peer
from polhode.bench.records import Bench, Finding, Key, Settings
from polhode.bench.time_to_accuracy import heyoka as taylor_series
from polhode.bench.time_to_accuracy.kinematics import turned
from polhode.bench.time_to_accuracy.race import Race, Variant, columns
from polhode.compiler.tree import bind
from polhode.problems.given_motions import ORBIT, binary_omega

ERRORS = 1e-6, 1e-9, 1e-11, 1e-13
LEAST = 3.5, 3.2, 3.5, 3.0  # the ratios claimed, wherever heyoka gets there
ENDS = 0.81, 0.87, 0.93, 1.0
TOLERANCES = 10.0 ** -np.arange(5.0, 14.51, 0.25)  # ours
THEIRS = 10.0 ** -np.arange(5.0, 16.01, 0.25)  # heyoka's
HALF = 0.4  # of the angle of the first attitude
START = math.cos(HALF), math.sin(HALF) * 2 / 3, math.sin(HALF) * -1 / 3, math.sin(HALF) * 2 / 3


# ---- problems
def third_axis(q):
    """Return the body's third axis in inertial axes."""
    w, x, y, z = q
    return 2.0 * (x * z + w * y), 2.0 * (y * z - w * x), w * w - x * x - y * y + z * z


def with_spin(speed: float) -> Callable:
    """Return the rate of the binary plus a constant rate about the body's third axis."""

    def omega(t, q):
        (a, b, c), (u, v, s) = binary_omega(t), third_axis(q)
        return a + speed * u, b + speed * v, c + speed * s

    return omega


weak, strong = with_spin(0.1 * ORBIT), with_spin(ORBIT)


def steered(t, q):
    """A rate that turns the body's first axis against its third, and pushes."""
    w, x, y, z = q
    c, s = math.cos(0.7 * t), math.sin(0.7 * t)
    gx, gy, gz = third_axis(q)
    ux, uy, uz = 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)
    return (
        c + 1.3 * (gy * uz - gz * uy) - 0.4 * gx,
        0.8 * s + 1.3 * (gz * ux - gx * uz) + 0.9 * gz * ux,
        1.5 + 1.3 * (gx * uy - gy * ux) + 0.5 * gy * s,
    )


def sines(t, q):
    """``strong``, and ten sines of other frequencies."""
    x, y, z = strong(t, q)
    f = ORBIT * t
    a = math.sin(0.4 * f + 1.0) + math.sin(0.5 * f + 2.0) + math.sin(0.6 * f + 3.0)
    b = math.sin(0.7 * f + 4.0) + math.sin(0.8 * f + 5.0) + math.sin(0.9 * f + 6.0)
    c = math.sin(1.0 * f + 7.0) + math.sin(1.1 * f + 8.0) + math.sin(1.2 * f + 9.0)
    k = 0.01 * ORBIT * (a + b + c + math.sin(1.3 * f + 10.0))
    return x + k, y - k, z + k


@dataclass(frozen=True)
class Case:
    """A rate in inertial axes, and the end."""

    omega: Callable
    end: float

    @property
    def ends(self) -> tuple[float, ...]:
        return tuple(fraction * self.end for fraction in ENDS)

    def equations(self) -> list:
        """q' = ω q/2 for heyoka."""
        heyoka = peer("heyoka")
        q = heyoka.make_vars("w", "x", "y", "z")
        omega = bind(self.omega, taylor_series.functions())
        return list(zip(q, turned(q, omega(heyoka.time, q)), strict=True))

    @cache  # noqa: B019, there are only four cases
    def exact(self) -> np.ndarray:
        """Return the attitudes at the ends."""
        return taylor_series.extended_course(self.equations(), np.array(START), self.ends)


CASES = {
    "weak": Case(weak, 1e5),
    "strong": Case(strong, 1e5),
    "steered": Case(steered, 50.0),
    "sines": Case(sines, 1e5),
}


# ---- runs
def error_of(case: Case, attitude: Callable[[float], np.ndarray]) -> float:
    """Return the largest error at the ends."""
    pairs = zip(case.ends, case.exact(), strict=True)
    return max(float(angle(attitude(end), right)) for end, right in pairs)


def ours(case: Case, tolerance: float) -> Variant:
    solver = ph.prepare_angular_velocity(case.omega, frame="inertial", rtol=tolerance)
    call = partial(solver, attitude=START, scalar_first=True)
    error = error_of(case, lambda end: call((0.0, end)).q[-1])
    run = call((0.0, case.end))
    name = f"{run.method}, tol {tolerance:.1e}"
    return Variant(run.method, name, error, partial(call, (0.0, case.end)), run.nfev)


def theirs(case: Case, tolerance: float, fast: bool) -> Variant:
    call = taylor_series.taylor(case.equations(), np.array(START), tolerance, fast)
    steps = call(case.end)[1]
    error = error_of(case, lambda end: call(end)[0].copy())
    kind = "heyoka, fast_math" if fast else "heyoka"
    name = f"{kind}, tol {tolerance:.1e}"
    return Variant(kind, name, error, partial(call, case.end), steps)


@Bench(
    name="coupled",
    place=85,
    summary="attitude from a given ω(t, q) to an accuracy, against heyoka",
    needs=("heyoka",),
    vital=("heyoka",),
    keys={"problems": Key("", f"of {', '.join(CASES)}; default: all")},
)
def benchmark(settings: Settings) -> Iterator[Finding]:
    quick = settings.quick
    few = slice(None, None, 4 if quick else 1)
    for name in settings.choose("problems", list(CASES))[: 1 if quick else None]:
        settings.report(name)
        case = CASES[name]
        yield from Race(
            f"{name}, T = {case.end:g}",
            dict.fromkeys(ERRORS) if quick else dict(zip(ERRORS, LEAST, strict=True)),
            [theirs(case, float(x), fast) for fast in (False, True) for x in THEIRS[few]],
            [ours(case, float(x)) for x in TOLERANCES[few]],
            problem=name,
            head=columns("error and run", "heyoka / ours", "evaluations, steps"),
        ).run(settings)
