"""Runs that fail: all their states are attitudes, and nothing that failed is a success."""

import math
from dataclasses import replace

import numpy as np
import pytest

import polhode as ph
from polhode.contracts import Status
from polhode.kernels.vector import multiply

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of numbers in plain Python
plain = pytest.mark.usefixtures("plain")
FREE = ph.problems.krysl_free()
ATTITUDE = {"attitude": np.array([0.8, 0.2, 0.4, 0.4]), "scalar_first": True}
VARIABLES = [*ph.FORMULATIONS, *ph.COORDINATES]
OF_BODIES = [name for name, record in ph.INTEGRATORS.items() if not record.linear]
TORQUES = {
    "nan": (math.nan, 0.0, math.nan),
    "inf": (math.inf, 0.0, -math.inf),
    "huge": (1e300, -1e300, 1e300),
    "big": (1e100, 1e100, 0.0),
    "sudden": (1e40, 1e38, 1.0),
}


def bursting(kind):
    value = TORQUES[kind]

    def torque(t, q, omega, params):
        return (0.1, 0.2, 0.3) if t <= 0.31 else value

    return ph.Problem(
        ph.RigidBody([1.0, 2.0, 2.5]), ph.torque(torque), omega=[0.3, 0.4, 2.0], **ATTITUDE
    )


def assert_attitudes(run):
    assert len(run.t) > 0
    assert np.isfinite(run.q).all()
    assert np.isfinite(run.angular_momentum).all()
    assert abs(np.linalg.norm(run.q, axis=1) - 1).max() < 1e-9


# ---- steps that turn too far
@plain
@pytest.mark.parametrize("name", ph.METHODS)
def test_steps_that_turn_too_far(name):
    """With dt = 1e17, imid and others had a |q| of 1e30, and were a success."""
    for dt in (1e15, 1e17, 1e80, 1e160):
        run = ph.solve(FREE, (0, 3 * dt), method=name, dt=dt)
        assert_attitudes(run)
        assert run.success == (not run.message)


@plain
@pytest.mark.parametrize(
    ("variables", "rate"),
    [("quaternion", 1e20), ("rotor", 1e20), ("vectors3", 1e3), ("vectors2", 1e3)],
)
def test_the_last_shorter_step_is_looked_at(variables, rate):
    """Its attitude was zero or not a number, and the run was a success."""
    problem = ph.Problem(ph.RigidBody([1.0, 2.0, 2.5]), omega=[0.3 * rate, rate, -0.2 * rate])
    run = ph.solve(problem, (0, 0.5), method="rk4", dt=1.0, formulation=variables)
    assert not run.success
    assert_attitudes(run)


@plain
@pytest.mark.parametrize("variables", ["vectors2", "vectors3"])
def test_states_between_steps_are_those_that_were_looked_at(variables):
    """The state at the last time was taken again, from another history, and had no length."""
    times = np.arange(0.7, 40.0, 1.0)
    for rate in np.geomspace(0.5, 50.0, 24):
        problem = ph.Problem(ph.RigidBody([1.0, 2.0, 2.5]), omega=[0.3 * rate, rate, -0.2 * rate])
        asked = {"method": "adams", "formulation": variables, "dt": 1.0, "t_eval": times}
        assert_attitudes(ph.solve(problem, (0, 40), **asked))


@plain
@pytest.mark.parametrize("variables", ["vectors2", "vectors2-damped", "vectors3"])
def test_backward_runs_that_fail_at_once(variables):
    """The sign of the only state was looked up at an index before the first."""
    times = np.array([-0.01, -0.7, -1.2, -2.1])
    for rate in np.geomspace(1.0, 1e4, 12):
        problem = ph.Problem(ph.RigidBody([1.0, 2.0, 2.5]), omega=[0.3 * rate, rate, -0.2 * rate])
        asked = {"method": "gauss", "formulation": variables, "dt": 0.4, "t_eval": times}
        assert_attitudes(ph.solve(problem, (0, -2.4), **asked))


