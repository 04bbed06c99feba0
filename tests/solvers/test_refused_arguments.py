"""Arguments that adaptive runs and given rates refuse: errors name argument, value and remedy."""

import math

import numpy as np
import pytest

import polhode as ph
from support import given_motion
from support.bodies import FREE, HEAVY_TOP, TIME

RECORDS = ph.INTEGRATORS


@pytest.fixture(autouse=True)
def in_plain_python():
    with given_motion.plain_python():
        yield


def names(*wanted):
    """A pattern that finds all of these, in any order."""
    return "(?s)" + "".join(f"(?=.*{w})" for w in wanted)


# ---- solve and prepare
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "dop853", "dt": 0.1}, ("'dop853' finds its steps itself", "rtol=", "not dt=")),
        ({"method": "auto", "rtol": 2.0}, ("rtol must be a number", "for instance", "2.0")),
        ({"method": "dop853", "rtol": "x"}, ("rtol must be a number", "'x'")),
        ({"method": "dop853", "rtol": -1e-9}, ("rtol must be a number from 0 to 1", "-1e-09")),
        ({"method": "dop853", "atol": math.nan}, ("atol must be a number", "nan")),
        ({"method": "dop853", "rtol": 1e-17}, ("rtol=1e-17", "'dop853'", "rounding", "1e-15")),
        ({"method": "dop853", "rtol": 0, "atol": 0}, ("rtol=0.0 and atol=0.0", "give rtol=")),
        ({"method": "dop853", "first_step": 0.0}, ("first_step must be a positive", "0.0")),
        ({"method": "dop853", "first_step": "x"}, ("first_step must be a positive", "'x'")),
        ({"method": "dop853", "max_step": -1}, ("max_step must be a positive", "-1")),
        ({"method": "dop853", "max_step": math.nan}, ("max_step must be a positive", "nan")),
        ({"method": "dop853", "breakpoints": "x"}, ("breakpoints must be times", "'x'")),
        ({"method": "dop853", "breakpoints": [1, math.nan]}, (r"breakpoints\[1\] is not",)),
        ({"method": "dop853", "breakpoints": []}, ("breakpoints must be a list of times",)),
        ({"method": "dop853", "formulation": "euler"}, ("formulation must be one of", "'euler'")),
        ({"method": "dop853", "formulation": 7}, ("formulation must be one of", "7")),
        ({"method": "dop853", "compensated": True}, ("'dop853'", "leave out compensated=")),
        ({"method": "dop853", "save_every": 0}, ("save_every must be a whole number", "0")),
        ({"method": "dop853", "t_eval": [0.5, 9.0]}, (r"t_eval\[1\] = 9.0 is outside t_span",)),
        ({"method": "dop853", "t_eval": [0.5, 0.2]}, (r"t_eval\[1\] = 0.2 comes after 0.5",)),
        ({"method": "dop854"}, ("method must be one of", "'dop854'", "did you mean dop853")),
        ({"method": "RK45"}, ("in place of SciPy's RK45 use 'dopri5' with rtol=",)),
        ({"method": "DOP853"}, ("in place of SciPy's DOP853 use 'dop853' with rtol=",)),
        ({"method": "LSODA"}, ("in place of SciPy's LSODA use 'extrapolation' with rtol=",)),
        ({"method": "mr2", "dt": 0.1, "rtol": 1e-9}, ("'mr2' takes fixed steps", "give dt=")),
        ({"method": "mr2", "dt": 0.1, "atol": 1e-9}, ("'mr2' takes fixed steps", "or atol=")),
        ({"method": "mr2", "dt": 0.1, "formulation": "rotor"}, ("'mr2'", "leave out formulation=")),
        ({"method": "mr2", "dt": 0.1, "max_step": 0.1}, ("fixed steps", "leave out max_step=")),
        ({"method": "mr2", "dt": 0.1, "first_step": 0}, ("leave out first_step=",)),
        ({"method": "mr2", "dt": 0.1, "breakpoints": np.ones(2)}, ("leave out breakpoints=",)),
        ({"method": "mr2", "dt": 1e-15}, ("keep 1e.15 states", "GB of memory", "save_every=")),
        ({"method": "rk4"}, ("'rk4' takes fixed steps", "give dt=")),
        ({"method": "rk4", "dt": 0.1, "rtol": 1e-6}, ("'rk4' takes fixed steps", "not rtol=")),
        ({"method": "rk4", "dt": 0.1, "formulation": "x"}, ("formulation must be one of", "'x'")),
        ({"method": "rk4", "dt": -0.1}, ("dt must be positive", "-0.1", "t_span end before")),
    ],
    ids=lambda x: ", ".join(f"{k}={v}" for k, v in x.items()) if isinstance(x, dict) else "",
)
def test_solve(options, words):
    with pytest.raises((ph.InputError, ph.MethodError), match=names(*words)):
        ph.solve(HEAVY_TOP.problem, (0.0, 1.0), **options)


