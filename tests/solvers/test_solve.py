"""``solve``: steps, saving, side steps, failures, repetition, and refused arguments."""

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

import polhode as ph

TOP = ph.problems.fast_top()


def solved(t_span=(0, 1), dt=0.01, method="imidm", problem=TOP, **options):
    return ph.solve(problem, t_span, method=method, dt=dt, **options)


# ---- steps and times
@pytest.mark.parametrize(
    ("t_end", "dt", "steps"),
    [(1.0, 0.1, 10), (0.3, 0.1, 3), (1.0, 1 / 3, 3), (1.0, 0.33333333333, 3), (1e-3, 1e-3, 1)],
)
def test_a_whole_number_of_steps_is_taken_exactly(t_end, dt, steps):
    run = solved((0, t_end), dt, problem=ph.problems.krysl_free())
    assert run.nsteps == steps
    assert run.t[-1] == t_end
    # each time is one product and one sum, not a sum of many
    assert np.array_equal(run.t[:-1], np.arange(steps) * (t_end / steps))


def test_otherwise_the_last_step_is_shortened_to_hit_the_end():
    run = solved((0, 1.005))
    assert run.nsteps == 101
    assert run.t[-1] == 1.005
    assert np.diff(run.t)[-1] == pytest.approx(0.005)
    whole = solved((0, 1.0))
    assert np.array_equal(run.q[:-1], whole.q)
    last = solved((1.0, 1.005), 0.005, problem=restarted(whole))
    assert np.allclose(run.q[-1], last.q[-1], rtol=0, atol=1e-15)


def restarted(run):
    return ph.Problem(
        TOP.body,
        TOP.model,
        attitude=run.q[-1],
        scalar_first=True,
        angular_momentum=run.angular_momentum[-1],
    )


def test_a_span_shorter_than_a_step_and_an_empty_one():
    assert solved((0, 0.001)).nsteps == 1
    still = solved((2, 2))
    assert (len(still), still.nsteps, still.t[0]) == (1, 0, 2.0)


def test_backward_in_time_comes_back():
    there = solved((0, 1))
    back = solved((1, 0), problem=restarted(there))
    assert back.t[-1] == 0
    assert np.allclose(back.q[-1], TOP.attitude, rtol=0, atol=1e-13)
    assert np.allclose(back.angular_momentum[-1], TOP.angular_momentum, rtol=0, atol=1e-11)


@pytest.mark.parametrize("every", [1, 3, 7, 100, 1000])
def test_saving_less_changes_nothing(every):
    all_, some = solved(), solved(save_every=every)
    expected = sorted({*range(0, 101, every), 100})
    assert np.array_equal(some.t, all_.t[expected])
    assert np.array_equal(some.q, all_.q[expected])


def test_a_shortened_last_step_with_rare_saving():
    run = solved((0, 1.005), save_every=30)
    assert run.t.tolist() == [0.0, 0.3, 0.6, 0.9, 1.005]


# ---- chosen times
def test_times_on_the_grid_are_the_steps_themselves():
    run = solved()
    chosen = solved(t_eval=run.t[[0, 3, 50, 100]])
    assert np.array_equal(chosen.q, run.q[[0, 3, 50, 100]])


def test_times_off_the_grid_are_side_steps_that_are_never_fed_back():
    run = solved()
    times = np.array([0.0, 0.0123, 0.0151, 0.5, 0.999, 1.0])
    chosen = solved(t_eval=times)
    assert np.array_equal(chosen.t, times)
    assert np.array_equal(chosen.q[-1], run.q[-1])
    # each is one shorter step from the grid point before it; a restart has another first guess, so
    # the same solution to rounding
    for i, k in ((1, 1), (2, 1), (4, 99)):
        side = solved((run.t[k], times[i]), 1.0, problem=restarted(run[: k + 1]))
        assert np.allclose(chosen.q[i], side.q[-1], rtol=0, atol=1e-14)


def test_chosen_times_backward():
    there = solved((0, 1))
    back = solved((1, 0), problem=restarted(there), t_eval=[1.0, 0.505, 0.5, 0.0])
    assert np.allclose(back.q[2], there.q[50], rtol=0, atol=1e-13)


# ---- pieces
def test_chunks_and_progress_do_not_change_a_bit(monkeypatch):
    whole = solved((0, 10), 0.001)
    monkeypatch.setattr("polhode.solvers.maps.FIRST_CHUNK", 37)
    monkeypatch.setattr("polhode.solvers.fixed_steps.FIRST_CHUNK", 37)
    monkeypatch.setattr("polhode.solvers.fixed_steps.CHUNK_SECONDS", 1e-4)
    seen = []
    pieces = solved((0, 10), 0.001, progress=seen.append)
    assert np.array_equal(pieces.q, whole.q)
    assert (pieces.nsteps, pieces.nfev, pieces.niter) == (whole.nsteps, whole.nfev, whole.niter)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    far = solved((0, 10), 0.001, save_every=9999)  # rows further apart than a chunk
    assert np.array_equal(far.q, whole.q[[0, 9999, 10000]])


