"""Derivatives of the free motion, in every regime, against higher precision and other routes."""

import math

import mpmath as mp
import numpy as np
import pytest

from polhode.compiler.dual import ON_DUAL, Dual, plain
from polhode.compiler.machine import compiled, fma
from polhode.compiler.tree import bind, flat, spread
from polhode.kernels import free_flow, free_tangent, short_tangent, symmetric_flow
from polhode.kernels.free_rules import FREE_RULES
from polhode.kernels.short_flow import quick_drift
from polhode.kernels.symmetric_tangent import SYMMETRIC_TANGENTS
from support.bits import bits_of
from support.derivatives import on_rows
from support.exact_motion import EPS, REGIMES
from support.exact_tangent import BOUND, machine, matrix, on_mp, precise_turn, ratios, worst_ratios
from support.precise import exact_fma

ASYMMETRIC = 1.0, 2.0, 2.5
TIMES = 1e-9, 0.05, 0.6, 3.0, 300.0, -1e4


def inverses(moments):
    return tuple(1.0 / i if i else 0.0 for i in moments)


# ---- the formulas themselves
@pytest.mark.parametrize("seed", range(3))
def test_the_formulas_solve_the_variational_equations(seed):
    """Against mpmath's Taylor integrator: dφ/dt = dφ x w + dw, and those of the momentum."""
    rng = np.random.default_rng(seed)
    with mp.workdps(30):
        inverse = [mp.mpf(x) for x in rng.uniform(0.5, 1.0, 3)]
        if seed == 2:
            inverse[1] = inverse[0]
        m = [mp.mpf(x) for x in rng.normal(size=3)]
        t = mp.mpf((-1.2, 1.5, 1.0)[seed])

        def cross(a, b):
            return [a[i - 2] * b[i - 1] - a[i - 1] * b[i - 2] for i in range(3)]

        def rate(_, y):
            m, slopes = y[:3], []
            w = [a * x for a, x in zip(inverse, m, strict=True)]
            for j in range(6):
                dphi, dm = y[3 + 6 * j : 6 + 6 * j], y[6 + 6 * j : 9 + 6 * j]
                dw = [a * x for a, x in zip(inverse, dm, strict=True)]
                if j >= 3:
                    dw[j - 3] += m[j - 3]
                turn = (a + b for a, b in zip(cross(dphi, w), dw, strict=True))
                twist = zip(cross(dm, w), cross(m, dw), strict=True)
                slopes += [*turn, *(a + b for a, b in twist)]
            return [*cross(m, w), *slopes]

        first = [*m]
        for j in range(6):
            first += [0, 0, 0, *(mp.mpf(i == j) for i in range(3))]
        end = mp.odefun(lambda s, y: [t * x for x in rate(s, y)], 0, first)(1)
        columns = [end[3 + 6 * j : 9 + 6 * j] for j in range(6)]

        m, inverse = tuple(m), tuple(inverse)
        moments = tuple(1 / a for a in inverse)
        turn, n = on_mp(free_flow.free_turn)(t, m, moments, inverse)
        given = t, m, moments, inverse
        dphi, change = on_mp(free_tangent.free_tangent)(*given, turn, n)
        of_moments, new = on_mp(free_tangent.free_tangent_of_moments)(*given, n)
        for j in range(3):
            found = [*dphi[j], *(x + (i == j) for i, x in enumerate(change[j]))]
            assert max(abs(a - b) for a, b in zip(found, columns[j], strict=True)) < 1e-25
            found = [*of_moments[j], *new[j]]
            assert max(abs(a - b) for a, b in zip(found, columns[3 + j], strict=True)) < 1e-25


# ---- every regime
@pytest.mark.parametrize("regime", REGIMES)
def test_the_bound_holds_in_every_regime(regime):
    assert (worst_ratios(regime, 8) < BOUND).all()


@pytest.mark.slow
@pytest.mark.parametrize("regime", REGIMES)
def test_the_bound_holds_for_many_bodies(regime):
    assert (worst_ratios(regime, 60, seed=1) < BOUND).all()


@pytest.mark.parametrize("off", [0.0, 1e-15, 1e-8, 1e-3])
@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("moments", [ASYMMETRIC, ASYMMETRIC[::-1], (2.0, 1.0, 2.5)])
def test_on_every_axis_and_near_it(moments, axis, off):
    m = [0.8 * off, 0.6 * off, -0.7 * off]
    m[axis] = 1.0
    for t in (0.05, 3.0, 30.0, -150.0):
        assert max(ratios(t, tuple(m), moments)) < BOUND


