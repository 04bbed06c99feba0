"""FLI and MEGNO of members, against runs of one body, closed forms and theory."""

import math

import numpy as np
import pytest
from matplotlib.figure import Figure

import polhode as ph
from polhode.solvers.sensitivities import scales_of
from support.ensembles import BODY, HEAVY, SPINS, START

HYPERION = ph.problems.hyperion()
ORBIT, DT = 2 * math.pi, 2 * math.pi / 100
SPINNING = np.array([[1e-3, 1e-3, rate] for rate in (0.2, 0.6, 1.8, 2.6)])  # the last is regular
MAPS = {"method": "mr2", "dt": DT, "save": None, "reduce": ["fli", "megno"]}
MOMENTS = (2.0, 3.0, 4.0)


def growth(problem, span, settings, tangents, every, scales):
    """(FLI, MEGNO) of one body by its transition matrices, at the same times."""
    run = ph.solve(problem, (0, span), **settings, sensitivities=["state"], save_every=every)
    sizes = np.linalg.norm(run.stm @ tangents / scales[:, None], axis=1)
    logs, t = np.log(sizes), run.t[:, None]
    middle, step = 0.5 * (t[1:] + t[:-1]), np.diff(t, axis=0)
    y = 2 * np.cumsum(middle * np.diff(logs, axis=0), axis=0) / t[1:]
    y = np.concatenate([0 * y[:1], y])
    mean = np.sum(0.5 * step * (y[1:] + y[:-1]), axis=0) / t[-1]
    return logs.max(), mean.mean()


def spinning(**more):
    return ph.solve_ensemble(HYPERION, (0, 4 * ORBIT), vary={"omega": SPINNING}, **MAPS | more)


# ---- the same numbers as of one body
@pytest.mark.parametrize(("method", "tangents"), [("mr2", 1), ("mr2", 3), ("imidm", 1)])
def test_members_are_measured_as_one_body_is(method, tangents):
    asked = [kind(tangents=tangents, every=4) for kind in (ph.reductions.FLI, ph.reductions.MEGNO)]
    result = spinning(method=method, reduce=asked)
    scales = scales_of(HYPERION)
    columns = np.cos(np.outer(np.arange(1, 7), np.arange(1, tangents + 1))) * scales[:, None]
    columns = columns / np.linalg.norm(columns / scales[:, None], axis=0)
    for i in range(4):
        settings = {"method": method, "dt": DT}
        fli, megno = growth(result.problem(i), 4 * ORBIT, settings, columns, 4, scales)
        assert result.reductions["fli"][i] == pytest.approx(fli, abs=1e-9)
        assert result.reductions["megno"][i] == pytest.approx(megno, abs=1e-9)


def test_tangents_that_are_given():
    columns = np.array([[0, 0, 0, 2.0, 0, 0]]).T  # any length
    asked = ph.reductions.FLI(tangents=columns.tolist())
    result = spinning(reduce=asked)
    scales, settings = scales_of(HYPERION), {"method": "mr2", "dt": DT}
    unit = columns / np.linalg.norm(columns[:, 0] / scales)
    expected, _ = growth(result.problem(2), 4 * ORBIT, settings, unit, 10, scales)
    assert result.reductions["fli"][2] == pytest.approx(expected, abs=1e-9)


def test_six_degrees_of_freedom():
    problem = ph.Problem(
        BODY, ph.models.spring(30.0, (0.2, 0.1, 0.0), (0.0, 0.0, 0.1)), **START,
        position=(0.0, 0.1, 0.3),
    )  # fmt: skip
    settings = {"method": "mr2", "dt": 0.01}
    result = ph.solve_ensemble(problem, (0, 2), members=2, reduce="fli", **settings)
    scales = scales_of(problem)
    columns = np.cos(np.arange(1, 13)) * scales
    columns = (columns / np.linalg.norm(columns / scales))[:, None]
    expected, _ = growth(problem, 2.0, settings, columns, 10, scales)
    assert result.reductions["fli"] == pytest.approx([expected, expected], abs=1e-9)