def test_a_progress_bar_goes_to_stderr(capfd):
    solved((0, 10), 0.001, progress=True)
    out, _ = capfd.readouterr()
    assert out == ""


def test_memory_is_that_of_the_saved_states():
    solved((0, 1), 1e-5, method="forward-euler-m", save_every=1000)
    tracemalloc.start()
    run = solved((0, 10), 1e-6, method="forward-euler-m", save_every=1000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert run.nsteps == 10**7
    saved = len(run) * 8 * 7
    assert peak < 2 * saved + 2e5  # times, places and side steps are 3 of 7; the rest is constant


# ---- prepared
def test_a_prepared_solver_is_solve():
    solver = ph.prepare(TOP, method="imidm", dt=0.01)
    assert np.array_equal(solver((0, 1)).q, solved().q)
    other = solver((0, 1), omega=[0, 0, 40], params=[15.0])
    direct = solved(
        problem=ph.Problem(
            TOP.body,
            ph.models.heavy_top(15.0),
            attitude=TOP.attitude,
            scalar_first=True,
            omega=[0, 0, 40],
        )
    )
    assert np.array_equal(other.q, direct.q)
    assert np.array_equal(other.energy, direct.energy)
    assert other.problem["parameters"] == {"strength": 15.0}
    assert other.problem["angular_momentum"] == [0.0, 0.0, 40.0]
    with pytest.raises(ph.InputError, match=r"params must be 1 numbers.*strength"):
        solver((0, 1), params=[1.0, 2.0])


def test_a_user_defined_tableau():
    ralston = ph.Tableau(
        name="ralston", a=((0, 0), (2 / 3, 0)), b=(1 / 4, 3 / 4), c=(0, 2 / 3), order=2
    )
    coarse, fine = (solved((0, 1), dt, method=ph.mkrk(ralston)) for dt in (2e-3, 1e-3))
    exact = solved((0, 1), 2e-3, method="mkrk:rk4").q[-1]
    errors = [np.abs(run.q[-1] - exact).max() for run in (coarse, fine)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.1)


# ---- failure
def test_failure_gives_everything_up_to_the_last_good_step():
    run = solved((0, 100), 0.5, problem=ph.problems.soft_wall_attractive())
    assert not run.success
    assert run.status is ph.Status.NOT_CONVERGED
    assert run.nsteps == len(run) - 1 < 200
    assert np.isfinite(run.q).all()
    for words in (f"t = {run.t[-1]:g}", "last correction", "smaller dt"):
        assert words in run.message
    seldom = solved((0, 100), 0.5, problem=ph.problems.soft_wall_attractive(), save_every=1000)
    assert np.array_equal(seldom.q, run.q[[0, -1]])


def test_a_stiff_torque_that_magnifies_rounding_is_not_a_failure():
    """Near the wall corrections end in a cycle of some 70 roundings instead of shrinking."""
    run = solved((0, 170), 0.01, method="imid", problem=ph.problems.soft_wall_attractive())
    assert run.success


def test_overflow_is_a_status_and_no_nan_is_returned():
    run = solved((0, 1e4), 0.5, method="forward-euler", problem=ph.problems.soft_wall())
    assert run.status is ph.Status.NOT_FINITE
    assert np.isfinite(run.q).all()
    assert np.isfinite(run.angular_momentum).all()
    assert "overflowed" in run.message


# ---- what it refuses
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "imidn"}, "did you mean imid or imidm"),
        ({"dt": None}, "give dt="),
        ({"dt": -0.1}, "dt must be positive.*t_span end before"),
        ({"dt": "fast"}, "dt must be a number"),
        ({"rtol": 1e-6}, "not rtol="),
        ({"t_span": (0,)}, "t_span must be two numbers"),
        ({"t_span": (0, np.inf)}, "t_span must be finite"),
        ({"t_span": (0, 1e300)}, "more than can be counted"),
        ({"save_every": 0}, "save_every must be a whole number"),
        ({"t_eval": [0.5], "save_every": 2}, "not both"),
        ({"t_eval": [0.5, 0.2]}, r"t_eval\[1\] = .*0.2.* comes after"),
        ({"t_eval": [0.5, 2.0]}, r"t_eval\[1\] = .*2.0.* is outside t_span"),
        ({"t_eval": [0.5, np.nan]}, r"t_eval\[1\] is not"),
        ({"t_eval": []}, "t_eval must be a list"),
        ({"problem": "fast-top"}, "problem must be a Problem"),
    ],
)
def test_bad_arguments_are_named(options, words):
    with pytest.raises(ph.InputError, match=words):
        solved(**options)


# ---- the package
def test_import_is_light():
    code = (
        "import sys, polhode;"
        "heavy = {'matplotlib', 'xarray', 'typer', 'rich', 'pydantic', 'pandas', 'h5netcdf',"
        "         'scipy.spatial'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
