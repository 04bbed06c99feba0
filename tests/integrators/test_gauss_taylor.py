"""Gauss-Taylor and Magnus: a given angular velocity, against closed forms and mpmath's own solver.

The errors are angles.  The loop here is the simplest that can be: Gauss-Taylor's steps have few
bits, so that the times are sums without rounding.
"""

import math

import mpmath as mp
import numpy as np
import pytest

from kernels.test_gauss_taylor import number
from polhode.compiler.machine import CompiledOrPlain
from polhode.compiler.tree import bind
from polhode.contracts import velocity
from polhode.errors import InputError
from polhode.integrators import INTEGRATORS
from polhode.integrators import gauss_taylor as module
from polhode.integrators.gauss_taylor import choose, functions, gauss_taylor, stages_for
from polhode.kernels.gauss_taylor import on_the_left, on_the_right, side
from polhode.kernels.trig import ELEMENTARY
from polhode.problems.given_motions import PRECESSING_BINARY, ZUPAN_SAJE, about, by_vector
from polhode.references import bibliography
from support import extra_methods
from support.bits import exactly
from support.convergence import estimate_order
from support.precise import hamilton

STAGES = pytest.mark.parametrize("s", module.STAGES)
FRAMES = pytest.mark.parametrize("frame", ["inertial", "body"])
SERIES = [INTEGRATORS[f"magnus{order}"] for order in (4, 6, 8)]
MAGNUS = pytest.mark.parametrize("magnus", SERIES, ids=lambda m: m.name)
SIDES = {"inertial": on_the_left, "body": on_the_right}
IN_MP = {math.sin: mp.sin, math.cos: mp.cos, math.sqrt: mp.sqrt}


@pytest.fixture(scope="module", autouse=True)
def compiled_here():
    with extra_methods.no_disk_cache():
        yield


# ---- a motion without symmetry, in any numbers: axes that are not rounded
MOTION = (
    about((1, 0, 0), lambda t: t + math.sin(2 * t), lambda t: 1 + 2 * math.cos(2 * t))
    * about((0, 1, 0), lambda t: math.cos(t), lambda t: -math.sin(t))
    * about((0, 0, 1), lambda t: t * t / 3, lambda t: 2 * t / 3)
)


def rate_of(motion, frame):
    return motion.omega if frame == "inertial" else motion.body_omega


def given(rate, frame, *others):
    """The replacements that make an integrator one of the function ``rate(t)``."""

    def of_time(t, q, params):
        return rate(t)

    meanings = {name: value for other in others for name, value in other.items()}
    return {velocity: bind(of_time, meanings), side: SIDES[frame], **meanings}


def angle(p, q):
    """Between two attitudes; the sign of a quaternion says nothing."""
    p, q = (np.asarray(x, float) / np.linalg.norm(np.asarray(x, float)) for x in (p, q))
    return 4 * math.asin(min(1.0, min(np.linalg.norm(p - q), np.linalg.norm(p + q)) / 2))


def mp_angle(p, q):
    r = hamilton(p, (q[0], -q[1], -q[2], -q[3]))
    return 2 * mp.norm(r[1:]) / mp.norm(r)


# ---- one step, with many digits
def precise(s, frame, rate):
    """``trial``, ``fit`` and ``read`` on mpmath numbers, whose series ends at 1e-46."""
    pieces = given(rate, frame, IN_MP) | {module.ROUNDING: mp.mpf("1e-46")}
    return {name: bind(f, pieces) for name, f in functions(s, number).items()}


def exact_turn(t, h):
    """The motion's attitudes at t and t + h."""
    attitude = bind(MOTION.attitude, IN_MP)
    return attitude(t), attitude(t + h)


def small_steps(s):
    """As small as the end of the series allows."""
    largest = mp.mpf({4: 2**-6, 6: 2**-5}.get(s, 2**-4 if s == 8 else 2**-3))
    return [largest / mp.sqrt(2) ** k for k in range(4)]


NO_TOLERANCE = mp.mpf("1e-80"), mp.mpf(0)


@STAGES
@FRAMES
def test_one_step_is_of_order_2s(s, frame):
    with mp.workdps(60):
        trial = precise(s, frame, rate_of(MOTION, frame))["trial"]
        t, steps, errors = mp.mpf("0.4"), [], []
        for h in small_steps(s):
            begin, end = exact_turn(t, h)
            found, carry, _, _, count = trial(t, h, begin, (), (), ((), ()), NO_TOLERANCE)
            assert (carry, count) == ((), s)
            steps.append(float(h))
            errors.append(float(mp_angle(found, end)))
        order = estimate_order(steps, errors, floor=1e-46)
    assert abs(order / (2 * s + 1) - 1) < 0.02