@pytest.mark.parametrize("off", [0.0, 1e-15, 1e-12, 1e-8, 1e-3])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_on_the_separatrix_and_near_it(off, sign):
    """For these moments m1 = ±m3 is exactly on it; also where it passes the middle axis."""
    for near in (1.0, 1e-3, 1e-8):
        m = near * (1.0 + off), 1.0, sign * near
        for t in (0.05, 6.0, 80.0, -230.0):
            assert max(ratios(t, m, (3.0, 4.0, 6.0))) < BOUND


@pytest.mark.parametrize("moments", [(2.0, 2.0, 3.0), (2.0, 3.0, 2.0), (3.0, 2.0, 2.0), (2.0,) * 3])
@pytest.mark.parametrize("m", [(0.7, 1.1, -0.6), (0.0, 0.0, 2.0), (1.0, 0.5, 0.0), (0.0,) * 3])
def test_symmetric_bodies_and_rest(moments, m):
    for t in TIMES:
        assert max(ratios(t, m, moments)) < BOUND


@pytest.mark.parametrize("t", [0.0, 0.3, -7.0, 1e9])
@pytest.mark.parametrize("moments", [ASYMMETRIC, (2.0, 2.0, 1.0), (2.0,) * 3, (1.0, 1.0, 0.0)])
def test_a_body_at_rest_turns_by_the_inverse_moments_exactly(moments, t):
    inverse = inverses(moments)
    dphi, change, of_moments, new = machine()(t, (0.0, 0.0, 0.0), moments, inverse)
    assert np.array_equal(dphi, np.diag(np.multiply(t, inverse)))
    assert not np.any([change, of_moments, new])


def test_nothing_has_changed_at_time_zero():
    for matrices in machine()(0.0, (0.3, 1.0, -0.2), ASYMMETRIC, inverses(ASYMMETRIC)):
        assert not np.any(matrices)


@pytest.mark.parametrize(
    ("moment", "momentum"),
    [(1e-46, 1e-34), (1e38, 1e34), (1, 1e-290), (1, 1e290), (1, 1e-110), (1e20, 1e-130)],
)
@pytest.mark.parametrize("time", [1e-3, 7.0])
def test_units_do_not_matter(moment, momentum, time):
    usual = machine()(time, (0.3, 1.0, 0.2), ASYMMETRIC, inverses(ASYMMETRIC))
    m, moments = (0.3 * momentum, momentum, 0.2 * momentum), tuple(moment * i for i in ASYMMETRIC)
    found = machine()(time / (momentum / moment), m, moments, inverses(moments))
    scales = momentum, 1.0, 1.0 / moment, 1.0 / moment / momentum
    for a, b, scale in zip(found, usual, scales, strict=True):
        gap = np.abs(np.multiply(a, scale) - b).max()
        assert gap < 20 * EPS * max(np.abs(usual[0]).max(), np.abs(b).max())


# ---- structure
def test_the_motion_is_symplectic_and_keeps_the_energy():
    """M'J(m')M = J(m) for the matrix M of (θ, m), and w'·dm' = w·dm."""

    def form(m):
        x, y, z = m
        skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        return np.block([[-skew, np.eye(3)], [-np.eye(3), np.zeros((3, 3))]])

    rng = np.random.default_rng(4)
    inverse = np.array(inverses(ASYMMETRIC))
    turn = compiled(free_flow.free_turn)
    for t in (0.01, 0.7, 20.0):
        m = rng.normal(size=3)
        (c1, v), n = turn(t, tuple(m.tolist()), ASYMMETRIC, tuple(inverse.tolist()))
        dphi, change, _, _ = machine()(t, tuple(m.tolist()), ASYMMETRIC, tuple(inverse.tolist()))
        back = np.eye(3) + np.array(short_tangent.rotation_change(c1, v)).T
        b, slope = np.array(dphi).T, np.array(change).T + np.eye(3)
        whole = np.block([[back, b], [np.cross(np.eye(3), n).T @ np.zeros((3, 3)), slope]])
        gap = whole.T @ form(n) @ whole - form(m)
        assert np.abs(gap).max() < 50 * EPS * (1 + t) * np.abs(whole).max() ** 2
        energy = (inverse * n) @ slope - inverse * m
        assert np.abs(energy).max() < 50 * EPS * (1 + t) * np.abs(slope).max()


