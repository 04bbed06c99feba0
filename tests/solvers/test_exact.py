"""The exact motion of free bodies, in every regime, against higher precision and other routes."""

import os
from math import sqrt

import mpmath as mp
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.compiler.machine import compiled
from polhode.compiler.tree import bind
from polhode.kernels import free_flow as kernel
from polhode.kernels.trig import sincos1
from polhode.solvers.exact import free_rows

EPS = 2.0**-52
BOUND = 20  # times eps (1 + G|t|/I_min + K)
DIGITS = 50
BODIES = int(os.environ.get("POLHODE_BODIES", "2000"))  # of each regime, in the long form


def exact_sincos1(a):
    return mp.sin(a), -2 * mp.sin(a / 2) ** 2


def precise_flow(t, q, m, moments, short=1e-5):
    """The kernel at 50 digits, its series so short that rounded coefficients do not matter."""
    numbers = {sincos1: exact_sincos1, sqrt: mp.sqrt, kernel.short: lambda: short}
    flow = bind(kernel.free_flow, numbers)
    moments = tuple(map(mp.mpf, moments))
    inverse = tuple(1 / i if i else mp.mpf(0) for i in moments)
    return flow(mp.mpf(t), tuple(map(mp.mpf, q)), tuple(map(mp.mpf, m)), moments, inverse)


def distance(q, p):
    """The angle between two attitudes."""
    same = sum(a * b for a, b in zip(q, p, strict=True)) > 0
    return 2 * mp.sqrt(sum((a - b if same else a + b) ** 2 for a, b in zip(q, p, strict=True)))


def error(found, expected, size):
    (q, m), (p, n) = found, expected
    gap = mp.sqrt(sum((mp.mpf(a) - b) ** 2 for a, b in zip(m, n, strict=True)))
    return max(distance(list(map(mp.mpf, q)), p), gap / size if size else gap)


def conditioning(t, q, m, moments, size):
    """K: what one ulp of the input does to the exact answer, in eps."""
    exact, worst = precise_flow(t, q, m, moments), 0
    for i in range(3):
        for given in (m, moments):
            changed = list(given)
            changed[i] = float(np.nextafter(changed[i], np.inf))
            pair = (changed, moments) if given is m else (m, changed)
            worst = max(worst, error(precise_flow(t, q, *pair), exact, size))
    return worst / EPS


# ---- the formulas themselves
@pytest.mark.parametrize("seed", range(4))
def test_the_formulas_solve_eulers_equations(seed):
    """Against mpmath's Taylor integrator, an independent route."""
    rng = np.random.default_rng(seed)
    with mp.workdps(40):
        moments, m = (
            [mp.mpf(x) for x in rng.uniform(1, 1.9, 3)],
            [mp.mpf(x) for x in rng.normal(size=3)],
        )
        if seed == 3:
            moments[1] = moments[0]

        def rate(_, y):
            w, x, y_, z, *p = y
            a, b, c = (p[i] / moments[i] for i in range(3))
            turn = [-(x * a + y_ * b + z * c), w * a + y_ * c - z * b]
            turn += [w * b + z * a - x * c, w * c + x * b - y_ * a]
            spin = [p[1] * c - p[2] * b, p[2] * a - p[0] * c, p[0] * b - p[1] * a]
            return [v / 2 for v in turn] + spin

        end = mp.odefun(rate, 0, [mp.mpf(1), 0, 0, 0, *m])(mp.mpf(1.5))
        q, p = precise_flow(1.5, (1, 0, 0, 0), m, moments, mp.mpf(10) ** -9)
        assert distance(q, end[:4]) < 1e-30
        assert max(abs(a - b) for a, b in zip(p, end[4:], strict=True)) < 1e-30


# ---- every regime
def near_separatrix(rng, inertia, m, off):
    inertia = np.sort(inertia)
    slope = inertia[0] * (inertia[2] - inertia[1]) / (inertia[2] * (inertia[1] - inertia[0]))
    m[0] = np.sqrt(slope) * m[2] * (1 + off)
    order = rng.permutation(3)
    return inertia[order], m[order]


def next_to_the_axis(rng, inertia, m):
    """On the separatrix, where it nears the middle axis."""
    return near_separatrix(rng, inertia, m * [1, 10.0 ** rng.uniform(1, 8), 1], 0.0)


def slender(rng):
    """Moments of any ratio that the triangle inequality leaves."""
    x, y, z = 10.0 ** rng.uniform(-6, 0, 3)
    return np.array([y + z, z + x, x + y])


def axis(rng, m, off):
    k = rng.integers(3)
    spin = off * m
    spin[k] = 1.0
    return spin


