"""Adams, Bashforth and Moulton's method: weights, steps, their start, and what lies between them.

Runs are in plain Python, but for long ones and for a test of the machine code.
"""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import comb

import mpmath as mp
import numpy as np
import pytest

import polhode as ph
from polhode import loops
from polhode.compiler.machine import combined, compiled
from polhode.compiler.tree import flat
from polhode.contracts import Status, slope, start, step
from polhode.formulations import FORMULATIONS
from polhode.integrators import adams as module
from polhode.integrators.adams import adams, columns
from polhode.loops.join import BoundIntegrator, own_functions
from polhode.tableaus import adams as tableau
from support import extra_methods, given_motion
from support.bits import exactly
from support.bodies import FREE, TIME, angle
from support.given_motion import NONE, attitude, attitudes, error, inertial, parts, precise_attitude
from support.precise import ROUNDING

ORDERS = range(2, 17)
EACH = pytest.mark.parametrize("k", ORDERS)
SOME = pytest.mark.parametrize("k", [2, 3, 4, 7, 8, 12, 16])
DIGITS = 80
CLOSED_FORM = 4e-15  # which has rounded arguments itself


@pytest.fixture
def plain():
    with given_motion.plain_python():
        yield


# ---- weights
KNOWN = {  # Hairer, Nørsett, Wanner I, III.1, (1.5) and (1.9)
    "bashforth": ("1", "3/2 -1/2", "23/12 -16/12 5/12", "55/24 -59/24 37/24 -9/24"),
    "moulton": ("1", "1/2 1/2", "5/12 8/12 -1/12", "9/24 19/24 -5/24 1/24"),
}
# what backward differences are weighed with: table 1.1 and 1.2 there, then Gregory's coefficients
MOULTON = (
    "1 -1/2 -1/12 -1/24 -19/720 -3/160 -863/60480 -275/24192 -33953/3628800 -8183/1036800"
    " -3250433/479001600 -4671/788480"
)
BASHFORTH = (
    "1 1/2 5/12 3/8 251/720 95/288 19087/60480 5257/17280 1070017/3628800 25713/89600"
    " 26842253/95800320 4777223/17418240"
)


@pytest.mark.parametrize("name", KNOWN)
def test_weights_of_textbooks(name):
    for k, row in enumerate(KNOWN[name], 1):
        assert getattr(tableau, name)(k) == tuple(map(Fraction, row.split()))


@pytest.mark.parametrize(("name", "row"), [("moulton", MOULTON), ("bashforth", BASHFORTH)])
@pytest.mark.parametrize("k", range(1, 13))
def test_weights_of_backward_differences(name, row, k):
    """∇^m f = Σ_j (-1)^j C(m, j) f_(-j)."""
    gamma = list(map(Fraction, row.split()))[:k]
    right = [(-1) ** j * sum(comb(m, j) * g for m, g in enumerate(gamma)) for j in range(k)]
    assert list(getattr(tableau, name)(k)) == right


@EACH
@pytest.mark.parametrize(("name", "first"), [("bashforth", 0), ("moulton", 1)])
def test_weights_integrate_polynomials(name, first, k):
    """Of degrees below k, and no further."""
    weights = getattr(tableau, name)(k)
    for m in range(k + 1):
        found = sum(w * Fraction(first - j) ** m for j, w in enumerate(weights))
        assert (found == Fraction(1, m + 1)) == (m < k)
    assert sum(weights) == 1


@EACH
def test_weights_of_differences(k):
    slopes = [Fraction(j * j * j - 7 * j + 3, j + 2) for j in range(k)]
    first = [a - b for a, b in pairwise(slopes)]
    second = [a - b for a, b in pairwise(first)]
    for name, half in (("bashforth", Fraction(1, 2)), ("moulton", Fraction(-1, 2))):
        weights = getattr(tableau, name)(k)
        right = sum(w * f for w, f in zip(weights, slopes, strict=True))
        v, u = tableau.of_differences(weights), tableau.of_second_differences(weights)
        assert slopes[0] + sum(w * d for w, d in zip(v, first, strict=True)) == right
        assert sum(v) == half
        once = slopes[0] + half * first[0]
        assert once + sum(w * d for w, d in zip(u, second, strict=True)) == right


