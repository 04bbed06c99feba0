"""Lie groups against matrices at 40 digits, and paths in them against exact solutions.

Generators and elements are checked through their matrices, which ``polhode.lie`` never uses: the
exponential is mpmath's, the differential of exp is the corner of a block matrix,

    exp [[A, B], [0, A]] = [[exp A, L], [0, exp A]],    L = d exp(A + s B)/ds at s = 0.
"""

import itertools
import math

import mpmath as mp
import numpy as np
import pytest

import polhode as ph
from polhode import lie
from polhode.contracts import Status
from polhode.lie.groups import BERNOULLI
from polhode.tableaus.embedded import PAIRS
from polhode.tableaus.runge_kutta import TABLEAUS
from support.convergence import estimate_order

GROUPS = {"SO3": lie.SO3, "SE3": lie.SE3, "Lorentz": lie.Lorentz, "Conformal": lie.Conformal}
EACH = pytest.mark.parametrize("make", GROUPS.values(), ids=GROUPS)
SIDE = pytest.mark.parametrize("side", ["left", "right"])
EPS = np.finfo(float).eps
METRIC = np.diag([1.0, -1.0, -1.0, -1.0])


# ---- generators, and their matrices
def hat(w):
    return np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])


def algebra(group, a):
    """The matrix of a generator."""
    if group.name == "SO3":
        return hat(a)
    if group.name == "Conformal":
        return conformal(a[:3], a[3:6], a[6:10], a[10], a[11:])
    m = np.zeros((4, 4))
    if group.name == "SE3":
        m[:3, :3], m[:3, 3] = hat(a[:3]), a[3:]
    else:
        m[1:, 1:] = hat(a.real)
        m[0, 1:] = m[1:, 0] = a.imag
    return m


def conformal(omega, boost, shift, scale, bend):
    """The rates of (t, x, y, z, u, w) for events (t, x, y, z)/(u + w), w - u = x·x (u + w).

    With p = w - u, q = w + u and the metric η: a translation is X' = v q, p' = 2 v·X; a dilation
    X' = 0, q' = -s q, p' = s p; a special conformal rate X' = -c p, q' = -2 c·X.
    """
    m = np.zeros((6, 6))  # on (X, p, q)
    m[1:4, 1:4] = hat(omega)
    m[0, 1:4] = m[1:4, 0] = boost
    m[:4, 5], m[4, :4] = shift, 2 * METRIC @ shift
    m[4, 4], m[5, 5] = scale, -scale
    m[:4, 4], m[5, :4] = -bend, -2 * METRIC @ bend
    to = np.eye(6)  # from (X, u, w)
    to[4:, 4:] = [[-1, 1], [1, 1]]
    return np.linalg.inv(to) @ m @ to


def random_generator(group, rng, size=1.0):
    a = rng.normal(size=group.zero.shape)
    if group.dtype is complex:
        a = a + 1j * rng.normal(size=a.shape)
    return size * a / np.linalg.norm(a)


def special(group):
    """Generators at which formulas may switch or fail."""
    rng = np.random.default_rng(7)
    for size in (0.0, 1e-160, 1e-8, 1e-3, 0.1, 0.999, 1.001, 2.0, 3.0):
        yield random_generator(group, rng, size)
    if group.name == "Lorentz":
        null = np.array([1, 1j, 0])  # z = 0
        yield from (null, 3 * null, null + np.array([0, 0, 1e-9]), 4j * np.array([0.6, 0.0, 0.8]))
        yield np.array([0.2, 0.5 - 1j, 1.0]) * 3
    if group.name == "Conformal":
        one = np.eye(15)
        yield from (one[6] + 2 * one[8], 3 * one[12], one[7] + 1e-9 * one[0])  # nilpotent, nearly
        yield from (2 * one[10] + one[6], 0.7 * (one[6] - one[11]), one[3] + one[2] + 2 * one[14])
    if group.name == "SE3":
        yield from (np.array([0, 0, 0, 1.0, 2, 3]), np.array([0, 0, 1e-6, 1.0, 2, 3]))
        yield np.array([0, 0, 3.1, 0, 5.0, 100.0])


def exponential(m):
    """mpmath's, at 40 digits; the squaring of its argument needs a norm that is not zero."""
    with mp.workdps(40):
        return mp.expm(mp.matrix(m)) if mp.mnorm(mp.matrix(m)) else mp.eye(len(m))


