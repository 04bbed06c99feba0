"""The registry of integrators: everything a record declares, and what every run promises.

Runs here are in plain Python, where nothing is compiled, but for one test of the machine code.
"""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest
from scipy.integrate import DOP853

import polhode as ph
from polhode import loops
from polhode.compiler.tree import bind, flat
from polhode.contracts import Status, size, slope, start, trial
from polhode.formulations import FORMULATIONS
from polhode.integrators import _runge_kutta as rk
from polhode.integrators import bulirsch_stoer
from polhode.kernels.vector import cross
from polhode.loops.join import BoundIntegrator, own_functions
from polhode.references import bibliography
from polhode.tableaus.dop853 import DOP853 as DOP853_TABLEAU
from polhode.tableaus.embedded import DOPRI5
from polhode.tableaus.runge_kutta import RK4
from polhode.tableaus.verner9 import VERNER9
from support import extra_methods, given_motion
from support.bits import exactly
from support.convergence import estimate_order
from support.given_motion import NONE, attitude, attitudes, error, inertial, parts, precise_attitude

RECORDS = tuple(ph.INTEGRATORS.values())
ADAPTIVE = tuple(r for r in RECORDS if r.adaptive)
GENERAL = tuple(r for r in RECORDS if not r.linear)
LOW = tuple(r for r in RECORDS if r.order <= 9)  # in doubles an order can be measured up to here


def takes_short_steps(record):
    """For the errors of a low order, or to be stable."""
    return record.order <= 4 or not (record.linear or record.implicit)


def over(records):
    return pytest.mark.parametrize("record", records, ids=lambda r: r.name)


@pytest.fixture(autouse=True)
def in_plain_python():
    with given_motion.plain_python():
        yield


def integrate(record, t_span, omega=inertial, frame="inertial", **options):
    """A run from where the closed form is, of an adaptive method or with steps of ``dt``."""
    if not record.adaptive:
        for name in ("rtol", "first_step", "max_step"):
            options.pop(name, None)
        options.setdefault("dt", {4: 0.01, 6: 0.03}.get(record.order, 0.1))
    if omega in given_motion.OMEGAS.values():
        options |= {"attitude": attitude(t_span[0]), "scalar_first": True}
    return ph.integrate_angular_velocity(omega, t_span, frame=frame, method=record, **options)


# ---- records
@over(RECORDS)
def test_records_are_complete(record):
    assert record.name in ph.INTEGRATORS
    assert record.title
    assert set(record.references) <= set(bibliography())
    assert record.references
    assert 1 <= record.dense_order <= record.order
    kinds = record.trial is not None, record.step is not None, record.improve is not None
    assert sum(kinds) == 1
    assert (record.fit is None) == (record.read is None)
    assert record.adaptive == (record.tightest > 0)
    assert record.adaptive == (record.evaluations + record.evaluations_per_iteration == 0)


# ---- one step
def once(t, h, y, tolerances, body, params):
    """A template: (state, error, factor, evaluations) of one trial step."""
    carry = start(t, h, y, body, params)
    new, _, error, factor, count = trial(t, h, y, carry, body, params, tolerances)
    return new, error, factor, count


def once_fixed(t, h, y, tolerances, body, params):
    carry = start(t, h, y, body, params)
    new, _, status, _, _ = loops.attempt(t, h, y, carry, body, params)
    return new, float(status), 1.0, 0


def template(record):
    if record.adaptive:
        return once
    solved = record.improve is not None
    return bind(once_fixed, {loops.attempt: loops.solved_step if solved else loops.sure_step})


def stepper(record, **below):
    """(t, h, y) -> y after one step that is as accurate as the method can make it."""
    run = parts(record, **below).built(template(record))
    return lambda t, h, y, tol=1e-30: run(t, h, y, (0.0, tol), (), NONE)[0]


def gap(found, right):
    return float(max(abs(a - b) for a, b in zip(found, right, strict=True)))


T = 0.375
STEPS = [float(np.float32(3.0 * 0.85**k)) for k in range(40)]  # t + h is exact


