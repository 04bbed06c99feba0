"""``method="auto"``: the chosen method, and the reason."""

import math

import numpy as np
import pytest

import polhode as ph
from polhode.solvers import auto

FREE = ph.problems.krysl_free()
TOP = ph.problems.fast_top()


# ---- no torque: the closed form
def test_a_free_body_moves_by_the_closed_form():
    run = ph.solve(FREE, (2, 12), t_eval=[3.0, 7.5, 12.0])
    times = np.arange(21) / 2  # near enough for a continuous sign of q
    exact = ph.exact_free_motion(FREE.body, None, FREE.omega, times)[[2, 11, 20]]
    assert (run.q == exact.q).all()
    assert (run.angular_momentum == exact.angular_momentum).all()
    assert run.t.tolist() == [3.0, 7.5, 12.0]
    assert run.method == "exact free motion"
    assert "no torque" in run.reason
    assert "no torque" in repr(run)
    assert run.nsteps == run.nfev == 0
    assert run.energy == pytest.approx(run.energy[0], rel=1e-14)


def test_times_of_the_closed_form():
    for length, count in ((0, 201), (1, 201), (300, 3045), (1e6, 20_001)):  # 0.1 rad apart
        run = ph.solve(FREE, (0, length))
        assert len(run) == count
        turned = np.linalg.norm(run.omega, axis=1).max() * length / (count - 1)
        assert turned <= 0.1 or count == 20_001
    assert ph.solve(FREE, (0, 1), dt=0.25).t.tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert ph.solve(FREE, (0, 1), dt=0.25, save_every=2).t.tolist() == [0, 0.5, 1]
    assert ph.solve(FREE, (1, 0), dt=0.3).t.tolist() == pytest.approx([1, 0.7, 0.4, 0.1, 0])
    backwards = ph.solve(FREE, (1, 0))
    again = ph.prepare(FREE)((0, 1), omega=backwards.omega[-1], attitude=backwards.rotation[-1])
    assert again.omega[-1] == pytest.approx(np.array(FREE.omega), abs=1e-14)


def test_free_terms_are_free():
    assert ph.solve(
        ph.Problem(FREE.body, ph.models.free() + ph.models.free(), omega=[1, 2, 3]), (0, 1)
    ).reason


# ---- a torque
def test_without_a_step_an_integrator_finds_its_own():
    run = ph.solve(TOP, (0, 1), rtol=1e-8)
    assert ph.INTEGRATORS[run.method].adaptive
    assert run.reason
    exact = ph.solve(TOP, (0, 1), method="vern9", rtol=1e-13)
    assert abs(run.q[-1] - exact.q[-1]).max() < 1e-6


def test_the_choice_is_reported_and_kept(tmp_path):
    run = ph.solve(TOP, (0, 1), dt=0.001)
    assert run.method in ph.METHODS
    assert "cheapest" in run.reason
    assert run.reason in repr(run)
    assert ph.load(run.save(tmp_path / "run.nc")).reason == run.reason
    assert run[3:5].reason == run.reason
    same = ph.solve(TOP, (0, 1), method=run.method, dt=0.001)
    assert (run.q == same.q).all()
    assert same.reason == ""