def numbers(matrix):
    return np.array(matrix.tolist(), float)


# ---- groups
@EACH
def test_exp_is_that_of_the_matrix(make):
    group = make("left")
    for a in special(group):
        exact = numbers(exponential(algebra(group, a)))
        assert abs(group.matrix(group.exp(a)) - exact).max() <= 20 * EPS * abs(exact).max()


@EACH
def test_log_undoes_exp(make):
    group = make("left")
    for a in special(group):
        turn = np.sqrt((a[:3] ** 2).sum()).real
        if turn < 3.12:  # beyond half a turn another generator is shorter
            back, size = group.log(group.exp(a)), np.linalg.norm(a)
            if make is lie.Conformal:  # rounding of matrices, whose diagonal is about 1
                size = 1 + size**2
            assert abs(back - a).max() <= 30 * EPS * size
            assert abs(group.log(-group.exp(a)) - a).max() <= 30 * EPS * size


def test_log_of_half_turns_and_large_boosts():
    so3, se3, lorentz = lie.SO3("left"), lie.SE3("left"), lie.Lorentz("left")
    assert abs(so3.log([0.0, 0.6, 0.0, 0.8]) - np.pi * np.array([0.6, 0, 0.8])).max() < 4 * EPS
    screw = np.array([np.pi, 0, 0, 2.0, 3.0, 4.0])
    assert abs(se3.matrix(se3.exp(se3.log(se3.exp(screw)))) - se3.matrix(se3.exp(screw))).max() < (
        1e-14
    )
    boost = 1j * np.array([20.0, -30.0, 10.0])  # γ about 1e16
    assert abs(lorentz.log(lorentz.exp(boost)) - boost).max() < 1e-13
    both = boost + np.array([-30.0, 10, 20]) * 0.05
    assert abs(lorentz.log(lorentz.exp(both)) - both).max() < 1e-13


@EACH
def test_dexpinv_inverts_the_differential_of_exp(make, rng):
    group = make("left")
    for a in special(group):
        b = random_generator(group, rng)
        m, n = algebra(group, a), algebra(group, group.dexpinv(a, b))
        exact = exponential(np.block([[m, n], [np.zeros_like(m), m]]))
        size = len(m)
        with mp.workdps(40):
            left = exact[:size, size:] * exact[:size, :size] ** -1
        allowed = 100 * EPS * np.linalg.norm(n) * (1 + np.linalg.norm(m)) ** 2
        assert abs(numbers(left) - algebra(group, b)).max() <= allowed


@EACH
def test_products_inverses_brackets_and_actions_are_those_of_matrices(make, rng):
    group = make("right")
    a, b, c = (random_generator(group, rng, 1.5) for _ in range(3))
    y, z = group.exp(a), group.exp(b)
    m, n = group.matrix(y), group.matrix(z)
    small = 1e-14
    assert abs(group.matrix(group.compose(y, z)) - m @ n).max() < 5 * small
    assert abs(group.matrix(group.inverse(y)) - np.linalg.inv(m)).max() < 5 * small
    p, q = algebra(group, a), algebra(group, b)
    assert abs(algebra(group, group.bracket(a, b)) - (p @ q - q @ p)).max() < small
    turned = m @ algebra(group, c) @ np.linalg.inv(m)
    assert abs(algebra(group, group.adjoint(y, c)) - turned).max() < 10 * small
    points = rng.normal(size=(5, group.dimension))
    raised = points if group.name != "SE3" else np.column_stack([points, np.ones(5)])
    if group.name == "Conformal":
        square = np.einsum("ni,ij,nj->n", points, METRIC, points)
        raised = np.column_stack([points, (1 - square) / 2, (1 + square) / 2])
    moved = raised @ m.T
    if group.name == "Conformal":
        moved = moved / (moved[:, 4:5] + moved[:, 5:])
    moved = moved[:, : group.dimension]
    assert abs(group.act(y, points) - moved).max() < 5 * small
    stack = np.array([y, z, group.identity])
    each = group.act(stack, points[0])
    assert (each[1] == group.act(z, points[0])).all()
    assert (group.matrix(stack)[0] == m).all()
    assert (group.exp(np.array([a, b]))[1] == z).all()
    assert (group.dexpinv(np.array([a, b]), c)[1] == group.dexpinv(b, c)).all()
    assert (group.log(stack)[1] == group.log(z)).all()
    assert (group.compose(y, group.identity) == y).all()
    assert group.defect(y) < small < 1e-3 < group.defect(1.01 * y)