@STAGES
def test_one_step_is_what_mpmath_finds(s):
    """A rate that has no closed form; the step is undone by the one that leads back."""

    def rate(t):
        return math.sin(3 * t) + 0.3, 0.5 * math.cos(2 * t), 1 / (2 + t * t)

    omega = bind(rate, IN_MP)

    def slope(t, q):
        return [x / 2 for x in hamilton((0, *omega(t)), q)]

    with mp.workdps(30):
        begin = (mp.mpf("0.5"),) * 4
        t, h = mp.mpf("0.2"), mp.mpf("0.125")
        end = mp.odefun(slope, t, list(begin))(t + h)
        trial = precise(s, "inertial", rate)["trial"]
        found, *_ = trial(t, h, begin, (), (), ((), ()), NO_TOLERANCE)
        assert mp_angle(found, end) < {4: 1e-11, 6: 1e-16, 8: 1e-21}.get(s, 1e-24)
        back, *_ = trial(t + h, -h, found, (), (), ((), ()), NO_TOLERANCE)
        assert mp_angle(back, begin) < 1e-28


@MAGNUS
@FRAMES
def test_magnus_steps_are_of_their_order(magnus, frame):
    """In doubles, for the kernels' constants are doubles."""
    step = bind(magnus.step, given(rate_of(MOTION, frame), frame))
    steps, errors = [], []
    for n in 2 ** np.arange(2, 7) * (2 if magnus.order == 4 else 1):
        h, q = 1 / n, MOTION.attitude(0.4)
        for k in range(n):
            q, carry = step(0.4 + k * h, h, q, (), (), ())
        assert carry == ()
        steps.append(h)
        errors.append(angle(q, MOTION.attitude(1.4)))
    assert abs(estimate_order(steps, errors, floor=1e-14) - magnus.order) < 0.25
    assert abs(np.linalg.norm(q) - 1) < 1e-14


# ---- dense output
@STAGES
@FRAMES
def test_dense_output_is_of_the_same_order(s, frame):
    """The error inside a step falls as h^(2s+1) or faster, that of the run as h^(2s)."""
    with mp.workdps(60):
        f = precise(s, frame, rate_of(MOTION, frame))
        t, steps, errors = mp.mpf("0.4"), [], []
        for h in small_steps(s):
            begin, _ = exact_turn(t, h)
            new, *_ = f["trial"](t, h, begin, (), (), ((), ()), NO_TOLERANCE)
            fitted, count = f["fit"](t, h, begin, (), new, (), ((), ()))
            assert count == 2 * s
            worst = 0
            for x in (mp.mpf(k) / 8 for k in range(1, 8)):
                found = f["read"](x, h, begin, fitted)
                assert abs(mp.norm(found) - 1) < 1e-55
                worst = max(worst, mp_angle(found, exact_turn(t, x * h)[1]))
            steps.append(float(h))
            errors.append(float(worst))
            for x, right in ((mp.mpf(0), begin), (mp.mpf(1), new)):
                assert mp_angle(f["read"](x, h, begin, fitted), right) < 1e-40
        assert gauss_taylor(s).dense_order == 2 * s
        assert estimate_order(steps, errors, floor=1e-46) > 0.98 * (2 * s + 1)


# ---- runs
def adapted(s, frame, rate):
    """A loop of trial steps: (q, accepted, rejected, evaluations)."""
    pieces = given(rate, frame, ELEMENTARY)
    trial = bind(gauss_taylor(s).trial, pieces)
    first = bind(gauss_taylor(s).first_step, pieces)

    def run(t, end, q, tolerance):
        h, evaluations = first(t, end - t, q, (), (), ((), ()), (tolerance, 0.0))
        accepted, rejected = 0, 0
        while t != end and rejected < 1000:
            last = abs(h) >= abs(end - t)
            this = end - t if last else h
            new, _, error, factor, count = trial(t, this, q, (), (), ((), ()), (tolerance, 0.0))
            evaluations += count
            if error <= 1.0:
                q, t = new, end if last else t + this
                accepted += 1
            else:
                rejected += 1
            h = this * factor
        return q, accepted, rejected, evaluations

    return CompiledOrPlain(run, "the run")


@pytest.fixture(scope="module")
def binary():
    """Boyle's binary with each number of nodes that the tolerance may choose."""
    return {s: adapted(s, "inertial", PRECESSING_BINARY.omega) for s in (8, 10, 12)}


def binary_attitude(t):
    """With 40 digits: the angles of the binary are rounded by 1e-13 in doubles."""
    with mp.workdps(40):
        return tuple(map(float, bind(PRECESSING_BINARY.attitude, IN_MP)(mp.mpf(t))))


