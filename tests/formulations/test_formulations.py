"""The registry of formulations: variables, rates, resets and signs.

Runs are in plain Python but for one of each kind, compiled with the simplest integrator.
"""

import math

import mpmath as mp
import numpy as np
import pytest

import polhode as ph
from polhode.contracts import Formulation
from polhode.formulations import generator_reset, vectors2_damped, vectors2_projected
from polhode.formulations.equations import IDENTITY
from polhode.references import bibliography
from support import given_motion
from support.bodies import INERTIA, TIME, angle
from support.given_motion import attitudes, in_body, inertial
from support.precise import hamilton

RECORDS = tuple(ph.FORMULATIONS.values())
EACH = pytest.mark.parametrize("record", RECORDS, ids=lambda r: r.name)


@pytest.fixture
def plain():
    with given_motion.plain_python():
        yield


def random_attitudes(rng, count=200):
    """Random ones; near the identity, its opposite, and half turns; and these themselves."""
    q = rng.normal(size=(count, 4))
    near = np.array([[1.0, 0, 0, 0], [-1.0, 0, 0, 0], *np.eye(4)[1:], [0, 0.6, -0.8, 0]])
    small = [p + s * rng.normal(size=4) for p in near for s in (0, 1e-14, 1e-8, 1e-3)]
    q = np.concatenate([q, small])
    return (q / np.linalg.norm(q, axis=1, keepdims=True)).tolist()


@EACH
def test_records_are_complete(record):
    assert isinstance(record, Formulation)
    assert record.title
    assert set(record.references) <= set(bibliography())


@EACH
def test_there_and_back(record, rng):
    for q in random_attitudes(rng):
        y = record.enter(tuple(q))
        assert all(isinstance(x, float) for x in y)
        found = np.array(record.attitude(y))
        assert abs(np.linalg.norm(found) - 1) < 1e-15
        assert min(np.abs(found - q).max(), np.abs(found + q).max()) < 1e-15


@EACH
def test_variables_need_not_be_perfect(record, rng):
    """Attitudes have unit length whatever an integrator has made of the variables."""
    for q in random_attitudes(rng, 20):
        y = record.enter(tuple(q))
        off = tuple(x + 1e-6 * e for x, e in zip(y, rng.normal(size=len(y)), strict=True))
        found = np.array(record.attitude(off))
        assert abs(np.linalg.norm(found) - 1) < 1e-15
        assert angle(found, q)[0] < 2e-5


@EACH
def test_the_rate_turns_the_attitude(record, rng):
    """dq/dt = ω q / 2, or q ω / 2 in body axes, by differences along the rate of the variables."""
    for q in random_attitudes(rng, 40):
        if np.abs(q).max() > 0.9999 or abs(q[0]) < 1e-3:
            continue  # half turns, where the sign that is entered may jump
        y, omega = record.enter(tuple(q)), rng.normal(size=3)
        start = np.array(record.attitude(y))
        half = (0.0, *omega / 2)
        for rate, pair in ((record.rate, (half, start)), (record.rate_right, (start, half))):
            if rate is None:
                continue
            dy = np.array(rate(y, tuple(omega.tolist())))
            d = 1e-3
            values = [record.attitude(tuple(y + k * d * dy)) for k in (-2, -1, 1, 2)]
            a, b, c, e = (np.array(v) * np.sign(v @ start) for v in map(np.array, values))
            found = (a - 8 * b + 8 * c - e) / (12 * d)
            right = np.array([float(x) for x in hamilton(*pair)])
            # differences of fourth order: d⁴/30 of the fifth derivative
            assert np.abs(found - right).max() < 1e-10 * (1 + np.linalg.norm(dy) ** 5)


@EACH
def test_both_rates_agree_off_the_unit(record, rng):
    """However long the variables are: they follow the same equation, in other axes."""
    if record.rate_right is None:
        pytest.skip("omega is turned to inertial axes first")
    for _ in range(50):
        y, omega = long_variables(record, rng), rng.normal(size=3)
        if len(y) == 3 and abs(math.sin(np.linalg.norm(y))) < 0.1:
            continue  # where the generator is singular
        q = record.attitude(tuple(y.tolist()))
        p = hamilton(hamilton(q, (0.0, *omega)), (q[0], -q[1], -q[2], -q[3]))
        right = record.rate(tuple(y.tolist()), tuple(float(x) for x in p[1:]))
        found = record.rate_right(tuple(y.tolist()), tuple(omega.tolist()))
        size = np.abs(right).max()
        np.testing.assert_allclose(found, right, atol=1e-13 * (1 + size))