@over(LOW)
@pytest.mark.parametrize("frame", given_motion.OMEGAS)
def test_one_step_is_of_the_declared_order(record, frame):
    """Its error falls as h to the order + 1."""
    go, y = stepper(record, omega=given_motion.OMEGAS[frame], frame=frame), attitude(T)
    with mp.workdps(30):
        errors = [gap(go(T, h, y), precise_attitude(T + h)) for h in STEPS]
    few = np.array(errors) < 1e-4
    found = estimate_order(np.array(STEPS)[few], np.array(errors)[few], floor=2e-14)
    assert abs(found - (record.order + 1)) < 0.3


@over(RECORDS)
def test_one_step_of_a_second_is_right(record):
    """The others are of orders that doubles do not show; mpmath's tests do."""
    go, wanted = stepper(record), {4: 0.1, 5: 1e-2, 6: 1e-3, 8: 1e-4, 9: 1e-6}
    found = gap(go(T, 1.0, attitude(T)), precise_attitude(T + 1.0))
    assert found < wanted.get(record.order, 1e-8)


def inside(record, h, y, shares):
    """The states at these shares of one step, by dense output as runs have it."""
    p = parts(record)
    new = stepper(record)(T, h, y)
    knots = np.array([[T, 0.0, *y], [T + h, 0.0, *new]])
    carry, fitted = p.start(T, h, y, (), NONE), ()
    if p.fit is not None:
        fitted, _ = p.fit(T, h, y, carry, new, (), NONE)
    settings = (0.0, 1e-30) if record.adaptive else (np.ones(1), np.zeros(1))
    out, times = np.empty((len(shares), len(y))), T + h * np.array(shares)
    good, *_ = p.sampled(
        knots, np.zeros(len(shares), int), times, settings, y, carry, fitted, (), NONE, out
    )
    assert good == len(shares)
    return times, out


@over(LOW)
def test_dense_output_is_of_the_declared_order(record):
    """All over the step its error falls as h to the dense order + 1; those of runs by one less."""
    y, errors = attitude(T), []
    with mp.workdps(30):
        for h in STEPS:
            times, rows = inside(record, h, y, (0.125, 0.375, 0.5, 0.75, 0.9375))
            errors.append(
                max(gap(row, precise_attitude(t)) for t, row in zip(times, rows, strict=True))
            )
    few = np.array(errors) < 1e-4
    found = estimate_order(np.array(STEPS)[few], np.array(errors)[few], floor=2e-14)
    assert abs(found - (record.dense_order + 1)) < 0.3


@over(RECORDS)
def test_dense_output_is_as_good_as_the_step(record):
    y, h = attitude(T), 0.5
    end = gap(stepper(record)(T, h, y), precise_attitude(T + h))
    times, rows = inside(record, h, y, tuple(np.arange(1, 16) / 16))
    found = max(gap(row, precise_attitude(t)) for t, row in zip(times, rows, strict=True))
    # dop853's is of one order less
    assert found < (1.2 if record.dense_order == record.order else 30) * end + 2e-14


# ---- one step, from other hands
def tangled(t, y, body, params):
    """A slope with products of everything, in any numbers."""
    a, b, c = y
    return b * c - t * a, c * a + t * t, a * b - 2 * a * t


SMALL = 0.5, -0.25, 0.75  # exact in any numbers


def none(d, y, new, body, tolerances):
    return 0.0


def bound_once(record, of=tangled, length=none):
    """``once`` with a slope of its own."""
    return loops.bound(template(record), own_functions(record), {slope: of, size: length})


def butcher(tableau, number, t, h, y):
    """One step from the definition."""
    a, b, c = tableau.converted(number)
    ks = []
    for row, node in zip(a, c, strict=True):
        inner = [x + h * sum(w * k[i] for w, k in zip(row, ks)) for i, x in enumerate(y)]  # noqa: B905
        ks.append(tangled(t + node * h, inner, (), ()))
    return [x + h * sum(w * k[i] for w, k in zip(b, ks, strict=True)) for i, x in enumerate(y)]


TABLEAUS = {"dop853": DOP853_TABLEAU, "dopri5": DOPRI5, "vern9": VERNER9, "rk4": RK4}
TABLEAU = pytest.mark.parametrize("name", TABLEAUS)


@TABLEAU
def test_runge_kutta_steps_are_those_of_their_tableaus(name):
    with mp.workdps(40):
        y = list(map(mp.mpf, SMALL))
        right = butcher(TABLEAUS[name], precise_number, mp.mpf(1) / 4, mp.mpf(1) / 2, y)
        found, *_ = bound_once(ph.INTEGRATORS[name])(0.25, 0.5, SMALL, (0.0, 1.0), (), ())
        assert gap(found, right) < 1e-15


