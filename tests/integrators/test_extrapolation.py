"""Extrapolation in SIMD lanes: order, bits, error control, rounding."""

import math
from fractions import Fraction
from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest

import polhode as ph
from polhode import loops
from polhode.compiler.four import ON_FOUR, each, everywhere, total
from polhode.compiler.machine import compiled
from polhode.compiler.tree import bind
from polhode.contracts import Status, first_step, reset, slope, square_size, start, trial
from polhode.formulations import FORMULATIONS, equations, quaternion
from polhode.integrators import extrapolation
from polhode.integrators.extrapolation import INTEGRATOR, RULE, integrator, suited
from polhode.kernels.free_flow import free_flow
from polhode.solvers.arguments import MAX_STEPS
from polhode.tableaus.extrapolation import COLUMNS, Columns
from support import extra_methods
from support.bits import EXACT, bits_of
from support.precise import ROUNDING

INF = math.inf


@pytest.fixture(scope="module", autouse=True)
def compiled_here():
    with extra_methods.no_disk_cache():
        yield


# ---- a problem with a closed solution: turning by log(1 + t), and a growth that follows the time
def curve(t, y, body, params):
    a, b, c, d = y
    return b * c, -(a * c), -(c * c), d * params[0] * t


def curve_at(t, log=math.log, cos=math.cos, sin=math.sin, exp=math.exp, rate=-0.25):
    x = log(1 + t)
    return sin(x), cos(x), 1 / (1 + t), exp(rate * t * t / 2)


def length(d, y, new, body, tolerances):
    rtol, atol = tolerances
    scale = atol + rtol * max(abs(y[0]), abs(y[1]), abs(y[2]), abs(y[3]))
    return abs(d[0]) / scale + abs(d[1]) / scale + abs(d[2]) / scale + abs(d[3]) / scale


def squared(d, y, new, body, tolerances):
    off = length(d, y, new, body, tolerances)
    return off * off


CURVE = {slope: curve, square_size: squared}
LOOSE = integrator("12", True)  # its columns hold values, those of INTEGRATOR increments


def layer(record):
    return {trial: record.trial, start: record.start, first_step: record.first_step}


def joined(record, pieces, *more, numbers=None):
    """``loops.adapt`` with an integrator, a slope, and what is below it."""
    return bind(loops.bound(loops.adapt, layer(record), pieces, *more), numbers or {})


def run(adapt, y, begin=0.0, end=1.0, h=0.0, tol=1e-10, body=(), params=(-0.25,), values=False):
    """(state, status, accepted, rejected, evaluations)."""
    carry = () if values else ((0.0,) * len(y),)
    out = np.empty((0, 2 + len(y)))
    t, low, _, y, carry, status, accepted, rejected, _, count = adapt(
        begin, 0.0, end, h, INF, True, y, carry, body, params, (tol, 0.0), MAX_STEPS, out
    )
    if status == Status.OK:
        assert (t, low) == (end, 0.0)
    return y, status, accepted, rejected, count


# ---- a body with a torque that follows the time
def swinging(t, q, omega, params):
    w, x, y, z = q
    drag = 0.1 * math.sqrt(omega[0] ** 2 + omega[1] ** 2 + 1.0)
    return (
        params[0] * math.sin(3.0 * t) * x - drag * omega[0],
        params[1] * math.cos(t) * (w * z - x * y),
        math.exp(-t) * y / (2.0 + z),
    )


def kicked(t, q, omega, params):
    """With a branch on a value."""
    return (1.0, 0.0, 0.0) if q[1] > 0.0 else (0.0, -1.0, params[0])


SWINGING = ph.torque(swinging, (2.0, -3.0))
KICKED = ph.torque(kicked, (2.0, 0.0))
BODY = (1.0, 1.6, 2.2), (1.0, 1 / 1.6, 1 / 2.2), (1.0, 0.0, 0.0, 0.0), 1.0, 1.0
FIRST = 0.8, 0.36, -0.48, 0.0, 1.0, 9.6, 4.4


def body_pieces(model):
    return equations.moved(quaternion.FORMULATION).pieces, loops.model_pieces(model, True)