@pytest.mark.parametrize("record", [r for r in RECORDS.values() if r.linear], ids=lambda r: r.name)
def test_linear_methods_do_not_move_bodies(record):
    options = {"rtol": 1e-9} if record.adaptive else {"dt": 0.1}
    for method in (record.name, record):
        with pytest.raises(
            ph.MethodError, match=names(record.name, "integrate_angular_velocity", "dop853")
        ):
            ph.solve(HEAVY_TOP.problem, (0.0, 1.0), method=method, **options)


@pytest.mark.parametrize(
    "record", [r for r in RECORDS.values() if r.adaptive and not r.linear], ids=lambda r: r.name
)
def test_the_tightest_tolerance_is_taken(record):
    solver = ph.prepare(HEAVY_TOP.problem, method=record, rtol=record.tightest)
    assert solver((0.0, 0.01)).success
    with pytest.raises(ph.InputError, match=names(record.name, "rounding")):
        ph.prepare(HEAVY_TOP.problem, method=record, rtol=record.tightest / 2)


def test_a_prepared_solver_takes_other_states_and_numbers():
    solver = ph.prepare(TIME.problem, method="dop853", rtol=1e-9)
    first = solver((0.0, 2.0))
    q, omega, model = (0.6, 0.0, 0.8, 0.0), (0.1, 0.2, 0.3), TIME.problem.model
    from scipy.spatial.transform import Rotation

    turned = Rotation.from_quat(q, scalar_first=True)
    other = ph.Problem(TIME.problem.body, model, attitude=turned, omega=omega)
    right = ph.solve(other, (0.0, 2.0), method="dop853", rtol=1e-9)
    found = solver((0.0, 2.0), attitude=turned, omega=omega)
    assert np.array_equal(found.q, right.q)
    assert np.array_equal(found.angular_momentum, right.angular_momentum)
    slower = tuple(0.5 * x if isinstance(x, float) else x for x in model.numbers)
    assert not np.array_equal(solver((0.0, 2.0), params=slower).q[-1], first.q[-1])
    assert np.array_equal(solver((0.0, 2.0), params=model.numbers).q, first.q)
    assert np.array_equal(solver((0.0, 2.0)).q, first.q)
    with pytest.raises(ph.InputError, match=names("params must be", "numbers")):
        solver((0.0, 2.0), params=(1.0,))


def test_a_torque_without_a_value_ends_the_run():
    def torn(t, q, omega, params):
        return (params[0], 0.0, 0.0) if t < 0.5 else (math.nan, 0.0, 0.0)

    p = ph.Problem(ph.RigidBody([1.0, 2.0, 2.5]), ph.torque(torn, (0.3,)), omega=(0.1, 1.0, 0.2))
    run = ph.solve(p, (0.0, 1.0), method="dop853")
    assert run.status == ph.Status.STEP_TOO_SMALL
    assert 0.49 < run.t[-1] <= 0.5
    assert np.isfinite(run.q).all()
    for word in (f"t = {run.t[-1]:.10g}", "loosen the tolerance", "discontinuity of the torque"):
        assert word in run.message
    kept = ph.solve(p, (0.0, 1.0), method="dop853", t_eval=[0.1, 0.4, 0.9])
    assert kept.t.tolist() == [0.1, 0.4]
    assert not kept.success


def test_auto_reports_its_choice():
    run = ph.solve(TIME.problem, (0.0, 1.0), rtol=1e-9)
    assert RECORDS[run.method].adaptive
    assert run.reason
    assert ph.solve(FREE.problem, (0.0, 1.0)).method == "exact free motion"