def test_states_inside_a_step_that_is_too_long():
    """The chart of a generator ends inside the step, and the attitude there was NaN."""

    def turning(t):
        return 1.0 + 0.5 * math.sin(t), 0.3 * math.cos(2.0 * t), -0.2 * t

    span, times = (0, -88), np.linspace(0, -80, 201)
    asked = {"frame": "inertial", "method": "rk4", "formulation": "generator"}
    failed = 0
    for dt in (4.0, 4.949, 5.22, 9.017, 20.0 / 3.0):
        run = ph.integrate_angular_velocity(turning, span, dt=dt, t_eval=times, **asked)
        assert np.isfinite(run.q).all()
        assert run.success == (len(run.t) == len(times))
        failed += not run.success
    assert failed


@plain
@pytest.mark.parametrize("name", ["imid", "backward-euler", "je", "forward-euler", "mkrk:rk4"])
def test_an_angle_that_cannot_be_reduced_is_a_failure(name):
    body = ph.RigidBody([1.0, 1.0, 1.0])
    spin = ph.Problem(body, omega=[0.6, 0.0, 0.8])
    if name != "mkrk:rk4":  # whose stages grow with the square of the angle
        assert ph.solve(spin, (0, 1e13), method=name, dt=1e13).success
    run = ph.solve(spin, (0, 2.1e14), method=name, dt=2.1e14)
    assert run.status == Status.NOT_FINITE
    assert "1e14 radians; try a smaller dt" in run.message
    assert run.t.tolist() == [0.0]


@plain
def test_members_that_turn_too_far():
    settings = {"method": "forward-euler", "dt": 1.0}
    omegas = np.diag([1.0, 1e13, 3e14])
    result = ph.solve_ensemble(
        ph.Problem(ph.RigidBody([1.0, 1.0, 1.0]), omega=[1.0, 0.0, 0.0]),
        (0, 3),
        samples={"omega": omegas},
        **settings,
    )
    assert result.status.tolist() == [Status.OK, Status.OK, Status.NOT_FINITE]
    assert abs(np.linalg.norm(result.q, axis=-1) - 1).max() < 1e-12


# ---- torques that burst
def burst(kind, method, formulation):
    adaptive = ph.INTEGRATORS[method].adaptive
    settings = {"rtol": 1e-4, "max_step": 0.1} if adaptive else {"dt": 0.05}
    run = ph.solve(bursting(kind), (0, 0.6), method=method, formulation=formulation, **settings)
    assert not run.success
    assert f"stopped at t = {run.t[-1]:.10g} after {run.nsteps} steps" in run.message
    assert_attitudes(run)
    return run


@plain
@pytest.mark.parametrize("formulation", VARIABLES)
@pytest.mark.parametrize("method", ["rk4", "dopri5"])
def test_the_last_state_is_an_attitude(method, formulation):
    """With "rotor" it was 0, since a sum of squares overflows before its root does."""
    for kind in ("nan", "big"):
        assert burst(kind, method, formulation).t[-1] >= 0.2


@plain
@pytest.mark.slow
@pytest.mark.parametrize("formulation", VARIABLES)
@pytest.mark.parametrize("method", OF_BODIES)
def test_of_all_pairs(method, formulation):
    for kind in TORQUES:
        burst(kind, method, formulation)


@plain
@pytest.mark.parametrize("name", ph.METHODS)
def test_the_last_state_of_all_maps(name):
    problem = bursting("nan")
    if not ph.METHODS[name].takes(problem.model):
        return
    run = ph.solve(problem, (0, 0.6), method=name, dt=0.05)
    assert not run.success
    assert_attitudes(run)
    assert run.t[-1] > 0.24


