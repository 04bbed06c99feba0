"""Sensitivities where it is hard: how they are asked for, what fails, what is large."""

import inspect
import math

import numpy as np
import pytest

import polhode as ph

pytestmark = pytest.mark.usefixtures("plain")

TOP = ph.Problem(ph.RigidBody([2.0, 3.0, 4.5]), ph.models.heavy_top(5.0), omega=[0.3, 1.0, 2.0])
FREE = ph.Problem(ph.RigidBody([2.0, 3.0, 4.5]), omega=[0.3, 1.0, 2.0])
NAMES = ["state", "moments", "model.strength"]


def solved(problem=TOP, span=(0.0, 0.1), **options):
    return ph.solve(problem, span, **({"method": "mr2", "dt": 0.02} | options))


# ---- how names are given
@pytest.mark.parametrize(
    "given",
    [tuple, np.array, iter, lambda names: (n for n in names), lambda names: [*names, names[0]]],
    ids=["tuple", "array", "iterator", "generator", "twice"],
)
def test_names_of_any_kind(given):
    run, wanted = solved(sensitivities=given(NAMES)), solved(sensitivities=NAMES)
    assert list(run.sensitivity) == NAMES
    for name in NAMES:
        assert np.array_equal(run.sensitivity[name], wanted.sensitivity[name])


def test_generators_of_names_for_every_solver():
    def names():
        return (name for name in ["state"])

    def still(t):
        return 0.0, 0.1, 0.2

    prepared = ph.prepare(TOP, method="mr2", dt=0.02, sensitivities=names())
    rates = ph.prepare_angular_velocity(still, frame="body", sensitivities=names())
    for _ in range(2):
        assert prepared((0.0, 0.1)).stm.shape == (6, 6, 6)
        assert rates((0.0, 0.1)).stm.shape[1:] == (3, 3)
    assert ph.solve(FREE, (0.0, 1.0), t_eval=[1.0], sensitivities=names()).stm.shape == (1, 6, 6)
    free = ph.exact_free_motion(FREE.body, None, FREE.omega, 1.0, sensitivities=names())
    assert free.stm.shape == (1, 6, 6)


@pytest.mark.parametrize("given", [[], (), True, False, 3, [None], [["state"]], {"state": 1}, {}])
def test_what_is_not_names_is_shown(given):
    with pytest.raises(ph.InputError, match="sensitivities must be names"):
        solved(sensitivities=given)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("strength", "did you mean 'model.strength'"),
        ("model", "did you mean 'model.strength'"),
        ("momentum", "did you mean 'angular_momentum'"),
        ("model.streng", "did you mean 'model.strength'"),
        ("position", "give position= to the Problem"),
        ("velocity", "give position= to the Problem"),
        ("mass", "without a position nothing depends on 'mass'"),
    ],
)
def test_names_that_do_not_fit_get_a_hint(name, words):
    with pytest.raises(ph.InputError, match=words):
        solved(sensitivities=[name])


def test_parameters_named_as_the_motion():
    def turning(t, q, params):
        return params[0] * math.cos(t), 0.2, params[1]

    options = {"frame": "body", "params": {"attitude": 0.3, "state": 1.0}}
    for name in ("attitude", "state"):
        with pytest.raises(ph.InputError, match=f"{name!r} is the {name} of the motion"):
            ph.integrate_angular_velocity(turning, (0.0, 1.0), sensitivities=[name], **options)
    with pytest.raises(ph.InputError, match="did you mean 'gain'"):
        ph.integrate_angular_velocity(
            turning, (0.0, 1.0), frame="body", params={"gain": 0.3, "rate": 1.0},
            sensitivities=["model.gain"],
        )  # fmt: skip


# ---- what a run has
def test_what_a_run_was_not_differentiated_by():
    run = solved(sensitivities=["moments"])
    assert "moments" in run.sensitivity
    assert "inertia" not in run.sensitivity
    assert run.sensitivity.get("inertia") is None
    assert run.sensitivity.get("moments").shape == (6, 6, 3)
    assert not hasattr(run, "stm")
    plain = solved()
    assert not hasattr(plain, "stm")
    assert getattr(plain, "sensitivity", None) is None
    assert "q" in dict(inspect.getmembers(plain))  # as consoles do
    with pytest.raises(ph.InputError, match="the run has no derivatives"):
        _ = plain.stm