def value(p, x):
    return sum(a * x**i for i, a in enumerate(p))


@EACH
def test_weights_inside_a_step(k):
    """They integrate polynomials below degree k to any x; corrected, those of degree k, too."""
    table = tableau.aside(k)
    for x in (Fraction(1, 3), Fraction(7, 8), Fraction(1)):
        g = x * value(table.above, x) / value(table.below, x)
        for m in range(k + 1):
            f = [Fraction(-j) ** m for j in range(k)]
            d = [a - b for a, b in pairwise(f)]
            second = [a - b for a, b in pairwise(d)]
            p = f[0] + x / 2 * d[0]
            p = x * (p + sum(value(u, x) * e for u, e in zip(table.values, second, strict=True)))
            there = f[0] + x * d[0]
            there += sum(value(u, x) * e for u, e in zip(table.slopes, second, strict=True))
            right = x ** (m + 1) / (m + 1)
            assert (p == right) == (m < k)
            assert (there == x**m) == (m < k)
            assert p + g * (x**m - there) == right


# ---- one step, from other hands and with many digits
def tangled(t, y, body, params):
    """A slope with products of everything, in any numbers."""
    a, b, c = y
    return b * c - t * a, c * a + t * t, a * b - 2 * a * t


SMALL = 0.5, -0.25, 0.75  # exact in any numbers
BEGIN = 0.25


def precise_number(x):
    return mp.mpf(x.numerator) / x.denominator


@pytest.fixture(scope="module")
def motion():
    """The solution of the above around t = 0.25, by mpmath's Taylor series."""
    with mp.workdps(DIGITS):
        t0 = mp.mpf(BEGIN)

        def run(sign):
            return mp.odefun(
                lambda s, y: [sign * x for x in tangled(t0 + sign * s, y, (), ())],
                0,
                [mp.mpf(x) for x in SMALL],
                tol=mp.mpf("1e-72"),
            )

        ahead, back = run(1), run(-1)
        known: dict = {}

        def at(t):
            s = mp.mpf(t) - t0
            if t not in known:
                known[t] = tuple(ahead(s) if s >= 0 else back(-s))
            return known[t]

        yield at


def functions(k, number=float, of=tangled, compensated=True):
    """(start, step) in plain Python."""
    record = adams(k, compensated, number)
    return [loops.bound(stub, own_functions(record), {slope: of}) for stub in (start, step)]


def history(k, h, motion):
    """The carry at 0.25 after steps of h on the solution."""
    t = mp.mpf(BEGIN)
    slopes = [tangled(t - j * h, motion(t - j * h), (), ()) for j in range(k)]
    first = [differences(a, b) for a, b in pairwise(slopes)]
    past = first[0], *(differences(a, b) for a, b in pairwise(first))
    return h, k - 1.0, slopes[0], past[::-1], (mp.mpf(0),) * 3


def differences(a, b):
    return tuple(map(mp.fsub, a, b))


def moments(places, x):
    """Weights by Vandermonde's equations: Σ w_j s_j^m = x^(m+1)/(m+1)."""
    n = len(places)
    matrix = mp.matrix([[s**m for s in places] for m in range(n)])
    return list(mp.lu_solve(matrix, mp.matrix([x ** (m + 1) / (m + 1) for m in range(n)])))