@pytest.mark.usefixtures("plain")
def test_plain_python_does_the_same():
    asked = ph.reductions.FLI(every=1)
    result = ph.solve_ensemble(HYPERION, (0, 2 * DT), members=1, method="mr2", dt=DT, reduce=asked)
    scales = scales_of(HYPERION)
    columns = (np.cos(np.arange(1, 7)) * scales)[:, None]
    columns = columns / np.linalg.norm(columns[:, 0] / scales)
    expected, _ = growth(HYPERION, 2 * DT, {"method": "mr2", "dt": DT}, columns, 1, scales)
    assert result.reductions["fli"][0] == pytest.approx(max(expected, 0.0), abs=1e-12)


def test_states_are_those_without():
    plain = ph.solve_ensemble(HEAVY, (0, 0.5), vary=SPINS, method="mr2", dt=0.02, save=10)
    settings = {"method": "mr2", "dt": 0.02, "save": 10, "reduce": ["fli", "mean(omega)"]}
    result = ph.solve_ensemble(HEAVY, (0, 0.5), vary=SPINS, **settings, reduce_times=2)
    np.testing.assert_array_equal(result.q, plain.q)
    np.testing.assert_array_equal(result.omega, plain.omega)
    assert set(result.reductions) == {"fli", "omega_mean", "omega_std"}


# ---- closed forms and theory
def test_at_the_middle_axis_tangents_grow_by_the_exponent_of_the_separatrix():
    """After 1500 lengths of time of growth, exp(1500 λ t) would be no number."""
    a, b, c = (1.0 / moment for moment in MOMENTS)
    rate, span = 3.0 * math.sqrt((a - b) * (b - c)), 5000.0
    racket = ph.Problem(ph.RigidBody(MOMENTS), omega=[0.0, 1.0, 0.0])
    settings = {"method": "mr2", "dt": 0.05, "reduce": ["fli", "megno"]}
    result = ph.solve_ensemble(racket, (0, span), members=2, **settings)
    assert rate * span > 1500
    assert result.reductions["fli"][0] / span == pytest.approx(rate, rel=1e-3)
    assert 2 * result.reductions["megno"][0] / span == pytest.approx(rate, rel=2e-3)


def test_regular_motions_have_a_logarithm_and_a_megno_of_two():
    body = ph.RigidBody(MOMENTS)
    problem = ph.Problem(body, omega=[0.3, 0.1, 1.0])
    settings = {"method": "mr2", "dt": 0.05, "reduce": ["fli", "megno"], "members": 2}
    found = [ph.solve_ensemble(problem, (0, t), **settings).reductions for t in (200.0, 2000.0)]
    ratio = found[1]["fli"][0] - found[0]["fli"][0]
    assert ratio == pytest.approx(math.log(10.0), rel=0.05)
    assert found[1]["megno"][0] == pytest.approx(2.0, abs=0.02)


def test_hyperion_tumbles_unless_it_spins_fast():
    span = 60 * ORBIT
    found = ph.solve_ensemble(HYPERION, (0, span), vary={"omega": SPINNING}, **MAPS).reductions
    assert found["fli"][3] < math.log(span) + 2
    assert (found["fli"][:3] > 25).all()
    assert found["megno"][3] == pytest.approx(2.0, abs=0.3)
    rates = 2 * found["megno"][:3] / span
    exponents = [
        ph.lyapunov(
            ph.Problem(HYPERION.body, HYPERION.model, attitude=HYPERION.attitude,
                       scalar_first=True, omega=start),
            span, method="mr2", dt=DT, transient=0.0,
        ).exponents[0]
        for start in SPINNING[:3]
    ]  # fmt: skip
    np.testing.assert_allclose(rates, exponents, rtol=0.5)


# ---- what does not matter
def test_chunks_threads_rows_and_checkpoints_change_nothing(tmp_path):
    spins = {"omega": ph.distributions.Normal([0.0, 0.0, 1.0], 0.5)}
    asked = {"vary": spins, "members": 2100, "seed": 4, **MAPS}
    whole = ph.solve_ensemble(HYPERION, (0, 2.0), **asked, threads=1)
    parts = ph.solve_ensemble(
        HYPERION, (0, 2.0), **asked | {"save": [0.333, 1.0, 2.0]}, threads=2, chunk=1024
    )
    place, calls = tmp_path / "ensemble.ckpt", []

    def stop(fraction):
        calls.append(fraction)
        if len(calls) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ph.solve_ensemble(
            HYPERION, (0, 2.0), **asked, chunk=1024, checkpoint=place, checkpoint_every=5,
            progress=stop,
        )  # fmt: skip
    for other in (parts, ph.resume(place)):
        for name in ("fli", "megno"):
            np.testing.assert_array_equal(other.reductions[name], whole.reductions[name])