def test_the_rate_of_the_generator_with_many_digits():
    """(18) of Boyle 2017, and exp of the generator by its series in mpmath."""
    record = ph.FORMULATIONS["generator"]

    def rotor(r):
        n = mp.sqrt(mp.fsum(x * x for x in r))
        return (mp.cos(n), *(mp.sinc(n) * x for x in r))

    with mp.workdps(40):
        for r in ((0.3, -0.2, 0.4), (1.0, 2.0, -1.5), (1e-9, 0.0, 2e-9), (0.0, 0.0, 3.1)):
            omega = 0.7, -0.4, 1.1
            dr = record.rate(r, omega)
            h = mp.mpf("1e-12")
            ahead, back = (
                rotor([mp.mpf(x) + s * h * d for x, d in zip(r, dr, strict=True)]) for s in (1, -1)
            )
            found = [(a - b) / (2 * h) for a, b in zip(ahead, back, strict=True)]
            right = hamilton([0, *(mp.mpf(x) / 2 for x in omega)], rotor(list(map(mp.mpf, r))))
            size = 1 + max(map(abs, dr))
            assert max(abs(a - b) for a, b in zip(found, right, strict=True)) < 2e-15 * size


@EACH
def test_angle(record, rng):
    """A small error at the identity, as a turn makes it, is a turn by ``angle`` times its size.

    If that depends on the axis of the turn, ``angle`` is the least, and the most is √2 times it.
    """
    ratios = []
    for axis in rng.normal(size=(300, 3)):
        turn = 1e-6 * axis / np.linalg.norm(axis)
        d = np.array(record.enter((1.0, *(turn / 2)))) - record.enter(IDENTITY)
        ratios.append(1e-6 / np.linalg.norm(d))
    if max(ratios) < 1.001 * min(ratios):
        assert max(ratios) == pytest.approx(record.angle, rel=1e-5)
        assert min(ratios) == pytest.approx(record.angle, rel=1e-5)
    else:
        assert min(ratios) == pytest.approx(record.angle, rel=1e-2)
        assert max(ratios) == pytest.approx(math.sqrt(2) * record.angle, rel=1e-2)


# ---- resets
def long_variables(record, rng):
    """Variables as integrators leave them: stretched, and generators of several turns."""
    y = np.array(record.enter(tuple(random_attitudes(rng, 1)[0])))
    if len(y) == 3:
        direction = rng.normal(size=3)
        return rng.uniform(0.0, 20.0) * direction / np.linalg.norm(direction)
    return y * (1 + rng.choice([0.0, 1e-12, 1e-7, 1e-3]))


@EACH
def test_resets(record, rng):
    """The attitude is the same, and so is what follows; ``changed`` is true and false alike."""
    seen = set()
    for _ in range(300):
        y = tuple(long_variables(record, rng).tolist())
        extra = tuple(rng.normal(size=3).tolist())
        new, changed = record.reset((*y, *extra))
        n = len(y)
        assert changed == (new != (*y, *extra))
        assert new[n:] == extra
        assert len(new) == n + 3
        assert angle(record.attitude(new[:n]), record.attitude(y))[0] < 1e-14
        again, twice = record.reset(new)
        assert (again, twice) == (new, False), "one reset must do, however long the variables are"
        seen.add(changed)
        assert record.reset(y)[1] == changed
    assert seen == ({True, False} if record.resets else {False})


@pytest.mark.parametrize("size", [0.0, 1e-300, 1.5, 1.6, 3.0, 4.7, 4.8, 7.8, 7.9, 1e3])
def test_generators_are_brought_below_a_quarter(size):
    """In its general form: once is not enough beyond 3 π/2."""
    y = (0.6 * size, 0.0, -0.8 * size)
    new, changed = generator_reset.reset(y)
    assert math.hypot(*new) <= math.pi / 2 * (1 + 1e-12)
    assert changed == (size > math.pi / 2)
    assert math.hypot(*new) == pytest.approx(abs(math.remainder(size, math.pi)), abs=1e-12)


# ---- runs with a given angular velocity
def run(record, t_span, omega=inertial, frame="inertial", method="dop853", **options):
    begin = tuple(attitudes([t_span[0]])[0])
    return ph.integrate_angular_velocity(
        omega, t_span, frame=frame, method=method, formulation=record, attitude=begin,
        scalar_first=True, **options,
    )  # fmt: skip


def apart(found, right):
    """The largest difference of attitudes, whose signs agree all along or not at all."""
    sign = math.copysign(1.0, found[0] @ right[0])
    return np.abs(sign * found - right).max()


TIMES = np.linspace(0.0, 20.0, 201)


@EACH
@pytest.mark.parametrize("frame", given_motion.OMEGAS)
def test_runs(plain, record, frame):
    """To the tolerance, in both frames; the sign is continuous over many turns and resets."""
    found = run(record, (0.0, 20.0), given_motion.OMEGAS[frame], frame, rtol=1e-9)
    assert apart(found.q, attitudes(found.t)) < 1e-6
    assert apart(found.sol(TIMES).q, attitudes(TIMES)) < 1e-6