@pytest.mark.parametrize("accuracy", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("body", [[1, 1, 0.6], [1, 1.5, 2]], ids=["symmetric", "asymmetric"])
@pytest.mark.parametrize("strength", [0.02, 1.0, 50.0])
def test_the_requested_accuracy_is_met(body, strength, accuracy):
    """On a problem that was not measured, over as many radians, to a factor of ten."""
    start = {"attitude": [0.9, 0.1, 0.3, -0.3], "scalar_first": True, "omega": [0.6, -0.3, 0.7]}
    model = ph.models.heavy_top(strength, centre=(0, 0, 1))
    problem = ph.Problem(ph.RigidBody(body), model, **start)
    span = 0, 40 / math.sqrt(1 + strength)
    dt = 0.1 / math.sqrt(1 + strength)
    run = ph.solve(problem, span, dt=dt, rtol=accuracy, save_every=10**6)
    right = ph.solve(problem, span, method="srkn14", dt=dt / 4, save_every=10**6)
    error = (right.rotation[-1].inv() * run.rotation[-1]).magnitude()
    assert "cheapest" in run.reason or "too long" in run.reason
    if "cheapest" in run.reason:
        assert error < 10 * accuracy


def test_more_accuracy_is_not_cheaper():
    def cost(accuracy):
        method, _ = auto.choose(TOP, 0.002, accuracy)
        return auto.worst(
            method.name, [("symmetric", t, "weak") for t in ("linear", "quadratic")], 0.1
        )[1]

    costs = [cost(accuracy) for accuracy in (1e-1, 1e-4, 1e-7, 1e-10)]
    assert costs == sorted(costs)


def test_steps_beyond_the_data():
    run = ph.solve(TOP, (0, 2), dt=1.0)
    assert "longer than any" in run.reason


def damping(t, q, omega, params):
    return -params[0] * omega[0], -params[0] * omega[1], -params[0] * omega[2]


@pytest.mark.usefixtures("plain")
def test_a_torque_that_depends_on_the_rate():
    problem = ph.Problem(ph.RigidBody([1, 1.5, 2]), ph.torque(damping, [0.1]), omega=[1, 2, 3])
    run = ph.solve(problem, (0, 1), dt=0.01)
    assert ph.METHODS[run.method].takes_rate
    assert "depends on the rate" in run.reason
    run = ph.solve(problem, (0, 1), dt=0.01, compensated=True)
    assert ph.METHODS[run.method].compensates


def test_a_potential_is_left_to_symplectic_methods():
    for dt in (1e-4, 1e-3, 1e-2, 0.1):
        assert ph.METHODS[ph.prepare(TOP, dt=dt).method.name].symplectic


def test_at_rest_and_at_equilibrium():
    """No rate, and no torque at the start: its strength follows from other attitudes."""
    hanging = ph.Problem(ph.RigidBody([1, 1, 0.5]), ph.models.heavy_top(-3.0), omega=[0, 0, 0])
    ratio, rate = auto.strength(hanging)
    assert ratio == math.inf
    assert rate == pytest.approx(math.sqrt(3.0 / (2.5 / 3)))
    assert ph.solve(hanging, (0, 1), dt=0.01).success


def test_compensated():
    run = ph.solve(TOP, (0, 0.1), dt=0.001, compensated=True)
    assert ph.METHODS[run.method].compensates


def undefined(t, q, omega, params):
    return (1.0 / (q[0] - 1.0), 0.0, 0.0) if q[0] < 1.0 else (1.0 + math.sqrt(q[0] - 1.0), 0.0, 0.0)


def wrong(t, q, omega, params):
    raise KeyError("mass")


def test_torques_that_fail():
    """Errors at the initial attitude are shown; at other attitudes they are skipped."""
    body = ph.RigidBody([1, 1.5, 2])
    with pytest.raises(ph.InputError, match="KeyError: 'mass'"):
        ph.prepare(ph.Problem(body, ph.torque(wrong), omega=[1, 2, 3]), dt=0.1)
    start = {"attitude": [1, 0, 0, 0], "scalar_first": True, "omega": [1, 2, 3]}
    assert ph.prepare(ph.Problem(body, ph.torque(undefined), **start), dt=0.1).reason


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rtol": 0}, "rtol must be a number between 0 and 1.*got 0"),
        ({"rtol": "fine"}, "rtol must be a number between 0 and 1.*got 'fine'"),
        ({"atol": 1e-9}, "'auto' takes the accuracy to aim at as rtol="),
        ({"dt": -1}, "dt must be positive"),
        ({"save_every": 0}, "save_every must be a whole number"),
    ],
)
@pytest.mark.parametrize("problem", [FREE, TOP], ids=["free", "top"])
def test_bad_input(problem, options, words):
    with pytest.raises(ph.PolhodeError, match=words):
        ph.solve(problem, (0, 1), **{"dt": 0.01, **options})


# ---- the data
def test_every_kind_of_problem_was_measured():
    table = auto.measured()
    for body in ("symmetric", "asymmetric"):
        for torque in ("linear", "quadratic", "rate"):
            for size in auto.LIMITS:
                names = {m.method for m in table[body, torque, size]}
                assert {"imidm", "mkrk:rk4"} <= names
                assert names <= set(ph.METHODS), "measure again: a method was renamed"


def test_every_method_was_measured():
    """Those of order 2 or more, but for the ones that need a free body, and two twins."""
    names = {m.method for row in auto.measured().values() for m in row}
    able = {n for n, m in ph.METHODS.items() if m.order > 1 and not m.free_only}
    missing = able - names - {"mkrk:midpoint", "mkrk:trapezoid"}
    assert not missing, "design/work_precision.py --csv src/polhode/solvers/work_precision.csv"