def test_so3_is_that_of_scipy(rng):
    from scipy.spatial.transform import Rotation

    group, psi, x = lie.SO3("left"), rng.normal(size=3), rng.normal(size=3)
    assert abs(group.act(group.exp(psi), x) - Rotation.from_rotvec(psi).apply(x)).max() < 1e-15


def test_a_rigid_motion_turns_then_shifts(rng):
    group, psi, p, x = lie.SE3("left"), *rng.normal(size=(3, 3))
    y = group.compose(group.exp([0, 0, 0, *p]), group.exp([*psi, 0, 0, 0]))
    so3 = lie.SO3("left")
    assert abs(group.act(y, x) - so3.act(so3.exp(psi), x) - p).max() < 2e-15


# ---- Lorentz
def test_rapidities_add_along_a_line_and_velocities_by_einstein():
    group = lie.Lorentz("left")
    one, two = (group.exp(1j * np.array([0, 0, r])) for r in (0.7, 1.9))
    assert abs(group.log(group.compose(one, two)) - 2.6j * np.array([0, 0, 1])).max() < 1e-15
    t, _, _, z = group.act(group.compose(one, two), [1.0, 0, 0, 0])
    u, v = math.tanh(0.7), math.tanh(1.9)
    assert abs(z / t - (u + v) / (1 + u * v)) < 1e-15


def test_two_boosts_turn_by_wigners_angle():
    group = lie.Lorentz("left")
    both = group.compose(group.exp([0.8j, 0, 0]), group.exp([0, 1.3j, 0]))
    u = group.act(both, [1.0, 0, 0, 0])
    direction = u[1:] / np.linalg.norm(u[1:])
    boost = group.exp(-1j * math.acosh(u[0]) * direction)
    rest = group.log(group.compose(boost, both))
    angle = 2 * math.atan(math.tanh(0.4) * math.tanh(0.65))  # of perpendicular boosts
    assert abs(rest.imag).max() < 1e-15
    assert abs(abs(rest.real[2]) - angle) < 2e-15


def test_the_metric_is_kept_over_many_steps():
    group = lie.Lorentz("left")

    def wave(t):
        return np.array([math.cos(9 * t), 1j * math.sin(7 * t), 0.5 + 2j * math.cos(t)])

    path = lie.integrate(group, wave, (0, 20), dt=0.02)
    m = group.matrix(path.y)
    kept = abs(np.swapaxes(m, 1, 2) @ METRIC @ m - METRIC).max((1, 2))
    size = abs(m).max((1, 2)) ** 2
    assert size.max() > 10
    # √1000 steps of a few roundings
    assert (kept <= 200 * EPS * size).all()


# ---- the conformal group
def minkowski(x, y):
    return x @ METRIC @ y


def test_motions_of_events_are_those_of_textbooks(rng):
    """Translations, dilations, and (x - b x²)/(1 - 2 b·x + b² x²) (di Francesco et al. 1997)."""
    group = lie.Conformal("left")
    for x, b in rng.normal(size=(20, 2, 4)):
        moved = group.act(group.exp(group.generator(shift=b)), x)
        assert abs(moved - x - b).max() < 4 * EPS
        moved = group.act(group.exp(group.generator(scale=b[0])), x)
        assert abs(moved - math.exp(b[0]) * x).max() < 40 * EPS
        below = 1 - 2 * minkowski(b, x) + minkowski(b, b) * minkowski(x, x)
        moved = group.act(group.exp(group.generator(bend=b)), x)
        right = (x - b * minkowski(x, x)) / below
        assert abs(moved - right).max() < 1e-14 / min(1, abs(below)) ** 2


def test_rotations_boosts_and_rigid_motions_are_those_of_the_other_groups(rng):
    group, lorentz, rigid = lie.Conformal("left"), lie.Lorentz("left"), lie.SE3("left")
    omega, boost, v = rng.normal(size=(3, 3))
    x = rng.normal(size=(5, 4))
    turned = group.act(group.exp(group.generator(omega, boost)), x)
    assert abs(turned - lorentz.act(lorentz.exp(omega + 1j * boost), x)).max() < 2e-14
    moved = group.act(group.exp(group.generator(omega, shift=[0, *v])), x)
    assert abs(moved[:, 1:] - rigid.act(rigid.exp([*omega, *v]), x[:, 1:])).max() < 1e-14
    assert abs(moved[:, 0] - x[:, 0]).max() < 1e-15