def of_body(record, model, numbers=None):
    return joined(record, *body_pieces(model), numbers=numbers)


# ---- coefficients
@pytest.mark.parametrize("columns", COLUMNS.values(), ids=COLUMNS)
def test_weights(columns):
    k = len(columns.numbers)
    for power in range(2 * k):
        moment = sum(w / Fraction(n) ** power for n, w in columns.weights.items())
        if power % 2 == 0:
            assert moment == (power == 0)  # the errors of orders 2, 4, …, 2k - 2 cancel
        less = sum(w / Fraction(n) ** power for n, w in columns.differences.items())
        if power % 2 == 0 and power < 2 * (k - 1):
            assert less == 0
    assert sum(columns.rounded.values()) == 1
    for n, weight in columns.rounded.items():
        assert Fraction(float(weight)) == weight
        assert abs(weight - columns.weights[n]) < Fraction(k, 2**49)


@pytest.mark.parametrize("columns", COLUMNS.values(), ids=COLUMNS)
def test_columns_fit_into_their_lanes(columns):
    assert all(n % 2 == 0 for n in columns.numbers)
    assert len(set(columns.numbers)) == len(columns.numbers)
    (longest,) = columns.lanes[0]
    assert longest == max(columns.numbers) == max(map(sum, columns.lanes))


# ---- one step
def gragg(f, t, h, y, n):
    """The explicit midpoint rule, and no smoothing."""
    before, here = y, [a + h / n * b for a, b in zip(y, f(t, y), strict=True)]
    for m in range(1, n):
        slopes = f(t + m * h / n, here)
        before, here = here, [a + 2 * h / n * b for a, b in zip(before, slopes, strict=True)]
    return here


def neville(values, numbers):
    """Extrapolation to an infinite number of substeps, in (1/n)²."""
    values = [list(v) for v in values]
    for k in range(1, len(values)):
        for j in range(len(values) - 1, k - 1, -1):
            ratio = mp.mpf(numbers[j] ** 2) / numbers[j - k] ** 2 - 1
            values[j] = [a + (a - b) / ratio for a, b in zip(values[j], values[j - 1], strict=True)]
    return values[-1]


def precise(fraction):
    return mp.mpf(fraction.numerator) / fraction.denominator


ON_MP = ON_FOUR | {math.exp: lambda x: mp.exp(x), math.log: lambda x: mp.log(x)}


def precise_trial(name, values=False):
    """The trial with one set of columns, in mpmath numbers and with exact weights."""
    record = integrator(name, values, number=precise)
    return bind(loops.bound(record.trial, CURVE), ON_MP)


def at_40_digits(t):
    return curve_at(t, mp.log, mp.cos, mp.sin, mp.exp, mp.mpf(-1) / 4)


@pytest.mark.parametrize("held", [False, True], ids=["increments", "values"])
@pytest.mark.parametrize("name", COLUMNS)
def test_one_step_is_neville_of_midpoint_columns(name, held):
    columns = COLUMNS[name]
    with mp.workdps(60):
        t, h = mp.mpf("0.3"), mp.mpf("0.7")
        y, params = at_40_digits(t), (mp.mpf(-1) / 4,)
        values = [gragg(lambda t, y: curve(t, y, (), params), t, h, y, n) for n in columns.numbers]
        right = neville(values, columns.numbers)
        less = neville(values[1:], columns.numbers[1:])
        step = precise_trial(name, held)
        zeros = (mp.mpf(0),) * 4
        tolerances = mp.mpf("1e-9"), mp.mpf(0)
        new, carry, square, factor, _ = step(
            t, h, y, () if held else (zeros,), (), params, tolerances
        )
        low = zeros if held else carry[0]
        assert max(abs(a + e - b) for a, e, b in zip(new, low, right, strict=True)) < 1e-55
        off = tuple(a - b for a, b in zip(right, less, strict=True))
        assert abs(square / squared(off, y, new, (), tolerances) - 1) < 1e-25
        power = mp.mpf(-1) / (2 * (columns.order - 1))
        assert factor == pytest.approx(float(extrapolation.SAFETY * square**power), rel=1e-3)