REGIMES = {
    "asymmetric": lambda rng, i, m: (i, m),
    "symmetric": lambda rng, i, m: (i[[0, 0, 2]][rng.permutation(3)], m),
    "almost symmetric": lambda rng, i, m: (
        i[[0, 0, 2]] * [1, 1 + 10 ** rng.uniform(-15, -5), 1],
        m,
    ),
    "sphere": lambda rng, i, m: (i[[0, 0, 0]], m),
    "disc": lambda rng, i, m: (np.array([i[0], i[1], i[0] + i[1]])[rng.permutation(3)], m),
    "rod": lambda rng, i, m: (np.array([i[0], i[0], 0.0]), m * [1, 1, 0]),
    "one component zero": lambda rng, i, m: (i, m * (np.arange(3) != rng.integers(3))),
    "permanent rotation": lambda rng, i, m: (i, axis(rng, m, 0.0)),
    "1e-14 off it": lambda rng, i, m: (i, axis(rng, m, 1e-14)),
    "near an axis": lambda rng, i, m: (i, axis(rng, m, 10.0 ** rng.uniform(-15, -3))),
    "separatrix": lambda rng, i, m: near_separatrix(rng, i, m, 0.0),
    "1e-13 off it": lambda rng, i, m: near_separatrix(rng, i, m, 1e-13),
    "near the separatrix": lambda rng, i, m: near_separatrix(
        rng, i, m, 10.0 ** rng.uniform(-15, -6)
    ),
    "separatrix, next to the axis": next_to_the_axis,
    "slender": lambda rng, i, m: (i[0] * slender(rng), m),
    "slender, separatrix": lambda rng, i, m: near_separatrix(rng, i[0] * slender(rng), m, 0.0),
    "at rest": lambda rng, i, m: (i, 0 * m),
}


def worst_ratio(regime, count):
    """The largest error in units of eps (1 + G|t|/I_min + K)."""
    rng = np.random.default_rng(sorted(REGIMES).index(regime))
    worst = 0.0
    for _ in range(count):
        inertia = rng.uniform(1, 1.9, 3) * 10.0 ** rng.integers(-3, 4)
        inertia, m = REGIMES[regime](rng, inertia, rng.normal(size=3) * 10.0 ** rng.integers(-3, 4))
        size, least = float(np.linalg.norm(m)), inertia[inertia > 0].min()
        turns = 10.0 ** rng.uniform(-3, 5) * rng.choice([-1, 1])
        t = float(turns * least / size) if size else float(turns)
        q = rng.normal(size=4)
        q = tuple((q / np.linalg.norm(q)).tolist())
        body = ph.RigidBody(inertia)
        moments = body.data[0]
        m = tuple(m.tolist())
        out = free_rows(body.data, (q, m), np.array([t]))
        assert np.isfinite(out).all()
        found = out[0, :4].tolist(), out[0, 4:].tolist()
        with mp.workdps(DIGITS):
            gap = error(found, precise_flow(t, q, m, moments), size)
            scale = EPS * (1 + size * abs(t) / least)
            if gap > BOUND * scale:
                scale += EPS * conditioning(t, q, m, moments, size)
            worst = max(worst, float(gap / scale))
    return worst


@pytest.mark.parametrize("regime", REGIMES)
def test_the_bound_holds_in_every_regime(regime):
    assert worst_ratio(regime, 25) < BOUND


@pytest.mark.slow
@pytest.mark.parametrize("regime", REGIMES)
def test_the_bound_holds_in_every_regime_at_length(regime):
    assert worst_ratio(regime, BODIES) < BOUND


@pytest.mark.parametrize("regime", REGIMES)
def test_a_small_turn_has_a_small_error(regime):
    """Relative to the turn, not to 1: many small steps then keep what they should."""
    rng, turn = np.random.default_rng(5), compiled(kernel.free_turn)
    for _ in range(20):
        inertia, m = REGIMES[regime](rng, rng.uniform(1, 1.9, 3), rng.normal(size=3))
        moments, m = tuple(inertia.tolist()), tuple(m.tolist())
        inverse = tuple(1 / i if i else 0.0 for i in moments)
        rate = np.linalg.norm(np.multiply(m, inverse)) or 1.0
        t = float(10.0 ** rng.uniform(-9, -0.7) / rate)
        (c1, v), _ = turn(t, m, moments, inverse)
        with mp.workdps(DIGITS):
            w, *exact = precise_flow(t, (1, 0, 0, 0), m, moments, 1e-9)[0]
            gap = mp.sqrt(sum((mp.mpf(a) - b) ** 2 for a, b in zip(v, exact, strict=True)))
            assert gap <= BOUND * EPS * mp.sqrt(sum(b * b for b in exact))
            assert abs(c1 - (w - 1)) <= BOUND * EPS * abs(w - 1)


