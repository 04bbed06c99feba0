"""The exact motion of free bodies, in every regime, against higher precision and other routes."""

from math import sqrt

import mpmath as mp
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.compiler.machine import compiled
from polhode.kernels import free_flow as kernel
from polhode.kernels import short_flow
from polhode.solvers.exact import free_rows
from support.exact_motion import (
    BOUND,
    DIGITS,
    EPS,
    REGIMES,
    distance,
    error,
    precise_flow,
    worst_ratio,
)


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
@pytest.mark.parametrize("regime", REGIMES)
def test_the_bound_holds_in_every_regime(regime):
    assert worst_ratio(regime, 25) < BOUND


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


@pytest.mark.parametrize("regime", REGIMES)
def test_the_longest_short_turns(regime):
    """Without branches, up to the reach of the series: as accurate, and the same as a long turn."""
    rng, functions = np.random.default_rng(6), (short_flow.scaled, kernel.free_turn)
    scaled, turn = map(compiled, functions)
    for share in (0.9999, 0.7, 0.999, 0.3) * 5:
        inertia, m = REGIMES[regime](rng, rng.uniform(1, 1.9, 3), rng.normal(size=3))
        moments, m = tuple(inertia.tolist()), tuple(m.tolist())
        inverse = tuple(1 / i if i else 0.0 for i in moments)
        a, b, _, _, rate = scaled(1.0, m, moments, inverse)[1][5]
        reach = share * min(0.24 / sqrt(max(a, b, 1e-40)), 1.7 / (rate or 1.0))
        t = float(rng.choice([-1.0, 1.0])) * reach
        assert scaled(t, m, moments, inverse)[0]
        (c1, v), new = turn(t, m, moments, inverse)
        with mp.workdps(DIGITS):
            (w, *exact), right = precise_flow(t, (1, 0, 0, 0), m, moments, 1e-9)
            gap = mp.sqrt(sum((mp.mpf(a) - b) ** 2 for a, b in zip(v, exact, strict=True)))
            assert gap <= BOUND * EPS * mp.sqrt(sum(b * b for b in exact))
            assert abs(c1 - (w - 1)) <= BOUND * EPS * abs(w - 1)
            size = mp.sqrt(sum(x * x for x in right))
            assert error(((1, 0, 0, 0), new), ((1, 0, 0, 0), right), size) <= BOUND * EPS


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


def test_its_derivatives_against_differences():
    """By θ and m at the start, and by the entries of the tensor with the momentum held."""
    tensor, omega, times = np.array(TENSOR), np.array([0.3, 1.0, -0.4]), [0.0, 0.2, 7.0, -40.0]
    momentum, e = tensor @ omega, 1e-5
    asked = ["state", "inertia"]
    run = ph.exact_free_motion(ph.RigidBody(tensor), TURN, omega, times, sensitivities=asked)
    places = (0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)

    def moved(k, step):
        inertia, turn, m = tensor.copy(), TURN, momentum.copy()
        if k < 3:
            turn = TURN * Rotation.from_rotvec(step * np.eye(3)[k])
        elif k < 6:
            m[k - 3] += step
        else:
            i, j = places[k - 6]
            inertia[i, j] += step
            inertia[j, i] = inertia[i, j]
        return ph.exact_free_motion(ph.RigidBody(inertia), turn, np.linalg.solve(inertia, m), times)

    whole = np.concatenate([run.stm, run.sensitivity["inertia"]], axis=2)
    for k in range(12):
        one, other = moved(k, e), moved(k, -e)
        turns = (other.rotation.inv() * one.rotation).as_rotvec() / (2 * e)
        slopes = (one.angular_momentum - other.angular_momentum) / (2 * e)
        gap = np.abs(np.hstack([turns, slopes]) - whole[:, :, k])
        assert gap.max() < 1e-8 * np.abs(whole).max()
    alone = ph.exact_free_motion(ph.RigidBody(tensor), TURN, omega, times)
    assert np.array_equal(run.q, alone.q)
    assert np.array_equal(run.angular_momentum, alone.angular_momentum)


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


def crossing(t, q, omega):
    return omega[0]


def test_a_motion_over_very_many_turns_takes_no_memory_for_them():
    problem = ph.Problem(ph.RigidBody([1.0, 2.0, 2.5]), omega=[0.1, 1.0, 0.1])
    times = [2e12, 1e13]
    run = ph.solve(problem, (0, 1e13), t_eval=times)
    assert run.success
    assert np.array_equal(run.q, ph.exact_free_motion(problem.body, None, problem.omega, times).q)
    with pytest.raises(ph.InputError, match=r"turns by .* rad over t_span.* take a shorter t_span"):
        ph.solve(problem, (0, 1e13), events=crossing)


@pytest.mark.parametrize("moments", [[1.0, 2.0, 2.5], [1.0, 1.0, 1.5], [1.0] * 3, [1.0, 1.0, 0.0]])
@pytest.mark.parametrize("end", [1e19, -1e80, 1e300])
def test_an_attitude_beyond_all_turns_is_refused(moments, end):
    body, omega = ph.RigidBody(moments), np.array([0.1, 1.0, 0.0])
    with pytest.raises(ph.InputError, match=r"t\[1\] = .* turns by up to .* ask for earlier times"):
        ph.exact_free_motion(body, None, omega, [1e-3 / end, end])
    for asked in ({"t_eval": [0.0, 0.5 * end, end]}, {"t_eval": [end]}, {"dt": abs(end) / 7}, {}):
        run = ph.solve(ph.Problem(body, omega=omega), (0.0, end), **asked)
        assert run.status == ph.Status.NOT_FINITE
        assert "lost in rounding errors beyond 1e+14 rad" in run.message
        assert run.t.tolist() == [0.0]
        assert run.q.tolist() == [[1.0, 0.0, 0.0, 0.0]]


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