@pytest.mark.parametrize("name", COLUMNS)
def test_order(name):
    """The error of a step falls as h to the order + 1, the estimate as h to the order - 1."""
    order = COLUMNS[name].order
    with mp.workdps(80):
        step, t, zeros = precise_trial(name), mp.mpf("0.3"), (mp.mpf(0),) * 4
        y, params = at_40_digits(t), (mp.mpf(-1) / 4,)
        errors, estimates = [], []
        for k in range(3, 6):
            h = mp.mpf(2) ** -k
            new, (low,), square, _, _ = step(
                t, h, y, (zeros,), (), params, (mp.mpf("1e-9"), mp.mpf(0))
            )
            right = at_40_digits(t + h)
            errors.append(max(abs(a + e - b) for a, e, b in zip(new, low, right, strict=True)))
            estimates.append(mp.sqrt(square))
        for values, wanted in ((errors, order + 1), (estimates, order - 1)):
            slopes = [float(mp.log(a / b, 2)) for a, b in pairwise(values)]
            assert abs(2 * slopes[1] - slopes[0] - wanted) < 0.2


@pytest.mark.parametrize("tol", [1e-5, 1e-12, 1e-13, 1e-14])
def test_slopes_are_evaluated_only_inside_the_step(tol):
    """Lanes that have nothing left stay at the start of the step.

    Nowhere else is the slope known to be defined: the states are those of one column at a time.
    """
    seen = []

    def noted(t, y, body, params):
        seen.append((t, y))
        return curve(t, y, body, params)

    def tried(trial):
        step = bind(loops.bound(trial, {slope: noted, square_size: squared}), ON_FOUR)
        *_, count = step(0.3, 0.7, curve_at(0.3), carry, (), (-0.25,), (tol, 0.0))
        return count

    record = suited(tol)
    carry = () if record.start is start else ((0.0,) * 4,)
    tried(record.trial_in_lanes)
    alone = set(seen)
    seen.clear()
    count = tried(record.trial)
    assert set(seen) == alone
    assert all(0.3 <= t <= 1.0 + 1e-15 for t, _ in seen)
    # the others are at the start, once for each column, or in lanes at rest
    assert len({t for t, _ in seen}) < count <= len(seen)


# ---- the same bits
def curve_alone(t, y, body, params):
    """The same with a branch, so that lanes follow each other."""
    return curve(t, y, body, params) if t > -9.0 else (0.0, 0.0, 0.0, 0.0)


def swinging_alone(t, q, omega, params):
    return swinging(t, q, omega, params) if t > -9.0 else (0.0, 0.0, 0.0)


@pytest.mark.parametrize("tol", [1e-5, *(1.1 * limit + 1e-15 for limit, *_ in RULE)])
def test_lanes_are_single_columns_and_plain_python(tol):
    record = suited(tol)
    y, given = curve_at(0.0), {"tol": tol, "end": 0.9, "values": record.start is start}
    plain = run(joined(record, CURVE, numbers=EXACT), y, **given)
    found = run(compiled(joined(record, CURVE)), y, **given)
    alone = run(compiled(joined(record, CURVE | {slope: curve_alone})), y, **given)
    assert bits_of(plain) == bits_of(found) == bits_of(alone)
    assert plain[1] == Status.OK


@pytest.fixture(scope="module")
def swing():
    """Compiled: a user's torque with roots, powers, sines and exponentials."""
    return compiled(of_body(INTEGRATOR, SWINGING))


@pytest.mark.parametrize("record", [LOOSE, INTEGRATOR], ids=["values", "increments"])
def test_a_torque_sees_the_same_numbers_in_lanes(record):
    given = {"body": BODY, "params": SWINGING.params, "tol": 1e-8, "end": 5.0}
    given["values"] = record is LOOSE
    models = SWINGING, ph.torque(swinging_alone, SWINGING.numbers)
    together, alone = (compiled(of_body(record, model)) for model in models)
    assert bits_of(run(together, FIRST, **given)) == bits_of(run(alone, FIRST, **given))


def on_four(t, y, body, params):
    """The slope at four places at once."""
    f = slope(everywhere(t), each(everywhere, (y,)), body, params)
    return each(total, (each(wide, (f,)),))