def test_light_cones_stay_and_intervals_scale():
    """(x' - y')² = (x - y)² Ω(x) Ω(y), so that three distances of two by two events agree."""
    group, rng = lie.Conformal("left"), np.random.default_rng(5)
    y = group.exp(0.3 * rng.normal(size=15))
    a, b, c, d = events = rng.normal(size=(4, 4))
    light = a + np.array([1.0, 0.6, 0.0, -0.8])
    gap = group.act(y, light) - group.act(y, a)
    assert abs(minkowski(gap, gap)) < 1e-14

    def ratio(a, b, c, d):
        return (
            minkowski(a - b, a - b)
            * minkowski(c - d, c - d)
            / (minkowski(a - c, a - c) * minkowski(b - d, b - d))
        )

    assert ratio(*group.act(y, events)) == pytest.approx(ratio(a, b, c, d), rel=1e-13)


def test_the_metric_of_six_dimensions_is_kept(rng):
    group, metric = lie.Conformal("right"), np.diag([-1.0, 1, 1, 1, -1, 1])
    for size in (0.1, 1.0, 4.0):
        m = group.matrix(group.exp(random_generator(group, rng, size)))
        assert abs(m.T @ metric @ m - metric).max() < 40 * EPS * abs(m).max() ** 2


def test_a_worldline_at_rest_is_bent_to_uniform_acceleration():
    """t → (t, 0) by a special rate c along x: a hyperbola of acceleration 2c (Page 1936)."""
    group, c = lie.Conformal("left"), 0.3
    t = np.linspace(-0.5, 0.5, 201)
    rest = np.column_stack([t, 0 * t, 0 * t, 0 * t])
    moved = group.act(group.exp(group.generator(bend=[0, c, 0, 0])), rest)
    curve = (moved[:, 1] - 1 / (2 * c)) ** 2 - moved[:, 0] ** 2
    assert abs(curve - 1 / (2 * c) ** 2).max() < 1e-13


def test_stacks_of_any_size_and_full_turns(rng):
    group = lie.Conformal("left")
    a = np.array([random_generator(group, rng, size) for size in (0.0, 0.1, 1.0, 7.0)])
    b = random_generator(group, rng)
    for k, one in enumerate(a):
        assert abs(group.exp(a)[k] - group.exp(one)).max() <= 8 * EPS * abs(group.exp(one)).max()
        alone = group.dexpinv(one, b)
        assert abs(group.dexpinv(a, b)[k] - alone).max() <= 1e-12 * abs(alone).max()
    turn = group.dexpinv(group.generator(omega=[0, 0, 2 * math.pi]), b)
    assert not np.isfinite(turn).all() or abs(turn).max() > 1e10
    assert np.isnan(group.dexpinv(np.full(15, np.nan), b)).all()
    assert group.exp(np.zeros((0, 15))).shape == (0, 4, 4)


def test_a_logarithm_that_does_not_exist_is_named():
    group = lie.Conformal("left")
    with pytest.raises(ph.InputError, match="must be the exponential of a generator near"):
        group.log(1j * group.identity)


# ---- series for other algebras
def test_bernoulli_numbers():
    for k, value in enumerate(BERNOULLI):
        with mp.workdps(40):
            exact = mp.bernoulli(k) / mp.factorial(k)
            assert abs(mp.mpf(value.numerator) / value.denominator - exact) < mp.mpf(10) ** -38


@EACH
def test_the_series_of_dexpinv(make, rng):
    group = make("left")
    a, b = random_generator(group, rng, 0.5), random_generator(group, rng)
    series = lie.dexpinv_series(group.bracket, a, b, 20)
    assert abs(series - group.dexpinv(a, b)).max() < 4 * EPS
    cut = lie.dexpinv_series(group.bracket, a, b, 3)  # leaves out (B_4/24) |a|⁴
    assert 0 < abs(cut - group.dexpinv(a, b)).max() < 0.5**4 / 720 * 1.1


class Heisenberg:
    """Upper triangular 3×3 matrices, (x, y, z) with z in the corner: nilpotent, so all is exact."""

    side = "left"
    identity = zero = np.zeros(3)

    def compose(self, p, q):
        return np.array([p[0] + q[0], p[1] + q[1], p[2] + q[2] + p[0] * q[1]])

    def exp(self, a):
        return np.array([a[0], a[1], a[2] + a[0] * a[1] / 2])

    def bracket(self, a, b):
        return np.array([0.0, 0.0, a[0] * b[1] - a[1] * b[0]])

    def dexpinv(self, a, b):
        return lie.dexpinv_series(self.bracket, a, b, 2)

    def act(self, y, x):
        raise NotImplementedError