# ---- very long times
@pytest.mark.parametrize("t", [10.0, 300.0, -800.0, 1500.0])
def test_growth_about_the_middle_axis(t):
    rate = math.sqrt(0.5 * 0.1)  # (1/I1 - 1/I2)(1/I2 - 1/I3)
    _, change, _, _ = machine()(t, (0.0, 1.0, 0.0), ASYMMETRIC, inverses(ASYMMETRIC))
    slope = np.array(change).T + np.eye(3)
    c, s = math.cosh(rate * t), math.sinh(rate * t)
    right = np.array([[c, 0, -0.1 / rate * s], [0, 1, 0], [-0.5 / rate * s, 0, c]])
    assert np.abs(slope - right).max() < 20 * EPS * (1 + abs(t)) * c


@pytest.mark.parametrize("near", [1.0, 1e-3, 1e-20, 1e-69, 1e-71, 1e-100, 1e-300, 0.0])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_derivatives_are_finite_at_any_time(near, sign):
    """Even on the separatrix, where they grow beyond what a float holds."""
    moments = 3.0, 4.0, 6.0
    for t in (1e3, -1e4, 1e6, 1e12):
        found = machine()(t, (near, 1.0, sign * near), moments, inverses(moments))
        assert np.isfinite(found).all()


# ---- short times
@pytest.mark.parametrize("regime", REGIMES)
def test_quick_tangents_are_the_same(regime):
    """To the bit where the time is short, NaN where it is not."""
    rng = np.random.default_rng(7)
    pairs = [
        (free_tangent.free_tangent, short_tangent.quick_tangent),
        (free_tangent.free_tangent_of_moments, short_tangent.quick_tangent_of_moments),
    ]
    machines = [(compiled(a), compiled(b)) for a, b in pairs]
    prepared, turn = compiled(short_tangent.prepared), compiled(free_flow.free_turn)
    for _ in range(10):
        inertia, m = REGIMES[regime](rng, rng.uniform(1, 1.9, 3), rng.normal(size=3))
        moments, m = tuple(inertia.tolist()), tuple(m.tolist())
        t = float(10.0 ** rng.uniform(-9, 1))
        given = t, m, moments, inverses(moments)
        is_short, _ = prepared(*given)
        rotation, n = turn(*given)
        for (exact, quick), rest in zip(machines, ((rotation, n), (n,)), strict=True):
            found = quick(*given, *rest)
            if is_short:
                assert bits_of(found) == bits_of(exact(*given, *rest))
            else:
                assert np.isnan(found[0]).all()


# ---- symmetric bodies
@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("third", [0.6, 2.0, 3.0, 4.0])
def test_tangents_of_symmetric_bodies(axis, third):
    moments = tuple(third if i == axis else 2.0 for i in range(3))
    quick, inverse = compiled(SYMMETRIC_TANGENTS[axis]), inverses(moments)
    turn = compiled(free_flow.free_turn)
    for m in ((0.7, 1.1, -0.6), (0.0, 0.0, 1.0), (0.0, 2.0, 0.0), (0.0, 0.0, 0.0)):
        for t in TIMES:
            rotation, n = turn(t, m, moments, inverse)
            found = quick(t, m, moments, inverse, rotation, n)
            right = machine()(t, m, moments, inverse)[:2]
            for a, b in zip(found, right, strict=True):
                size = np.abs(b).max()
                assert np.abs(np.subtract(a, b)).max() <= 20 * EPS * (1 + 3 * abs(t)) * size


# ---- rules
def on_duals(function):
    return bind(bind(function, FREE_RULES), ON_DUAL)


def lifted(t, m, inverse):
    """The arguments as duals: three directions of m, that of the time, three of 1/I, and none."""
    rows = np.eye(8).tolist()
    return (
        Dual(t, rows[3]),
        tuple(Dual(x, row) for x, row in zip(m, rows, strict=False)),
        tuple(Dual(x, row) for x, row in zip(inverse, rows[4:], strict=False)),
    )


FUNCTIONS = [free_flow.free_turn, free_flow.free_drift, quick_drift]
CASES = [
    *((function, ASYMMETRIC, (0.7, 1.1, -0.6)) for function in FUNCTIONS),
    *((function, ASYMMETRIC, (0.0, 0.0, 0.0)) for function in FUNCTIONS),
    *(
        (drift, tuple(3.0 if i == axis else 2.0 for i in range(3)), (0.7, 1.1, -0.6))
        for axis, drift in enumerate(symmetric_flow.SYMMETRIC_DRIFTS)
    ),
]