def test_no_allocation(binary):
    run = binary[8]
    run(0.0, 1e3, binary_attitude(0.0), 1e-9)
    assert run.machine is not None
    assert not extra_methods.allocates(run)


@pytest.mark.parametrize("tolerance", 10.0 ** -np.arange(4, 13))
def test_errors_are_of_the_size_of_the_tolerance(binary, tolerance):
    """Boyle's norm (25) is √2 times the angle; the largest of four ends."""
    run = binary[stages_for(tolerance)]
    errors, begin = [], binary_attitude(0.0)
    for end in (0.81e5, 0.87e5, 0.93e5, 1e5):
        q, accepted, rejected, evaluations = run(0.0, end, begin, tolerance)
        assert abs(np.linalg.norm(q) - 1) < 4e-16
        assert rejected <= 0.05 * accepted
        errors.append(math.sqrt(2) * angle(q, binary_attitude(end)))
    assert evaluations == (accepted + rejected) * stages_for(tolerance) + 2
    assert 0.01 * tolerance < max(errors) < 3 * tolerance


@pytest.mark.parametrize(("error", "most"), [(1e-6, 1200), (1e-9, 1700), (1e-11, 2100)])
def test_few_evaluations_are_enough(binary, error, most):
    q, _, _, evaluations = binary[stages_for(error)](0.0, 1e5, binary_attitude(0.0), error)
    assert math.sqrt(2) * angle(q, binary_attitude(1e5)) <= error
    assert evaluations <= most


def test_what_rounding_leaves(binary):
    """Of the rounded constants of ω alone 5e-14 are to be expected after 100 orbits."""
    for s in (8, 10, 12):
        q, *_ = binary[s](0.0, 1e5, binary_attitude(0.0), 1e-15)
        assert angle(q, binary_attitude(1e5)) < 1e-13


def test_there_and_back(binary):
    begin = binary_attitude(1e4)
    there, *_ = binary[10](1e4, 2e4, begin, 1e-12)
    assert angle(there, binary_attitude(2e4)) < 3e-12
    back, *_ = binary[10](2e4, 1e4, there, 1e-12)
    assert angle(back, begin) < 3e-12


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize("s", [4, 8])
def test_rates_in_body_axes(s):
    """The same motion by its body rate; the wrong side would be off by radians."""
    run = adapted(s, "body", MOTION.body_omega)
    q, *_ = run(0.0, 3.0, MOTION.attitude(0.0), 1e-9)
    assert angle(q, MOTION.attitude(3.0)) < 3e-8
    wrong, *_ = run(0.0, 3.0, MOTION.attitude(0.1), 1e-9)
    assert angle(wrong, MOTION.attitude(3.0)) > 1e-3


@pytest.mark.parametrize("name", ZUPAN_SAJE)
def test_fast_small_swings_are_not_missed(name):
    """By a tolerance that allows long steps; without the second estimate half a radian may pass."""
    motion, (begin, end) = ZUPAN_SAJE[name]
    q, *_ = adapted(6, "inertial", motion.omega)(begin, end, motion.attitude(begin), 1e-4)
    assert angle(q, motion.attitude(end)) < 3e-4


@pytest.mark.usefixtures("plain")
def test_the_integral_of_the_rate_is_guarded(monkeypatch):
    """About a fixed axis the first estimate is zero, whatever the rate does."""
    motion = about((1, 2, 2), lambda t: 0.1 * math.sin(200 * t), lambda t: 20 * math.cos(200 * t))
    begin, end, tolerance = 0.0, 0.5, 1e-4
    q, *_ = adapted(4, "inertial", motion.omega)(begin, end, motion.attitude(begin), tolerance)
    assert angle(q, motion.attitude(end)) < 3 * tolerance
    monkeypatch.setattr(module, "tail", lambda s: lambda p: 0.0)
    trial = bind(functions(4)["trial"], given(motion.omega, "inertial"))
    q, _, error, *_ = trial(0.0, 0.05, motion.attitude(begin), (), (), ((), ()), (tolerance, 0.0))
    assert error < 1e-9
    assert angle(q, motion.attitude(0.05)) > 10 * tolerance


# ---- awkward rates
@pytest.mark.usefixtures("plain")
def test_no_rate_at_all_is_one_step():
    run = adapted(8, "inertial", lambda t: (0.0, 0.0, 0.0))
    q = (0.5, 0.5, 0.5, 0.5)
    assert run(0.0, 1e6, q, 1e-9)[:3] == (q, 1, 0)