def test_a_user_defined_group():
    # x' = 2t, y' = 3t², z' = 4t³ + 2t y: x = t², y = t³, z = t⁴ + 2t⁵/5
    path = lie.integrate(Heisenberg(), lambda t: [2 * t, 3 * t**2, 4 * t**3], (0, 2))
    assert abs(path.y[-1] - [4, 8, 16 + 64 / 5]).max() < 1e-8
    assert "Heisenberg" in repr(path)


# ---- paths with exact solutions
def turning(group, rng, size=1.0, speed=None):
    """(A, Y): A(t) = Ad_exp(tX) A₀ and its exact path from the identity.

    left:  Y = exp(tX) exp(t(A₀ - X));    right:  Y = exp(t(A₀ + X)) exp(-tX)
    """
    a0, x = random_generator(group, rng, size), random_generator(group, rng, speed or size)

    def a(t):
        return group.adjoint(group.exp(t * x), a0)

    def left(t):
        return group.compose(group.exp(t * x), group.exp(t * (a0 - x)))

    def right(t):
        return group.compose(group.exp(t * (a0 + x)), group.exp(-t * x))

    return a, left if group.side == "left" else right


def distance(group, y, exact):
    return np.linalg.norm(group.log(group.compose(y, group.inverse(exact))))


def of_y(a):
    return lambda t, y: a(t)


@EACH
@SIDE
def test_the_exact_path_solves_its_equation(make, side, rng):
    group = make(side)
    a, exact = turning(group, rng)
    t, h = 0.8, 1e-3
    m = [group.matrix(exact(t + k * h)) for k in (-2, -1, 1, 2)]
    slope = (m[0] - 8 * m[1] + 8 * m[2] - m[3]) / (12 * h)
    y, at = group.matrix(exact(t)), algebra(group, a(t))
    assert abs(slope - (at @ y if side == "left" else y @ at)).max() < 1e-11


ALL = {**TABLEAUS, **{pair[0].name: pair[0] for pair in PAIRS.values()}}
COUNTS = {1: (20, 40, 80, 160), 2: (20, 40, 80), 3: (16, 32, 64), 4: (10, 20, 40), 5: (24, 36, 54)}
SIZES = {5: (0.5, 4.0)}  # the leading error of dopri5 is small: a fast turn brings it out


@pytest.mark.parametrize("name", ALL)
@EACH
@SIDE
def test_orders(name, make, side):
    group = make(side)
    seed = 4 if make is lie.Conformal else 3  # motions whose leading error is not small by chance
    a, exact = turning(group, np.random.default_rng(seed), *SIZES.get(ALL[name].order, (2.0,)))
    counts = COUNTS.get(ALL[name].order, (8, 12, 18, 26))
    errors = [
        distance(group, lie.integrate(group, a, (0, 1), method=name, dt=1 / n).y[-1], exact(1.0))
        for n in counts
    ]
    order = estimate_order([1 / n for n in counts], errors, floor=1e-13)
    assert abs(order - ALL[name].order) < 0.1


@EACH
@SIDE
@pytest.mark.parametrize("restart", [0.0, 1.0, math.inf])
def test_adaptive_steps_meet_the_tolerance(make, side, restart, rng):
    group = make(side)
    a, exact = turning(group, rng, 1.0 if make is lie.Conformal else 2.0)  # 15 rates, not 3 or 6
    for rtol in (1e-5, 1e-8, 1e-11):
        path = lie.integrate(group, a, (0, 2), rtol=rtol, atol=1e-2 * rtol, restart=restart)
        assert path.success
        # ∫|A| is about 4; an error made early is turned and, in the Lorentz group, boosted
        assert distance(group, path.y[-1], exact(2.0)) < 40 * rtol
        assert path.t[-1] == 2.0


@EACH
@SIDE
def test_backwards(make, side, rng):
    group = make(side)
    a, exact = turning(group, rng)
    for options in ({"rtol": 1e-11}, {"dt": 0.01, "method": "butcher6"}):
        path = lie.integrate(group, a, (1.5, 0.0), exact(1.5), **options)
        assert path.success
        assert (np.diff(path.t) < 0).all()
        assert distance(group, path.y[-1], group.identity) < 1e-9


