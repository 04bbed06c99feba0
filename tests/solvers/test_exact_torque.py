"""Motion under a constant torque, against higher precision and other routes."""

import doctest
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.kernels import linear_rate
from polhode.solvers import exact_torque
from polhode.solvers.exact_torque import fresnel
from polhode.tableaus import slow_axis
from support.precise import hamilton, repeatable

EPS = 2.0**-52
TURN = Rotation.from_rotvec([0.3, -0.2, 0.9])
TILT = Rotation.from_rotvec([1.0, 2.0, -0.5]).as_matrix()  # of the principal axes of a full tensor
W, N = np.array([0.5, -1.2, 0.7]), np.array([0.3, 0.4, -0.5])
HALF = (0.5, 0.5, 0.5, 0.5)


# ---- references
def parabolic(x, nu):
    """Two solutions of u'' + (x²/4 + ν - i/2) u = 0 and their derivatives, by Kummer's function."""
    s, e = mp.mpc(0, x * x / 2), mp.expj(-x * x / 4)
    found = []
    for a, c, power in (
        (mp.mpc(0.5, nu / 2), mp.mpf(1) / 2, 0),
        (mp.mpc(1, nu / 2), mp.mpf(3) / 2, 1),
    ):
        m, slope = mp.hyp1f1(a, c, s), a / c * mp.hyp1f1(a + 1, c + 1, s)
        u = x**power * e * m
        found.append(
            (u, power * e * m - mp.mpc(0, x / 2) * u + x**power * e * mp.mpc(0, x) * slope)
        )
    return found


def landau_zener(t, q, r, p, a):
    """The attitude after t for ω = (r, 0, p + a t), r > 0: parabolic cylinder functions."""
    t, r, p, a = map(mp.mpf, (t, r, p, a))
    root, nu, i = mp.sqrt(a), r * r / (4 * a), mp.mpc(0, 1)
    u, v = mp.mpc(q[0], q[3]), mp.mpc(q[1], q[2])
    slope = (i * p * u - r * v) / 2 / root
    (even, even1), (odd, odd1) = parabolic(p / root, nu)
    w = even * odd1 - even1 * odd
    c, d = (u * odd1 - slope * odd) / w, (even * slope - even1 * u) / w
    p = p + a * t
    (even, even1), (odd, odd1) = parabolic(p / root, nu)
    u, slope = c * even + d * odd, root * (c * even1 + d * odd1)
    v = (i * p * u - 2 * slope) / r
    return u.real, v.real, v.imag, u.imag


BITS, ORDER = 100, 26  # numbers as integers times 2^-BITS, and terms of Taylor's series


def fixed(x):
    return int(mp.nint(mp.ldexp(mp.mpf(x), BITS)))


def usual(v):
    return [mp.ldexp(x, -BITS) for x in v]


def floats(v):
    return [mp.mpf(float(x)) for x in v]


def powers(t, q, r, p, a):
    """The same by the power series in t, whatever r and a."""
    with mp.workprec(2 * BITS):
        t, r, p, a = map(mp.mpf, (t, r, p, a))
        steps = int(mp.hypot(r, max(abs(p), abs(p + a * t))) * t) + 1
        h, q = t / steps, list(map(fixed, q))
        for i in range(steps):
            q = one_power_series(q, fixed(h * r), fixed(h * (p + a * h * i)), fixed(h * h * a))
    return usual(q)


