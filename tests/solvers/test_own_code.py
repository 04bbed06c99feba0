"""A user's own code that is wrong: torques, potentials and methods."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import polhode as ph
from polhode.methods.forward_euler_m import METHOD as EULER
from polhode.methods.imidm import METHOD as IMIDM
from polhode.solvers.own_code import check_own_method

BODY = ph.RigidBody([2.0, 3.0, 4.5])
FIXED, ADAPTIVE = {"method": "imidm", "dt": 0.1}, {"method": "dop853", "rtol": 1e-6}


def problem(function, **options):
    return ph.Problem(BODY, ph.torque(function, **options), omega=[0.3, 0.2, 0.9])


# ---- what a function returns
@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda f: ph.torque(f, name="x"), "the torque of model 'x' must return three numbers"),
        (
            lambda f: ph.models.heavy_top(1.0) + ph.torque(f, name="x"),
            "the torque of model 'x' must return three numbers",
        ),
        (
            lambda f: ph.force(lambda t, x, v, q, omega, p: f(t, q, omega, p), name="x"),
            "the force of model 'x' must return three numbers",
        ),
    ],
    ids=["torque", "sum", "force"],
)
@pytest.mark.parametrize("value", [(1.0, 2.0), None, 3.0, (1, 2, 3, 4), "abc"], ids=str)
def test_a_torque_must_return_three_numbers(made, words, value):
    start = ph.Problem(BODY, made(lambda t, q, omega, params: value), omega=[0.3, 0.2, 0.9])
    with pytest.raises(ph.InputError) as caught:
        ph.solve(start, (0, 1), **FIXED)
    assert str(caught.value) == f"{words}, returned {value!r}"


@pytest.mark.parametrize("value", [None, (1.0, 2.0)], ids=str)
def test_a_potential_must_return_one_number(value):
    start = ph.Problem(BODY, ph.potential(lambda t, q, p: value, name="x"), omega=[0.3, 0.2, 0.9])
    with pytest.raises(ph.InputError, match="the potential of model 'x' must return one number"):
        ph.solve(start, (0, 1), **FIXED)


# ---- errors on the way
class Fuel:
    """A torque that ends in an error; it cannot be compiled."""

    def __init__(self, end, error):
        self.end, self.error = end, error

    def __call__(self, t, q, omega, params):
        if t > self.end:
            raise self.error
        return 0.1 * q[1], 0.0, 0.0


@pytest.mark.filterwarnings("ignore:.*runs as plain Python")
@pytest.mark.parametrize("options", [FIXED, {**FIXED, "save_every": 4}, ADAPTIVE], ids=str)
def test_the_states_before_an_error_are_returned(options):
    run = ph.solve(problem(Fuel(2.0, RuntimeError("out of fuel"))), (0, 3), **options)
    whole = ph.solve(problem(Fuel(9.0, None)), (0, 3), **options)
    assert not run.success
    assert run.t[-1] == pytest.approx(2.0, abs=0.004)
    assert (run.q[0] == whole.q[0]).all()
    assert run.q == pytest.approx(whole.sol(run.t).q, abs=1e-6)
    assert f"stopped at t = {run.t[-1]:.10g}" in run.message
    assert "the torque of 'Fuel' raised RuntimeError: out of fuel" in run.message
    assert "test_own_code.py" in run.message  # the traceback
    assert "raise self.error" in run.message


@pytest.mark.filterwarnings("ignore:.*runs as plain Python")
def test_an_error_keeps_the_checkpoint(tmp_path):
    """A cause outside of the function may go away."""
    place, fuel = tmp_path / "run.ckpt", Fuel(2.0, RuntimeError("out of fuel"))
    options = {**FIXED, "checkpoint": place, "checkpoint_every": 7}
    start = problem(fuel)
    assert not ph.solve(start, (0, 3), **options).success
    fuel.end = 9.0
    with pytest.warns(ph.PolhodeWarning, match="cannot check that a function is the one"):
        run = ph.resume(place, model=start.model)
    assert run.success
    assert np.array_equal(run.q, ph.solve(start, (0, 3), **FIXED).q)


@pytest.mark.usefixtures("plain")
def test_an_error_in_a_given_rate_keeps_the_attitudes():
    def omega(t):
        return 0.1, 0.2, {True: 0.3}[t < 2.0]

    run = ph.integrate_angular_velocity(omega, (0, 3), frame="body", method="dop853")
    assert not run.success
    assert run.t[-1] == pytest.approx(2.0, abs=0.004)
    assert "omega raised KeyError: False" in run.message


@pytest.mark.usefixtures("plain")
def test_what_a_torque_returns_later_is_told():
    def late(t, q, omega, params):
        return [0.1, 0.2, 0.3][: 3 - int(t > 0.45)]

    run = ph.solve(problem(late), (0, 1), **FIXED)
    assert len(run.t) == 6
    assert run.message.endswith(
        "the torque of 'late' must return three numbers, returned [0.1, 0.2]"
    )


def test_an_index_outside_of_a_table_ends_the_run_in_machine_code():
    """At the step that does it, with the lines of Python."""

    def ahead(t, q, omega, params):
        return 0.1 * params[0][int(t / 0.1 + 0.5)], 0.0, 0.0

    of = ph.Problem(BODY, ph.torque(ahead, [np.ones(20)]), omega=[0.3, 0.2, 0.9])
    solver = ph.prepare(of, method="forward-euler-m", dt=0.1)
    assert solver((0.0, 1.9)).success
    run = solver((0.0, 3.0))
    assert not run.success
    assert len(run.t) == 21
    assert "IndexError: index 20 is out of bounds for axis 0 with size 20" in run.message
    assert "int(t / 0.1 + 0.5)" in run.message
    assert run.q[:20] == pytest.approx(solver((0.0, 1.9)).q, abs=1e-14)


# ---- functions with a memory
class Controller:
    """One that sums up what it sees."""

    def __init__(self):
        self.total = 0.0

    def torque(self, t, q, omega, params):
        self.total += omega[0]
        return -self.total, 0.0, 0.0


def test_lists_in_a_torque_are_as_good_as_tuples():
    """Columns are SIMD vectors in machine code, for which memory of lists is not aligned."""

    def drag(rates):
        return -0.1 * rates[0], -0.1 * rates[1], -0.1 * rates[2]

    def listed(t, q, omega, params):
        return drag([omega[0], omega[1], omega[2]])

    def in_tuples(t, q, omega, params):
        return drag((omega[0], omega[1], omega[2]))

    ends = [ph.solve(problem(f), (0, 2000), rtol=1e-9)[-1] for f in (listed, in_tuples)]
    assert ends[0].q.tolist() == ends[1].q.tolist()


def test_a_controller_with_a_memory_is_pointed_to_the_simulator():
    words = r"method '.*' calls it several times a step.*ph\.Simulator"
    for options in (FIXED, ADAPTIVE):
        with pytest.warns(ph.PolhodeWarning, match=words):
            ph.prepare(problem(Controller().torque), **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ph.prepare(problem(Controller().torque), method="forward-euler-m", dt=0.1)
        ph.prepare(problem(Fuel(9.0, None)), **FIXED)


# ---- methods
@pytest.mark.parametrize("method", ph.METHODS.values(), ids=lambda method: method.name)
def test_our_methods_pass(method):
    check_own_method(method)


@pytest.mark.parametrize(
    ("method", "words"),
    [
        (replace(EULER, step=lambda t, h, s, c, b, p: s), r"step .* must return \(state, carry\)"),
        (replace(EULER, step=lambda t, h, s, c, b, p: (sum(s, ()), c)), "must return"),
        (replace(EULER, step=lambda t, h, s, c, b, p: (s, (1.0,))), r"returned .*\(1\.0,\)\)"),
        (replace(EULER, step=lambda t, h, s, c, b, p: None), "returned None"),
        (replace(EULER, step=lambda t, h, s: s), "step .* fails for a free body: TypeError"),
        (
            replace(IMIDM, improve=lambda t, h, u, s, b, p: u),
            r"improve of method 'imidm' must return \(unknown, done\)",
        ),
    ],
)
def test_a_method_of_the_wrong_shape_is_refused(method, words):
    start = ph.Problem(BODY, ph.models.heavy_top(1.0), omega=[0.3, 0.2, 0.9])
    with pytest.raises(ph.MethodError, match=words):
        ph.solve(start, (0, 1), method=method, dt=0.1)


def test_a_quaternion_off_unit_norm_gets_the_remedy():
    with pytest.raises(ph.InputError, match=r"norm is 1\.0.*divide it by its norm"):
        ph.Problem(BODY, None, [1.0, 0.01, 0, 0], omega=[0, 0, 1], scalar_first=True)


@pytest.mark.usefixtures("plain")
def test_a_body_at_rest_is_pushed_in_plain_python():
    """Where errors relative to the velocity are those relative to zero."""
    thrust = ph.force(lambda t, x, v, q, omega, params: (2.0, 0.0, 0.0))
    still = ph.Problem(ph.RigidBody([2.0, 3.0, 4.0], mass=10.0), thrust, omega=[0, 0, 0])
    run = ph.solve(still, (0, 2), rtol=1e-9)
    assert run.success, run.message
    assert run.x[-1] == pytest.approx([0.4, 0.0, 0.0], abs=1e-12)