def fast(t):
    return 0.4 * math.cos(t), 0.3, 5.0


def long_steps(record, method, end, rtol):
    """(a run, how far it is from a tight one, at its steps and between)."""
    options = {"frame": "body", "attitude": (0.6, 0.0, 0.8, 0.0), "scalar_first": True}
    tight = ph.integrate_angular_velocity(fast, (0, end), method="vern9", rtol=1e-12, **options)
    found = ph.integrate_angular_velocity(
        fast, (0, end), method=method, formulation=record, rtol=rtol, **options
    )
    times = np.linspace(0, end, 81)
    steps = apart(found.q, tight.sol(found.t).q)
    return found, max(steps, apart(found.sol(times).q, tight.sol(times).q))


@EACH
def test_signs_are_continuous(plain, record):
    """Frames do not know the sign of a rotor, and resets change it: turn after turn."""
    _, off = long_steps(record, "dopri5", 12.0, 1e-3)
    assert off < 0.3


@pytest.mark.parametrize("name", ["vectors2", "generator-reset", "rotor"])
def test_signs_are_continuous_in_steps_of_a_turn(plain, name):
    found, off = long_steps(ph.FORMULATIONS[name], "extrapolation", 4.0, 1e-3)
    assert off < 0.03
    assert 5 * np.diff(found.t).max() > math.pi


@EACH
def test_continuous_or_not(record):
    """Whether the attitude keeps its sign while the variables follow a whole turn."""
    y, flips = np.array(record.enter((math.cos(0.05), 0.0, 0.0, math.sin(0.05)))), 0
    before = np.array(record.attitude(tuple(y)))
    for k in range(1, 400):  # four turns about z; frames are taken from the attitude itself
        half = 0.05 + 0.0325 * k
        if len(y) == 3:
            y = np.array(record.reset((0.0, 0.0, float(y[2]) + 0.0325))[0])
        else:
            y = np.array(record.enter((math.cos(half), 0.0, 0.0, math.sin(half))))
        now = np.array(record.attitude(tuple(y)))
        flips += now @ before < 0
        before = now
    assert (flips == 0) == record.continuous


@EACH
def test_the_rate_may_depend_on_the_attitude(plain, record):
    """ω(t, q), the body rate of the motion turned into inertial axes by the attitude it gets."""

    def turned(t, q):
        w, x, y, z = q
        a, b, c = in_body(t)
        p, r, s = 2 * (y * c - z * b), 2 * (z * a - x * c), 2 * (x * b - y * a)
        return (
            a + w * p + y * s - z * r,
            b + w * r + z * p - x * s,
            c + w * s + x * r - y * p,
        )

    found = run(record, (0.0, 5.0), turned, rtol=1e-10)
    assert apart(found.q, attitudes(found.t)) < 1e-7


# ---- damping and projection
def kutta_steps(record, y, h, count):
    """Return the variables after Kutta steps with resets between them."""

    def slope(t, y):
        return np.array(record.rate(tuple(y), inertial(t)))

    for k in range(count):
        t = k * h
        k1 = slope(t, y)
        k2 = slope(t + h / 2, y + h / 2 * k1)
        k3 = slope(t + h / 2, y + h / 2 * k2)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + slope(t + h, y + h * k3))
        y = np.array(record.reset(tuple(y.tolist()))[0])
    return y


@pytest.mark.parametrize(("length", "bend"), [(1.0, 1.0), (0.5, 2.0)])
def test_frames_are_drawn_back(length, bend):
    """Lengths as exp(-2 λ t), the right angle as exp(-μ t), whatever the rotation."""
    record = vectors2_damped.formulation(length, bend)
    off = 1e-4
    a, b = np.array([1.0 + off, 0.0, 0.0]), np.array([0.0, 1.0 - 2 * off, 0.0])
    b = b + 3 * off * np.array([1.0, 0.0, 0.0])
    h, n = 0.01, 200
    y = kutta_steps(record, np.array([*a, *b]), h, n)
    a, b = y[:3], y[3:]
    time = n * h
    assert np.linalg.norm(a) - 1 == pytest.approx(off * math.exp(-2 * length * time), rel=0.01)
    # b is drawn to length 1 by both: u is a unit vector
    both = math.exp(-(2 * length + bend) * time)
    assert np.linalg.norm(b) - 1 == pytest.approx(-2 * off * both, rel=0.02)
    assert a @ b == pytest.approx(3 * off * math.exp(-bend * time), rel=0.01)