def textbook(k, h, x, motion, inner):
    """One step of x h, predicted and corrected with the slopes themselves.

    Inside a step the corrector has all of them and the new one, otherwise one less.
    """
    t = mp.mpf(BEGIN)
    slopes = [tangled(t - j * h, motion(t - j * h), (), ()) for j in range(k)]
    y = [mp.mpf(c) for c in SMALL]

    def moved(places, fs):
        weights = moments(places, x)
        return [a + h * mp.fsum(w * f[i] for w, f in zip(weights, fs, strict=True))
                for i, a in enumerate(y)]  # fmt: skip

    p = moved([mp.mpf(-j) for j in range(k)], slopes)
    new = tangled(t + x * h, p, (), ())
    old = slopes if inner else slopes[: k - 1]
    return moved([x, *(mp.mpf(-j) for j in range(len(old)))], [new, *old])


def gap(found, right):
    return max(abs(a - b) for a, b in zip(found, right, strict=True))


@SOME
def test_steps_are_those_of_textbooks(k, motion):
    with mp.workdps(DIGITS):
        h = mp.mpf(1) / 64
        _, go = functions(k, precise_number)
        y, carry = tuple(map(mp.mpf, SMALL)), history(k, h, motion)
        t = mp.mpf(BEGIN)
        new, (size, known, f, past, _) = go(t, h, y, carry, (), ())
        assert gap(new, textbook(k, h, mp.mpf(1), motion, False)) < 1e-70
        assert (size, known) == (h, k - 1)
        assert f == tangled(t + h, new, (), ())
        change = differences(f, carry[2])
        assert past == (*carry[3][:-1], differences(change, carry[3][-1]), change)[1:]
        x = mp.mpf(3) / 8
        aside, kept = go(t, x * h, y, carry, (), ())
        assert gap(aside, textbook(k, h, x, motion, True)) < 1e-70
        assert kept[:2] == (x * h, 1)  # and continues with that step


@SOME
def test_steps_in_doubles(k, motion):
    """Rounding errs by little more than that of y: (1) and (2) are sums of small numbers."""
    with mp.workdps(DIGITS):
        h = mp.mpf(1) / 64
        carry = history(k, h, motion)
        rounded = tuple(tuple(map(float, row)) for row in carry[3])
        known = float(h), k - 1.0, tuple(map(float, carry[2])), rounded, (0.0,) * 3
        _, go = functions(k)
        for x in (1.0, 0.375, 0.9375):
            found, _ = go(BEGIN, x * float(h), SMALL, known, (), ())
            right = textbook(k, h, mp.mpf(x), motion, x < 1)
            assert gap(found, right) < 2 * ROUNDING


# ---- orders
@SOME
def test_one_step_is_of_the_declared_order(k, motion):
    """Its error falls as h^(k+1), and inside a step as h^(k+2)."""
    with mp.workdps(DIGITS):
        _, go = functions(k, precise_number)
        t, y = mp.mpf(BEGIN), tuple(map(mp.mpf, SMALL))
        for x, order in ((1, k + 1), (mp.mpf(5) / 8, k + 2)):
            errors = []
            for n in (512, 1024, 2048):
                h = mp.mpf(1) / n
                new, _ = go(t, x * h, y, history(k, h, motion), (), ())
                errors.append(gap(new, motion(t + x * h)))
            slopes = [float(mp.log(a / b, 2)) for a, b in pairwise(errors)]
            assert abs(2 * slopes[1] - slopes[0] - order) < 0.1
    assert adams(k).order == adams(k).dense_order == k


@pytest.mark.parametrize(("k", "n"), [(2, 32), (3, 32), (4, 32), (8, 32), (12, 32), (16, 128)])
def test_runs_are_of_the_declared_order(k, n, motion):
    """From their start on, with as many digits as it takes."""
    with mp.workdps(DIGITS):
        begin, go = functions(k, precise_number)
        errors = []
        for steps in (n, 2 * n):
            h, y = mp.mpf(1) / steps, tuple(map(mp.mpf, SMALL))
            carry = begin(mp.mpf(BEGIN), h, y, (), ())
            for i in range(steps):
                y, carry = go(mp.mpf(BEGIN) + i * h, h, y, carry, (), ())
            errors.append(gap(y, motion(mp.mpf(BEGIN) + 1)))
        assert float(mp.log(errors[0] / errors[1], 2)) > k - 0.5


