"""``run.sol``: between the steps of integrators, maps and closed forms."""

import math

import numpy as np
import pytest

import polhode as ph
from support import given_motion
from support.bodies import FREE, HEAVY_TOP, TIME, angle
from support.given_motion import accelerations, attitudes, body_rates

TENSOR = np.array([[2.6, 0.3, -0.2], [0.3, 3.1, 0.4], [-0.2, 0.4, 4.2]])


@pytest.fixture(scope="module", autouse=True)
def in_plain_python():
    with given_motion.plain_python():
        yield


def given(method="dop853", t_span=(0.0, 8.0), **options):
    options = {"rtol": 1e-10} | options if "dt" not in options else options
    begin = tuple(attitudes([t_span[0]])[0])
    return ph.integrate_angular_velocity(
        given_motion.in_body,
        t_span,
        frame="body",
        method=method,
        attitude=begin,
        scalar_first=True,
        **options,
    )


def of_tensor(model=None):
    p = TIME.problem
    return ph.Problem(
        ph.RigidBody(TENSOR),
        model or p.model,
        attitude=p.attitude,
        scalar_first=True,
        omega=p.omega,
    )


RUNS = {
    "dop853": lambda: given(),
    "vern9, backward": lambda: given("vern9", (8.0, 0.0)),
    "dopri5, vectors3": lambda: given("dopri5", formulation="vectors3", rtol=1e-8),
    "gauss-taylor": lambda: given("auto"),
    "magnus6": lambda: given("magnus6", dt=0.07),
    "rk4, generator-reset": lambda: given("rk4", dt=0.02, formulation="generator-reset"),
    "body": lambda: ph.solve(TIME.problem, (0.0, 5.0), method="dop853", rtol=1e-9),
    "body, full tensor": lambda: ph.solve(of_tensor(), (0.0, 5.0), method="dop853", rtol=1e-9),
    "body, saved": lambda: ph.solve(
        TIME.problem, (0.0, 5.0), method="dop853", rtol=1e-9, save_every=3
    ),
    "body, at times": lambda: ph.solve(
        TIME.problem, (0.0, 5.0), method="dop853", rtol=1e-9, t_eval=[0.0, 0.7, 5.0]
    ),
    "map": lambda: ph.solve(TIME.problem, (0.0, 5.0), method="mr4", dt=0.03),
    "map, saved": lambda: ph.solve(TIME.problem, (0.0, 5.0), method="mr4", dt=0.03, save_every=7),
    "map, at times": lambda: ph.solve(
        TIME.problem, (0.0, 5.0), method="mr4", dt=0.03, t_eval=[0.0, 1.234, 5.0]
    ),
    "implicit map": lambda: ph.solve(HEAVY_TOP.problem, (5.0, 0.0), method="imidm", dt=0.03),
    "rk4 of a body": lambda: ph.solve(
        TIME.problem, (0.0, 5.0), method="rk4", dt=0.02, formulation="vectors2"
    ),
    "closed form": lambda: ph.solve(FREE.problem, (0.0, 60.0)),
    "closed form, full tensor": lambda: ph.solve(of_tensor(ph.models.free()), (60.0, 0.0)),
}


@pytest.fixture(scope="module")
def runs():
    return {name: make() for name, make in RUNS.items()}


EACH = pytest.mark.parametrize("name", RUNS)


@EACH
def test_steps_are_met_exactly(runs, name):
    run = runs[name]
    there = run.sol(run.t)
    assert np.array_equal(there.t, run.t)
    assert np.array_equal(there.q, run.q)
    assert np.array_equal(there.omega, run.omega)
    if run.body is not None:
        assert np.array_equal(there.angular_momentum, run.angular_momentum)


@EACH
def test_times_come_in_any_order(runs, name, rng):
    run = runs[name]
    times = rng.uniform(min(run.t), max(run.t), 40)
    times[[3, 17, 5, 6]] = run.t[0], run.t[-1], 1.5, 1.5
    together = run.sol(times)
    assert np.array_equal(together.t, times)
    order = np.argsort(times)
    assert np.array_equal(run.sol(times[order]).q, together.q[order])
    for k in (0, 3, 5, 17, 30):  # and each alone is the same, its sign too
        assert np.array_equal(run.sol(float(times[k])).q[0], together.q[k])
    assert run.sol([]).q.shape == (0, 4)
    assert run.sol(1.5).omega.shape == (1, 3)


@EACH
def test_attitudes_are_units_of_continuous_sign(runs, name):
    run = runs[name]
    times = np.linspace(run.t[0], run.t[-1], 601)
    q = run.sol(times).q
    # maps keep the length to the rounding of their steps; the quaternion to that of a reset
    assert np.abs(np.linalg.norm(q, axis=1) - 1).max() < 1e-13
    rates = np.linalg.norm(run.sol(times).omega, axis=1).max()
    assert np.linalg.norm(np.diff(q, axis=0), axis=1).max() <= rates * abs(times[1] - times[0]) / 2