def test_projection_is_that_of_gram_and_schmidt(rng):
    """LAPACK's QR, whose columns have other signs."""
    for _ in range(100):
        y = np.array([1.0, 0, 0, 0, 1.0, 0]) + rng.uniform(0, 0.3) * rng.normal(size=6)
        new, changed = ph.FORMULATIONS["vectors2-projected"].reset((*y.tolist(), 7.0))
        q, r = np.linalg.qr(y.reshape(2, 3).T)
        assert changed
        assert np.abs(np.reshape(new[:6], (2, 3)).T - q * np.sign(np.diag(r))).max() < 2e-15
        assert new[6:] == (7.0,)


def test_projection_beyond_a_limit():
    record = vectors2_projected.formulation(1e-6)
    near, far = ((1.0 + d, 0.0, 0.0, 0.0, 1.0, 0.0) for d in (4e-7, 6e-7))
    assert record.reset(near) == (near, False)
    assert record.reset(far) == ((1.0, 0.0, 0.0, 0.0, 1.0, 0.0), True)
    with pytest.raises(ph.InputError, match=r"limit must be.*got -1"):
        vectors2_projected.formulation(-1)


def test_projected_vectors_stay_orthonormal():
    off = {}
    for name in ("vectors2", "vectors2-projected"):
        a, b = kutta_steps(ph.FORMULATIONS[name], np.eye(3)[:2].ravel(), 0.1, 100).reshape(2, 3)
        off[name] = max(abs(a @ a - 1), abs(b @ b - 1), abs(a @ b))
    assert off["vectors2-projected"] < vectors2_projected.ROUNDING < 1e-6 < off["vectors2"]


# ---- bodies
TENSOR = np.array([[2.6, 0.3, -0.2], [0.3, 3.1, 0.4], [-0.2, 0.4, 4.2]])


def of_tensor():
    """The same forces for a body whose axes are not principal."""
    p = TIME.problem
    return ph.Problem(
        ph.RigidBody(TENSOR), p.model, attitude=p.attitude, scalar_first=True, omega=p.omega
    )


@pytest.fixture(scope="module")
def tight():
    """(a tenth of the tolerance that is tested) by another integrator and the default variables."""
    with given_motion.plain_python():
        return {
            problem: ph.solve(problem, (0.0, 4.0), method="vern9", rtol=1e-11)
            for problem in (TIME.problem, of_tensor())
        }


@EACH
def test_bodies_move_alike_in_all_variables(plain, record, tight):
    q, m = TIME.reference((0.0, 4.0))
    for problem, right in tight.items():
        found = ph.solve(problem, (0.0, 4.0), method="dop853", formulation=record, rtol=1e-9)
        assert angle(found.q[-1], right.q[-1])[0] < 2e-8
        gap = np.linalg.norm(found.angular_momentum[-1] - right.angular_momentum[-1])
        assert gap < 2e-8 * np.linalg.norm(right.angular_momentum[-1])
        if problem is TIME.problem:  # SciPy's, from torques written with matrices
            assert angle(found.q[-1], q[-1])[0] < 2e-8
            assert np.linalg.norm(found.angular_momentum[-1] - m[-1]) < 2e-8 * np.linalg.norm(m[-1])
        back = ph.solve(
            ph.Problem(
                problem.body, problem.model, attitude=found.q[-1], scalar_first=True,
                angular_momentum=found.angular_momentum[-1],
            ),
            (4.0, 0.0), method="dop853", formulation=record, rtol=1e-9,
        )  # fmt: skip
        assert angle(back.q[-1], problem.attitude)[0] < 4e-8


@pytest.mark.parametrize("name", ["generator", "generator-reset", "quaternion"])
def test_fixed_steps_reset_too(plain, name):
    """Kutta's method, turn after turn: without resets the generator loses digits near 2 π."""
    found = ph.integrate_angular_velocity(
        fast, (0.0, 3.0), frame="body", method="rk4", dt=0.005, formulation=name
    )
    right = ph.integrate_angular_velocity(
        fast, (0.0, 3.0), frame="body", method="vern9", rtol=1e-12
    )
    off = angle(found.q[-1], right.q[-1])[0]
    assert off > 3e-6 if name == "generator" else off < 1e-6


KNOWN = "quaternion", "rotor"  # what all other tests compile


@pytest.mark.parametrize("name", [r.name for r in RECORDS if r.name not in KNOWN])
def test_compiled_runs(name):
    """One of each, with the simplest integrator and a torque that follows the time."""
    problem = TIME.problem
    found = ph.solve(problem, (0.0, 2.0), method="rk4", dt=0.01, formulation=name)
    q, m = TIME.reference((0.0, 2.0))
    assert angle(found.q[-1], q[-1])[0] < 1e-7
    assert np.abs(found.angular_momentum[-1] - m[-1]).max() < 1e-7 * INERTIA[2]
    assert found.nfev == 4 * found.nsteps == 800