@pytest.mark.parametrize("k", [2, 4, 6])
def test_bodies_are_moved_to_the_declared_order(plain, k):
    """In variables that are not reset; others restart, with smaller errors."""
    q, m = TIME.reference((0.0, 3.0))
    errors = []
    for steps in (100, 200):
        run = ph.solve(
            TIME.problem, (0.0, 3.0), method="adams", dt=3.0 / steps, options={"order": k},
            formulation="rotor",
        )  # fmt: skip
        assert run.method == f"adams:{k}"
        errors.append(np.linalg.norm(run.angular_momentum[-1] - m[-1]) + angle(run.q[-1], q[-1])[0])
    assert math.log2(errors[0] / errors[1]) > k - 0.5


# ---- rounding
def by_slopes(k):
    """(1) and (2) with the slopes themselves, from the last to the oldest."""
    before, after = (tuple(map(float, w)) for w in (tableau.bashforth(k), tableau.moulton(k)))

    def predicted(f, past):
        return combined(before, past)

    def corrected(f, past, new):
        return combined(after, (new, *past[:-1]))

    def pushed(f, past, new):
        return (new, *past[:-1])

    return others(k, k, predicted, corrected, pushed)


def by_differences(k):
    """The same with first differences, as (1) and (2) are written."""
    before = 1.0, *map(float, tableau.of_differences(tableau.bashforth(k)))
    newest, *old = tableau.moulton(k)
    after = tuple(map(float, (newest, *tableau.of_differences(old))))

    def predicted(f, past):
        return combined(before, (f, *past))

    def corrected(f, past, new):
        return combined((1.0, *after), (f, module.minus(new, f), *past[:-1]))

    def pushed(f, past, new):
        return (module.minus(new, f), *past[:-1])

    return others(k, k - 1, predicted, corrected, pushed)


def others(k, count, predicted, corrected, pushed):
    """An integrator that sums in another way; the start is the same."""
    first_steps, none = module.extrapolation(k, float), module.picked([0] * count)

    def start(t, h, y, body, params):
        f = slope(t, y, body, params)
        return 1.0, f, pushed(f, none((f,)), f), module.nothing(y)

    def step(t, h, y, carry, body, params):
        known, f, past, low = carry
        if known < k:
            new, low = module.accumulated(y, low, 1.0, first_steps(t, h, y, f, body, params)[0])
        else:
            p = module.moved(y, h, predicted(f, past))
            d = corrected(f, past, slope(t + h, p, body, params))
            new, low = module.accumulated(y, low, h, d)
        rate = slope(t + h, new, body, params)
        return new, (known + 1.0, rate, pushed(f, past, rate), low)

    return replace(adams(k), start=start, step=step)


def turning(t, y, body, params):
    return -y[1], y[0]


def many_steps(n, h, y, body, params):
    carry = start(0.0, h, y, body, params)
    for i in range(n):
        y, carry = step(i * h, h, y, carry, body, params)
    return y, carry


def test_rounded_weights_do_not_make_it_drift():
    """y' = iy over 65536 radians: of angle and radius there is left what rounding does by chance.

    Weights of slopes, which sum to 1 + e, make the angle longer by e of itself; those of first
    differences, which sum to 1/2 + e, change the radius by -e h of it in every radian.
    """
    k, h, n = 12, 2.0**-5, 2**21
    span = n * h
    off = {}
    for name, record in (
        ("second differences", adams(k)),
        ("differences", by_differences(k)),
        ("slopes", by_slopes(k)),
    ):
        run = compiled(loops.bound(many_steps, own_functions(record), {slope: turning}))
        (c, s), carry = run(n, h, (1.0, 0.0), (), ())
        with mp.workdps(40):
            ends = [mp.mpf(x) + mp.mpf(low) for x, low in zip((c, s), carry[-1], strict=True)]
            z = mp.mpc(*ends) * mp.expj(-span)
            off[name] = float(z.real - 1), float(z.imag)
    # each slope is rounded, to some 0.6 units, and counts h of that in all, by chance
    chance = 0.6 * ROUNDING * h * math.sqrt(n)
    assert max(map(abs, off["second differences"])) < 4 * chance
    weights = tableau.moulton(k)
    missing = float(sum(map(Fraction, map(float, weights))) - 1)
    assert abs(missing * span) > 100 * chance
    assert off["slopes"][1] == pytest.approx(missing * span, rel=0.2)
    first = weights[0], *tableau.of_differences(weights[1:])
    missing = float(sum(map(Fraction, map(float, first))) - Fraction(1, 2))
    assert abs(missing * h * span) > 20 * chance
    assert off["differences"][0] == pytest.approx(-missing * h * span, rel=0.2)