@pytest.mark.usefixtures("plain")
def test_constant_rates_go_on_at_the_longest_series():
    run = adapted(8, "inertial", lambda t: (0, 0, 1))  # integers will do
    q, accepted, rejected, _ = run(0.0, 1000.0, (1.0, 0.0, 0.0, 0.0), 1e-9)
    assert angle(q, (math.cos(500), 0, 0, math.sin(500))) < 1e-10  # the ends of series
    assert rejected <= 1
    assert accepted < 200


@pytest.mark.usefixtures("plain")
def test_rates_that_are_too_fast_for_the_first_step():
    """|ω| grows a thousandfold after the first step was chosen: the series does not converge."""
    motion = about((0, 0, 1), lambda t: 1000 * t**4, lambda t: 4000 * t**3)
    run = adapted(8, "inertial", motion.omega)
    q, _, rejected, _ = run(0.0, 1.0, (1.0, 0.0, 0.0, 0.0), 1e-9)
    assert rejected > 0
    assert angle(q, motion.attitude(1.0)) < 1e-8


def test_undefined_rates_never_count():
    run = adapted(8, "inertial", lambda t: (math.sqrt(1.0 - t), 0.0, 0.0))
    assert run(0.0, 2.0, (1.0, 0.0, 0.0, 0.0), 1e-9)[2] == 1000


def test_rates_with_branches_and_calls():
    def rate(t):
        decay = 0.0
        for k in range(1, 4):
            decay += math.exp(-k * t)
        return (decay, 0.1, math.tanh(t)) if t < 30.0 else (0.0, 0.0, 0.0)

    def vector(t):
        return 0.0, 0.0, math.log(math.cosh(t))

    run = adapted(10, "inertial", rate)
    q, *_ = run(0.0, 5.0, (1.0, 0.0, 0.0, 0.0), 1e-10)
    assert run.machine is not None
    again, *_ = run.function(0.0, 5.0, (1.0, 0.0, 0.0, 0.0), 1e-10)
    assert angle(q, again) < 1e-14
    motion = by_vector(vector, lambda t: (0.0, 0.0, math.tanh(t)))
    q, *_ = adapted(10, "inertial", motion.omega)(0.0, 5.0, (1.0, 0.0, 0.0, 0.0), 1e-10)
    assert angle(q, motion.attitude(5.0)) < 3e-10


# ---- bits
@pytest.mark.parametrize("s", [4, 12])
@FRAMES
def test_compiled_is_plain_python_with_an_exact_fma(s, frame):
    pieces = given(rate_of(MOTION, frame), frame, ELEMENTARY)
    trial = bind(gauss_taylor(s).trial, pieces)
    fit, read = bind(gauss_taylor(s).fit, pieces), bind(gauss_taylor(s).read, pieces)
    first = bind(gauss_taylor(s).first_step, pieces)

    def all_of_it(t, h, q, tolerances):
        new, _, error, factor, count = trial(t, h, q, (), (), ((), ()), tolerances)
        fitted, more = fit(t, h, q, (), new, (), ((), ()))
        inside = read(0.3, h, q, fitted)
        return (
            new,
            error,
            factor,
            count,
            fitted,
            more,
            inside,
            first(t, h, q, (), (), (), tolerances),
        )

    run = CompiledOrPlain(all_of_it, "it")
    args = 0.4, 1.3, MOTION.attitude(0.4), (1e-9, 1e-12)
    assert run(*args) == exactly(all_of_it)(*args)
    assert run.machine is not None


@MAGNUS
def test_compiled_magnus_is_plain_python_with_an_exact_fma(magnus):
    step = bind(magnus.step, given(MOTION.omega, "inertial", ELEMENTARY))
    run = CompiledOrPlain(step, "it")
    args = 0.4, 0.3, MOTION.attitude(0.4), (), (), ()
    assert run(*args) == exactly(step)(*args)
    assert run.machine is not None


# ---- records
def test_the_choice_by_tolerance():
    assert [stages_for(x) for x in (1e-2, 1e-4, 1e-8, 1e-9, 1e-12, 1e-15)] == [6, 8, 8, 10, 12, 12]
    assert choose(1e-9) is gauss_taylor(10)
    assert choose(1e-9).name == "gauss-taylor:10"
    with pytest.raises(InputError, match="one of"):
        gauss_taylor(5)


def test_records():
    for s in module.STAGES:
        record = gauss_taylor(s)
        assert (record.order, record.linear, record.adaptive) == (2 * s, True, True)
        assert set(record.references) <= set(bibliography())
    for record in SERIES:
        assert record.evaluations == record.order // 2
        assert not record.adaptive
        assert set(record.references) <= set(bibliography())