@pytest.mark.parametrize(
    ("moment", "momentum"),
    [(1e-46, 1e-34), (1e38, 1e34), (1e60, 1e-60), (1e-60, 1e60), (1, 1e-290), (1, 1e290)],
)
def test_units_do_not_matter(moment, momentum):
    """A molecule, a planet, and extreme units."""
    inertia, m = np.array([1.0, 2.0, 2.5]) * moment, np.array([0.3, 1.0, 0.2]) * momentum
    t = 7 / (momentum / moment)
    body, q = ph.RigidBody(inertia), (1.0, 0.0, 0.0, 0.0)
    out = free_rows(body.data, (q, tuple(m.tolist())), np.array([t]))
    with mp.workdps(DIGITS):
        exact = precise_flow(t, q, m.tolist(), body.data[0])
        size = mp.sqrt(sum(mp.mpf(x) ** 2 for x in m.tolist()))
        assert error((out[0, :4].tolist(), out[0, 4:].tolist()), exact, size) < 8 * BOUND * EPS


# ---- the function
TENSOR = [[2.5, 0.3, 0.1], [0.3, 3.0, -0.2], [0.1, -0.2, 4.0]]
TURN = Rotation.from_rotvec([0.3, -0.2, 0.9])


def test_a_full_tensor_against_another_integrator():
    """DOP853 on matrices, tolerance 1e-13: some 1e-12 after ten seconds."""
    tensor, omega = np.array(TENSOR), np.array([0.3, 1.0, -0.4])

    def rate(_, y):
        matrix, m = y[:9].reshape(3, 3), y[9:]
        w = np.linalg.solve(tensor, m)
        return np.concatenate([np.cross(matrix, w).ravel(), np.cross(m, w)])

    first = np.concatenate([TURN.as_matrix().ravel(), tensor @ omega])
    times = np.linspace(0, 10, 11)
    other = solve_ivp(rate, (0, 10), first, "DOP853", times, rtol=1e-13, atol=1e-14).y.T
    run = ph.exact_free_motion(ph.RigidBody(tensor), TURN, omega, times)
    assert np.allclose(run.rotation.as_matrix().reshape(-1, 9), other[:, :9], rtol=0, atol=1e-11)
    assert np.allclose(run.angular_momentum, other[:, 9:], rtol=0, atol=1e-11)


def test_what_a_free_body_keeps():
    body, times = ph.RigidBody(TENSOR), np.linspace(-1e4, 1e4, 5001)
    run = ph.exact_free_motion(body, TURN, [0.3, 1.0, -0.4], times)
    assert np.abs(run.energy / run.energy[0] - 1).max() < 1e-14
    kept = run.angular_momentum_inertial
    # the attitude has turned by 1e4 radians: eps times that
    assert np.abs(kept - kept[2500]).max() < 20 * EPS * 1e4
    assert np.allclose(np.linalg.norm(run.q, axis=1), 1, rtol=0, atol=1e-14)


def test_the_sign_is_continuous_and_the_time_may_be_a_number():
    body = ph.RigidBody([1.0, 2.0, 2.5])
    run = ph.exact_free_motion(body, None, [0.1, 1.0, 0.1], np.linspace(0, 50, 2001))
    assert (np.einsum("ij,ij->i", run.q[1:], run.q[:-1]) > 0.9).all()
    assert np.allclose(run.q[0], [1, 0, 0, 0], rtol=0, atol=1e-15)
    assert run.q.min() < -0.9
    alone = ph.exact_free_motion(body, None, [0.1, 1.0, 0.1], 50.0)
    assert alone.t.tolist() == [50.0]
    assert (alone.rotation[0] * run.rotation[-1].inv()).magnitude() < 1e-15


def test_a_method_converges_to_it():
    problem = ph.problems.krysl_free()
    run = ph.solve(problem, (0, 20), method="mkrk:gauss6", dt=0.05)
    exact = ph.exact_free_motion(problem.body, None, problem.omega, run.t)
    assert (run.rotation * exact.rotation.inv()).magnitude().max() < 1e-11
    assert np.einsum("ij,ij->i", run.q, exact.q).min() > 0.999999  # the same sign, too


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([1, 2, 2.5], None, [1, 2, 3], 1.0), "body must be a RigidBody"),
        ((ph.RigidBody([1, 2, 2.5]), None, [1, 2], 1.0), "omega must be three numbers"),
        ((ph.RigidBody([1, 2, 2.5]), [1, 0, 0, 0], [1, 2, 3], 1.0), "scalar_first"),
        ((ph.RigidBody([1, 2, 2.5]), None, [1, 2, 3], [0.0, np.nan]), r"t\[1\] is not"),
        ((ph.RigidBody([1, 2, 2.5]), None, [1, 2, 3], "now"), "t must be a time"),
    ],
)
def test_bad_arguments_are_named(arguments, words):
    with pytest.raises(ph.InputError, match=words):
        ph.exact_free_motion(*arguments)
