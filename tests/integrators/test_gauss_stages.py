"""Gauss collocation with its stages in SIMD lanes: order, structure, bits."""

import math
from fractions import Fraction
from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest

import polhode as ph
from polhode import loops
from polhode.compiler.four import ON_FOUR, at_once
from polhode.compiler.machine import compiled
from polhode.compiler.tree import bind
from polhode.contracts import Status, finish, guess, improve, size, slope, start
from polhode.errors import InputError
from polhode.formulations import equations, quaternion
from polhode.integrators.gauss import INTEGRATOR, continued, gauss, products
from polhode.kernels.free_flow import free_flow
from polhode.kernels.newton import rounding
from polhode.tableaus.gauss import tableau
from support import extra_methods
from support.bits import EXACT, bits_of, lane_by_lane
from support.precise import ROUNDING, to_mp

ONE = np.array([1.0]), np.array([0.0])  # weights and offsets of a step of one part


@pytest.fixture(scope="module", autouse=True)
def compiled_here():
    with extra_methods.no_disk_cache():
        yield


# ---- problems: the slope sees any tuple
def waves(t, y, body, params):
    """Hénon and Heiles's oscillators (q1, q2, p1, p2), one of them pushed in time."""
    q1, q2, p1, p2 = y
    return p1, p2, -q1 - 2.0 * (q1 * q2), (q2 * q2 - q1 * q1) - q2 + params[0] * t


def length(d, y, new, body, tolerances):
    return abs(d[0]) + abs(d[1]) + abs(d[2]) + abs(d[3])


WAVES = {slope: waves, size: length}
Y = 0.3, -0.1, 0.2, 0.4

BODY = (1.0, 1.6, 2.2), (1.0, 1 / 1.6, 1 / 2.2), (1.0, 0.0, 0.0, 0.0), 1.0, 1.0
FIRST = 0.8, 0.36, -0.48, 0.0, 1.0, 9.6, 4.4


def upright(t, y, body):
    """The attitude of variables that have none."""
    return 1.0, 0.0, 0.0, 0.0


def of_body(model):
    return equations.moved(quaternion.FORMULATION).pieces, loops.model_pieces(model, True)


def joined(record, *pieces, numbers=None):
    """``loops.record`` with an integrator, a slope, and what is below it."""
    own = {stub: getattr(record, stub.__name__) for stub in (start, guess, improve, finish)}
    attempt = loops.bound(loops.solved_step, own, *pieces)
    around = {loops.attempt: attempt, loops.attitude_of: upright}
    template = bind(loops.bound(loops.record, own, *pieces), around)
    return bind(template, numbers or {})