def precise_number(x):
    fraction = Fraction(x)
    return mp.mpf(fraction.numerator) / fraction.denominator


@TABLEAU
def test_runge_kutta_orders_with_forty_digits(name):
    tableau = TABLEAUS[name]
    with mp.workdps(50):
        own = rk.explicit(tableau, lambda *_: 0.0, tableau.order, number=precise_number)
        run = loops.bound(once, {start: own["start"], trial: own["trial"]}, {slope: tangled})
        t, y = mp.mpf(1) / 4, tuple(map(mp.mpf, SMALL))
        right = mp.odefun(lambda t, y: list(tangled(t, y, (), ())), t, list(y), tol=mp.mpf("1e-42"))
        steps = [mp.mpf(2) ** -k for k in (4, 5, 6)]
        errors = [gap_mp(run(t, h, y, (), (), ())[0], right(t + h)) for h in steps]
        slopes = [float(mp.log(a / b, 2)) for a, b in pairwise(errors)]
    # the limit, from two slopes; published coefficients have some 30 digits
    assert abs(2 * slopes[1] - slopes[0] - (tableau.order + 1)) < 0.1
    assert ph.INTEGRATORS[name].order == tableau.order


def gap_mp(found, right):
    return max(abs(a - b) for a, b in zip(found, right, strict=True))


def test_dop853_takes_the_steps_of_scipy():
    y, h = np.array(SMALL), 0.375
    other = DOP853(
        lambda t, y: np.array(tangled(t, y, (), ())), 0.25, y, 9.0, first_step=h, rtol=0.1, atol=0.1
    )
    other.step()
    assert other.t == 0.25 + h
    record = ph.INTEGRATORS["dop853"]
    found, *_ = bound_once(record)(0.25, h, SMALL, (0.0, 1.0), (), ())
    assert gap(found, other.y) < 4e-16
    fit = loops.bound(record.fit, {slope: tangled})
    fitted, count = fit(0.25, h, SMALL, (), found, (), ())
    assert count == 16
    there = other.dense_output()
    for x in np.arange(17) / 16:
        assert gap(record.read(float(x), h, SMALL, fitted), there(0.25 + x * h)) < 1e-15


def test_the_error_estimate_of_dop853_is_that_of_scipy():
    """What SciPy's norm makes of it: the root of the mean of squares, over n components."""

    def root_mean_square(d, y, new, body, tolerances):
        return math.sqrt((d[0] ** 2 + d[1] ** 2 + d[2] ** 2) / 3)

    record = ph.INTEGRATORS["dop853"]
    run = bound_once(record, length=root_mean_square)
    other = DOP853(
        lambda t, y: np.array(tangled(t, y, (), ())), 0.25, np.array(SMALL), 9.0, first_step=0.75
    )
    other.rtol, other.atol = 0.0, 1.0
    other.step()
    estimate = other._estimate_error_norm(other.K, 0.75, np.ones(3))
    assert other.t == 1.0
    assert run(0.25, 0.75, SMALL, (), (), ())[1] == pytest.approx(estimate, rel=1e-9)


# ---- Bulirsch and Stoer's table, with many digits
def neville(t, h, y, columns):
    """T_(j,j) for j < columns: midpoint rules with 2, 4, 6, … steps, extrapolated in (h/n)²."""
    rows = []
    for j in range(columns):
        n = 2 * (j + 1)
        before, here = y, [a + h / n * b for a, b in zip(y, tangled(t, y, (), ()), strict=True)]
        for m in range(1, n):
            k = tangled(t + m * h / n, here, (), ())
            before, here = here, [a + 2 * h / n * b for a, b in zip(before, k, strict=True)]
        row = [here]
        for i in range(1, j + 1):
            ratio = mp.mpf((j + 1) ** 2) / (j + 1 - i) ** 2 - 1
            row.append([a + (a - b) / ratio for a, b in zip(row[-1], rows[-1][i - 1], strict=True)])
        rows.append(row)
    return [row[-1] for row in rows], [row[-2] if len(row) > 1 else row[-1] for row in rows]


def largest(d, y, new, body, tolerances):
    return max(map(abs, d)) / tolerances[1]