@EACH
def test_rates_and_accelerations_are_derivatives(runs, name):
    """ω from q by differences, and its own derivative from ω; also at both ends."""
    run = runs[name]
    low, high = min(run.t), max(run.t)
    d = 2e-4
    times = np.linspace(low + 2.5 * d, high - 2.5 * d, 37)
    nodes = (times[:, None] + d * np.array([-2, -1, 0, 1, 2])).ravel()
    there = run.sol(nodes)
    weights = np.array([1, -8, 0, 8, -1]) / (12 * d)
    dq = np.einsum("k,nki->ni", weights, there.q.reshape(-1, 5, 4))
    q, omega = there.q.reshape(-1, 5, 4)[:, 2], there.omega.reshape(-1, 5, 3)
    w, v = q[:, :1], q[:, 1:]
    found = 2 * (w * dq[:, 1:] - dq[:, :1] * v - np.cross(v, dq[:, 1:]))  # 2 q* dq
    # a side step of order p and an error e inside a step differentiate to e/h; rounding to 1e-12
    close = {"rk4": 3e-4, "mr4": 3e-4, "imidm": 3e-2}.get(run.method, 2e-6)
    assert np.abs(found - omega[:, 2]).max() < close
    slopes = np.einsum("k,nki->ni", weights, omega)
    assert np.abs(slopes - run.sol(times).angular_acceleration).max() < close
    ends = run.sol([run.t[0], run.t[-1]]).angular_acceleration
    assert np.isfinite(ends).all()
    inside = run.sol([run.t[0] + math.copysign(1e-6, run.t[-1] - run.t[0])]).angular_acceleration
    assert np.abs(ends[0] - inside).max() < 2e-5


@pytest.mark.parametrize("name", ["dop853", "vern9, backward", "gauss-taylor", "magnus6"])
def test_given_rates_in_closed_form(runs, name):
    run, times = runs[name], np.linspace(0.0, 8.0, 201)
    there = run.sol(times)
    close = 1e-6 if name == "magnus6" else 2e-8
    assert (
        np.abs(there.q - np.sign(run.q[0] @ attitudes(run.t[:1])[0]) * attitudes(times)).max()
        < close
    )
    assert np.abs(there.omega - body_rates(times)).max() < 1e-14
    assert np.abs(there.angular_acceleration - accelerations(times)).max() < 1e-8
    assert np.abs(run.angular_acceleration - accelerations(run.t)).max() < 1e-8


def test_inertial_rates_are_given_back_in_body_axes():
    run = ph.integrate_angular_velocity(
        given_motion.inertial, (0.0, 5.0), frame="inertial", method="vern9", rtol=1e-12,
        attitude=tuple(attitudes([0.0])[0]), scalar_first=True,
    )  # fmt: skip
    times = np.linspace(0.0, 5.0, 101)
    there = run.sol(times)
    assert np.abs(there.omega - body_rates(times)).max() < 1e-10
    assert np.abs(there.angular_acceleration - accelerations(times)).max() < 1e-7


def test_bodies_between_their_steps(runs):
    """All that was kept, a part of it, or other times: the same motion, and that of SciPy."""
    times = tuple(np.linspace(0.0, 5.0, 201).tolist())
    q, m = TIME.reference(times)
    names = "body", "body, saved", "body, at times"
    there = [runs[name].sol(times) for name in names]
    assert angle(there[0].q, q).max() < 2e-8
    assert np.abs(there[0].angular_momentum - m).max() < 2e-8 * np.abs(m).max()
    for other in there[1:]:
        assert np.array_equal(other.q, there[0].q)
    maps = [runs[name].sol(times) for name in ("map", "map, saved", "map, at times")]
    assert angle(maps[0].q, q).max() < 1e-4
    for other in maps[1:]:
        assert np.array_equal(other.q, maps[0].q)


def test_the_closed_form_is_that_of_exact_free_motion(runs):
    times = np.linspace(0.0, 60.0, 301)
    p, there = FREE.problem, runs["closed form"].sol(times)
    from scipy.spatial.transform import Rotation

    start = Rotation.from_quat(p.attitude, scalar_first=True)
    right = ph.exact_free_motion(p.body, start, p.omega, times)
    assert np.abs(there.q - right.q).max() < 1e-15
    spin = there.omega
    moments = np.array(p.body.data[0])
    slopes = np.cross(moments * spin, spin) / moments
    assert np.abs(there.angular_acceleration - slopes).max() < 1e-15


# ---- what cannot be
@EACH
def test_times_outside_are_refused(runs, name):
    run = runs[name]
    low, high = min(run.t), max(run.t)
    for wrong in (low - 1e-9, high + 1.0):
        with pytest.raises(ph.InputError, match=r"t\[2\] = .* is outside the run, from"):
            run.sol([low, high, wrong, -1e9])
    for wrong in (math.nan, math.inf, [[low, high]]):
        with pytest.raises(ph.InputError, match="t must be a time or a list of times"):
            run.sol(wrong)


def test_a_loaded_run_has_no_dense_output(runs, tmp_path):
    for name in ("dop853", "body", "closed form"):
        path = runs[name].save(tmp_path / f"{name}.nc")
        with pytest.raises(ph.InputError, match=r"no dense output .* t_eval="):
            ph.load(path).sol(1.0)
    t = np.linspace(0.0, 1.0, 11)
    sampled = ph.integrate_samples(np.ones((11, 3)), t, frame="body", kind="rate")
    with pytest.raises(ph.InputError, match=r"no dense output .* t_eval="):
        sampled.sol(0.5)


def test_a_force_that_is_not_defined_inside_a_step():
    """A step may have leapt over what dense output looks at."""

    def torn(t):
        return (0.0, 0.0, 1.0) if not 1.01 < t < 1.02 else (math.nan, 0.0, 0.0)

    run = ph.integrate_angular_velocity(torn, (0.0, 2.0), frame="body", method="rk4", dt=0.5)
    assert run.success
    with pytest.raises(ph.InputError, match=r"t\[1\] = 1.03: the state there is not finite"):
        run.sol([0.4, 1.03, 1.9])


def test_parts_of_a_trajectory_keep_it(runs):
    run = runs["body"]
    assert np.array_equal(run[3:5].sol(1.0).q, run.sol(1.0).q)
    assert run.sol([1.0, 2.0]).sol(0.5).t.tolist() == [0.5]
    assert run.sol(1.0).method == "dop853"