def test_a_constant_generator_is_exact_in_one_step():
    group = lie.Lorentz("right")
    a = np.array([0.3, 1j, 0.5 - 0.2j])
    for name in TABLEAUS:
        path = lie.integrate(group, lambda t: a, (0, 1), method=name, dt=1.0)
        assert distance(group, path.y[-1], group.exp(a)) < 10 * EPS


@pytest.mark.parametrize("name", ["dopri5", "gauss4", "rk4"])
def test_a_function_of_the_element_too_gives_the_same_path(name, rng):
    group = lie.SE3("right")
    a, _ = turning(group, rng)
    one, two = (lie.integrate(group, f, (0, 1), method=name, dt=0.1) for f in (a, of_y(a)))
    assert abs(one.y - two.y).max() < 1e-15
    assert two.nfev >= one.nfev


def test_a_free_rigid_body_by_its_momentum():
    """Y' = Y A with A = I⁻¹ Y⁻¹ m, m the momentum in inertial axes; exact in closed form."""
    group, moments, omega = lie.SO3("right"), np.array([1.0, 2.0, 2.5]), [0.3, 1.0, 0.2]
    m = moments * omega
    exact = ph.exact_free_motion(ph.RigidBody(moments), None, omega, np.array([0.0, 10.0]))

    def rate(t, y):
        return group.act(group.inverse(y), m) / moments

    errors, counts = [], (20, 30, 45, 68)
    for n in counts:
        path = lie.integrate(group, rate, (0, 10), method="gauss6", dt=10 / n)
        errors.append(distance(group, path.y[-1], exact.q[-1]))
    assert abs(estimate_order([1 / n for n in counts], errors, floor=1e-13) - 6) < 0.1
    path = lie.integrate(group, rate, (0, 10), rtol=1e-11)
    assert distance(group, path.y[-1], exact.q[-1]) < 1e-9


# ---- steps
def test_evaluations_and_steps_are_counted(rng):
    group, calls = lie.SO3("left"), []
    a, _ = turning(group, rng, 3.0)

    def counted(t, y):
        calls.append(t)
        return a(t)

    for restart in (0.0, 2.0, math.inf):
        calls.clear()
        path = lie.integrate(group, counted, (0, 5), first_step=3.0, restart=restart)
        assert path.nrejected > 0
        assert path.nfev == len(calls) == 1 + 6 * (path.nsteps + path.nrejected)
        assert len(path.t) == path.nsteps + 1
    calls.clear()
    path = lie.integrate(group, counted, (0, 1), method="rk4", dt=0.1)
    assert (path.nsteps, path.nfev, path.nrejected, len(calls)) == (10, 40, 0, 40)
    path = lie.integrate(group, a, (0, 1), method="gauss6", dt=0.1)
    assert path.nfev == 30  # of time alone: once a stage


def test_the_shared_stage_stays_right_after_a_restart(rng):
    """The derivative of the old generator, instead of A, would make an error of order h."""
    group = lie.SO3("left")
    a, exact = turning(group, rng, 3.0)
    for restart in (0.0, 1.0, 2.0):
        path = lie.integrate(group, of_y(a), (0, 5), dt=0.05, restart=restart)
        assert path.nfev == 601
        assert path.nrestarts == 100 if restart == 0 else 5 <= path.nrestarts <= 15
        assert distance(group, path.y[-1], exact(5.0)) < 2e-7


def test_first_step_and_max_step_are_obeyed():
    group = lie.SO3("left")

    def slow(t):
        return [0.0, 1e-3 * t, 1e-3]

    path = lie.integrate(group, slow, (0, 10), first_step=0.125)
    assert path.t[1] == 0.125
    path = lie.integrate(group, slow, (0, -10), max_step=0.25)
    assert abs(np.diff(path.t)).max() <= 0.25
    assert path.nsteps == 40


def test_a_pulse_is_not_stepped_over_with_max_step():
    group = lie.SO3("left")

    def pulse(t):
        return [0.0, 0.0, math.exp(-(((t - 50) / 0.5) ** 2))]

    path = lie.integrate(group, pulse, (0, 100), max_step=0.5)
    assert abs(group.log(path.y[-1])[2] - 0.5 * math.sqrt(math.pi)) < 1e-9