def test_members_that_fail_keep_what_they_had():
    def pushed(t, q, omega, params):
        return 0.0, 0.0, math.sqrt(params[0] - t)

    problem = ph.Problem(BODY, ph.torque(pushed, {"end": 1.0}), **START)
    ends = {"model.end": np.array([0.51, 3.0])}
    result = ph.solve_ensemble(
        problem, (0, 1), vary=ends, method="mr2", dt=0.01, reduce=["fli", "megno"]
    )
    assert result.success.tolist() == [False, True]
    short = ph.solve_ensemble(problem, (0, 0.5), vary=ends, method="mr2", dt=0.01, reduce="megno")
    assert result.reductions["megno"][0] == short.reductions["megno"][0]
    assert np.isfinite(result.reductions["fli"]).all()


# ---- files, tables and pictures
def test_files_and_tables(tmp_path):
    result = spinning()
    for name in ("a.nc", "a.zarr"):
        result.save(tmp_path / name)
        again = ph.load(tmp_path / name)
        np.testing.assert_array_equal(again.reductions["fli"], result.reductions["fli"])
    assert result.to_dataframe()["megno"].tolist() == result.reductions["megno"].tolist()
    assert result.labelled["fli"].dims == ("member",)
    with pytest.raises(ph.InputError, match="the run has no derivatives"):
        _ = result.stm


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_grid_of_two_sweeps_is_drawn_as_a_map(theme):
    sweep = ph.distributions.Sweep
    vary = {"omega": sweep(SPINNING), "model.eccentricity": sweep([0.05, 0.1, 0.15])}
    result = ph.solve_ensemble(HYPERION, (0, ORBIT), vary=vary, **MAPS)
    assert {name: len(values) for name, values in result.grid.items()} == {
        "omega": 4, "model.eccentricity": 3,
    }  # fmt: skip
    sheet = Figure()
    axes = result.plot(sheet.subplots(1, 2), theme=theme)
    assert [ax.get_title(loc="left") for ax in axes] == ["FLI", "MEGNO"]
    assert axes[0].get_xlabel() == "omega z"
    assert axes[0].get_ylabel() == "model.eccentricity"
    drawn = axes[0].collections[0].get_array()
    np.testing.assert_array_equal(drawn.ravel(), result.reductions["fli"].reshape(4, 3).T.ravel())
    assert result[:5].grid == {}
    ax = spinning().plot(Figure().subplots(1, 2))[0]
    assert ax.get_ylabel() == "members"


# ---- mistakes
FLI, MEGNO = ph.reductions.FLI, ph.reductions.MEGNO
ERRORS = {
    "adaptive": ({"method": "dop853", "dt": None}, "finds its steps itself: give a map and dt="),
    "formulation": ({"method": "rk4", "formulation": "generator"}, "are not for formulation"),
    "several": ({"reduce": [FLI(every=5), MEGNO()]}, "must have the same tangents= and every="),
    "both": ({"sensitivities": ["state"]}, "would scale the derivatives that sensitivities= asks"),
    "short": (
        {"reduce": FLI(every=1000)},
        "look at tangents every 1000 steps, and the span has 400",
    ),
    "every": ({"reduce": FLI(every=0)}, "every of FLI must be a whole number, 1 or more, got 0"),
    "tangents": ({"reduce": MEGNO(tangents=1.5)}, "tangents of MEGNO must be a whole number"),
    "columns": ({"reduce": FLI(tangents=[[1.0]])}, "columns of 6 finite numbers"),
    "zero": ({"reduce": FLI(tangents=[[0.0]] * 6)}, "tangents must not be 0"),
    "quantity": ({"reduce": FLI("omega")}, "FLI is of tangents, not of 'omega'"),
    "times": ({"reduce_times": 3}, "reduce_times= needs reduce= of all members"),
}


@pytest.mark.parametrize(("given", "message"), ERRORS.values(), ids=ERRORS)
def test_mistakes(given, message):
    with pytest.raises(ph.InputError, match=message):
        spinning(**given)