@plain
def test_members_whose_torque_bursts():
    run = burst("big", "rk4", "rotor")
    settings = {"method": "rk4", "dt": 0.05, "formulation": "rotor"}
    result = ph.solve_ensemble(
        bursting("big"), (0, 0.6), samples={"omega": [[0.3, 0.4, 2.0]] * 2}, save="all", **settings
    )
    assert not result.success.any()
    assert abs(np.linalg.norm(result.q, axis=-1) - 1).max() < 1e-12
    assert np.array_equal(result.q[: len(run.t), 0], run.q)
    assert result.t_reached.tolist() == [run.t[-1]] * 2


# ---- variables that no longer describe an attitude
def test_variables_that_vanish():
    """Steps of four radians shrink a rotor; it underflowed, and its attitude was not a number."""
    run = ph.integrate_angular_velocity(
        lambda t: (0.0, 0.0, 2.0), (0, 4000), frame="body", method="rk4", dt=2.0
    )
    assert not run.success
    assert f"stopped at t = {run.t[-1]:.10g}" in run.message
    assert 1000 < run.t[-1] < 4000
    assert abs(np.linalg.norm(run.q, axis=1) - 1).max() < 1e-6


@plain
def test_a_map_that_changes_the_length_of_q():
    own = ph.METHODS["forward-euler"]

    def step(t, h, state, carry, body, params):
        (q, m), carry = own.step(t, h, state, carry, body, params)
        growth = 1.0 if t < 0.35 else 1.01
        return ((growth * q[0], *multiply(growth, q[1:])), m), carry

    method = replace(own, name="growing", step=step)
    for settings in ({}, {"save_every": 2}, {"t_eval": [0.1, 0.25, 0.9]}):
        run = ph.solve(FREE, (0, 1), method=method, dt=0.1, **settings)
        assert run.status == Status.NO_ATTITUDE
        assert_attitudes(run)
        assert 0.2 < run.t[-1] < 0.45


@plain
@pytest.mark.parametrize(
    ("method", "formulation", "omega"),
    [("dopri5", "fukushima-departures", 1e-46), ("rk4", "fukushima", 1e67)],
)
def test_a_start_that_the_variables_cannot_describe(method, formulation, omega):
    """Squares of its momentum overflow or vanish; it was an IndexError, or no states at all."""
    settings = {"rtol": 1e-6} if method == "dopri5" else {"dt": 0.3 / omega}
    inertia = [1e-15, 1e-15, 1e-15] if method == "dopri5" else [1.1, 0.5, 1.1]
    problem = ph.Problem(ph.RigidBody(inertia), ph.torque(push_gently), omega=[0, omega, omega])
    with pytest.raises(ph.InputError, match=f"'{formulation}' cannot describe the initial state"):
        ph.solve(problem, (0, 3 / omega), method=method, formulation=formulation, **settings)


def push_gently(t, q, omega, params):
    return 0.1 * omega[0], 0.0, 0.0


@plain
def test_a_step_that_is_not_a_number_goes_forward():
    """With max_step=, the first step was -max_step where its size was not a number."""

    def bend(t, q, omega, params):
        return (0.1 if t < 1.0 else math.nan), 0.0, 0.0

    problem = ph.Problem(ph.RigidBody([1.0, 2.0, 2.5]), ph.torque(bend), omega=[0.3, 0.4, 2.0])
    for method in ("dopri5", "extrapolation"):
        run = ph.solve(problem, (1, 9), method=method, rtol=1e-6, max_step=0.5, max_steps=30)
        assert not run.success
        assert run.t.tolist() == [1.0]
        assert "steps of -" not in run.message


@plain
def test_times_of_t_eval_within_a_step_that_fails():
    """The last good step was put behind a time after it."""
    problem = bursting("nan")
    for name in ("mr2", "rk4"):
        if name == "rk4" or ph.METHODS[name].takes(problem.model):
            run = ph.solve(problem, (0, 0.6), method=name, dt=0.2, t_eval=[0.05, 0.21, 0.3, 0.6])
            assert not run.success
            assert (np.diff(run.t) > 0).all()