def test_what_y_loses_is_carried():
    """A slope that y cannot see in one step: without the carry nothing moves."""

    def creeping(t, y, body, params):
        return (2.0**-60,)

    for compensated in (True, False):
        begin, go = functions(12, of=creeping, compensated=compensated)
        y, carry = (1.0,), begin(0.0, 1.0, (1.0,), (), ())
        for i in range(1000):
            y, carry = go(float(i), 1.0, y, carry, (), ())
        moved = 1000 * 2.0**-60 if compensated else 0.0
        assert y[0] - 1.0 == pytest.approx(moved, abs=2.0**-52)
        assert (y[0] - 1.0) + carry[4][0] == pytest.approx(moved, rel=1e-12)


# ---- the start
def test_the_start_is_as_good_as_doubles_are(plain):
    """State and slopes after k - 1 steps, from the closed form."""
    for k in (12, 13, 16):
        p = parts(adams(k))
        go = loops.bound(step, *p.layers)
        h = 1 / 32
        y, carry = attitude(0.0), p.start(0.0, h, attitude(0.0), (), NONE)
        for i in range(k - 1):
            y, carry = go(i * h, h, y, carry, (), NONE)
            with mp.workdps(30):
                right = precise_attitude((i + 1) * h)
                assert gap(y, right) < 4 * ROUNDING
        assert carry[1] == k - 1
        _, _, f, past, _ = carry
        slopes = [loops.bound(slope, *p.layers)(i * h, attitude(i * h), (), NONE) for i in range(k)]
        assert gap(f, slopes[-1]) < 8 * ROUNDING
        first = np.diff(slopes, axis=0)
        for found, right in zip(past, (*np.diff(first, axis=0), first[-1]), strict=True):
            assert gap(found, right) < 16 * ROUNDING


def noted(omega):
    times = []

    def seen(t):
        times.append(t)
        return omega(t)

    return seen, times


@pytest.mark.parametrize("span", [(1.0, 3.0), (3.0, 1.0), (1.0, 1.23), (1.0, 1.01)])
def test_the_force_is_not_evaluated_outside_the_run(plain, span):
    """Also where the last step is shorter, and where there are fewer steps than the start takes."""
    omega, times = noted(inertial)
    run = ph.integrate_angular_velocity(
        omega, span, frame="inertial", method="adams", dt=0.03, attitude=attitude(span[0]),
        scalar_first=True,
    )  # fmt: skip
    assert error(run) < CLOSED_FORM
    run.sol(np.linspace(*span, 7))
    assert min(times) >= min(span) - 1e-15
    assert max(times) <= max(span) + 1e-15


def test_a_force_that_begins_with_the_run(plain):
    """There was none before, and it jumps at the breaks."""

    def torn(t):
        return inertial(t) if t >= 0.0 else (math.nan,) * 3

    run = ph.integrate_angular_velocity(
        torn, (0.0, 3.0), frame="inertial", method="adams", dt=0.03, attitude=attitude(0.0),
        scalar_first=True,
    )  # fmt: skip
    assert run.success
    assert error(run) < CLOSED_FORM