def test_fixed_steps_hit_the_end():
    group = lie.SO3("left")

    def turn(t):
        return [0.0, 0.0, 1.0]

    path = lie.integrate(group, turn, (1.0, 2.0), method="rk4", dt=0.3)
    assert abs(path.t - [1.0, 1.3, 1.6, 1.9, 2.0]).max() < 1e-15
    assert (path.t[-1], path.nsteps) == (2.0, 4)
    assert lie.integrate(group, turn, (0, 0.3), method="rk4", dt=0.1).nsteps == 3
    assert abs(group.log(path.y[-1])[2] - 1) < 2e-16
    still = lie.integrate(group, turn, (1.0, 1.0))
    assert (still.nsteps, len(still.t), still.success) == (0, 1, True)


@pytest.mark.parametrize("options", [{"dt": 0.1, "method": "rk4"}, {"rtol": 1e-8}])
def test_output_times_never_change_the_path(options, rng):
    group = lie.SE3("left")
    a, exact = turning(group, rng)
    whole = lie.integrate(group, a, (0, 2), **options)
    times = np.array([0.0, 0.05, 0.123, 0.124, 1.0, 1.99, 2.0])
    some = lie.integrate(group, a, (0, 2), t_eval=times, **options)
    assert (some.t == times).all()
    assert (some.y[-1] == whole.y[-1]).all()
    assert (some.y[0] == whole.y[0]).all()
    assert some.nsteps == whole.nsteps
    for t, y in zip(some.t, some.y, strict=True):
        assert distance(group, y, exact(t)) < 1e-5
    back = lie.integrate(group, a, (2, 0), exact(2.0), t_eval=times[::-1], **options)
    assert distance(group, back.y[3], exact(times[3])) < 1e-5


def test_a_generator_that_is_never_restarted_pays_near_full_turns():
    """Near r = 2π dexpinv is singular; restarting in time avoids it (Boyle 2017, IV)."""
    group = lie.SO3("left")

    def wobble(t):
        return [0.1 * math.cos(t), 0.1 * math.sin(t), 1.0]

    every, seldom, never = (
        lie.integrate(group, wobble, (0, 60), restart=r) for r in (0, math.pi, math.inf)
    )
    assert seldom.nrestarts < every.nrestarts / 10
    assert never.nrestarts == 0
    assert seldom.nfev < 1.5 * every.nfev < 0.75 * never.nfev
    for one, two in itertools.combinations((every, seldom, never), 2):
        assert distance(group, one.y[-1], two.y[-1]) < 1e-7


# ---- ends that are not good
def test_failures_say_where_and_what_to_do():
    group = lie.SO3("left")

    def nan(t):
        return [0.0, 1.0, math.nan if t > 1 else 0.0]

    path = lie.integrate(group, nan, (0, 2))
    assert (path.success, path.status) == (False, Status.STEP_TOO_SMALL)
    assert 0.99 < path.t[-1] <= 1.0
    assert "check that a is finite" in path.message
    path = lie.integrate(group, nan, (0, 2), method="rk4", dt=0.125)
    assert (path.status, path.t[-1], len(path.y)) == (Status.NOT_FINITE, 1.0, 9)
    path = lie.integrate(group, lambda t: [math.inf, 0.0, 0.0], (0, 1))
    assert not path.success

    def stiff(t, y):
        return 50 * group.log(y) + [1.0, 0.0, 0.0]

    path = lie.integrate(group, stiff, (0, 2), method="gauss4", dt=1.0)
    assert path.status == Status.NOT_CONVERGED
    assert "smaller dt" in path.message
    assert "failed" in repr(path)


def test_a_runaway_run_has_a_limit():
    def hurried(t):
        return [0.0, 1e6 * math.cos(1e6 * t), 1e6]

    path = lie.integrate(lie.SO3("left"), hurried, (0.0, 1.0), max_steps=50)
    assert (path.success, path.status) == (False, Status.TOO_MANY_STEPS)
    assert path.nsteps + path.nrejected == 50
    assert "max_steps" in path.message
    assert len(path.t) == path.nsteps + 1
    with pytest.raises(ph.InputError, match="max_steps must be a whole number, 1 or more, got 0"):
        lie.integrate(lie.SO3("left"), hurried, (0.0, 1.0), max_steps=0)