@pytest.mark.parametrize(("function", "moments", "m"), CASES)
@pytest.mark.parametrize("t", [0.05, 0.3])
def test_rules_keep_values_and_give_the_derivatives(function, moments, m, t):
    inverse = inverses(moments)
    time, momentum, a = lifted(t, m, inverse)
    values = function(t, m, moments, inverse)
    found = on_duals(function)(time, momentum, moments, a)
    assert bits_of(plain.stripped(found)) == bits_of(values)
    with mp.workdps(60):
        step = mp.mpf(10) ** -20
        numbers = [mp.mpf(x) for x in (*m, t, *inverse)]

        def exact(numbers):
            (w, *v), n = precise_turn(numbers[3], numbers[:3], numbers[4:])
            less = numbers[:3] if function is not free_flow.free_turn else (0, 0, 0)
            return [w, *v, *(x - y for x, y in zip(n, less, strict=True))]

        for k in range(7):
            ends = []
            for sign in (1, -1):
                moved = list(numbers)
                moved[k] += sign * step
                ends.append(exact(moved))
            right = [(a - b) / (2 * step) for a, b in zip(*ends, strict=True)]
            gaps = [abs(x.d[k] - y) for x, y in zip(flat(found), right, strict=True)]
            assert max(gaps) < 20 * EPS * max(t, 1.0)


@pytest.mark.parametrize("function", [free_flow.free_turn, free_flow.free_drift, quick_drift])
def test_only_what_is_asked_for_is_differentiated(function):
    t, m, inverse = 0.3, (0.7, 1.1, -0.6), inverses(ASYMMETRIC)
    time, momentum, a = lifted(t, m, inverse)
    rule = on_duals(function)
    assert rule(t, m, ASYMMETRIC, inverse) == function(t, m, ASYMMETRIC, inverse)
    every = [x.d for x in flat(rule(time, momentum, ASYMMETRIC, a))]
    for given, place in (
        ((t, momentum, ASYMMETRIC, inverse), slice(0, 3)),
        ((time, m, ASYMMETRIC, inverse), slice(3, 4)),
        ((t, m, ASYMMETRIC, a), slice(4, 7)),
    ):
        for alone, together in zip(flat(rule(*given)), every, strict=True):
            assert np.allclose(alone.d[place], together[place], rtol=0, atol=4 * EPS)
            others = [x for i, x in enumerate(alone.d) if not place.start <= i < place.stop]
            assert not any(others)


@pytest.mark.parametrize("function", [free_flow.free_turn, symmetric_flow.symmetric_drift_3])
def test_compiled_rules_have_the_same_bits(function, monkeypatch):
    monkeypatch.setattr(plain, "fma", exact_fma)
    moments, m = (2.0, 2.0, 3.0), (0.7, 1.1, -0.6)
    rule = bind(on_duals(function), {fma: exact_fma})
    time, momentum, a = lifted(0.3, m, inverses(moments))
    example = time, momentum, moments, a
    found = on_rows(bind(function, FREE_RULES), example, rule(*example))
    for t in (0.3, 1e-9, 9.0):
        time, momentum, a = lifted(t, m, inverses(moments))
        given = time, momentum, moments, a
        assert bits_of(spread(found(*given))) == bits_of(spread(rule(*given)))


def test_a_free_flow_follows():
    """The attitude and the momentum, from the rule for the turn."""
    q, m, t = (0.8, 0.0, 0.6, 0.0), (0.7, 1.1, -0.6), 3.0
    inverse = inverses(ASYMMETRIC)
    time, momentum, a = lifted(t, m, inverse)
    turned, new = on_duals(free_flow.free_flow)(time, q, momentum, ASYMMETRIC, a)
    values = free_flow.free_flow(t, q, m, ASYMMETRIC, inverse)
    assert bits_of(plain.stripped((turned, new))) == bits_of(values)
    w, *v = (np.array([x.x, *x.d]) for x in turned)
    back = w[0] * np.stack(v) - np.stack([x[0] for x in v])[:, None] * w
    back = 2 * (back - np.cross([x[0] for x in v], np.stack(v), axisb=0, axisc=0))[:, 1:]
    dphi, _, of_moments, _ = machine()(t, m, ASYMMETRIC, inverse)
    for found, right in ((back[:, :3], dphi), (back[:, 4:7], of_moments)):
        assert np.allclose(found, np.array(right).T, rtol=0, atol=40 * EPS * np.abs(right).max())
    assert np.allclose(back[:, 3], np.multiply(inverse, values[1]), rtol=0, atol=20 * EPS)


def test_matrices_are_in_columns():
    """The first column of dφ/dm is the effect of m1: 1/I1 for a short time, and no other."""
    dphi, _, _, _ = machine()(1e-6, (0.1, 0.2, 0.3), ASYMMETRIC, inverses(ASYMMETRIC))
    assert matrix(dphi)[0, 0] == pytest.approx(1e-6 / ASYMMETRIC[0])
    assert dphi[0][0] == pytest.approx(1e-6)