def run(loop, y, order=16, h=0.1, n=10, k=0, body=(), params=(0.0,)):
    """(y, status, iterations)."""
    carry = (0.0,) * len(y), ((0.0,) * (order // 2),) * len(y)
    out, ends, sides = np.empty((1, len(y))), np.array([n]), np.zeros(1)
    y, _, status, _, _, count, _ = loop(
        0.0, h, k, ends, sides, *ONE, True, y, carry, body, params, out
    )
    return y, status, count


# ---- coefficients
@pytest.mark.parametrize("s", [1, 2, 3, 8, 12])
def test_products_are_symplectic_and_symmetric_floats(s):
    a, b, _ = tableau(s).converted(Fraction)
    mu = products(s)
    for i in range(s):
        for j in range(s):
            assert Fraction(float(mu[i][j])) == mu[i][j]
            assert mu[i][j] + mu[j][i] == 1
            assert mu[i][j] == mu[s - 1 - j][s - 1 - i]
            assert abs(mu[i][j] - a[i][j] / b[j]) <= Fraction(1, 2**53)


@pytest.mark.parametrize("s", [1, 4, 8])
def test_polynomials_are_continued(s):
    _, _, c = tableau(s).converted(Fraction)
    for k in range(s):
        for node, row in zip(c, continued(s), strict=True):
            value = sum(w * x**k for w, x in zip(row, c, strict=True))
            assert abs(value - (1 + node) ** k) < 1e-35


@pytest.mark.parametrize("order", [0, 3, 15, 34, -2])
def test_orders_that_there_are_not(order):
    with pytest.raises(InputError, match=f"even number from 2 to 32, got {order}"):
        gauss(order)


# ---- one step in mpmath numbers
def precise(x):
    return mp.mpf(x.numerator) / x.denominator


def precise_step(order, pieces=WAVES):
    record = gauss(order, number=precise)
    names = "start", "guess", "improve", "finish"
    numbers = ON_FOUR | {rounding: lambda: mp.mpf(10) ** -mp.mp.dps}
    begin, first, better, last = (
        bind(loops.bound(getattr(record, name), pieces), numbers) for name in names
    )

    def step(t, h, y, params):
        carry = begin(t, h, y, (), params)
        unknown, done, count = first(t, h, y, carry, (), params), False, 0
        while not done:
            unknown, done = better(t, h, unknown, y, (), params)
            count += 1
            assert count < 300
        new, (low, _) = last(t, h, unknown, y, carry, (), params)
        return [a + b for a, b in zip(new, low, strict=True)]

    return step


def collocation(t, h, y, params, s):
    """The method by its definition: a polynomial of degree s that solves the equation at nodes."""
    a, b, c = tableau(s).converted(to_mp)
    ks = [waves(t, y, (), params)] * s
    while True:
        values = [[x + h * mp.fdot(row, [k[i] for k in ks]) for i, x in enumerate(y)] for row in a]
        new = [waves(t + h * x, v, (), params) for x, v in zip(c, values, strict=True)]
        change = mp.norm(mp.matrix(new) - mp.matrix(ks), mp.inf)
        ks = new
        if change < mp.mpf(10) ** -45:
            return [x + h * mp.fdot(b, [k[i] for k in ks]) for i, x in enumerate(y)]


@pytest.mark.parametrize("order", [2, 6, 8, 16, 18])
def test_one_step_is_collocation(order):
    with mp.workdps(50):
        t, h, y, params = mp.mpf("0.7"), mp.mpf("0.4"), to_mp(Y), (mp.mpf(2),)
        found = precise_step(order)(t, h, y, params)
        right = collocation(t, h, y, params, order // 2)
        assert max(abs(a - b) for a, b in zip(found, right, strict=True)) < 1e-42


@pytest.mark.parametrize("order", [4, 8, 16])
def test_order(order):
    """The error of a step falls as h to the order + 1; the truth is a method of order 32."""
    with mp.workdps(70):
        step, t, y, params = precise_step(order), mp.mpf("0.7"), to_mp(Y), (mp.mpf(2),)
        errors = []
        for k in range(3, 6):
            h = mp.mpf(2) ** -k
            right = collocation(t, h, y, params, 16)
            found = step(t, h, y, params)
            errors.append(max(abs(a - b) for a, b in zip(found, right, strict=True)))
        slopes = [float(mp.log(a / b, 2)) for a, b in pairwise(errors)]
        assert abs(2 * slopes[1] - slopes[0] - (order + 1)) < 0.2


@pytest.mark.parametrize("order", [4, 16])
def test_symplectic(order):
    """JᵀΩJ = Ω, J by differences in 60 digits."""
    with mp.workdps(60):
        step, y, d = precise_step(order), to_mp(Y), mp.mpf(10) ** -18
        jacobian = mp.matrix(4)
        for j in range(4):
            ends = []
            for sign in (1, -1):
                moved = tuple(x + sign * d * (i == j) for i, x in enumerate(y))
                ends.append(step(mp.mpf(0), mp.mpf("0.8"), moved, (mp.mpf(2),)))
            for i in range(4):
                jacobian[i, j] = (ends[0][i] - ends[1][i]) / (2 * d)
        omega = mp.matrix([[0, 0, 1, 0], [0, 0, 0, 1], [-1, 0, 0, 0], [0, -1, 0, 0]])
        defect = jacobian.T * omega * jacobian - omega
        assert max(abs(x) for x in defect) < 1e-30
        assert max(abs(x) for x in jacobian - mp.eye(4)) > 0.1


# ---- the same bits
@pytest.mark.parametrize("order", [4, 10, 16])
def test_lanes_are_single_stages_and_plain_python(order):
    record, given = gauss(order), {"order": order, "n": 3, "h": 0.3, "params": (2.0,)}
    plain = run(joined(record, WAVES, numbers=EXACT), Y, **given)
    found = run(compiled(joined(record, WAVES)), Y, **given)
    alone = run(compiled(joined(record, WAVES, numbers={at_once: lane_by_lane})), Y, **given)
    assert bits_of(plain) == bits_of(found) == bits_of(alone)
    assert plain[1] == Status.OK


def kicked(t, q, omega, params):
    """With a branch on a value."""
    return (1.0, 0.0, 0.0) if q[1] > 0.0 else (0.0, -1.0, params[0])


def test_what_cannot_be_compiled_runs_in_plain_python():
    plain, *_ = run(joined(INTEGRATOR, WAVES), Y, n=2)
    found, *_ = run(compiled(joined(INTEGRATOR, WAVES)), Y, n=2)
    assert math.dist(plain, found) < 1e-15


def test_branches_run_one_stage_after_the_other():
    model = ph.torque(kicked, (2.0, 0.0))
    given = {"body": BODY, "params": model.params, "h": 0.01, "n": 3}
    found = run(compiled(joined(INTEGRATOR, *of_body(model))), FIRST, **given)
    plain = run(joined(INTEGRATOR, *of_body(model), numbers=EXACT), FIRST, **given)
    assert bits_of(found) == bits_of(plain)
    assert found[1] == Status.OK


# ---- structure, compiled
@pytest.fixture(scope="module")
def oscillators():
    return compiled(joined(INTEGRATOR, WAVES))


def test_no_allocation(oscillators):
    run(oscillators, Y)
    text = "".join(oscillators.inspect_llvm().values())
    assert "define" in text
    assert "NRT_MemInfo_alloc" not in text
    assert "NRT_Allocate" not in text


def test_there_and_back(oscillators):
    there, *_ = run(oscillators, Y, h=0.5, n=100)
    back, *_ = run(oscillators, there, h=-0.5, n=100)
    assert math.dist(back, Y) < 5e-14
    assert math.dist(there, Y) > 0.1


def energy(y):
    q1, q2, p1, p2 = map(Fraction, y)
    return (p1**2 + p2**2 + q1**2 + q2**2) / 2 + q1**2 * q2 - q2**3 / 3


def test_energy_is_a_random_walk(oscillators):
    """Over a hundred thousand steps of half a radian: no trend by rounded coefficients."""
    first, errors = energy(Y), []
    for n in (10_000, 30_000, 100_000):
        y, status, _ = run(oscillators, Y, h=0.5, n=n)
        assert status == Status.OK
        errors.append(abs(float((energy(y) - first) / first)))
        assert errors[-1] < 10 * ROUNDING * math.sqrt(n)


def test_quadratic_invariants_of_a_free_body():
    """|q|², |m|² and the energy are quadratic."""
    free = ph.models.free()
    loop = compiled(joined(INTEGRATOR, *of_body(free)))
    n = 20_000
    y, status, _ = run(loop, FIRST, h=0.1, n=n, body=BODY, params=free.params)
    assert status == Status.OK

    def invariants(y):
        q, m = y[:4], y[4:]
        squares = [Fraction(x) ** 2 for x in m]
        return (
            sum(Fraction(x) ** 2 for x in q),
            sum(squares),
            sum(x * Fraction(i) for x, i in zip(squares, BODY[1], strict=True)),
        )

    for before, after in zip(invariants(FIRST), invariants(y), strict=True):
        assert abs(float(after / before - 1)) < 10 * ROUNDING * math.sqrt(n)


def test_a_free_body_exactly():
    free = ph.models.free()
    loop = compiled(joined(INTEGRATOR, *of_body(free)))
    y, *_ = run(loop, FIRST, h=0.05, n=40, body=BODY, params=free.params)
    q, m = free_flow(2.0, FIRST[:4], FIRST[4:], BODY[0], BODY[1])
    assert math.dist(y, (*q, *m)) < 5e-14


def test_what_is_undefined_does_not_converge():
    def torn(t, y, body, params):
        return y[0], y[1], y[2], y[3] + math.sqrt(params[0] - t)

    loop = compiled(joined(INTEGRATOR, {slope: torn, size: length}))
    y, status, _ = run(loop, Y, h=0.1, n=10, params=(0.55,))
    assert status == Status.NOT_CONVERGED
    assert np.isfinite(y).all()


def test_steps_that_are_too_long_are_reported(oscillators):
    _, status, _ = run(oscillators, Y, h=50.0, n=1)
    assert status == Status.NOT_CONVERGED