@pytest.mark.parametrize("tol", [1e-4, 1e-7, 1e-10, 1e-30])
def test_bulirsch_stoer_is_nevilles_table(tol):
    """The column is the first whose error is small enough, and the last if none is."""
    record = bulirsch_stoer.INTEGRATOR
    run = bound_once(record, length=largest)
    new, estimate, _, count = run(0.25, 0.5, SMALL, (0.0, tol), (), ())
    with mp.workdps(40):
        y = list(map(mp.mpf, SMALL))
        best, less = neville(mp.mpf("0.25"), mp.mpf("0.5"), y, bulirsch_stoer.COLUMNS)
        errors = [gap(a, b) / tol for a, b in zip(best, less, strict=True)]
    good = [j for j, e in enumerate(errors) if j >= 2 and e <= 1.0]
    j = min(good, default=bulirsch_stoer.COLUMNS - 1)
    assert gap(new, best[j]) < 1e-14  # some ten units: the weights magnify rounding
    # each rule needs the slope at the start, which is taken once
    assert count == sum(range(2, 2 * j + 3, 2)) - j
    if tol > 1e-20:  # beyond, the estimate is rounding
        assert estimate == pytest.approx(errors[j], rel=1e-4)


def test_nevilles_table_is_of_the_declared_order():
    with mp.workdps(60):
        y, t = tuple(map(mp.mpf, SMALL)), mp.mpf(1) / 4
        right = mp.odefun(lambda t, y: list(tangled(t, y, (), ())), t, list(y), tol=mp.mpf("1e-50"))
        errors = []
        for h in (mp.mpf(1) / 8, mp.mpf(1) / 16):
            best, _ = neville(t, h, y, bulirsch_stoer.COLUMNS)
            errors.append(gap_mp(best[-1], right(t + h)))
    assert (
        abs(float(mp.log(errors[0] / errors[1], 2)) / (bulirsch_stoer.INTEGRATOR.order + 1) - 1)
        < 0.05
    )


# ---- flags
@over(RECORDS)
def test_symmetric_or_not(record):
    """There and back again: to rounding if the record says so, and else not."""
    go, y, h = stepper(record), attitude(T), 2.0
    back = gap(go(T + h, -h, go(T, h, y)), y)
    assert back < 1e-14 if record.symmetric else back > 1e-11


@over(GENERAL)
def test_symplectic_or_not(record):
    """Of a pendulum's step: whether it keeps areas.  The derivatives are by differences."""

    def pendulum(t, y, body, params):
        return y[1], -math.sin(y[0])

    def length(d, y, new, body, tolerances):
        return math.hypot(*d) / (tolerances[0] + tolerances[1])

    run = bound_once(record, pendulum, length)

    def end(x, v):
        return np.array(run(0.0, 3.0, (x, v), (0.0, 1e-30), (), ())[0])

    d, columns = 1e-3, []
    for a, b in ((1.0, 0.0), (0.0, 1.0)):
        near, far = (end(1 + k * a, 0.5 + k * b) - end(1 - k * a, 0.5 - k * b) for k in (d, 2 * d))
        columns.append((8 * near - far) / (12 * d))  # error d⁴
    off = abs(np.linalg.det(columns) - 1)
    assert off < 1e-10 if record.symplectic else off > 1e-9


# ---- evaluations
def counted(omega):
    calls = []

    def noted(t):
        calls.append(t)
        return omega(t)

    return noted, calls


@over(RECORDS)
def test_evaluations_are_counted(record):
    """A run reports as many evaluations as it made, including rejected steps."""
    omega, calls = counted(inertial)
    solver = ph.prepare_angular_velocity(
        omega,
        frame="inertial",
        method=record,
        **({"rtol": 1e-7, "first_step": 3.0} if record.adaptive else {"dt": 0.1}),
    )
    solver((0.0, 0.5))  # the first call also tries omega, and looks at the form of the carry
    calls.clear()
    run = solver((0.0, 5.0))
    before = len(calls)
    assert len(run.q) == run.nsteps + 1
    assert len(calls) == before
    if record.name == "extrapolation":  # whose idle lanes look again at the start
        assert run.nfev <= before
    elif record.improve is None:  # with fixed steps, the form of the carry is looked at each time
        assert run.nfev == before - (0 if record.adaptive else min(record.evaluations_at_start, 1))
    else:  # and the first guess of an implicit method
        assert before - 2 <= run.nfev <= before
    if record.step is not None:
        assert run.nfev == 50 * record.evaluations + record.evaluations_at_start


