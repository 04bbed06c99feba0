"""Runs that would take too many steps."""

import json
import math

import numpy as np
import pytest

import polhode as ph
from polhode.contracts import Status
from polhode.errors import InputError
from polhode.solvers import adaptive_steps
from polhode.solvers.adaptive_steps import GrowingRows
from polhode.solvers.arguments import MAX_STEPS, Arguments, step_limits
from polhode.solvers.plain_data import describe_arguments, rebuild_arguments

TOP = ph.problems.fast_top()
plain = pytest.mark.usefixtures("plain")


def bounded(count=20, **settings):
    return ph.solve(TOP, (0, 10), method="dopri5", rtol=1e-9, max_steps=count, **settings)


@plain
def test_a_run_ends_after_max_steps_trials_with_the_states_so_far(monkeypatch):
    whole = bounded(400, t_eval=[0.01])
    monkeypatch.setattr(adaptive_steps, "FIRST_ROWS", 8)  # also over several calls of the loop
    for settings in ({}, {"breakpoints": [0.002]}, {"progress": lambda done: None}):
        run = bounded(**settings)
        assert run.status == Status.TOO_MANY_STEPS
        assert not run.success
        assert "max_steps" in run.message
        assert run.nsteps + run.rejected == 20
        assert 0 < run.t[-1] < 10
    run = bounded()
    assert np.array_equal(run.sol([run.t[-1] / 2]).q, whole.sol([run.t[-1] / 2]).q)


@plain
def test_rejected_trials_count():
    run = ph.solve(TOP, (0, 10), method="dopri5", rtol=1e-9, first_step=5.0, max_steps=3)
    assert (run.nsteps, run.rejected) == (0, 3)
    assert run.status == Status.TOO_MANY_STEPS


@plain
def test_a_run_that_needs_exactly_as_many_is_not_stopped():
    run = ph.solve(TOP, (0, 0.01), method="dopri5", rtol=1e-9)
    count = run.nsteps + run.rejected
    again = ph.solve(TOP, (0, 0.01), method="dopri5", rtol=1e-9, max_steps=count)
    assert again.success
    assert np.array_equal(again.q, run.q)
    short = ph.solve(TOP, (0, 0.01), method="dopri5", rtol=1e-9, max_steps=count - 1)
    assert short.status == Status.TOO_MANY_STEPS


@plain
def test_given_angular_velocities():
    def omega(t):
        return math.sin(40.0 * t), 1.0, math.cos(30.0 * t)

    run = ph.integrate_angular_velocity(
        omega, (0, 100), frame="body", method="dopri5", max_steps=15
    )
    assert run.status == Status.TOO_MANY_STEPS
    assert run.nsteps + run.rejected == 15


@plain
def test_members_are_stopped_as_they_would_be_alone():
    omegas = [[0.0, 0.0, 1.0], [0.0, 0.0, 50.0], [3.0, 0.0, 80.0]]
    settings = {"method": "dopri5", "rtol": 1e-5, "max_steps": 12}
    result = ph.solve_ensemble(TOP, (0, 0.2), samples={"omega": omegas}, **settings)
    for i, omega in enumerate(omegas):
        alone = ph.prepare(TOP, **settings)((0, 0.2), omega=omega)
        assert result.status[i] == alone.status
        assert result.t_reached[i] == alone.t[-1]
        assert np.array_equal(result.q[-1, i], alone.q[-1])
    assert set(result.status) == {Status.OK, Status.TOO_MANY_STEPS}
    assert "max_steps" in result.message(2)


@plain
def test_a_checkpoint_keeps_the_limit(tmp_path):
    file = tmp_path / "run.ckpt"

    def stop(done):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bounded(progress=stop, checkpoint=file, checkpoint_every=7)
    run, again = bounded(), ph.resume(file)
    assert again.status == Status.TOO_MANY_STEPS
    assert np.array_equal(again.t, run.t)
    assert np.array_equal(again.q, run.q)


def test_a_checkpoint_from_before_has_the_default():
    data, arrays = describe_arguments(Arguments(method="dopri5", max_steps=50))
    data = json.loads(json.dumps(data))
    assert rebuild_arguments("a", data, arrays, None, None, None).max_steps == 50
    del data["max_steps"]
    old = rebuild_arguments("a", data, arrays, None, None, None)
    assert step_limits(old)[2] == MAX_STEPS == 10_000_000


@pytest.mark.parametrize("value", [0, -3, 1.5, "x", math.nan])
def test_max_steps_is_a_whole_number(value):
    with pytest.raises(InputError, match=f"max_steps must be a whole number.*{value}"):
        ph.prepare(TOP, method="dopri5", max_steps=value)


def test_there_may_be_no_limit():
    assert ph.prepare(TOP, method="dopri5", max_steps=math.inf).bound.limits[2] > 1e18
    assert ph.prepare(TOP, method="dopri5", max_steps=1e6).arguments["max_steps"] == 1_000_000


def test_rows_grow_by_doubling():
    kept, copies, room = GrowingRows(np.zeros((0, 2))), 0, None
    for k in range(1000):
        kept.append(np.full((7, 2), k))
        copies, room = copies + (kept.rows.base is not room), kept.rows.base
    assert np.array_equal(kept.rows[:, 0], np.repeat(np.arange(1000), 7))
    assert copies < 15


# ---- fixed steps
@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, ("1e+15 steps", "1e+15 states", "save_every=")),
        ({"save_every": 10}, ("1e+14 states", "save_every=")),
        ({"dt": 1e-320}, ("inf steps", "more than can be counted")),
    ],
)
def test_too_many_states_are_answered_with_their_number(settings, words):
    with pytest.raises(InputError) as error:
        ph.solve(TOP, (0, 1e6), **{"method": "mr2", "dt": 1e-9, **settings})
    assert all(word in str(error.value) for word in words)


def test_and_with_what_helps_elsewhere():
    with pytest.raises(InputError, match=r"1e\+15 states.*take a larger dt"):
        ph.integrate_angular_velocity(
            lambda t: (0.0, 0.0, 1.0), (0, 1e6), frame="body", method="rk4", dt=1e-9, save_every=100
        )
    with pytest.raises(InputError, match=r"1e\+15 states.*save a list of times"):
        ph.solve_ensemble(
            TOP, (0, 1e6), samples={"omega": np.ones((2, 3))}, method="mr2", dt=1e-9, save="all"
        )