def test_a_wrong_name_of_a_run_is_answered_with_the_right_one():
    run = solved(sensitivities=NAMES)
    with pytest.raises(ph.InputError, match=r"did you mean 'model\.strength'\?"):
        _ = run.sensitivity["strength"]
    with pytest.raises(ph.InputError, match=r"did you mean 'moments'\?"):
        run.covariance({"moment": 1.0})
    with pytest.raises(ph.InputError, match=r"differentiated by it; .*=\['inertia'\] to the"):
        _ = run.sensitivity["inertia"]


def test_covariances_that_say_nothing():
    run = solved(sensitivities=NAMES)
    with pytest.raises(ph.InputError, match="covariance of what\\? give that of the initial state"):
        run.covariance({})
    bad = np.eye(6)
    bad[2, 2] = np.nan
    with pytest.raises(ph.InputError, match=r"'state' .* got numbers that are not finite"):
        run.covariance(bad)


# ---- prepared solvers
def test_the_sign_of_zero_at_the_start_counts():
    solver = ph.prepare(TOP, method="mr2", dt=0.02, sensitivities=["state"])
    turned = ph.RigidBody([2.0, 3.0, 4.5])
    for sign in (1.0, -1.0):
        start = (sign * 0.0, 1.0, 2.0)
        run = solver((0.0, 0.02), omega=start)
        alone = solved(ph.Problem(turned, TOP.model, omega=start), (0.0, 0.02))
        assert run.angular_momentum.tobytes() == alone.angular_momentum.tobytes()


# ---- long runs
def test_what_does_not_fit_into_memory_counts_derivatives(monkeypatch):
    def still(t):
        return 0.0, 0.1, 0.2

    span = (0.0, 1e6)
    monkeypatch.setattr("polhode.files.given.memory", lambda: 10**9)
    with pytest.raises(ph.InputError, match=r"would keep .* states"):
        ph.solve(TOP, span, method="mr2", dt=0.5, sensitivities=["state"])
    with pytest.raises(ph.InputError, match=r"would keep .* states"):
        ph.integrate_angular_velocity(
            still, span, frame="body", method="rk4", dt=0.5, sensitivities=["state"]
        )


@pytest.mark.parametrize("frame", ["body", "inertial"])
def test_long_runs_are_converted_in_blocks(frame):
    tilted = ph.RigidBody([[2.0, 0.1, 0.2], [0.1, 3.0, 0.3], [0.2, 0.3, 4.0]])
    by = ph.Sensitivities(["state", "inertia"], frame=frame)
    times = np.linspace(0.0, 9.0, 3000)
    run = ph.exact_free_motion(tilted, None, [0.3, 1.0, 2.0], times, sensitivities=by)
    for place in (0, 1023, 1024, 2999):
        one = ph.exact_free_motion(tilted, None, [0.3, 1.0, 2.0], times[place], sensitivities=by)
        assert np.array_equal(run.stm[place], one.stm[0])
        assert np.array_equal(run.sensitivity["inertia"][place], one.sensitivity["inertia"][0])


def test_derivatives_that_are_not_finite_are_not_passed_over_in_silence():
    """√|ω1| has no derivative at 0, where this body is and stays."""

    def dragged(t, q, omega, params):
        return -0.1 * math.sqrt(abs(omega[0])), 0.0, 0.0

    problem = ph.Problem(FREE.body, ph.torque(dragged), omega=[0.0, 0.0, 2.0])
    with np.errstate(all="ignore"):
        run = solved(problem, method="mkrk:rk4", sensitivities=["state"])
    with pytest.warns(ph.PolhodeWarning, match="derivatives are not finite from t = 0.02 on"):
        matrix = run.stm
    assert run.success
    assert np.isfinite(matrix[0]).all()
    assert not np.isfinite(matrix[1]).all()
    assert np.isfinite(run.q).all()


def test_no_times_at_all():
    run = ph.exact_free_motion(FREE.body, None, FREE.omega, [], sensitivities=["state", "inertia"])
    assert run.stm.shape == (0, 6, 6)
    assert run.sensitivity["inertia"].shape == (0, 6, 6)
    assert solved(sensitivities=["state"])[:0].stm.shape == (0, 6, 6)