BAD = [
    ({"method": "rk5"}, "one of dopri5, bosh3, forward-euler.*got 'rk5'"),
    ({"method": None}, "method must be a Tableau or one of.*got None"),
    ({"method": "rk4"}, "'rk4' has no error estimate: give dt="),
    ({"dt": 0.1, "rtol": 1e-6}, "rtol=1e-06 is for adaptive steps and dt=0.1"),
    ({"dt": 0.1, "max_step": 1}, "max_step=1 is for adaptive"),
    ({"dt": -0.1}, "dt must be positive and finite, got -0.1; to go back"),
    ({"dt": 1e-12}, "dt=1e-12 means 1e.12 steps"),
    ({"dt": "a"}, "dt must be a number, got 'a'"),
    ({"rtol": -1}, "rtol must be at least 0, got -1"),
    ({"rtol": 1e-17}, "rtol must be 0 or at least 4.4e-15.*got 1e-17"),
    ({"rtol": 0, "atol": 0}, "atol must not be negative, nor 0 together with rtol, got 0"),
    ({"atol": [1, 2]}, r"one for each component \(3,\), got \[1, 2\]"),
    ({"first_step": 0}, "first_step must be positive"),
    ({"restart": -1}, "restart must be at least 0, got -1"),
    ({"restart": math.nan}, "restart must be at least 0, got nan"),
    ({"t_span": 3}, r"t_span must be two numbers \(start, end\), got 3"),
    ({"t_span": (0, math.inf)}, "t_span must be finite"),
    ({"t_eval": [0.5, 2]}, r"t_eval\[1\] = .*2.0.* is outside t_span"),
    ({"t_eval": [0.5, 0.5]}, r"t_eval\[1\] = .* follows"),
    ({"t_eval": []}, "t_eval must be a list of times"),
    ({"y0": [1, 0, 0]}, r"y0 must be \(4,\) finite numbers"),
    ({"y0": [2, 0, 0, 0]}, "y0 is not in the group.*normalise"),
    ({"y0": ["a", 0, 0, 0]}, "y0 must be float64 numbers"),
    ({"a": [0, 0, 1]}, r"a must be a function a\(t\) or a\(t, y\)"),
    ({"a": lambda: 0}, r"a must take \(t\) or \(t, y\), got a function of \(\)"),
    ({"a": lambda t: [1, 2]}, r"must return float64 of shape \(3,\).*at t = 0.0.*\[1, 2\]"),
    ({"a": lambda t: [1j, 0, 0]}, "must return float64"),
    ({"group": "SO3"}, "group must be a lie.Group with a side, such as SO3.'left'.*got 'SO3'"),
]


@pytest.mark.parametrize(("options", "words"), BAD)
def test_bad_arguments_are_named(options, words):
    arguments = {"group": lie.SO3("left"), "a": lambda t: [0, 0, 1], "t_span": (0, 1)} | options
    with pytest.raises(ph.InputError, match=words):
        lie.integrate(**arguments)


def test_groups_name_what_they_refuse():
    with pytest.raises(ph.InputError, match=r"side must be 'left'.*got 'body'"):
        lie.SO3("body")
    with pytest.raises(ph.InputError, match=r"a must have 6 float components.*\(3,\).*velocity"):
        lie.SE3("left").exp([0, 0, 1.0])
    with pytest.raises(ph.InputError, match=r"y must have 4 float components.*complex128"):
        lie.SO3("left").compose([1j, 0, 0, 0], [1, 0, 0, 0])
    with pytest.raises(ph.InputError, match=r"x must have 4 coordinates.*Lorentz"):
        lie.Lorentz("left").act([1, 0, 0, 0], [1.0, 2.0, 3.0])
    with pytest.raises(ph.InputError, match=r"a must have 15 float.*\(3,\).*group.generator"):
        lie.Conformal("left").exp([0, 0, 1.0])
    with pytest.raises(ph.InputError, match=r"y must be 4×4 complex matrices.*\(4,\)"):
        lie.Conformal("left").inverse([1, 0, 0, 0])
    with pytest.raises(ph.InputError, match=r"x must have 4 coordinates \(t, x, y, z\)"):
        lie.Conformal("left").act(np.eye(4), [1.0, 2.0, 3.0])
    with pytest.raises(ph.InputError, match=r"side must be 'left'.*got 'body'"):
        lie.Conformal("body")
    with pytest.raises(ph.InputError, match="terms must be between 1 and 30, got 0"):
        lie.dexpinv_series(np.cross, [1, 0, 0], [0, 1, 0], 0)