def test_dopri5_keeps_its_last_slope():
    run = integrate(ph.INTEGRATORS["dopri5"], (0.0, 10.0), rtol=1e-7)
    trials = run.nsteps + run.rejected
    assert run.nfev == 6 * trials + 1 + 2  # one at the start, two for the size of the first step
    first = integrate(ph.INTEGRATORS["dopri5"], (0.0, 10.0), rtol=1e-7, first_step=0.01)
    assert first.nfev == 6 * (first.nsteps + first.rejected) + 1


def test_dopri5_evaluates_the_slope_again_after_a_reset():
    """Otherwise the first step after a reset would be wrong."""
    resets = []

    def noted(y):
        new, changed = FORMULATIONS["generator-reset"].reset(y)
        resets.append(changed)
        return new, changed

    formulation = replace(FORMULATIONS["generator-reset"], reset=noted)
    run = integrate(ph.INTEGRATORS["dopri5"], (0.0, 20.0), rtol=1e-8, formulation=formulation)
    assert sum(resets) > 3
    assert len(resets) == run.nsteps
    assert run.nfev == 6 * (run.nsteps + run.rejected) + 1 + sum(resets) + 2
    assert error(run) < 2e-6


# ---- errors and tolerances
@over(ADAPTIVE)
def test_the_error_follows_the_tolerance(record):
    """From 1e-3 to 1e-12: each three decades lower it, and it is about the tolerance's size."""
    found = [error(integrate(record, (0.0, 10.0), rtol=tol)) for tol in (1e-3, 1e-6, 1e-9, 1e-12)]
    for tol, this in zip((1e-3, 1e-6, 1e-9, 1e-12), found, strict=True):
        assert 3e-4 * tol < this + 2e-15 < 60 * tol, (tol, this)
    assert all(b < a / 30 for a, b in pairwise(found))


@over(ADAPTIVE)
def test_a_first_step_that_is_too_long_is_rejected(record):
    run = integrate(record, (0.0, 10.0), rtol=1e-9, first_step=10.0)
    assert run.rejected > 0
    assert run.success
    assert error(run) < 60e-9
    other = integrate(record, (0.0, 10.0), rtol=1e-9)
    assert other.rejected < run.rejected + 3


@over(RECORDS)
def test_backward(record):
    run = integrate(record, (7.5, -2.5), rtol=1e-9)
    assert run.success
    assert (run.t[0], run.t[-1]) == (7.5, -2.5)
    assert (np.diff(run.t) < 0).all()
    assert error(run) < max(60e-9, 2e-8 if record.order == 4 else 0)
    back = integrate(record, (-2.5, 7.5), rtol=1e-9, omega=inertial)
    assert abs(back.nsteps - run.nsteps) <= 0.3 * run.nsteps + 3


@over(ADAPTIVE)
def test_first_step_and_max_step_are_heeded(record):
    free = integrate(record, (0.0, 10.0), rtol=1e-6)
    longest = np.diff(free.t).max()
    run = integrate(record, (0.0, 10.0), rtol=1e-6, first_step=longest / 7, max_step=longest / 3)
    steps = np.diff(run.t)
    assert steps[0] == pytest.approx(longest / 7, rel=1e-12)
    assert steps.max() <= longest / 3 * (1 + 1e-12)
    assert steps.max() > longest / 4
    run = integrate(record, (10.0, 0.0), rtol=1e-6, first_step=9.0, max_step=longest / 3)
    assert np.abs(np.diff(run.t)).max() <= longest / 3 * (1 + 1e-12)


@over(tuple(r for r in GENERAL if r.adaptive))
def test_variables_may_begin_at_zero(record):
    """The generator of no turn at all: the first step has nothing to be relative to."""

    def steady(t):
        return 0.6, 0.0, 0.8

    for t_span in ((0.0, 0.5), (0.5, 0.0), (0.0, 1e-9)):
        run = integrate(record, t_span, steady, formulation="generator", rtol=1e-10)
        half = (t_span[1] - t_span[0]) / 2
        right = math.cos(half), 0.6 * math.sin(half), 0.0, 0.8 * math.sin(half)
        assert run.success
        assert gap(run.q[-1], right) < 1e-9 * abs(half)