def test_a_force_that_is_undefined_ends_the_run(plain):
    """In the start, where the steps have stages, and after it."""
    for end, dt in ((0.05, 0.03), (2.0, 0.03)):

        def torn(t, end=end):
            return inertial(t) if t <= end else (math.nan,) * 3

        run = ph.integrate_angular_velocity(
            torn, (0.0, 3.0), frame="inertial", method="adams", dt=dt
        )
        assert not run.success
        assert run.status == Status.NOT_FINITE
        assert end - 2 * dt < run.t[-1] <= end
        assert "try a smaller dt" in run.message
        assert np.isfinite(run.q).all()


# ---- interruptions
OFF = 0.0, 0.011, 0.1234, 0.4, 1.0007, 1.3, 1.999, 2.0


@pytest.mark.parametrize("backward", [False, True])
def test_times_between_the_steps(plain, backward):
    """In the start and after it, by ``t_eval`` and afterwards; the steps do not notice."""
    span, times = ((2.0, 0.0), OFF[::-1]) if backward else ((0.0, 2.0), OFF)
    options = {
        "frame": "inertial", "method": "adams", "dt": 0.03, "attitude": attitude(span[0]),
        "scalar_first": True,
    }  # fmt: skip
    run = ph.integrate_angular_velocity(inertial, span, t_eval=times, **options)
    assert error(run) < CLOSED_FORM
    steps = ph.integrate_angular_velocity(inertial, span, **options)
    assert error(steps) < CLOSED_FORM
    there = steps.sol(times)
    assert np.abs(there.q - attitudes(times)).max() < CLOSED_FORM
    body = ph.solve(TIME.problem, span, method="adams", dt=0.03)
    other = ph.solve(TIME.problem, span, method="adams", dt=0.03, t_eval=times)
    assert np.abs(body.sol(times).q - other.q).max() < 1e-14
    assert other.q[-1].tolist() == body.q[-1].tolist()


@pytest.mark.parametrize("k", [3, 5])
def test_between_the_steps_it_is_as_good_as_at_them(plain, k):
    """Where errors are not rounding: the same that the steps have."""
    times = np.linspace(1.0, 2.0, 58)
    begin = {"attitude": attitude(0.0), "scalar_first": True}
    for options in ({"t_eval": times}, {}):
        run = ph.integrate_angular_velocity(
            inertial, (0.0, 2.0), frame="inertial", method=adams(k), dt=0.05, **begin, **options
        )
        steps = ph.integrate_angular_velocity(
            inertial, (0.0, 2.0), frame="inertial", method=adams(k), dt=0.05, **begin
        )
        q = run.q if options else run.sol(times).q
        assert error(steps) > 1e-9
        assert np.abs(q - attitudes(times)).max() < 1.1 * error(steps)


def test_evaluations_with_side_steps(plain):
    """Two of each step, also of those aside, once the start is over."""
    omega, calls = noted(inertial)
    solver = ph.prepare_angular_velocity(omega, frame="inertial", method="adams", dt=0.03)
    solver((0.0, 0.5))
    calls.clear()
    run = solver((0.0, 1.0))
    assert run.nsteps == 34
    assert run.nfev == 34 * 2 + 1 + 11 * (columns(12).evaluations - 2)
    assert len(calls) == run.nfev + 1  # for the form of the carry
    solved = ph.solve(TIME.problem, (0.0, 3.0), method="adams", dt=0.03, t_eval=[0.0, 1.0, 2.0])
    assert solved.nfev == 2 * (66 + 2) + 1 + 11 * (columns(12).evaluations - 2)


def steady(t):
    return 0.0, 0.6, 0.8


def test_events(plain):
    """Zeros of q's first number: a quarter, three quarters, … of a turn at the rate 1."""

    def half(t, q, omega):
        return q[0]

    half.terminal = 2
    run = ph.integrate_angular_velocity(
        steady, (0.0, 20.0), frame="inertial", method="adams", dt=0.1, events=half
    )
    assert np.abs(run.t_events[0] - np.pi * np.array([1, 3])).max() < 4e-15
    assert run.t[-1] == run.t_events[0][-1]