# ---- given rates
def steady(t):
    return 0.0, 0.1, 1.0


def of_both(t, q):
    return 0.0, 0.1, q[0]


@pytest.mark.parametrize(
    ("omega", "options", "words"),
    [
        (steady, {"frame": "space"}, ("frame must be 'body' or 'inertial'", "'space'")),
        (steady, {"frame": None}, ("frame must be 'body' or 'inertial'", "None")),
        ([1.0, 2.0, 3.0], {}, ("omega must be a function", "integrate_samples")),
        (lambda t, q, x: (0, 0, 1), {}, (r"omega must take \(t\) or \(t, q\)", "3 arguments")),
        (lambda: (0, 0, 1), {}, (r"omega must take \(t\) or \(t, q\)", "0 arguments")),
        (lambda t: (0.0, 1.0), {}, ("omega fails at t = 0.0", "three numbers")),
        (lambda t: 1.0, {}, ("omega fails at t = 0.0", "TypeError", "three numbers")),
        (lambda t: (0.0, 1 / t, 1.0), {}, ("omega fails at t = 0.0", "ZeroDivisionError")),
        (lambda t: (0.0, math.inf, 1.0), {}, ("omega is not finite at t = 0.0", "inf")),
        (steady, {"rtol": 0.0}, ("rtol and atol must not both be 0", "1e-9")),
        (steady, {"atol": -1}, ("atol must be a number from 0 to 1", "-1")),
        (steady, {"rtol": "x"}, ("rtol must be a number", "'x'")),
        (steady, {"method": "dop853", "rtol": 1e-18}, ("1e-18", "'dop853'", "rounding", "1e-15")),
        (steady, {"method": "dop853", "dt": 0.1}, ("'dop853' finds its steps itself", "not dt=")),
        (steady, {"method": "magnus6"}, ("'magnus6' takes fixed steps", "give dt=")),
        (steady, {"method": "magnus6", "dt": 0.1, "rtol": 1e-9}, ("'magnus6'", "not rtol=")),
        (steady, {"method": "rk4", "dt": 0.1, "max_step": 1}, ("'rk4'", "leave out max_step=")),
        (steady, {"formulation": "generator"}, ("gauss-taylor", "rotors", "leave out formulation")),
        (of_both, {"method": "magnus6", "dt": 0.1}, (r"for omega\(t\)", r"omega\(t, q\)", "rk4")),
        (of_both, {"method": "gauss-taylor"}, (r"for omega\(t\)", "extrapolation")),
        (steady, {"method": "mr2", "dt": 0.1}, ("method must be one of", "'mr2'")),
        (steady, {"t_eval": [9.0]}, (r"t_eval\[0\] = 9.0 is outside t_span",)),
        (steady, {"attitude": (1.0, 0.0, 0.0, 0.0)}, ("scalar_first",)),
    ],
)
def test_given_rates(omega, options, words):
    options = {"frame": "body"} | options
    with pytest.raises((ph.InputError, ph.MethodError), match=names(*words)):
        ph.integrate_angular_velocity(omega, (0.0, 1.0), **options)


def test_the_frame_must_be_given():
    with pytest.raises(TypeError, match="frame"):
        ph.integrate_angular_velocity(steady, (0.0, 1.0))
    for wrong in ((0.0,), (0.0, math.inf), "ab"):
        with pytest.raises(ph.InputError, match="t_span must be"):
            ph.integrate_angular_velocity(steady, wrong, frame="body")


def test_auto_follows_the_signature():
    def defaulted(t, q=None):
        return steady(t)

    run = ph.integrate_angular_velocity
    assert run(steady, (0, 1), frame="body").method.startswith("gauss-taylor")
    assert run(defaulted, (0, 1), frame="body").method.startswith("gauss-taylor")
    assert run(of_both, (0, 1), frame="body").method == "vern9"  # of plain Python
    assert run(steady, (0, 1), frame="body", dt=0.1).method == "magnus6"
    assert run(of_both, (0, 1), frame="body", dt=0.1).method == "rk4"
    assert run(of_both, (0, 1), frame="body").reason