def wide(x):
    return x + everywhere(0.0)


MODELS = {
    "free": ph.models.free(),
    "heavy top": ph.models.heavy_top(2.0),
    "any heavy top": ph.models.heavy_top(2.0, centre=(0.1, 0.2, 1.0)),
    "soft wall": ph.models.soft_wall("attractive"),
    "gravity gradient": ph.models.gravity_gradient(1.0, 2.0, (0.6, 0.0, 0.8)),
    "in orbit": ph.models.gravity_gradient(1.0, 2.0, "orbit"),
    "a user's": SWINGING,
    "two": ph.models.heavy_top(2.0) + SWINGING,
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("aligned", [True, False], ids=["aligned", "turned"])
def test_models_take_four_numbers_at_once(model, aligned):
    """Otherwise everything would be right, but slow."""
    pieces = equations.moved(quaternion.FORMULATION).pieces, loops.model_pieces(model, aligned)
    machine = compiled(loops.bound(on_four, *pieces))
    found = machine(0.3, FIRST, BODY, model.params)
    alone = compiled(loops.bound(slope_alone, *pieces))(0.3, FIRST, BODY, model.params)
    assert found == tuple(4.0 * x for x in alone)


def slope_alone(t, y, body, params):
    return slope(t, y, body, params)


@pytest.mark.parametrize("name", ["rotor", "generator-reset"])
def test_any_formulation(name):
    """In lanes, or one by one where its slope has branches."""
    formulation = FORMULATIONS[name]
    pieces = equations.moved(formulation).pieces, loops.model_pieces(SWINGING, True)
    y = (*formulation.enter(FIRST[:4]), *FIRST[4:])
    given = {"body": BODY, "params": SWINGING.params, "tol": 1e-11, "end": 0.2}
    end, status, *_ = run(compiled(joined(INTEGRATOR, *pieces)), y, **given)
    assert status == Status.OK
    first = run(of_body(INTEGRATOR, SWINGING, ON_FOUR), FIRST, **given)[0]
    attitude = formulation.attitude(end[:-3])
    assert math.dist(end[-3:], first[4:]) < 1e-9
    assert min(math.dist(attitude, first[:4]), math.dist(attitude, [-x for x in first[:4]])) < 1e-9


def odd_ways(t, q, omega, params):
    """A slope that cannot be compiled."""
    return [float(str(x)) for x in (params[0] * q[1], 0.0, omega[1])]


def test_what_cannot_be_compiled_runs_in_plain_python():
    model = ph.torque(odd_ways, (2.0, 0.0))
    given = {"body": BODY, "params": model.params, "tol": 1e-6, "end": 0.1}
    plain = run(of_body(INTEGRATOR, model), FIRST, **given)
    same = ph.torque(lambda t, q, omega, params: (params[0] * q[1], 0.0, omega[1]), (2.0, 0.0))
    found = run(compiled(of_body(INTEGRATOR, same)), FIRST, **given)
    assert math.dist(plain[0], found[0]) < 1e-12
    assert plain[1] == Status.OK


@pytest.mark.parametrize("record", [LOOSE, INTEGRATOR], ids=["values", "increments"])
def test_branches_run_one_column_after_the_other(record):
    given = {"body": BODY, "params": KICKED.params, "tol": 1e-6, "end": 0.1}
    given["values"] = record is LOOSE
    found = run(compiled(of_body(record, KICKED)), FIRST, **given)
    assert bits_of(found) == bits_of(run(of_body(record, KICKED, EXACT), FIRST, **given))
    assert found[1] == Status.OK


@pytest.mark.parametrize("model", [SWINGING, KICKED], ids=["lanes", "alone"])
def test_no_allocation(model):
    machine = compiled(of_body(INTEGRATOR, model))
    run(machine, FIRST, body=BODY, params=model.params, tol=1e-6, end=0.1)
    text = "".join(machine.inspect_llvm().values())
    assert "define" in text
    assert "NRT_MemInfo_alloc" not in text
    assert "NRT_Allocate" not in text


# ---- error control
@pytest.fixture(scope="module")
def adapt():
    return compiled(joined(INTEGRATOR, CURVE))


@pytest.mark.parametrize(
    ("record", "tightest"), [(LOOSE, 11), (integrator("16"), 12), (INTEGRATOR, 13)]
)
def test_the_error_follows_the_tolerance(record, tightest):
    machine = compiled(joined(record, CURVE))
    for tol in 10.0 ** -np.arange(4, tightest + 1):
        y, status, accepted, rejected, _ = run(
            machine, curve_at(0.0), end=3.0, tol=tol, values=record is LOOSE
        )
        error = max(abs(a - b) for a, b in zip(y, curve_at(3.0), strict=True))
        assert status == Status.OK
        assert error < 10 * tol, tol
        assert rejected <= 2 + accepted / 3


def test_a_free_body_at_all_tolerances():
    """Against the exact motion, over 200 radians."""
    free = ph.models.free()
    machine, end = compiled(of_body(INTEGRATOR, free)), 20.0
    q, _ = free_flow(end, FIRST[:4], FIRST[4:], BODY[0], BODY[1])
    loose = compiled(of_body(LOOSE, free))
    for tol in 10.0 ** -np.arange(5, 14):
        values = tol > 0.9e-11
        run_it = loose if values else machine
        y, *_ = run(run_it, FIRST, end=end, tol=tol, body=BODY, params=free.params, values=values)
        assert 2 * math.dist(y[:4], q) < 100 * tol, tol
    y, *_ = run(machine, FIRST, end=end, tol=0.0, body=BODY, params=free.params)
    assert 2 * math.dist(y[:4], q) < 5e-13  # 20 units for the momentum turn it for 200 radians


def test_backward(adapt):
    y, status, *_ = run(adapt, curve_at(3.0), begin=3.0, end=0.0, tol=1e-11)
    assert status == Status.OK
    assert max(abs(a - b) for a, b in zip(y, curve_at(0.0), strict=True)) < 1e-9


def test_the_tolerance_chooses_the_columns():
    for (limit, name, values), before in zip(RULE, [1e-2, *(r[0] for r in RULE)], strict=False):
        record = integrator(name, values)
        assert suited(math.sqrt(max(limit, 1e-20) * before)) is record
        assert suited(limit) is record
        assert record.order == COLUMNS[name].order
        assert record.suited is suited
    assert INTEGRATOR is suited(1e-13)
    problem = ph.Problem(
        ph.RigidBody([1.0, 2.0, 2.5]), ph.models.heavy_top(2.0), omega=(0.1, 0.2, 3.0)
    )
    for rtol, atol in ((1e-5, 0.0), (0.0, 1e-5), (1e-12, 0.0), (0.0, 1e-14), (3e-15, 0.0)):
        solver = ph.prepare(problem, method="extrapolation", rtol=rtol, atol=atol)
        assert solver.method is suited(rtol + atol)


def test_columns_of_values_lose_nothing_at_their_tolerances():
    """At the tightest tolerance of such columns, the errors are those of columns of increments."""
    free, end = ph.models.free(), 20.0
    q, _ = free_flow(end, FIRST[:4], FIRST[4:], BODY[0], BODY[1])
    for limit, name, values in RULE:
        if values:
            errors = []
            for held in (True, False):
                machine = compiled(of_body(integrator(name, held), free))
                y, *_ = run(
                    machine, FIRST, end=end, tol=limit, body=BODY, params=free.params, values=held
                )
                errors.append(2 * math.dist(y[:4], q))
            assert errors[0] < 1.2 * errors[1] + 5e-12


def test_below_the_tightest_tolerance_nothing_changes(adapt):
    found = [run(adapt, curve_at(0.0), end=3.0, tol=tol) for tol in (2e-15, 1e-17, 0.0)]
    assert found[0] == found[1] == found[2]


def test_what_is_undefined_is_refused():
    def torn(t, y, body, params):
        """Undefined after a while."""
        return y[0], y[1], y[2], y[3] + math.sqrt(params[0] - t)

    machine = compiled(joined(INTEGRATOR, {slope: torn, square_size: squared}))
    y, status, accepted, rejected, _ = run(machine, (1.0,) * 4, params=(0.5,), h=0.1)
    assert status == Status.STEP_TOO_SMALL
    assert accepted > 0
    assert rejected > 0
    assert np.isfinite(y).all()
    step = compiled(loops.bound(INTEGRATOR.trial, {slope: torn, square_size: squared}))
    *_, error, factor, _ = step(0.0, 1.0, (1.0,) * 4, ((0.0,) * 4,), (), (0.5,), (1e-9, 0.0))
    assert math.isnan(error)
    assert factor == extrapolation.SMALLEST


# ---- the first step
def test_the_first_step(swing):
    step = compiled(loops.bound(INTEGRATOR.first_step, *body_pieces(SWINGING)))
    for tol in (1e-4, 1e-8, 1e-12):
        for span in (10.0, -10.0, 1e-3):
            h, count = step(0.0, span, FIRST, ((0.0,) * 7,), BODY, SWINGING.params, (tol, 0.0))
            assert math.copysign(1.0, h) == math.copysign(1.0, span)
            assert abs(h) <= abs(span)
            assert count <= 2
        *_, accepted, _, _ = run(swing, FIRST, body=BODY, params=SWINGING.params, end=10.0, tol=tol)
        h, _ = step(0.0, 10.0, FIRST, ((0.0,) * 7,), BODY, SWINGING.params, (tol, 0.0))
        assert 0.2 < h / (10.0 / accepted) < 3.0


def test_the_first_step_at_rest():
    def still(t, y, body, params):
        return 0.0 * y[0], 0.0 * y[1], 0.0 * y[2], 0.0 * y[3]

    step = compiled(loops.bound(INTEGRATOR.first_step, {slope: still, square_size: squared}))
    assert step(0.0, -7.0, (1.0,) * 4, ((0.0,) * 4,), (), (), (1e-9, 0.0)) == (-7.0, 2)


# ---- rounding
def none(d, y, new, body, tolerances):
    return 0.0


@pytest.mark.parametrize("columns", COLUMNS.values(), ids=COLUMNS)
def test_rounding_is_random(columns):
    """Over a constant slope nothing is left on average: weights and substeps are exact in all."""

    def constant(t, y, body, params):
        return params[0] + 0.0 * y[0], 0.0 * y[0]

    record, rate, errors = integrator(columns.name), 0.7, []
    step = compiled(loops.bound(record.trial, {slope: constant, square_size: none}))
    for h in np.random.default_rng(1).uniform(0.05, 0.2, 4000).tolist():
        y, (low,), *_ = step(0.0, h, (0.0, 0.0), ((0.0, 0.0),), (), (rate,), (1e-9, 0.0))
        right = Fraction(h) * Fraction(rate)
        errors.append(float((Fraction(y[0]) + Fraction(low[0]) - right) / right) / ROUNDING)
    assert np.std(errors) == pytest.approx(columns.rounding, rel=0.2)
    assert abs(np.mean(errors)) < 4 * np.std(errors) / math.sqrt(len(errors))


def test_columns_that_err_more():
    harmonic = Columns(name="harmonic", lanes=((2, 4, 6, 8, 10, 12, 14, 16),))
    assert round(harmonic.rounding) == 78
    assert [round(c.rounding) for c in COLUMNS.values()] == [30, 25, 5]


def test_what_is_lost_is_carried():
    step = compiled(loops.bound(INTEGRATOR.trial, CURVE))
    y = curve_at(0.0)
    new, (low,), *_ = step(0.0, 1e-3, y, ((0.0,) * 4,), (), (-0.25,), (1e-9, 0.0))
    with mp.workdps(40):
        right = at_40_digits(mp.mpf(1e-3))
        plain = max(abs(a - b) for a, b in zip(new, right, strict=True))
        kept = max(abs(mp.mpf(a) + e - b) for a, e, b in zip(new, low, right, strict=True))
    assert 5 * kept < plain < 1.2e-16


def test_resets_lose_only_the_low_parts():
    """A reset of the formulation loses the low parts, and nothing else."""
    assert INTEGRATOR.start(0.0, 0.1, (1.0, 2.0), (), ()) == ((0.0, 0.0),)
    assert reset(0.0, (1.0, 2.0), ()) == ((1.0, 2.0), False)