def test_a_change_of_step_restarts_the_history(plain):
    """The carry can be used for steps of any size, one after another."""
    p = parts(adams(8))
    go = loops.bound(step, *p.layers)
    t, y = 0.0, attitude(0.0)
    carry = p.start(t, 0.03, y, (), NONE)
    for h in (*[0.03125] * 9, 0.015625, *[0.0078125] * 9, 0.0625, *[-0.0078125] * 9):
        y, carry = go(t, h, y, carry, (), NONE)
        t += h
        assert gap(y, attitude(t)) < 1e-11  # some 0.03^9
    assert carry[:2] == (-0.0078125, 7.0)


# ---- resets
@pytest.mark.parametrize("name", ["generator-reset", "quaternion"])
def test_resets(name):
    """A reset of the variables ends the history, and a new one starts."""
    resets, before = [], FORMULATIONS[name].reset

    def noted_reset(*given):
        new, changed = before(*given)
        resets.append(changed)
        return new, changed

    formulation = replace(FORMULATIONS[name], reset=noted_reset)
    p = BoundIntegrator(adams(12), formulation, parts(adams(12)).force, True, plain=True)
    go = loops.bound(step, *p.layers)
    h, y = 1 / 64, formulation.enter(attitude(0.0))
    if name == "quaternion":  # whose length is mended after the first step
        y = tuple(1.0001 * x for x in y)
    carry = p.start(0.0, h, y, (), NONE)
    for i in range(1000):
        y, carry = go(i * h, h, y, carry, (), NONE)
        assert (carry[1] == 0) == resets[-1]
    assert carry[1] == 11
    assert len(resets) == 1000
    assert sum(resets) == (1 if name == "quaternion" else 3)
    found, right = formulation.attitude(y), attitude(1000 * h)
    assert min(gap(found, right), gap(found, np.negative(right))) < 1e-13


def test_what_was_known_before_a_reset_does_not_matter(plain):
    """``again`` keeps the old history, and continues with the bits of ``start``."""
    p = parts(adams(8))
    go, again = (loops.bound(f, *p.layers) for f in (step, p.integrator.again))
    h, y = 0.03125, attitude(0.0)
    carry = p.start(0.0, h, y, (), NONE)
    for i in range(10):
        y, carry = go(i * h, h, y, carry, (), NONE)
    t, z = 10 * h, y
    carry, other = again(t, h, y, carry, (), NONE), p.start(t, h, y, (), NONE)
    assert carry[3] != other[3]
    for i in range(10, 25):
        y, carry = go(i * h, h, y, carry, (), NONE)
        z, other = go(i * h, h, z, other, (), NONE)
        assert y == z
    assert carry == other


def test_quick_steps(plain):
    """Where the history is whole and of this size, the bits of ``step``."""
    p = parts(adams(5))
    ready, quick = p.integrator.ready, loops.bound(p.integrator.quick, *p.layers)
    go = loops.bound(step, *p.layers)
    h, y = 0.03125, attitude(0.0)
    carry = p.start(0.0, h, y, (), NONE)
    for i in range(8):
        assert ready(h, carry) == (i >= 4)
        assert not ready(0.5 * h, carry)
        new, kept = go(i * h, h, y, carry, (), NONE)
        if i >= 4:
            assert quick(i * h, h, y, carry, (), NONE) == (new, kept)
        y, carry = new, kept


# ---- stability
LIMITS = {6: 0.52, 8: 0.28, 10: 0.144, 12: 0.067, 14: 0.025, 16: 0.008}


