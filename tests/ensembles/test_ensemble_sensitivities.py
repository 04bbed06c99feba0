"""Derivatives of members: those of single runs, to the last bit, in memory and in files."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.ensembles.chunk import make_mover
from polhode.ensembles.tangent_movers import TangentMover
from polhode.methods import METHODS
from support.ensembles import BODY, FREE, HEAVY, OFF_GRID, OWN, RATES, SPAN, SPINS, START, tilt

NAMES = ["state", "moments", "model.strength"]
MANY = {"omega": ph.distributions.Normal(START["omega"], 0.3)}
TENSOR = ph.RigidBody([[2.0, 0.3, 0.1], [0.3, 1.5, 0.2], [0.1, 0.2, 1.2]], mass=2.0)


def check(result, by, settings, members=None, rounding=0.0):
    """Values and derivatives of members as those of single runs at the saved times."""
    assert result.success.all()
    for i in range(len(result)) if members is None else members:
        run = ph.solve(result.problem(i), SPAN, t_eval=result.t, sensitivities=by, **settings)
        np.testing.assert_array_equal(result.q[:, i], run.q)
        assert list(result.sensitivity) == list(run.sensitivity)
        for name, values in run.sensitivity.items():
            gap = np.abs(result.sensitivity[name][:, i] - values).max()
            assert gap <= rounding * np.abs(values).max()


def ensemble(problem, by, vary=None, save=OFF_GRID, **settings):
    """An ensemble, whose values have the bits of one without derivatives."""
    vary, settings = SPINS if vary is None else vary, {"seed": 2, **settings}
    result = ph.solve_ensemble(problem, SPAN, vary=vary, save=save, sensitivities=by, **settings)
    plain = ph.solve_ensemble(problem, SPAN, vary=vary, save=save, **settings)
    for name in ("q", "angular_momentum", "nsteps", "niter", "t_reached", "status"):
        np.testing.assert_array_equal(getattr(result, name), getattr(plain, name))
    return result


# ---- the same bits
@pytest.mark.parametrize(
    ("method", "names"),
    [("mr2", NAMES), ("strang", ["moments"]), ("imidm", ["attitude", "model.strength"])],
    ids=["mr2", "strang", "imidm"],
)
def test_members_of_maps_have_the_derivatives_of_single_runs(method, names):
    settings = {"method": method, "dt": 0.02}
    check(ensemble(HEAVY, names, **settings), names, settings)


@pytest.mark.slow
@pytest.mark.parametrize("method", [*METHODS, "rk4", "gauss"])
def test_members_of_every_map_have_the_derivatives_of_single_runs(method):
    free = method in METHODS and METHODS[method].free_only
    settings = {"method": method, "dt": 0.02}
    found = ensemble(FREE if free else HEAVY, ["state"], {"omega": RATES}, **settings)
    check(found, ["state"], settings)


def test_compensated_sums_carry_those_of_derivatives():
    settings = {"method": "mr2", "dt": 0.02, "compensated": True}
    check(ensemble(HEAVY, ["state"], **settings), ["state"], settings)


def test_members_that_find_their_own_steps():
    settings = {"method": "extrapolation", "rtol": 1e-8}
    check(ensemble(HEAVY, NAMES, **settings), NAMES, settings)


@pytest.mark.parametrize("problem", [FREE, ph.Problem(BODY, **START, position=(1.0, 0.0, 2.0))])
def test_members_in_closed_form(problem):
    inertias = BODY.principal_moments * np.array([[1.0], [1.1], [1.2]])
    vary = {"omega": RATES, "inertia": inertias}
    check(ensemble(problem, ["state", "moments"], vary), ["state", "moments"], {})


@pytest.mark.parametrize("frame", ["body", "inertial"])
@pytest.mark.parametrize("at_constant", ["momentum", "omega"])
def test_full_tensors_other_axes_and_what_is_held(frame, at_constant):
    names = ["state", "inertia", "omega"]
    by = ph.Sensitivities(names, frame=frame, at_constant=at_constant)
    problem = ph.Problem(TENSOR, ph.models.heavy_top(20.0), **START)
    turns = Rotation.from_rotvec(0.1 * RATES)
    vary = {"omega": RATES, "attitude": turns, "inertia": TENSOR.inertia * np.ones((3, 1, 1))}
    settings = {"method": "mr2", "dt": 0.02}
    turned = 1e-14 if frame == "inertial" else 0.0
    check(ensemble(problem, by, vary, **settings), by, settings, rounding=turned)


def test_members_that_move_and_have_variables():
    model = ph.models.spring(30.0, (0.2, 0.1, 0.0), (0.0, 0.0, 0.1))
    model = model + ph.models.ring_damper(0.1, 0.05)
    problem = ph.Problem(BODY, model, **START, position=(0.0, 0.1, 0.3))
    vary = {"omega": RATES, "mass": np.array([1.0, 2.0, 3.0])}
    by, settings = ["velocity", "mass"], {"method": "mkrk:rk4", "dt": 0.02}
    result = ensemble(problem, by, vary, **settings)
    check(result, by, settings)
    assert result.sensitivity["velocity"].shape == (len(OFF_GRID), 3, 13, 3)


def test_a_torque_in_python_that_cannot_be_differentiated_in_lanes_alone():
    by, settings = ["model.damping"], {"method": "imidm", "dt": 0.02}
    check(ensemble(OWN, by, {"omega": RATES}, **settings), by, settings)


def test_members_do_not_depend_on_chunks_and_threads():
    settings = {"method": "mr2", "dt": 0.02, "sensitivities": NAMES, "vary": MANY, "seed": 1}
    one = ph.solve_ensemble(HEAVY, SPAN, members=1500, **settings, threads=1)
    two = ph.solve_ensemble(HEAVY, SPAN, members=1500, **settings, threads=2, chunk=1024)
    for name in NAMES:
        np.testing.assert_array_equal(one.sensitivity[name], two.sensitivity[name])


def test_derivatives_that_overflow_stop_nobody():
    """At the middle axis tangents grow as exp(λ t); motions go on, derivatives are infinite."""
    racket = ph.Problem(ph.RigidBody([2.0, 3.0, 4.0]), omega=[0.0, 100.0, 0.0])
    result = ph.solve_ensemble(
        racket, (0, 40), members=3, method="mr2", dt=0.01, sensitivities=["state"]
    )
    assert result.success.all()
    assert (np.abs(result.q[-1, :, 0]) <= 1.0).all()
    assert not np.isfinite(result.stm).all()


@pytest.mark.usefixtures("plain")
def test_plain_python_does_the_same():
    settings = {"method": "mr2", "dt": 0.25}
    check(ensemble(HEAVY, ["state"], save=[0.5], **settings), ["state"], settings)


# ---- what goes with it
def test_reductions_and_events_are_those_without_derivatives():
    settings = {"vary": MANY, "members": 40, "seed": 3, "method": "mr2", "dt": 0.02}
    settings["reduce"] = ["mean(omega)", ph.reductions.FirstTime(tilt)]
    wide = ph.solve_ensemble(HEAVY, SPAN, **settings, sensitivities=["state"])
    plain = ph.solve_ensemble(HEAVY, SPAN, **settings)
    assert list(wide.reductions) == list(plain.reductions)
    for name, values in plain.reductions.items():
        np.testing.assert_array_equal(wide.reductions[name], values)


def test_selections_and_covariances():
    result = ensemble(HEAVY, NAMES, MANY, members=5, method="mr2", dt=0.02)
    part = result.select(times=[0, 5], members=[1, 3])
    np.testing.assert_array_equal(part.stm, result.stm[[0, 5]][:, [1, 3]])
    spread = np.diag([1e-6] * 3 + [1e-4] * 3)
    found = part.covariance({"state": spread, "model.strength": 0.1})
    matrix, by_strength = part.stm[1, 0], part.sensitivity["model.strength"][1, 0]
    expected = matrix @ spread @ matrix.T + 0.1 * np.outer(by_strength, by_strength)
    np.testing.assert_allclose(found[1, 0], expected, rtol=1e-12, atol=1e-18)
    assert found.shape == (2, 2, 6, 6)


def test_files_hold_derivatives(tmp_path):
    settings = {"method": "mr2", "dt": 0.02, "sensitivities": [*NAMES, "omega"], "save": OFF_GRID}
    result = ph.solve_ensemble(HEAVY, SPAN, vary=SPINS, **settings)
    stored = ph.solve_ensemble(HEAVY, SPAN, vary=SPINS, **settings, out=tmp_path / "out.zarr")
    result.save(tmp_path / "a.nc")
    result.save(tmp_path / "a.zarr")
    others = [stored, *(ph.load(tmp_path / name) for name in ("out.zarr", "a.nc", "a.zarr"))]
    for other in others:
        assert set(other.sensitivity) == {*NAMES, "omega"}
        for name, values in result.sensitivity.items():
            np.testing.assert_array_equal(other.sensitivity[name], values)
        np.testing.assert_array_equal(other[1:].stm, result.stm[:, 1:])
        assert other.labelled == {}
    data = result.to_xarray()
    assert data["sensitivity_moments"].dims == ("time", "member", "of", "by_moments")
    assert data["sensitivity_model.strength"].dims == ("time", "member", "of")


@pytest.mark.parametrize("settings", [{"method": "mr2", "dt": 0.002}, {"method": "extrapolation"}])
def test_an_ensemble_that_is_interrupted_goes_on(settings, tmp_path):
    class Enough(Exception):
        pass

    asked = {"vary": MANY, "members": 2100 if "dt" in settings else 6, "seed": 5, "chunk": 1024}
    asked |= {"save": [0.25, 0.5], "sensitivities": NAMES, **settings}
    whole = ph.solve_ensemble(HEAVY, SPAN, **asked)
    place, seen = tmp_path / "ensemble.ckpt", []

    def stop(fraction):
        seen.append(fraction)
        if len(seen) == 2:
            raise Enough

    with pytest.raises(Enough):
        ph.solve_ensemble(
            HEAVY, SPAN, **asked, checkpoint=place, checkpoint_every=20, progress=stop
        )
    again = ph.resume(place)
    for name in NAMES:
        np.testing.assert_array_equal(again.sensitivity[name], whole.sensitivity[name])


def test_nothing_is_there_that_was_not_asked_for():
    result = ph.solve_ensemble(HEAVY, SPAN, vary=SPINS, method="mr2", dt=0.02)
    with pytest.raises(ph.InputError, match="the run has no derivatives: give sensitivities="):
        _ = result.stm
    with pytest.raises(ph.InputError, match="there is no 'momnets' in this problem"):
        ph.solve_ensemble(HEAVY, SPAN, vary=SPINS, method="mr2", dt=0.02, sensitivities=["momnets"])


def test_maps_move_in_lanes(monkeypatch):
    used = []
    monkeypatch.setattr(
        "polhode.ensembles.run.make_mover",
        lambda task, threads: used.append(make_mover(task, threads)) or used[-1],
    )
    ph.solve_ensemble(HEAVY, SPAN, vary=SPINS, method="mr2", dt=0.02, sensitivities=["state"])
    assert isinstance(used[0], TangentMover)