@over(tuple(r for r in GENERAL if r.adaptive))
def test_a_body_may_begin_at_rest(record):
    """Its momentum is 0 then, and no error is small against it."""
    body, sideways = ph.RigidBody([2.0, 3.0, 4.0]), [[0, 0, 1], [1, 0, 0], [0, 1, 0]]
    top = ph.Problem(body, ph.models.heavy_top(3.0), sideways, omega=[0, 0, 0])
    run = ph.solve(top, (0, 2), method=record, rtol=1e-8)
    assert run.success
    assert 0 < run.t[1] < 1e-4
    assert np.ptp(run.energy) < 1e-7
    assert np.abs(run.omega[-1]).max() > 0.5


# ---- time
@over(RECORDS)
@pytest.mark.parametrize("begin", [0.0, 2.0**20])
def test_steps_are_exactly_those_that_time_takes(record, begin):
    """At a constant rate the angle is that of the whole span, as if there were no steps."""

    def steady(t):
        return 48.0, -64.0, 0.0

    span = 0.7
    run = integrate(
        record,
        (begin, begin + span),
        steady,
        rtol=1e-12,
        dt=None if record.adaptive else 0.0007 if takes_short_steps(record) else 0.007,
    )
    assert run.t[-1] == begin + span
    half = 40.0 * ((begin + span) - begin)
    right = math.cos(half), 0.6 * math.sin(half), -0.8 * math.sin(half), 0.0
    # were t + h rounded and h not, the angle would be off by some 80 * 1e-10 a step at 2^20
    truncation = {4: 2e-7}.get(record.order, 0.0) if not record.linear else 0.0
    assert gap(run.q[-1], right) < 4e-11 + truncation


@over(RECORDS)
def test_no_time_at_all(record):
    run = integrate(record, (1.5, 1.5), rtol=1e-9)
    assert run.t.tolist() == [1.5]
    assert error(run) < 1e-15
    assert (run.nsteps, run.rejected, run.success) == (0, 0, True)
    assert run.sol([1.5, 1.5]).q.shape == (2, 4)


# ---- times at which a rate jumps
def pieces(t):
    if t < 1.0:
        return 0.3, 0.0, 1.0
    if t < 2.5:
        return 0.0, -2.0, 0.5
    return 1.0, 1.0, 0.0


BREAKS = (0.0, 1.0), (1.0, 2.5), (2.5, 4.0)


def turned_by(piece, q):
    """The product of the turns at constant rates, in inertial axes."""
    for begin, end in piece:
        w = np.array(pieces((begin + end) / 2)) * (end - begin)
        half = np.linalg.norm(w) / 2
        p = np.array([math.cos(half), *(math.sin(half) / (2 * half) * w)])
        q = np.array(
            [
                p[0] * q[0] - p[1:] @ q[1:],
                *(p[0] * np.array(q[1:]) + q[0] * p[1:] + np.array(cross(p[1:], q[1:]))),
            ]
        )
    return q


@over(RECORDS)
def test_breakpoints(record):
    """Each piece is a run of its own: the product of three turns, forward and backward."""
    options = {"rtol": 1e-13, "breakpoints": [9.0, 2.5, 1.0, -3.0]}
    run = integrate(
        record,
        (0.0, 4.0),
        pieces,
        dt=None if record.adaptive else 0.01 if record.order == 4 else 0.1,
        **options,
    )
    right = turned_by(BREAKS, (1.0, 0.0, 0.0, 0.0))
    close = 1e-8 if record.order == 4 and not record.linear else 2e-12
    assert gap(run.q[-1], right) < close
    assert {1.0, 2.5} <= set(run.t)
    assert (np.diff(run.t) > 0).all()
    back = integrate(
        record,
        (4.0, 0.0),
        pieces,
        attitude=run.q[-1],
        scalar_first=True,
        dt=None if record.adaptive else 0.01 if record.order == 4 else 0.1,
        **options,
    )
    assert gap(back.q[-1], (1.0, 0.0, 0.0, 0.0)) < 2 * close
    middle = run.sol([0.5, 1.0, 2.0])
    ends = ((0.0, 0.5),), ((0.0, 1.0),), ((0.0, 1.0), (1.0, 2.0))
    for q, piece in zip(middle.q, ends, strict=True):
        assert gap(q, turned_by(piece, (1.0, 0.0, 0.0, 0.0))) < close