@pytest.mark.parametrize("k", LIMITS)
def test_steps_that_are_stable(k):
    """y' = iy after a slope that does not fit: bounded below the limit, and growing above it."""
    begin, go = functions(k, of=turning)
    for h in (0.98 * LIMITS[k], 1.08 * LIMITS[k]):
        y = 1.0, 0.0
        carry = begin(0.0, h, y, (), ())
        for i in range(k):
            y, carry = go(i * h, h, y, carry, (), ())
        carry = (*carry[:2], (carry[2][0] + 1e-3, carry[2][1]), *carry[3:])
        sizes = []
        for i in range(3000):
            y, carry = go(i * h, h, y, carry, (), ())
            sizes.append(math.hypot(*y))
            if sizes[-1] > 100.0:
                break
        assert (max(sizes) > 100.0) == (h > LIMITS[k])
    first, second = module.__doc__.split("order  ")[1].splitlines()[:2]
    assert list(map(int, first.split())) == list(LIMITS)
    assert list(map(float, second.split()[2:-1])) == list(LIMITS.values())


# ---- long runs, and machine code
def test_a_free_body_for_a_long_time():
    """A million steps against the closed form: no energy is lost, but by rounding.

    That much, 1e-15 of it, is a turn by 2e-11 in the end.
    """
    end = 20000.0
    run = ph.solve(FREE.problem, (0.0, end), method="adams", dt=0.02, save_every=100000)
    exact = ph.solve(FREE.problem, (0.0, end), t_eval=run.t)
    assert run.success
    assert run.nsteps == 1_000_000
    assert np.abs(run.energy / run.energy[0] - 1).max() < 2e-15
    assert angle(run.q, exact.q).max() < 4e-11


SIDES = np.array([0.0, 0.025, 0.0, 0.0, 0.04, 0.0, 0.0, 0.01, 0.0999, 0.0])
ENDS = np.array([0, 1, 3, 9, 11, 12, 16, 18, 19, 20])


@pytest.mark.parametrize("k", [2, 3, 12])
def test_compiled_is_plain_python_with_an_exact_fma(k):
    """In the start, after it, and aside."""

    def run(loop):
        out = np.empty((len(ENDS), 4))
        row = np.array([flat((attitude(0.0), carry))])
        told = loop(row, 0.0, 0.1, 0, True, ENDS, SIDES, np.ones(1), np.zeros(1), (), out)
        return told, out.tolist(), row.tolist()

    record = adams(k)
    carry = parts(record).start(0.0, 0.0, attitude(0.0), (), NONE)
    plain = parts(record).packed(attitude(0.0), carry, (), ())
    with extra_methods.no_disk_cache():
        p = BoundIntegrator(record, FORMULATIONS["rotor"], parts(record).force, True)
        machine = p.packed(attitude(0.0), carry, (), ())
        found = run(machine)
        assert not extra_methods.allocates(machine)
    assert found == run(exactly(plain))
    assert found[0][:3] == (0, len(ENDS), 20)


def test_torques_with_branches_are_compiled():
    """As everywhere: the slope sees single numbers."""

    def rising(t, q, omega, params):
        return (0.1 * t, 0.0, 0.0) if t > 1.0 else (0.1, 0.0, 0.0)

    model = ph.models.torque(rising, frame="body")
    problem = ph.Problem(ph.RigidBody([1.0, 2.0, 2.5]), model, omega=[0.1, 0.5, 0.2])
    run = ph.solve(problem, (0.0, 1.0), method="adams", dt=0.01)
    other = ph.solve(problem, (0.0, 1.0), method="vern9", rtol=1e-13)
    assert angle(run.q[-1], other.q[-1])[0] < 1e-13


# ---- options
@pytest.mark.parametrize("order", [1, 17, 2.5, "12"])
def test_orders_are_refused(order):
    with pytest.raises(ph.InputError, match=f"whole number from 2 to 16, got {order!r}"):
        ph.solve(FREE.problem, (0, 1), method="adams", dt=0.1, options={"order": order})


def test_options():
    with pytest.raises(ph.MethodError, match="are order, compensated, got 'ordre'"):
        ph.solve(FREE.problem, (0, 1), method="adams", dt=0.1, options={"ordre": 8})
    record = ph.INTEGRATORS["adams"]
    assert record.order == 12
    assert record.options(order=4).name == "adams:4"
    assert (record.symmetric, record.symplectic, record.adaptive) == (False, False, False)