def one_power_series(q, r, p, a):
    before, term, total = (0, 0, 0, 0), q, q
    for n in range(1, 2 * ORDER):
        x, y = hamilton(term, (0, r, 0, p)), hamilton(before, (0, 0, 0, a))
        before, term = term, [(b + c >> BITS) // (2 * n) for b, c in zip(x, y, strict=True)]
        total = [b + c for b, c in zip(total, term, strict=True)]
    return total


def euler(tensor, q, w, n, t, frame):
    """(q, m) after t by Taylor's series of Euler's equations, nothing assumed about the body."""
    with mp.workprec(BITS):
        inertia = mp.matrix(tensor.tolist())
        m, inverse = inertia * mp.matrix(floats(w)), inertia**-1
        size = mp.norm(inverse, mp.inf) * (mp.norm(m) + abs(t) * mp.norm(mp.matrix(floats(n))))
        steps = int(2 * size * abs(t)) + 1
        inverse = [[fixed(inverse[i, j]) for j in range(3)] for i in range(3)]
        q, m, n = (list(map(fixed, v)) for v in (q, m, floats(n)))
        h = fixed(mp.mpf(t) / steps)
    for _ in range(steps):
        q, m = one_step(q, m, n, inverse, h, frame)
    return usual(q), usual(m)


def one_step(q, m, n, inverse, h, frame):
    qs, ms, ws, half = [q], [m], [], []  # coefficients of powers of s, with t = h s

    def product(a, b, k):
        """The coefficient of s^k of a quaternion product."""
        terms = [hamilton(a[i], b[k - i]) for i in range(k + 1)]
        return [sum(parts) >> BITS for parts in zip(*terms, strict=True)]

    for k in range(ORDER):
        rates = [
            sum(x * y for x, y in zip(row, ms[k][-3:], strict=True)) >> BITS for row in inverse
        ]
        ws.append([0, *(h * x >> BITS for x in rates)])
        spin = product([[0, *x] for x in ms], ws, k)[1:]
        if frame == "inertial":  # q* n q
            back = hamilton([qs[k][0], *(-x for x in qs[k][1:])], [0, *n])
            half.append([x >> BITS for x in back])
            push = product(half, qs, k)[1:]
        else:
            push = n if k == 0 else [0, 0, 0]
        ms.append([(x + (h * y >> BITS)) // (k + 1) for x, y in zip(spin, push, strict=True)])
        qs.append([x // (2 * (k + 1)) for x in product(qs, ws, k)])
    return [sum(x) for x in zip(*qs, strict=True)], [sum(x) for x in zip(*ms, strict=True)]


def dop853(tensor, w, n, times, frame="body"):
    """Attitude matrices and momenta by SciPy: some 1e-12."""

    def rate(_, y):
        matrix, m = y[:9].reshape(3, 3), y[9:]
        push = n if frame == "body" else matrix.T @ n
        w = np.linalg.solve(tensor, m)
        return np.concatenate([np.cross(matrix, w).ravel(), np.cross(m, w) + push])

    first = np.concatenate([TURN.as_matrix().ravel(), tensor @ w])
    span = (0, times[-1])
    y = solve_ivp(rate, span, first, "DOP853", times, rtol=1e-13, atol=1e-14).y.T
    return y[:, :9].reshape(-1, 3, 3), y[:, 9:]


def gap(q, p):
    """The angle between two attitudes, sign included."""
    return float(
        2 * mp.sqrt(mp.fsum((mp.mpf(float(a)) - b) ** 2 for a, b in zip(q, p, strict=True)))
    )


def test_the_references_agree():
    with mp.workdps(40):
        q = tuple(map(mp.mpf, HALF))
        one = landau_zener(7, q, 0.8, -2.5, 0.6)
        two = powers(7, q, 0.8, -2.5, 0.6)
        ball, axes = np.eye(3), np.array([0.8, 0, -2.5])
        three, _ = euler(ball, q, axes, np.array([0, 0, 0.6]), 7, "body")
        assert max(abs(a - b) for a, b in zip(one, two, strict=True)) < 1e-26
        assert (
            max(abs(a - b) for a, b in zip(one, three, strict=True)) < 1e-15
        )  # of 0.6, as a float

        def u(x):
            return parabolic(x, mp.mpf(0.3))[0][0]

        x = mp.mpf(1.7)
        assert abs(mp.diff(u, x, 2) + (x * x / 4 + mp.mpc(0.3, -0.5)) * u(x)) < 1e-25


# ---- the slow axis
def test_the_polynomials_solve_their_equations():
    """(2) and (4) of ``slow_axis``, at two places, by differences of the series themselves."""
    a, b, c = slow_axis.axis(6)
    g = slow_axis.phase(6, a, c)

    def at(p, z):
        return sum(mp.mpf(x.numerator) / x.denominator * z**i for i, x in enumerate(p))

    with mp.workdps(60):
        r, rate = mp.mpf(1), mp.mpf(10) ** -5  # ε is about 1e-5: the terms left out, 1e-60

        def parts(t):
            p = rate * t
            f = mp.hypot(r, p)
            k, z, e = r / f, p / f, rate / f**2
            axis = [
                (1 if s is a else k) * mp.fsum(e**n * at(x, z) for n, x in s.items())
                for s in (a, b, c)
            ]
            phase = mp.fsum((e / (1 + z)) ** n * at(x, z) for n, x in g.items())
            return f, k * e, axis, phase

        for t in (mp.mpf(2) / rate, mp.mpf(1) / rate / 9):
            f, ke, (one, two, three), _ = parts(t)

            def slope(what, t=t, f=f):
                h = mp.mpf(10) ** 4
                return (mp.taylor(lambda x: what(parts(t + h * x)), 0, 1)[1]) / h / f

            assert abs(two + slope(lambda s: s[2][2])) < 1e-25
            assert abs(three - slope(lambda s: s[2][1]) + ke * one) < 1e-25
            assert abs(one**2 + two**2 + three**2 - 1) < 1e-55
            assert abs(slope(lambda s: s[3]) + ke * three / (1 + one)) < 1e-25


def test_the_first_polynomials():
    a, b, c = slow_axis.axis(2)
    g = slow_axis.phase(2, a, c)
    assert c[1] == [-1]
    assert b[2] == [0, -3]
    assert c[3] == [Fraction(-5, 2), 0, Fraction(35, 2)]
    assert g[1] == [Fraction(-1, 3), Fraction(1, 6), Fraction(1, 6)]


# ---- the kernel
def attitudes(times, q, r, p, a):
    out = np.empty((len(times), 4))
    exact_torque._loop()(np.array(times, float), q, r, p, a, exact_torque._tables(), out)
    return out


def angle(t, r, p, a):
    f, end = float(np.hypot(r, p)), p + a * t
    return linear_rate.turned_angle(t, r, a, (p, f), (end, float(np.hypot(r, end))))


def kernel_error(t, r, p, a, reference):
    """In units of eps (10 + the angle turned)."""
    (q,) = attitudes([t], HALF, r, p, a)
    assert abs(np.linalg.norm(q) - 1) < 4 * EPS
    return gap(q, reference(t, HALF, r, p, a)) / (EPS * (10 + angle(t, r, p, a)))


REGIMES = {  # (r²/a, p/√a before, p/√a after), from a random generator
    "anything": lambda g: (10 ** g.uniform(-9, 2.5), *np.sort(g.normal(scale=15, size=2))),
    "through the resonance": lambda g: (
        10 ** g.uniform(-3, 2),
        -g.uniform(5, 40),
        g.uniform(5, 40),
    ),
    "far away": lambda g: (10 ** g.uniform(-6, 2), x := g.uniform(13, 100), x + g.uniform(0, 5)),
    "near the border": lambda g: (10 ** g.uniform(-3, 2.3), -13 + g.normal(), 13 + g.normal()),
    "always fast": lambda g: (160 * 10 ** g.uniform(0, 2), *np.sort(g.normal(scale=20, size=2))),
    "at the resonance": lambda g: (10 ** g.uniform(-12, 1), 0.0, g.uniform(0, 3)),
    "almost along the axis": lambda g: (
        10 ** g.uniform(-40, -12),
        -g.uniform(0, 20),
        g.uniform(0, 20),
    ),
}


def worst_error(regime, count, seed):
    rng = np.random.default_rng([seed, sorted(REGIMES).index(regime)])
    worst = 0.0
    with mp.workdps(40):
        for _ in range(count):
            ratio, x, x_end = REGIMES[regime](rng)
            a = 10.0 ** rng.uniform(-6, 6)
            root = float(np.sqrt(a))
            r, p, t = float(np.sqrt(ratio) * root), float(x * root), float((x_end - x) / root)
            worst = max(worst, kernel_error(t, r, p, a, landau_zener))
    return worst


@pytest.mark.parametrize("regime", REGIMES)
def test_the_attitude_in_every_regime(regime):
    assert worst_error(regime, 12, 0) < 2


@pytest.mark.slow
@pytest.mark.parametrize("regime", REGIMES)
def test_the_attitude_in_every_regime_at_length(regime):
    assert worst_error(regime, 1000, 1) < 2


def test_late_times():
    """1e3 to 1e5 radians later, on the same side and through the resonance."""
    with mp.workdps(40):
        for r, p, a, t in [
            (1.0, 3.0, 0.1, 100.0),
            (1.0, -30.0, 0.5, 140.0),
            (0.01, -30.0, 0.5, 140.0),
            (9.0, -30.0, 0.5, 140.0),
            (1e-3, 0.2, 0.01, 3000.0),
            (0.5, 2.0, 1e-3, 1e4),
        ]:
            assert angle(t, r, p, a) > 800
            assert kernel_error(t, r, p, a, landau_zener) < 2
            if angle(t, r, p, a) < 3000:
                (q,) = attitudes([t], HALF, r, p, a)
                assert gap(q, landau_zener(t, HALF, r, p, a)) < 1e-12


@pytest.mark.parametrize("a", [1e-3, 1e-6, 1e-9, 1e-13, 1e-17, 1e-100, 1e-300])
def test_a_small_acceleration(a):
    """The limit of no acceleration, from above: the power series has no difficulty there."""
    with mp.workdps(40):
        for r, p in [(1.3, -0.7), (1e-5, 2.0), (2.0, 0.0)]:
            assert kernel_error(20.0, r, p, a, powers) < 1


def test_without_a_transverse_rate():
    """The angle is quadratic, and the general case tends to it."""
    for r in (0.0, 1e-300, 1e-30):
        for p, a, t in [(-3.0, 0.7, 20.0), (2.0, 0.0, 7.0), (0.0, 1.0, 3.0)]:
            if a == 0.0 and r > 0.0:
                continue
            (q,) = attitudes([t], (1.0, 0.0, 0.0, 0.0), r, p, a)
            half = (p * t + a * t * t / 2) / 2
            expected = np.array([np.cos(half), 0, 0, np.sin(half)])
            assert np.abs(q - expected).max() < 4 * EPS * (10 + angle(t, 1e-9, p, a))


def test_the_integral_of_the_rate():
    with mp.workdps(30):
        for t, r, p, a in [(3.0, 1.0, -2.0, 1.5), (3.0, 1e-9, -2.0, 1.5), (5.0, 0.3, 1.0, 1e-20)]:
            exact = mp.quad(
                lambda s, r=r, p=p, a=a: mp.hypot(r, p + a * s),
                [0, abs(p) / a if a > 1e-9 else t / 2, t],
            )
            assert abs(angle(t, r, p, a) / exact - 1) < 4 * EPS


def test_a_row_does_not_depend_on_the_other_times():
    times = np.concatenate([np.linspace(-40, 40, 401), [0.1, 17.0, -3.0]])
    ball, w = ph.RigidBody([1.0, 1.0, 1.0]), [0.3, 0.1, -20.0]
    run = ph.exact_constant_torque(ball, TURN, w, [0.0, 0.0, 1.0], times)
    order = np.random.default_rng(0).permutation(len(times))
    shuffled = ph.exact_constant_torque(ball, TURN, w, [0.0, 0.0, 1.0], times[order])
    assert np.array_equal(run.q[order], shuffled.q)
    for i in (0, 77, 200, 333, 403):
        alone = ph.exact_constant_torque(ball, TURN, w, [0.0, 0.0, 1.0], times[i])
        assert np.array_equal(alone.q[0], run.q[i])
        assert np.array_equal(alone.angular_momentum[0], run.angular_momentum[i])


# ---- the cases
def axis_of_symmetry(k, along):
    moments = np.full(3, 2.0)
    moments[k] = along
    return moments


def only(k, v):
    return np.where(np.arange(3) == k, v, 0.0)


def without(k, v):
    return np.where(np.arange(3) == k, 0.0, v)


SCALENE = np.array([1.0, 2.0, 2.5])
CASES = {
    "sphere": (axis_of_symmetry(0, 2.0), W, N),
    "sphere, from rest": (axis_of_symmetry(0, 2.0), 0 * W, N),
    "balanced": (SCALENE, W, np.cross(W, SCALENE * W)),
    "rod": (axis_of_symmetry(1, 0.0), without(1, W), without(1, N)),
}
for _k in range(3):
    CASES |= {
        f"axis {_k}, long": (axis_of_symmetry(_k, 1.1), W, only(_k, N)),
        f"axis {_k}, flat": (axis_of_symmetry(_k, 3.7), W, only(_k, -N)),
        f"across {_k}": (axis_of_symmetry(_k, 1.1), without(_k, W), without(_k, N)),
        f"along {_k}": (SCALENE, only(_k, W), only(_k, -N)),
        f"along {_k}, from rest": (SCALENE, 0 * W, only(_k, -N)),
    }


def tilted(case):
    moments, w, n = case
    return TILT @ np.diag(moments) @ TILT.T, TILT @ w, TILT @ n


def compare(run, tensor, w, n, frame="body"):
    """The worst error, in units of eps (10 + ∫ |m| dt / I_min)."""
    q, worst = TURN.as_quat(scalar_first=True), 0.0
    least = np.linalg.eigvalsh(tensor)
    least = least[least > 1e-9][0]
    if np.linalg.det(tensor) < 1e-9:  # a rod: any inertia about itself will do
        tensor = tensor + np.outer(np.linalg.eigh(tensor)[1][:, 0], np.linalg.eigh(tensor)[1][:, 0])
    with mp.workdps(34):
        for i, t in enumerate(run.t):
            attitude, momentum = euler(tensor, q, w, n, t, frame)
            size = np.linalg.norm(tensor @ w) + abs(t) * np.linalg.norm(n)
            scale = EPS * (10 + size * abs(t) / least)
            off = np.linalg.norm(run.angular_momentum[i] - np.array(momentum, float)) / size
            apart = gap(run.q[i], attitude)
            if frame == "inertial":  # a sign only from row to row
                apart = min(apart, gap(-run.q[i], attitude))
            worst = max(worst, apart / scale, float(off) / scale)
    return worst


@pytest.mark.parametrize("name", CASES)
def test_cases_in_body_axes(name):
    moments, w, n = CASES[name]
    run = ph.exact_constant_torque(ph.RigidBody(moments), TURN, w, n, [4.0, -3.0])
    assert compare(run, np.diag(moments), w, n) < 2
    assert run.method == exact_torque.EXACT
    assert run.energy is None


@pytest.mark.parametrize("name", ["sphere", "balanced", "axis 0, long", "across 1", "along 2"])
def test_cases_with_a_full_tensor(name):
    tensor, w, n = tilted(CASES[name])
    body = ph.RigidBody(tensor)
    assert not body.is_aligned or name == "sphere"
    run = ph.exact_constant_torque(body, TURN, w, n, [4.0, -3.0])
    assert compare(run, tensor, w, n) < 4  # its axes are rounded, too


def along_momentum(moments, w, strength):
    return (
        moments,
        w,
        strength * TURN.apply(np.diag(moments) @ w if moments.ndim == 1 else moments @ w),
    )


INERTIAL = {
    "sphere": (axis_of_symmetry(0, 2.0), W, N),
    "along the momentum": along_momentum(SCALENE, W, 0.3),
    "against the momentum": along_momentum(SCALENE, W, -0.6),
    "from rest": (SCALENE, 0 * W, N),
    "symmetric": along_momentum(axis_of_symmetry(1, 1.1), W, -0.6),
    "one axis": along_momentum(SCALENE, only(1, W), -0.6),
}


@pytest.mark.parametrize("name", INERTIAL)
def test_cases_in_inertial_axes(name):
    moments, w, n = INERTIAL[name]
    body = ph.RigidBody(moments)
    run = ph.exact_constant_torque(body, TURN, w, n, [2.5, -3.0], frame="inertial")
    assert compare(run, np.diag(moments), w, n, "inertial") < 2


@pytest.mark.parametrize("along", [1.1, 3.7])
def test_a_symmetric_body_after_a_long_time(along):
    """Spun down and up the other way, some 1e3 radians: the two turns, with many digits."""
    body, n, t = ph.RigidBody([2.0, 2.0, along]), 0.5 * along, 80.0
    run = ph.exact_constant_torque(body, None, [0.3, 0.0, -20.0], [0.0, 0.0, n], t)
    with mp.workdps(40):
        m, i = -20 * mp.mpf(along), mp.mpf(along)
        slow = landau_zener(t, (1, 0, 0, 0), 0.3, m / 2, mp.mpf(n) / 2)
        chi = (1 / i - mp.mpf(1) / 2) * (m * t + mp.mpf(n) * t * t / 2)
        exact = hamilton(slow, (mp.cos(chi / 2), 0, 0, mp.sin(chi / 2)))
        assert gap(run.q[0], exact) < 1e-12


@pytest.mark.parametrize("frame", ["body", "inertial"])
def test_long_runs_against_another_integrator(frame):
    tensor, w, n = tilted(CASES["axis 2, flat"])
    if frame == "inertial":
        n = 0.05 * TURN.apply(tensor @ w)
    for end in (20, -20):
        times = np.linspace(0, end, 41)
        matrices, momenta = dop853(tensor, w, n, times, frame)
        run = ph.exact_constant_torque(ph.RigidBody(tensor), TURN, w, n, times, frame=frame)
        assert np.abs(run.rotation.as_matrix() - matrices).max() < 1e-11
        assert np.abs(run.angular_momentum - momenta).max() < 1e-11 * np.abs(momenta).max()


numbers = st.floats(-3, 3).map(lambda x: round(x, 3))
vectors = st.tuples(numbers, numbers, numbers)


@repeatable
@given(
    w=vectors,
    strength=numbers,
    flat=st.floats(0.1, 1.99),
    k=st.integers(0, 2),
    t=st.floats(-20, 20),
)
def test_going_on_is_going_at_once(w, strength, flat, k, t):
    """The motion after t and then 1.5 is that after t + 1.5, and |q| = 1."""
    body, n = ph.RigidBody(axis_of_symmetry(k, flat)), only(k, strength)
    first = ph.exact_constant_torque(body, TURN, w, n, [t, t + 1.5])
    then = ph.exact_constant_torque(body, first.rotation[0], first.omega[0], n, 1.5)
    size = np.linalg.norm(first.angular_momentum, axis=1).max() + np.linalg.norm(body.inertia @ w)
    bound = 20 * EPS * (20 + size * (abs(t) + 1.5) / min(flat, 2.0))
    assert (then.rotation[0] * first.rotation[1].inv()).magnitude() < bound
    assert np.abs(np.linalg.norm(first.q, axis=1) - 1).max() < 4 * EPS
    assert np.linalg.norm(then.omega[0] - first.omega[1]) < bound * (1 + size / min(flat, 2.0))


def test_the_sign_is_that_of_the_motion():
    body = ph.RigidBody([2.0, 2.0, 1.1])
    run = ph.exact_constant_torque(body, TURN, W, only(2, N), np.linspace(-10, 10, 4001))
    assert (np.einsum("ij,ij->i", run.q[1:], run.q[:-1]) > 0.99).all()
    assert np.allclose(run.q[2000], TURN.as_quat(scalar_first=True), rtol=0, atol=4 * EPS)
    coarse = ph.exact_constant_torque(body, TURN, W, only(2, N), [9.0, -9.0])
    assert np.allclose(coarse.q, run.q[[3800, 200]], rtol=0, atol=1e-13)


# ---- limits
def test_no_torque_is_the_free_motion():
    body, times = ph.RigidBody(SCALENE), [0.0, 3.0, -7.0]
    free = ph.exact_free_motion(body, TURN, W, times)
    for frame in ("body", "inertial"):
        run = ph.exact_constant_torque(body, TURN, W, [0, 0, 0], times, frame=frame)
        assert np.array_equal(run.q, free.q)
        assert np.array_equal(run.angular_momentum, free.angular_momentum)
        assert run.energy is not None
    assert np.array_equal(ph.constant_torque_rates(body, W, [0, 0, 0], times), free.omega)


@pytest.mark.parametrize("size", [1e-9, 1e-13, 1e-16, 1e-30, 1e-200, 5e-324])
@pytest.mark.parametrize("name", ["sphere", "axis 1, long", "axis 1, flat"])
def test_a_tiny_torque_is_next_to_none(name, size):
    """Within size t²: no digit is lost to a small torque."""
    moments, w, n = CASES[name]
    body, times = ph.RigidBody(moments), np.linspace(-50, 50, 11)
    free = ph.exact_free_motion(body, TURN, w, times)
    run = ph.exact_constant_torque(body, TURN, w, size * n, times)
    away = (run.rotation * free.rotation.inv()).magnitude()
    assert (away < 20 * EPS * (10 + 100) + 2 * size * times**2).all()
    rates = ph.constant_torque_rates(body, w, size * n, times)
    assert np.abs(rates - free.omega).max() < 20 * EPS * 110 + 2 * size * 50**2
    assert np.allclose(run.omega, rates, rtol=0, atol=20 * EPS * 110)


def test_cases_meet_where_they_overlap():
    times = np.linspace(-9, 9, 13)
    ball = ph.exact_constant_torque(ph.RigidBody([2.0, 2.0, 2.0]), TURN, W, only(2, N), times)
    top = ph.RigidBody([2.0, 2.0, 2.0 * (1 + 1e-14)])
    almost = ph.exact_constant_torque(top, TURN, W, only(2, N), times)
    assert (ball.rotation * almost.rotation.inv()).magnitude().max() < 1e-12
    # one axis: fixed in the body and in space alike
    body, n = ph.RigidBody(SCALENE), only(1, N)
    inside = ph.exact_constant_torque(body, TURN, only(1, W), n, times)
    outside = ph.exact_constant_torque(
        body, TURN, only(1, W), TURN.apply(n), times, frame="inertial"
    )
    assert (inside.rotation * outside.rotation.inv()).magnitude().max() < 1e-13
    angle = times * (W[1] + times * n[1] / SCALENE[1] / 2)
    turned = TURN * Rotation.from_rotvec(np.outer(angle, [0, 1, 0]))
    assert (inside.rotation * turned.inv()).magnitude().max() < 1e-13


def test_roundings_do_not_hide_a_case():
    """Axes that have been turned, and torques by trigonometry."""
    body = ph.RigidBody([2.0, 2.0, 1.1])
    n = [np.cos(np.pi / 2), 0.0, 1.0]
    assert n[0] != 0
    exact = ph.exact_constant_torque(body, None, W, [0.0, 0.0, 1.0], 3.0)
    assert np.array_equal(ph.exact_constant_torque(body, None, W, n, 3.0).q, exact.q)


def test_units_do_not_matter():
    for moment, rate in [(1e-46, 1e12), (1e38, 1e-5), (1e-30, 1e-60), (1.0, 1e60)]:
        n = moment * rate**2 * N
        run = ph.exact_constant_torque(
            ph.RigidBody(moment * np.ones(3)), TURN, rate * W, n, 4 / rate
        )
        same = ph.exact_constant_torque(ph.RigidBody(np.ones(3)), TURN, W, N, 4.0)
        assert (run.rotation * same.rotation.inv()).magnitude().max() < 100 * EPS


# ---- rates
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("along", [1.1, 3.7])
def test_rates_of_any_symmetric_body(axis, along):
    moments = axis_of_symmetry(axis, along)
    with mp.workdps(34):
        for tensor, w, n in ((np.diag(moments), W, N), tilted((moments, W, N))):
            found = ph.constant_torque_rates(ph.RigidBody(tensor), w, n, [4.0, -3.0])
            for row, t in zip(found, (4.0, -3.0), strict=True):
                _, m = euler(tensor, (1, 0, 0, 0), w, n, t, "body")
                exact = np.linalg.solve(tensor, np.array(m, float))
                assert np.abs(row - exact).max() < 100 * EPS * np.abs(exact).max()


@pytest.mark.parametrize("name", CASES)
def test_rates_where_the_attitude_is_known(name):
    moments, w, n = CASES[name]
    body, times = ph.RigidBody(moments), np.linspace(-20, 20, 9)
    run = ph.exact_constant_torque(body, TURN, w, n, times)
    rates = ph.constant_torque_rates(body, w, n, times)
    assert np.allclose(rates, run.omega, rtol=1e-13, atol=1e-13)


def test_rates_over_a_long_time():
    tensor, w, n = tilted((axis_of_symmetry(2, 3.7), W, N))
    times = np.linspace(0, 20, 41)
    _, momenta = dop853(tensor, w, n, times)
    found = ph.constant_torque_rates(ph.RigidBody(tensor), w, n, times) @ tensor
    assert np.abs(found - momenta).max() < 1e-11 * np.abs(momenta).max()


@pytest.mark.parametrize("b", [0.0, 0.3, -2.0, 40.0, -40.0])
@pytest.mark.parametrize("c", [0.0, 1e-300, 1e-12, -1e-5, 0.02, -0.7, 3.0, 100.0])
def test_the_fresnel_integral(b, c):
    """Against error functions with a hundred digits, or the exponential."""
    times = np.array([-7.0, -0.3, 0.0, 1e-9, 0.02, 1.0, 3.3, 9.0])
    found = fresnel(b, c, times)
    with mp.workdps(100):
        for value, t in zip(found, map(mp.mpf, times.tolist()), strict=True):
            if abs(c) < 1e-100:
                exact = mp.expm1(mp.mpc(0, b * t)) / mp.mpc(0, b) if b else t
            else:
                root = mp.sqrt(mp.mpc(0, -c))  # exp(-(root s + shift)²) exp(shift²)
                shift = mp.mpc(0, -b) / (2 * root)
                exact = mp.erf(root * t + shift) - mp.erf(shift)
                exact *= mp.exp(shift**2) * mp.sqrt(mp.pi) / (2 * root)
            scale = EPS * (10 + abs(b * t) + abs(c) * t * t)
            assert abs(complex(value) - exact) <= 4 * scale * min(1, abs(t))


# ---- what is not known, and what is wrong
TOP, BRICK, ROD = (
    ph.RigidBody([2.0, 2.0, 1.1]),
    ph.RigidBody(SCALENE),
    ph.RigidBody([1.0, 1.0, 0.0]),
)


@pytest.mark.parametrize(
    ("arguments", "frame", "words"),
    [
        ((BRICK, W, N), "body", ["(1, 2, 2.5)", "asymmetric", "along one principal axis"]),
        ((BRICK, only(0, W), only(1, N)), "body", ["asymmetric", "omega × (I omega)"]),
        ((TOP, W, N), "body", ["symmetric body", "ph.constant_torque_rates"]),
        ((TOP, W, without(2, N)), "body", ["both across it"]),
        ((TOP, W, N), "inertial", ["inertial axes", "sphere", "angular momentum"]),
        ((BRICK, W, N), "inertial", ["at rest"]),
    ],
)
def test_unknown_quantities_are_reported(arguments, frame, words):
    body, w, n = arguments
    with pytest.raises(ph.MethodError, match="no closed form is known") as caught:
        ph.exact_constant_torque(body, TURN, w, n, 1.0, frame=frame)
    for word in (*words, "ph.solve", "rtol=1e-13", str(tuple(n.tolist()))):
        assert word in str(caught.value)


def test_the_remedy_works():
    with pytest.raises(ph.MethodError) as caught:
        ph.exact_constant_torque(BRICK, TURN, W, N, 1.0)
    remedy = str(caught.value).split("Integrate it: ")[1]
    scope = {"ph": ph, "body": BRICK, "attitude": TURN, "omega": W, "t": 5.0}
    run = eval(remedy, scope)
    matrices, momenta = dop853(np.diag(SCALENE), W, N, np.array([0.0, 5.0]))
    assert np.abs(run.rotation[-1].as_matrix() - matrices[-1]).max() < 1e-11
    assert np.abs(run.angular_momentum[-1] - momenta[-1]).max() < 1e-11


def test_rates_of_an_asymmetric_body_are_not_known():
    with pytest.raises(ph.MethodError, match="asymmetric"):
        ph.constant_torque_rates(BRICK, W, N, 1.0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([1, 2, 2.5], None, W, N, 1.0), "body must be a RigidBody"),
        ((TOP, None, [1, 2], N, 1.0), "omega must be three numbers"),
        ((TOP, None, W, [1, 2], 1.0), "torque must be three numbers"),
        ((TOP, None, W, [1, np.nan, 2], 1.0), "torque must be finite"),
        ((TOP, [1, 0, 0, 0], W, N, 1.0), "scalar_first"),
        ((TOP, None, W, N, [0.0, np.nan]), r"t\[1\] is not"),
        ((TOP, None, W, N, "now"), "t must be a time"),
        ((TOP, None, W, only(2, N), [0.0, 1e200]), r"t\[1\] = 1e\+200 is too long"),
        ((ROD, None, only(0, W), N, 1.0), "0.5 of 0.707107 is along it"),
    ],
)
def test_bad_arguments_are_named(arguments, words):
    with pytest.raises(ph.InputError, match=words):
        ph.exact_constant_torque(*arguments)


def test_more_bad_arguments_are_named():
    with pytest.raises(ph.InputError, match="frame must be 'body' or 'inertial', got 'space'"):
        ph.exact_constant_torque(TOP, None, W, N, 1.0, frame="space")
    with pytest.raises(ph.InputError, match="along a rod"):
        ph.exact_constant_torque(ROD, None, 0 * W, N, 1.0, frame="inertial")
    with pytest.raises(ph.InputError, match="body must be"):
        ph.constant_torque_rates(SCALENE, W, N, 1.0)
    with pytest.raises(ph.InputError, match="omega must be"):
        ph.constant_torque_rates(TOP, 1.0, N, 1.0)
    with pytest.raises(ph.InputError, match="too long"):
        ph.constant_torque_rates(TOP, W, N, 1e200)


def test_the_examples_of_the_docstrings():
    assert doctest.testmod(exact_torque).attempted > 5
    assert doctest.testmod(exact_torque).failed == 0