# ---- what is undefined
@over(RECORDS)
def test_a_rate_without_a_value_ends_the_run(record):
    def torn(t):
        return (0.1, 0.2, 1.0) if t < 1.5 else (math.nan, 0.0, 0.0)

    run = integrate(record, (0.0, 4.0), torn, rtol=1e-9)
    assert not run.success
    implicit = record.improve is not None
    fixed = Status.NOT_CONVERGED if implicit else Status.NOT_FINITE
    assert run.status == (Status.STEP_TOO_SMALL if record.adaptive else fixed)
    assert 1.38 < run.t[-1] < 1.501  # extrapolation does not look at the end of a step
    assert np.isfinite(run.q).all()
    assert f"t = {run.t[-1]:.10g}" in run.message
    assert ("loosen the tolerance" if record.adaptive else "try a smaller dt") in run.message
    assert run.rejected <= 1000
    half = math.sqrt(1.05) / 2 * run.t[-1]
    assert abs(run.q[-1, 0] - math.cos(half)) < 1e-7


# ---- the same bits
@over(ADAPTIVE)
def test_chunks_do_not_change_a_bit(record):
    options = {"rtol": 1e-7, "max_step": 0.3, "first_step": 5.0, "formulation": "quaternion"}
    if record.linear:
        del options["formulation"]
    whole = integrate(record, (0.0, 10.0), **options)
    with given_motion.small_chunks():
        pieces = integrate(record, (0.0, 10.0), **options)
    assert whole.nsteps > 25
    assert (whole.t == pieces.t).all()
    assert (whole.q == pieces.q).all()
    facts = [(run.nsteps, run.nfev, run.rejected) for run in (whole, pieces)]
    assert facts[0] == facts[1]


@over(RECORDS)
def test_a_prepared_solver_forgets(record):
    solver = ph.prepare_angular_velocity(
        inertial,
        frame="inertial",
        method=record,
        **({"rtol": 1e-8} if record.adaptive else {"dt": 0.1}),
    )
    first = solver((0.0, 3.0))
    other = solver((1.0, 2.0), attitude=attitude(1.0), scalar_first=True)
    assert np.array_equal(solver((0.0, 3.0)).q, first.q)
    assert np.abs(other.q - attitudes(other.t)).max() < (1e-3 if record.order == 4 else 1e-6)


# ---- machine code
LANES = "extrapolation", "gauss"  # which have tests of their own
COMPILED = tuple(r for r in GENERAL if r.name not in LANES)


def packed_run(record, run, end, tolerance):
    y, carry = attitude(0.0), parts(record).start(0.0, 0.0, attitude(0.0), (), NONE)
    out = np.empty((200, 6) if record.adaptive else (20, 4))
    if record.adaptive:
        row = np.array([flat((y, carry, math.inf, (0.0, tolerance)))])
        told = run(row, 0.0, 0.0, end, 0.0, True, (), 10_000, out)
        return told, out[: told[4] + 1].tolist()
    row = np.array([flat((y, carry))])
    ends, sides = np.arange(20), np.zeros(20)
    told = run(row, 0.0, 0.1, 0, True, ends, sides, np.ones(1), np.zeros(1), (), out)
    return told, out.tolist()


@pytest.fixture(scope="module")
def machine_code():
    """Return every loop, freshly compiled."""
    with extra_methods.no_disk_cache():
        found = {}
        for record in COMPILED:
            p = BoundIntegrator(record, FORMULATIONS["rotor"], parts(record).force, True)
            carry = parts(record).start(0.0, 0.0, attitude(0.0), (), NONE)
            found[record.name] = p.packed(attitude(0.0), carry, (), ())
        yield found


@over(COMPILED)
def test_compiled_is_plain_python_with_an_exact_fma(record, machine_code):
    carry = parts(record).start(0.0, 0.0, attitude(0.0), (), NONE)
    plain = parts(record).packed(attitude(0.0), carry, (), ())
    found = packed_run(record, machine_code[record.name], 3.0, 1e-8)
    assert found == packed_run(record, exactly(plain), 3.0, 1e-8)
    assert len(found[1]) > 2
    assert not extra_methods.allocates(machine_code[record.name])
