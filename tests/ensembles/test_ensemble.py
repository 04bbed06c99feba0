"""Ensembles: every member has the bits of its run alone, whatever else is on its way."""

import errno
import json
import math
import os
import warnings
from functools import partial

import numpy as np
import pytest
import xarray
from scipy import stats
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.cli.ensemble import at_the_end
from polhode.contracts import Model
from polhode.ensembles.chunk import bracketed
from polhode.ensembles.distributions import (
    GROUP,
    Around,
    Attitudes,
    Boxes,
    Normal,
    OnSphere,
    Sweep,
    Uniform,
    drawn,
)
from polhode.ensembles.movers import FixedCrowd
from polhode.ensembles.reductions import (
    FirstTime,
    Histogram,
    Mean,
    MeanAttitude,
    Quantiles,
    Reduction,
)
from polhode.ensembles.store import Store

SPAN, DT = (0.0, 0.5), 0.02
OFF_GRID = [0.0, 0.05, 0.1234, 0.2, 0.4321, 0.5]
BODY = ph.RigidBody([2.0, 3.0, 4.5], mass=2.0)
START = {"attitude": Rotation.from_rotvec([0.3, 0.1, 0.2]), "omega": [0.4, 1.3, 5.0]}
HEAVY = ph.Problem(BODY, ph.models.heavy_top(20.0), **START, name="heavy")
FREE = ph.Problem(BODY, **START)
RATES = np.array([[0.4, 1.3, 5.0], [-2.0, 0.1, 1.0], [0.0, 3.0, -0.5]])
SPINS = {"omega": RATES, "model.strength": np.array([20.0, 0.0, 7.5])}


def check_bits(result, span, members=None, rounding=0.0, **asked):
    """Members as ``solve`` finds them alone, at the saved times."""
    assert result.success.all()
    for i in range(len(result)) if members is None else members:
        run = ph.solve(result.problem(i), span, t_eval=result.t, **asked)
        assert run.success
        np.testing.assert_array_equal(result.q[:, i], run.q)
        size = np.abs(run.angular_momentum).max()  # turned by a quaternion here, by a matrix there
        for name in ("angular_momentum", "omega"):
            gap = np.abs(getattr(result, name)[:, i] - getattr(run, name)).max()
            assert gap <= rounding * size
        if run.x is not None:
            np.testing.assert_array_equal(result.x[:, i], run.x)
            np.testing.assert_array_equal(result.v[:, i], run.v)
        assert result.t_reached[i] == run.t[-1]
        assert result.nsteps[i] == ph.solve(result.problem(i), span, **asked).nsteps


# ---- every map
ALWAYS = {
    "forward-euler", "imidm", "trap", "swc1", "akw", "bbtrapwd", "mr2", "strang4", "dmv4", "jem4",
    "sej", "rkn4", "mkrk:rk4",
}  # fmt: skip
MAPS = [pytest.param(name, marks=() if name in ALWAYS else pytest.mark.slow) for name in ph.METHODS]


@pytest.mark.parametrize("name", MAPS)
def test_maps_have_the_bits_of_single_runs(name):
    free = ph.METHODS[name].free_only
    problem, vary = (FREE, {"omega": RATES}) if free else (HEAVY, SPINS)
    result = ph.solve_ensemble(problem, (0.0, 0.25), vary=vary, method=name, dt=0.02)
    check_bits(result, (0.0, 0.25), method=name, dt=0.02)
    assert result.method == name


@pytest.mark.parametrize("name", ["mr2", "forward-euler"])
def test_members_that_turn_by_more_than_a_turn_a_step(name):
    rates = np.array([[1.0, 2.0, 3.0], [1.0, 0.5, 300.0], [0.2, 0.1, 0.3], [500.0, 1.0, -700.0]])
    asked = {"method": name, "dt": 0.05}
    result = ph.solve_ensemble(HEAVY, (0.0, 0.15), vary={"omega": rates}, **asked)
    check_bits(result, (0.0, 0.15), **asked)


def test_the_maps_that_always_run_exist():
    assert set(ph.METHODS) >= ALWAYS


# ---- every kind of problem
def test_symmetric_and_asymmetric_members_together():
    inertia = [[2.0, 2.0, 1.0], [2.0, 3.0, 4.5], [2.0, 2.0, 2.0], [4.0, 3.0, 2.0], [4.0, 4.0, 4.5]]
    asked = {"method": "srkn14", "dt": 0.1}
    result = ph.solve_ensemble(HEAVY, SPAN, vary={"inertia": inertia}, save="all", **asked)
    assert result.q.shape == (6, 5, 4)
    check_bits(result, SPAN, **asked)


def test_compensated_sums():
    asked = {"method": "mr2", "dt": DT, "compensated": True}
    result = ph.solve_ensemble(HEAVY, SPAN, vary=SPINS, save=OFF_GRID, **asked)
    check_bits(result, SPAN, **asked)


def test_six_degrees_of_freedom_and_parameters_of_terms():
    problem = ph.problems.off_centre_spring()
    vary = {
        "model.spring.stiffness": [150.0, 120.0, 10.0],
        "model.uniform_gravity.g": [[0, 0, -9.8], [0, 0, -1.6], [0.1, 0, -9.8]],
        "position": [[0, -0.1, 0.4], [0.1, 0, 0.5], [0, 0, 0.3]],
        "velocity": [[0.3, 0, 0], [0, 0, 0], [0, 0.2, 0]],
        "mass": [2.0, 3.0, 0.5],
    }
    names = [f"model.{term.name}" for term in problem.model.terms]
    assert names == ["model.spring", "model.uniform_gravity"]
    result = ph.solve_ensemble(problem, SPAN, vary=vary, save=OFF_GRID, method="mr2", dt=DT)
    check_bits(result, SPAN, method="mr2", dt=DT)
    for i in range(3):
        run = ph.solve(result.problem(i), SPAN, t_eval=result.t, method="mr2", dt=DT)
        np.testing.assert_allclose(result.energy[:, i], run.energy, rtol=1e-13)
        np.testing.assert_allclose(result.kinetic_energy[:, i], run.kinetic_energy, rtol=1e-13)


def pulled(t, q, omega, params):
    pull, damping = params
    return -damping * omega[0], pull * math.sin(3.0 * t), q[1] - damping * omega[2]


OWN = ph.Problem(BODY, ph.torque(pulled, {"pull": 1.0, "damping": 0.1}), **START)


def test_a_torque_of_the_users_own():
    vary = {"model.pull": [1.0, 0.0, -3.0], "model.damping": [0.1, 0.0, 2.0]}
    asked = {"method": "rkn4", "dt": DT}
    check_bits(ph.solve_ensemble(OWN, SPAN, vary=vary, **asked), SPAN, **asked)


def sorted_out(t, q, omega, params):
    return sorted([params[0], 0.2, 0.3], key=lambda x: -x)  # Numba refuses this


def test_a_torque_that_cannot_be_compiled():
    problem = ph.Problem(BODY, ph.torque(sorted_out, {"a": 0.1}), **START)
    asked = {"method": "mr2", "dt": 0.25}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ph.PolhodeWarning)
        result = ph.solve_ensemble(problem, SPAN, vary={"model.a": [0.1, 0.25, 3.0]}, **asked)
        check_bits(result, SPAN, **asked)


def looked_up(t, q, m, body, params):
    (strength,), (table,) = params
    return strength * table[0], strength * table[1] * q[1], table[2]


def test_tables_are_shared():
    table = np.array([0.5, -2.0, 0.25])
    model = Model(
        name="looked_up", torque=looked_up, potential=None, names=("strength",), numbers=(1.0,),
        tables=(table,),
    )  # fmt: skip
    problem = ph.Problem(BODY, model, **START)
    asked = {"method": "mr2", "dt": DT}
    result = ph.solve_ensemble(problem, SPAN, vary={"model.strength": [1.0, -4.0]}, **asked)
    check_bits(result, SPAN, **asked)
    assert result.energy is None


def test_tensors_of_inertia(rng):
    turns = Rotation.random(5, random_state=rng).as_matrix()
    tensors = turns @ np.diag([2.0, 3.0, 4.5]) @ turns.transpose(0, 2, 1)
    tensors = (tensors + tensors.transpose(0, 2, 1)) / 2
    tensors[1] = np.diag([4.0, 2.0, 3.0])  # principal already
    asked = {"method": "mr2", "dt": DT}
    vary = {"inertia": tensors, "angular_momentum": rng.normal(size=(5, 3))}
    result = ph.solve_ensemble(HEAVY, SPAN, vary=vary, save=OFF_GRID, **asked)
    check_bits(result, SPAN, rounding=1e-15, **asked)
    for i in range(5):
        run = ph.solve(result.problem(i), SPAN, t_eval=result.t, **asked)
        np.testing.assert_allclose(result.energy[:, i], run.energy, rtol=1e-13)
        space = result.angular_momentum_inertial[:, i]
        np.testing.assert_allclose(space, run.angular_momentum_inertial, atol=1e-13)


def test_a_body_whose_axes_are_not_principal():
    body = ph.RigidBody([[2.0, 0.1, 0.0], [0.1, 3.0, 0.2], [0.0, 0.2, 4.5]])
    problem = ph.Problem(body, ph.models.heavy_top(20.0), **START)
    asked = {"method": "mr2", "dt": DT}
    check_bits(ph.solve_ensemble(problem, SPAN, vary=SPINS, **asked), SPAN, rounding=1e-15, **asked)


@pytest.mark.parametrize("name", ["rk4", "adams", "gauss"])
def test_integrators_with_fixed_steps(name):
    asked = {"method": name, "dt": DT}
    result = ph.solve_ensemble(HEAVY, SPAN, vary=SPINS, save=OFF_GRID, **asked)
    check_bits(result, SPAN, **asked)


def test_adaptive_members_take_their_own_steps():
    asked = {"method": "dopri5", "rtol": 1e-9}
    result = ph.solve_ensemble(HEAVY, SPAN, vary=SPINS, **asked)
    check_bits(result, SPAN, **asked)
    assert len(set(result.nsteps.tolist())) > 1


def test_free_members_have_the_closed_form():
    result = ph.solve_ensemble(FREE, (0.0, 20.0), vary={"omega": RATES}, save=[0.0, 7.0, 20.0])
    assert result.method == "exact free motion"
    for i in range(3):
        run = ph.solve(result.problem(i), (0.0, 20.0), t_eval=[0.0, 7.0, 20.0])
        np.testing.assert_array_equal(result.omega[:, i], run.omega)
        np.testing.assert_array_equal(result.q[:, i], run.q)


@pytest.mark.parametrize(
    ("span", "dt"), [((0.5, 0.0), 0.02), ((0.3, 1.0), 0.03), ((1.0, -1.0), 0.3)]
)
def test_backward_spans_and_shortened_last_steps(span, dt):
    asked = {"method": "mr2", "dt": dt}
    times = [span[0] + x * (span[1] - span[0]) for x in (0.0, 0.123, 0.5, 1.0)]
    result = ph.solve_ensemble(HEAVY, span, vary=SPINS, save=times, **asked)
    assert result.t.tolist() == times
    check_bits(result, span, **asked)
    final = ph.solve_ensemble(HEAVY, span, vary=SPINS, **asked)
    np.testing.assert_array_equal(final.q[0], result.q[-1])
    grid = ph.solve_ensemble(HEAVY, span, vary=SPINS, save="all", **asked)
    alone = ph.solve(grid.problem(1), span, **asked)
    np.testing.assert_array_equal(grid.t, alone.t)
    np.testing.assert_array_equal(grid.q[:, 1], alone.q)
    some = ph.solve_ensemble(HEAVY, span, vary=SPINS, save=4, **asked)
    rows = [*range(0, len(alone.t) - 1, 4), len(alone.t) - 1]
    np.testing.assert_array_equal(some.t, alone.t[rows])
    np.testing.assert_array_equal(some.omega[:, 2], grid.omega[rows, 2])


def test_a_span_of_nothing():
    result = ph.solve_ensemble(HEAVY, (1.0, 1.0), vary=SPINS, method="mr2", dt=DT)
    np.testing.assert_array_equal(result.omega[0], RATES)
    assert result.nsteps.tolist() == [0, 0, 0]


# ---- many members, and what is kept of them
def tilt(t, q, omega):
    return q[1] * q[1] + q[2] * q[2] - 0.05


def back(t, q, omega):
    return q[1] * q[1] + q[2] * q[2] - 0.05


back.direction = -1


def on_side(t, q, omega):
    return q[1] * q[1] + q[2] * q[2]


MANY = {
    "vary": {
        "omega": Normal([0.4, 1.3, 5.0], [0.5, 0.5, 2.0]),
        "attitude": Around(0.2),
        "model.strength": Uniform(5.0, 40.0),
        "inertia": Boxes([1.0, 1.0, 2.0], [2.0, 3.0, 4.0], mass=6.0),
    },
    "seed": 11,
    "method": "mr2",
    "dt": DT,
}  # fmt: skip
REDUCE = [
    "mean(omega)", "attitude", "quantiles(speed, 0.05, 0.5, 0.95)", "extremes(energy)",
    "histogram(speed, 3, 4, 5, 6)", Mean(on_side), Mean("speed"), FirstTime(tilt), FirstTime(back),
]  # fmt: skip
COUNT = 2 * GROUP + 400


def solve_many(count=COUNT, **others):
    asked = {**MANY, "save": [0.0, 0.25, 0.5], "reduce": REDUCE, "reduce_times": 3, **others}
    return ph.solve_ensemble(HEAVY, SPAN, members=count, **asked)


@pytest.fixture(scope="module")
def many():
    return solve_many()


def same(a, b):
    for name in ("t", "q", "omega", "status", "nsteps", "t_reached", "count", "t_reduced"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    assert set(a.reductions) == set(b.reductions)
    for name in a.reductions:
        np.testing.assert_array_equal(a.reductions[name], b.reductions[name])
    return True


@pytest.mark.parametrize("others", [{"chunk": GROUP, "threads": 1}, {"chunk": GROUP, "threads": 3}])
def test_neither_chunks_nor_threads_decide_over_a_bit(many, others):
    assert same(many, solve_many(**others))


def test_members_do_not_depend_on_how_many_there_are(many):
    few = solve_many(GROUP + 5, reduce=None, reduce_times=None)
    np.testing.assert_array_equal(few.q, many.q[:, : GROUP + 5])
    for name in MANY["vary"]:
        np.testing.assert_array_equal(few.varied(name), many.varied(name)[: GROUP + 5])


def test_what_is_drawn_does_not_depend_on_what_else_is_varied(many):
    alone = solve_many(50, vary={"omega": MANY["vary"]["omega"]}, reduce=None, reduce_times=None)
    np.testing.assert_array_equal(alone.varied("omega"), many.varied("omega")[:50])
    other = solve_many(50, seed=12, reduce=None, reduce_times=None)
    assert not (other.varied("omega") == many.varied("omega")[:50]).any()


def test_some_of_many_have_the_bits_of_single_runs(many):
    check_bits(many, SPAN, members=(0, GROUP - 1, GROUP, COUNT - 1), method="mr2", dt=DT)


def test_means_extremes_and_quantiles_are_those_of_the_saved_states(many):
    found, omega = many.reductions, many.omega
    speed = np.linalg.norm(omega, axis=2)
    np.testing.assert_array_equal(many.t_reduced, many.t)
    np.testing.assert_array_equal(many.count, [COUNT] * 3)
    np.testing.assert_allclose(found["omega_mean"], omega.mean(axis=1), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(found["omega_std"], omega.std(axis=1, ddof=1), rtol=1e-12)
    np.testing.assert_allclose(found["speed_mean"], speed.mean(axis=1), rtol=1e-13)
    np.testing.assert_array_equal(found["energy_min"], many.energy.min(axis=1))
    np.testing.assert_array_equal(found["energy_max"], many.energy.max(axis=1))
    quantiles = np.quantile(speed, [0.05, 0.5, 0.95], axis=1).T
    np.testing.assert_array_equal(found["speed_quantiles"], quantiles)
    for k in range(3):
        inner, _ = np.histogram(speed[k], [3, 4, 5, 6])
        outer = (speed[k] < 3).sum(), (speed[k] > 6).sum()
        assert found["speed_histogram"][k].tolist() == [outer[0], *inner, outer[1]]
    side = (many.q[..., 1:3] ** 2).sum(axis=2)
    np.testing.assert_allclose(found["on_side_mean"], side.mean(axis=1), rtol=1e-13)


def test_mean_attitudes_are_scipys(many):
    for k in range(3):
        turns = Rotation.from_quat(many.q[k], scalar_first=True)
        mean = turns.mean()
        q, p = many.reductions["attitude_mean"][k], mean.as_quat(scalar_first=True)
        assert min(np.abs(q - p).max(), np.abs(q + p).max()) < 1e-13
        angles = (mean.inv() * turns).magnitude()
        spread = np.sqrt(np.mean((2 * np.sin(angles / 2)) ** 2))
        assert many.reductions["attitude_spread"][k] == pytest.approx(spread, rel=1e-12)


@pytest.mark.parametrize("event", [tilt, back])
def test_first_times_are_those_of_events(many, event):
    found = many.reductions[f"{event.__name__}_first_time"]
    none = np.isnan(found)
    for i in [*np.flatnonzero(none)[:5], *np.flatnonzero(~none)[:20]]:
        run = ph.solve(many.problem(i), SPAN, method="mr2", dt=DT, events=event)
        first = [*run.t_events[0], np.nan][0]
        assert found[i] == pytest.approx(first, abs=1e-13, nan_ok=True)


def late(t, q, omega):
    return t - 0.3 + 0.1 * q[1] * omega[0]


def pulse(t, q, omega):
    return (t - 2.5 * DT) * (t - 3.5 * DT)


@pytest.mark.parametrize("name", ["mr2", "imidm", "gauss"])
@pytest.mark.parametrize("span", [SPAN, SPAN[::-1]])
def test_first_times_between_looks_that_are_many_steps_apart(name, span):
    asked = {"method": name, "dt": DT}
    events = [FirstTime(late, every=5.5 * DT), FirstTime(pulse, every=9.0)]
    result = ph.solve_ensemble(HEAVY, span, vary=SPINS, reduce=events, **asked)
    assert np.isnan(result.reductions["pulse_first_time"]).all()  # two zeros between two looks
    for i, first in enumerate(result.reductions["late_first_time"]):
        run = ph.solve(result.problem(i), span, events=late, **asked)
        assert first == pytest.approx(run.t_events[0][0], abs=1e-13)
    often = ph.solve_ensemble(HEAVY, span, vary=SPINS, reduce=FirstTime(pulse), **asked)
    expected = 2.5 * DT if span[1] > span[0] else 3.5 * DT
    np.testing.assert_allclose(often.reductions["pulse_first_time"], expected, rtol=1e-14)


def test_first_times_by_the_closed_form_and_backward():
    asked = {"vary": {"omega": RATES}, "reduce": FirstTime(tilt, every=0.05), "save": None}
    for span in ((0.0, 8.0), (8.0, 0.0)):
        result = ph.solve_ensemble(FREE, span, **asked)
        for i in range(3):
            run = ph.solve(result.problem(i), span, events=tilt)
            first = [*run.t_events[0], np.nan][0]
            assert result.reductions["tilt_first_time"][i] == pytest.approx(
                first, abs=1e-12, nan_ok=True
            )


def test_kinds_of_members_are_made_once(monkeypatch):
    made, make = [], FixedCrowd._kind
    monkeypatch.setattr(
        FixedCrowd, "_kind", lambda self, axis: made.append(axis) or make(self, axis)
    )
    result = ph.solve_ensemble(
        HEAVY, SPAN, vary=SPINS, reduce=FirstTime(late), save=None, method="mr2", dt=DT
    )
    assert np.isfinite(result.reductions["late_first_time"]).all()
    assert made == [-1]


def test_zeros_are_found_each_by_itself():
    def values(shift):
        return lambda t: np.cos(t) - shift

    shifts = np.array([0.1, 0.5, 0.9])
    low, high = np.zeros(3), np.full(3, 3.0)
    together = bracketed(values(shifts), low, high, 1 - shifts, np.cos(3.0) - shifts)
    np.testing.assert_allclose(together, np.arccos(shifts), rtol=1e-15)
    for k in range(3):
        some = slice(k, k + 1)
        ends = 1 - shifts[some], np.cos(3.0) - shifts[some]
        assert bracketed(values(shifts[some]), low[some], high[some], *ends) == together[some]


class Moments(Reduction):
    """Σ v vᵀ/n, its trace and the greatest values: as a user would write it."""

    def part(self, values):
        most = values.max(axis=0, initial=-np.inf)
        return np.array([len(values), *most, *(values.T @ values).ravel()])

    def join(self, a, b):
        return np.array([a[0] + b[0], *np.maximum(a[1:4], b[1:4]), *(a[4:] + b[4:])])

    def end(self, row):
        second = row[4:].reshape(3, 3) / max(row[0], 1)
        return {f"{self.label}_second": second, "trace": second.trace(), "most": row[1:4]}


@pytest.mark.parametrize("place", [None, "own.zarr", "own.nc"])
def test_reductions_of_ones_own(tmp_path, place):
    reduce = [Moments("omega"), "mean(omega)", "attitude"]
    out = {"out": tmp_path / place} if place == "own.zarr" else {}
    result = solve_many(GROUP + 10, reduce=reduce, **out)
    if place is not None:
        result = ph.load(tmp_path / place) if out else ph.load(result.save(tmp_path / place))
    omega, found = result.omega, result.reductions
    second = np.einsum("tmi,tmj->tij", omega, omega) / (GROUP + 10)
    np.testing.assert_allclose(found["omega_second"], second, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found["trace"], np.trace(second, axis1=1, axis2=2), rtol=1e-12)
    np.testing.assert_array_equal(found["most"], omega.max(axis=1))
    data = result.to_xarray()
    assert data["omega_second"].dims == ("time_reduced", "omega_second_1", "omega_second_2")
    assert data["most"].dims == ("time_reduced", "component")
    assert data["trace"].dims == ("time_reduced",)
    assert "angular velocity" in data["trace"].attrs["long_name"]
    assert len(at_the_end(result.labelled)) == 7
    titles = {ax.get_title(loc="left") for ax in result.plot()}
    assert {"Omega second", "Trace", "Most", "Omega: mean ± σ"} <= titles


class NeverEmpty(Moments):
    def part(self, values):
        return np.array([len(values), *values.max(axis=0), *(values.T @ values).ravel()])


class Growing(Moments):
    def join(self, a, b):
        return np.concatenate([a, b])


class Renaming(Moments):
    def end(self, row):
        return {f"of_{row[0]:g}": row[0]}


class Grasping(Moments):
    def end(self, row):
        return {"q": row[1:5]}


# ---- members that fail
def growing(t, q, omega, params):
    (growth,) = params
    return growth * omega[0] * omega[0], 0.0, 0.0


EXPLODING = ph.Problem(BODY, ph.torque(growing, {"growth": 0.1}), omega=[1.0, 0.2, 0.1])


def test_one_failed_member_never_sinks_the_rest():
    growth = [0.1, 0.2, 40.0, 0.0, 0.3]  # the third goes to infinity within the span
    asked = {"method": "forward-euler", "dt": 0.01}
    given = {"vary": {"model.growth": growth}, "save": [0.0, 0.02, 1.0]}
    reduce = ["mean(speed)", "quantiles(speed, 0.5)", "attitude", "extremes(omega)"]
    times = {"reduce": reduce, "reduce_times": [0.0, 1.0]}
    result = ph.solve_ensemble(EXPLODING, (0.0, 1.0), **given, **times, **asked)
    alone = ph.solve(result.problem(2), (0.0, 1.0), **asked)
    assert not alone.success
    assert result.success.tolist() == [True, True, False, True, True]
    assert result.status[2] == alone.status
    assert result.nsteps[2] == alone.nsteps
    assert result.t_reached[2] == alone.t[-1]
    np.testing.assert_array_equal(result.omega[-1, 2], alone.omega[-1])
    np.testing.assert_array_equal(result.q[-1, 2], alone.q[-1])
    assert np.isfinite(result.omega).all()
    assert result.message(2).startswith("member 2 stopped at t = ")
    assert result.message(1) == ""
    good = result[result.success]
    assert good.members.tolist() == [0, 1, 3, 4]
    check_bits(good, (0.0, 1.0), members=(), **asked)
    for i in (0, 1, 3, 4):
        run = ph.solve(result.problem(i), (0.0, 1.0), t_eval=result.t, **asked)
        np.testing.assert_array_equal(result.omega[:, i], run.omega)
    assert result.count.tolist() == [5, 4]
    speed = np.linalg.norm(good.omega[-1], axis=1)
    assert result.reductions["speed_mean"][-1] == pytest.approx(speed.mean(), rel=1e-13)
    assert result.reductions["speed_quantiles"][-1, 0] == np.median(speed)
    assert (result.reductions["omega_max"][-1] == good.omega[-1].max(axis=0)).all()
    assert "1 NOT_FINITE" in repr(result)


def test_one_member_without_a_solution():
    strength = [20.0, 1e9, 0.0]
    result = ph.solve_ensemble(
        HEAVY, (0.0, 0.25), vary={"model.strength": strength}, method="imidm", dt=0.02
    )
    alone = ph.solve(result.problem(1), (0.0, 0.25), method="imidm", dt=0.02)
    assert result.status.tolist() == [0, int(alone.status), 0]
    assert not alone.success
    assert (result.nsteps[1], result.t_reached[1]) == (alone.nsteps, alone.t[-1])
    np.testing.assert_array_equal(result.q[0, 1], alone.q[-1])


# ---- what varies
def drawn_of(distribution, shape, name="omega", count=20_000):
    return drawn(distribution, 5, name, 0, count, shape)


def test_normal_and_uniform_distributions():
    covariance = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, -0.2], [0.0, -0.2, 0.5]])
    for sigma, wanted in (
        (0.5, 0.25 * np.eye(3)),
        ([1.0, 2.0, 0.0], np.diag([1.0, 4.0, 0.0])),
        (covariance, covariance),
    ):
        x = drawn_of(Normal([1.0, 2.0, 3.0], sigma), (3,))
        scale = np.sqrt(np.abs(wanted).max() / len(x))
        assert np.abs(x.mean(axis=0) - [1, 2, 3]).max() < 5 * scale
        assert np.abs(np.cov(x.T) - wanted).max() < 8 * np.abs(wanted).max() / np.sqrt(len(x))
    x = drawn_of(Uniform(-1.0, [1.0, 2.0, 3.0]), (3,))
    for k in range(3):
        assert stats.kstest(x[:, k], stats.uniform(-1, k + 2).cdf).pvalue > 1e-3
    assert drawn_of(Normal(2.0, 1.0), ()).shape == (20_000,)


def test_directions_and_attitudes_are_uniform():
    x = drawn_of(OnSphere(Uniform(1.0, 2.0)), (3,))
    length = np.linalg.norm(x, axis=1)
    assert stats.kstest(length, stats.uniform(1, 1).cdf).pvalue > 1e-3
    for axis in (0, 1, 2):  # Archimedes: heights on a sphere are uniform
        assert stats.kstest(x[:, axis] / length, stats.uniform(-1, 2).cdf).pvalue > 1e-3
    q = drawn_of(Attitudes(), (4,), "attitude")
    np.testing.assert_allclose(np.linalg.norm(q, axis=1), 1.0, rtol=1e-15)
    turns = Rotation.from_quat(q, scalar_first=True)
    for fixed in (Rotation.identity(), Rotation.from_rotvec([1.0, -2.0, 0.5])):
        angle = (fixed * turns).magnitude()  # density (1 - cos θ)/π, from any attitude
        assert stats.kstest(angle, lambda t: (t - np.sin(t)) / np.pi).pvalue > 1e-3


def test_attitudes_around_that_of_the_problem():
    sigma = [0.1, 0.2, 0.3]
    vary = {"attitude": Around(sigma)}
    result = ph.solve_ensemble(
        HEAVY,
        (0.0, 0.0),
        members=5000,
        vary=vary,
        seed=3,
        method="mr2",
        dt=1,
    )
    turns = Rotation.from_quat(result.q[0], scalar_first=True)
    away = (START["attitude"].inv() * turns).as_rotvec()
    assert np.abs(away.mean(axis=0)).max() < 5 * 0.3 / np.sqrt(5000)
    np.testing.assert_allclose(away.std(axis=0), sigma, rtol=0.05)


def test_boxes_are_bodies():
    a, b, c = drawn_of(Boxes(1.0, [2.0, 2.0, 3.0], mass=6.0), (3,), "inertia", 2000).T
    edges = np.sqrt(np.array([b + c - a, c + a - b, a + b - c]))  # m/12 (y² + z²), … with m = 6
    assert edges.min() >= 1.0 - 1e-12
    assert (edges.max(axis=1) <= [2.0, 2.0, 3.0]).all()


def test_sweeps_make_a_grid_the_first_the_slowest():
    rates = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 2.0]])
    vary = {"model.strength": Sweep([1.0, 2.0, 3.0]), "omega": Sweep(rates)}
    result = ph.solve_ensemble(HEAVY, SPAN, vary=vary, method="mr2", dt=DT)
    assert len(result) == 6
    assert result.varied("model.strength").tolist() == [1, 1, 2, 2, 3, 3]
    assert result.varied("omega")[:, 2].tolist() == [1, 2] * 3
    vary["attitude"] = Around(0.1)
    assert len(ph.solve_ensemble(HEAVY, SPAN, vary=vary, seed=1, method="mr2", dt=DT)) == 6


def test_samples_from_xarray_and_back(many):
    data = xarray.Dataset(
        {
            "omega": (("component", "member"), RATES.T),
            "model.strength": ("member", [20.0, 0.0, 7.5]),
        }
    )
    asked = {"method": "mr2", "dt": DT}
    result = ph.solve_ensemble(HEAVY, SPAN, samples=data, **asked)
    np.testing.assert_array_equal(result.q, ph.solve_ensemble(HEAVY, SPAN, vary=SPINS, **asked).q)
    turns = Rotation.random(3, random_state=np.random.default_rng(1))
    by = [turns, turns.as_matrix(), list(turns)]
    found = [
        ph.solve_ensemble(HEAVY, SPAN, vary={"attitude": one}, save=[0.0], **asked).q for one in by
    ]
    np.testing.assert_array_equal(found[0][0], turns.as_quat(scalar_first=True))
    np.testing.assert_array_equal(found[2], found[0])
    np.testing.assert_allclose(np.abs((found[1] * found[0]).sum(axis=2)), 1.0, rtol=1e-14)


def test_a_member_can_be_looked_at_alone(many):
    problem = many.problem(7)
    np.testing.assert_array_equal(problem.omega, many.varied("omega")[7])
    np.testing.assert_array_equal(np.diag(problem.body.inertia), many.varied("inertia")[7])
    assert problem.model.parameters["strength"] == many.varied("model.strength")[7]
    assert problem.name == "heavy 7"
    with pytest.raises(ph.InputError, match="there is no member 9999"):
        many.problem(9999)
    with pytest.raises(ph.InputError, match="'mass' was not varied; varied was omega"):
        many.varied("mass")


# ---- what is not understood
NAN = [[0.0, 0.0, np.nan]]
VARY_ERRORS = {
    "omga": ({"vary": {"omga": RATES}}, "did you mean 'omega'"),
    "parameter": ({"vary": {"model.strengh": [1.0]}}, "did you mean 'model.strength'"),
    "place": ({"vary": {"position": RATES}}, "there is nothing of this name to vary"),
    "shape": ({"vary": {"omega": [1.0, 2.0]}}, r"of shape \(members, 3\), got shape \(2,\)"),
    "number": ({"vary": {"mass": 2.0}}, r"of shape \(members,\), got 2.0"),
    "text": ({"vary": {"mass": "heavy"}}, "must be of shape"),
    "finite": ({"vary": {"omega": NAN}}, r"must be finite, but \[0, 2\] is not"),
    "both": ({"vary": {"omega": RATES, "angular_momentum": RATES}}, "not both"),
    "counts": ({"vary": {"omega": RATES, "mass": [1.0, 2.0]}}, r"vary\['omega'\] has 3, .* has 2"),
    "members": ({"members": 4, "vary": {"omega": RATES}}, "members has 4"),
    "grid": ({"members": 4, "vary": {"mass": Sweep([1.0, 2.0])}}, "grid of sweeps has 2"),
    "none": ({"vary": {"omega": Normal(0, 1)}}, "say how many: members="),
    "no members": ({"members": 0}, "members must be a positive whole number, got 0"),
    "moments": ({"vary": {"inertia": [[1, 2, 3], [1, 1, 3]]}}, "member 1: no body has the moments"),
    "tensor": ({"vary": {"inertia": [np.diag([1, 1, 3])]}}, "member 0: no body has the moments"),
    "mass": ({"vary": {"mass": [1.0, -1.0]}}, "member 1: mass must be positive"),
    "words": ({"vary": {"attitude": "upright"}}, "must be a SciPy Rotation of all members"),
    "mirror": ({"vary": {"attitude": [np.eye(3), -np.eye(3)]}}, "member 1 must be a proper"),
    "quaternions": ({"vary": {"attitude": np.ones((2, 4))}}, r"SciPy Rotation.*got shape \(2, 4\)"),
    "drawn": ({"members": 2, "vary": {"omega": Attitudes()}}, r"vary\['omega'\]: Attitudes draws"),
    "sigma": ({"members": 2, "vary": {"omega": Normal(0, -1)}}, "sigma must not be negative"),
    "covariance": (
        {"members": 2, "vary": {"omega": Normal(0, [[1, 2, 0], [0, 1, 0], [0, 0, 1]])}},
        "symmetric covariance",
    ),
    "low": ({"members": 2, "vary": {"mass": Uniform(2, 1)}}, "low must not be above high"),
    "length": ({"members": 2, "vary": {"omega": Normal([1, 2], 1)}}, "mean must be a number, or 3"),
    "mapping": ({"vary": RATES}, "vary must map names"),
    "dimension": (
        {"vary": {"omega": xarray.DataArray(RATES, dims=("run", "component"))}},
        "must have the dimension 'member'",
    ),
    "seed": ({"members": 2, "seed": 1.5}, "seed must be a whole number"),
    "samples": ({"samples": {"omega": NAN}}, r"samples\['omega'\] must be finite, but \[0, 2\] is"),
    "twice": ({"samples": {"omega": RATES}, "vary": {"omega": RATES}}, "in samples= and in vary="),
    "complex": ({"vary": {"mass": [1j]}}, r"of shape \(members,\), got \[1j\]"),
    "direction": ({"members": 2, "vary": {"omega": OnSphere([1, 2])}}, "length must be a number"),
    "edges": ({"members": 2, "vary": {"inertia": Boxes(-1, 1)}}, "edges of Boxes must not be neg"),
    "too many": ({"members": 10**13, "save": None}, "make several ensembles of them"),
}  # fmt: skip
ASKED_ERRORS = {
    "save": ({"save": "everything"}, "save must be 'final', 'all'"),
    "save 0": ({"save": 0}, "save must be 'final'"),
    "save once": ({"save": 0.25}, "save must be 'final', .* got 0.25"),
    "save outside": ({"save": [0.0, 7.0]}, r"save\[1\] = 7.0 is outside t_span"),
    "reduce outside": (
        {"reduce": "attitude", "reduce_times": [0.3, 0.1]},
        "reduce_times must go from start to end",
    ),
    "chunk": ({"chunk": 0}, "chunk must be a positive number of members, got 0"),
    "threads": ({"threads": 0}, "threads must be a positive whole number, got 0"),
    "reduce": ({"reduce": "median(omega)"}, "'median.omega.' is not understood"),
    "quantity": ({"reduce": "mean(omgea)"}, "there is no quantity 'omgea'"),
    "levels": (
        {"reduce": "quantiles(speed, 5)"},
        "levels of quantiles must be one or more from 0 to 1, got",
    ),
    "edges": ({"reduce": Histogram("speed", (2.0, 1.0))}, "two or more that rise"),
    "an edge": ({"reduce": Histogram("speed", 3.0)}, "two or more that rise, got 3.0"),
    "no levels": ({"reduce": Quantiles("speed", "ab")}, "one or more from 0 to 1, got 'ab'"),
    "name": ({"reduce": Mean("speed", name=3)}, "name must be a text, got 3"),
    "function": (
        {"reduce": Mean(lambda t, q, omega: q[7], name="far"), "reduce_times": [0.5]},
        r"the function of Mean\(far\) fails at t = 0.0: IndexError",
    ),
    "twice": ({"reduce": ["mean(speed)", Mean("speed")]}, "twice"),
    "lambda": ({"reduce": Mean(lambda t, q, omega: 1.0)}, "give name="),
    "every": ({"reduce": FirstTime(tilt, every=DT / 2)}, "every=0.01 is shorter than a step, dt="),
    "no every": ({"reduce": FirstTime(tilt, every=-1)}, "every must be a positive number of sec"),
    "first": ({"reduce": FirstTime("speed")}, "FirstTime takes a function"),
    "no reduction": ({"reduce": [3]}, "must be reductions of ph.reductions"),
    "not several": ({"reduce": Mean}, "must be reductions of ph.reductions, got <class"),
    "times": ({"reduce_times": 5}, "reduce_times= needs reduce="),
    "first times": ({"reduce": FirstTime(tilt), "reduce_times": 5}, "at times of its own, every="),
    "no times": ({"reduce": "attitude", "reduce_times": 0}, "reduce_times must be at least 1"),
    "memory": ({"members": 10**7, "vary": {}, "save": "all"}, "GB of states in memory"),
    "quantiles": (
        {"members": 10**7, "vary": {}, "reduce": "quantiles(speed, 0.5)"},
        "quantiles would keep",
    ),
    "out": ({"out": "states.h5"}, "ending in .zarr, got 'states.h5'"),
    "out 3": ({"out": 3}, "out must be the name of a Zarr store, got 3"),
    "nowhere": ({"out": "nowhere/at/all.zarr"}, "no directory 'nowhere/at'"),
    "vectors": ({"reduce": Quantiles("omega")}, "one component"),
    "bins": ({"reduce": Histogram("omega", (0.0, 1.0))}, "one component"),
    "place": ({"reduce": "mean(position)"}, "members have no position: give position="),
    "nothing": ({"reduce": Reduction("omega")}, "Reduction was tried, and failed with NotImpl"),
    "nobody": ({"reduce": NeverEmpty("omega")}, "NeverEmpty was tried.*ValueError: zero-size"),
    "rows": ({"reduce": Growing("omega")}, r"Growing was tried, and its rows .*\(13,\), \(26,\)"),
    "results": ({"reduce": Renaming("omega")}, "Renaming was tried, and its end gives.*'of_3'"),
    "taken": ({"reduce": Grasping("omega")}, "of the name 'q', which belongs to what is saved"),
    "alike": (
        {"reduce": [MeanAttitude(), Mean("q", name="attitude")]},
        r"Mean\(attitude\) has a result .* 'attitude_mean', which belongs to MeanAttitude\(q\)",
    ),
    "slash": ({"reduce": Mean("omega", name="a/b")}, "name='a/b' must be without '/'"),
    "unnamed": ({"reduce": Mean(partial(tilt, 0.0))}, "has no name; give name="),
    "attitude": ({"reduce": MeanAttitude("omega")}, "is of the attitude, not of 'omega'"),
}


@pytest.mark.parametrize(("given", "text"), VARY_ERRORS.values(), ids=VARY_ERRORS)
def test_members_that_are_not_understood(given, text):
    with pytest.raises(ph.InputError, match=text):
        ph.solve_ensemble(HEAVY, SPAN, **given, method="mr2", dt=DT)


@pytest.mark.parametrize(("given", "text"), ASKED_ERRORS.values(), ids=ASKED_ERRORS)
def test_what_cannot_be_asked(given, text):
    given = {"vary": SPINS, **given}
    with pytest.raises(ph.PolhodeError, match=text):
        ph.solve_ensemble(HEAVY, SPAN, **given, method="mr2", dt=DT)


def test_an_energy_needs_a_potential():
    with pytest.raises(ph.InputError, match="has no potential, and members no energy"):
        ph.solve_ensemble(OWN, SPAN, members=2, reduce="mean(energy)", method="imidm", dt=DT)


def test_members_without_common_steps_save_times():
    with pytest.raises(ph.MethodError, match="give the times to save"):
        ph.solve_ensemble(FREE, SPAN, members=2, save="all")
    with pytest.raises(ph.InputError, match="problem must be a Problem, got 3"):
        ph.solve_ensemble(3, SPAN, members=2)


# ---- results
def test_selection(many):
    some = many[10:20]
    assert len(some) == 10
    np.testing.assert_array_equal(some.q, many.q[:, 10:20])
    np.testing.assert_array_equal(some.energy, many.energy[:, 10:20])
    np.testing.assert_array_equal(some.varied("omega"), many.varied("omega")[10:20])
    first = many.reductions["tilt_first_time"]
    np.testing.assert_array_equal(some.reductions["tilt_first_time"], first[10:20])
    one = some[[3, 1]].select(times=-1)
    assert one.members.tolist() == [13, 11]
    np.testing.assert_array_equal(one.omega, many.omega[-1:, [13, 11]])
    assert [one.members.tolist() for one in some[:2]] == [[10], [11]]
    assert len(many[many.t_reached > 9]) == 0
    assert many[many.t_reached > 9].q.shape == (3, 0, 4)
    with pytest.raises(ph.InputError, match="does not fit"):
        many[COUNT]
    with pytest.raises(ph.InputError, match="there is no member 3 among these 10"):
        some.message(3)


def test_data_sets(many):
    data = many.to_xarray()
    assert data["q"].dims == ("time", "member", "quaternion")
    assert data["omega"].sel(component="y", member=5).shape == (3,)
    assert data["omega"].attrs == {"units": "rad/s", "long_name": "angular velocity, body axes"}
    assert data["varied_inertia"].attrs["units"] == "kg m2"
    assert data["speed_quantiles"].sel(speed_level=0.5).dims == ("time_reduced",)
    assert data["attitude_mean"].dims == ("time_reduced", "quaternion")
    assert data["energy_max"].dims == ("time_reduced",)
    assert data["speed_histogram"].sum("speed_edge").values.tolist() == [COUNT] * 3
    assert data["speed_edge"].values.tolist() == [-np.inf, 3, 4, 5, 6]
    assert data["tilt_first_time"].dims == ("member",)
    assert set(many.labelled) == set(many.reductions)
    for name, (dims, values, attrs, _) in many.labelled.items():
        assert (data[name].dims, data[name].attrs) == (dims, attrs)
        np.testing.assert_array_equal(values, many.reductions[name])
    assert many.labelled["speed_quantiles"].coords == {"speed_level": [0.05, 0.5, 0.95]}
    assert json.loads(data.attrs["problem"])["name"] == "heavy"
    assert (data.attrs["method"], data.attrs["seed"]) == ("mr2", "11")


def test_tables(many):
    table = many[5:8].to_dataframe()
    assert table.index.tolist() == [5, 6, 7]
    assert table["omega_z"].tolist() == many.omega[-1, 5:8, 2].tolist()
    assert {"varied_model.strength", "tilt_first_time", "energy", "status"} <= set(table)
    tensors = {"inertia": np.stack([np.diag([2.0, 3.0, 4.5])] * 2)}
    final = ph.solve_ensemble(HEAVY, SPAN, vary=tensors, save=None, method="mr2", dt=DT)
    assert {"varied_inertia_xx", "varied_inertia_yz"} <= set(final.to_dataframe())


def test_words(many):
    text = repr(many)
    assert text.startswith("EnsembleResult\n  problem  heavy\n  members  2448, seed 11")
    assert "mr2, dt=0.02" in text
    assert "<table>" in many._repr_html_()


# ---- stores
@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    return solve_many(chunk=GROUP, out=tmp_path_factory.mktemp("store") / "many.zarr")


def test_a_store_holds_what_memory_would(many, stored):
    assert same(many, stored)
    assert stored.path.name == "many.zarr"
    np.testing.assert_array_equal(stored[5:9].energy, many[5:9].energy)
    np.testing.assert_allclose(stored.kinetic_energy, many.kinetic_energy, rtol=1e-14)
    space = stored.angular_momentum_inertial
    np.testing.assert_array_equal(space, many.angular_momentum_inertial)
    check_bits(stored[2:4], SPAN, members=(), method="mr2", dt=DT)
    assert stored.problem(3).omega == many.problem(3).omega
    assert stored[[]].energy.shape == (3, 0)


def test_stores_are_data_sets(many, stored):
    data, wanted = xarray.open_zarr(stored.path).load(), many.to_xarray()
    assert data.attrs.pop("complete") is True
    assert data.identical(wanted.drop_vars("energy"))


@pytest.mark.parametrize("suffix", ["nc", "zarr"])
def test_results_are_saved_and_loaded(many, tmp_path, suffix):
    some = many[GROUP - 5 : GROUP + 5]
    again = ph.load(some.save(tmp_path / f"some.{suffix}"))
    assert isinstance(again, ph.EnsembleResult)
    assert same(some, again)
    assert again.to_xarray().identical(some.to_xarray())
    np.testing.assert_array_equal(again.energy, some.energy)
    np.testing.assert_array_equal(again.varied("inertia"), some.varied("inertia"))
    np.testing.assert_array_equal(again[2:3].q, some[2:3].q)
    with pytest.raises(ph.InputError, match="does not hold the problem"):
        again.problem(GROUP)


def test_a_store_is_loaded_lazily(many, stored):
    again = ph.load(stored.path)
    assert again.complete
    assert same(many, again)
    assert again.energy is None  # what acts is not known
    with pytest.raises(ph.FileError, match="from which this result is read"):
        again.save(stored.path)


def test_only_what_is_asked_for_is_read(tmp_path):
    result = solve_many(
        GROUP + 20, chunk=GROUP, out=tmp_path / "a.zarr", reduce=None, reduce_times=None
    )
    wanted = result[10:20].q
    (tmp_path / "a.zarr" / "q" / "0.1.0").write_bytes(b"spoilt")
    np.testing.assert_array_equal(result[10:20].q, wanted)
    with pytest.raises(RuntimeError):
        result[GROUP:].q  # noqa: B018


def test_moving_members_and_tensors_in_a_store(tmp_path):
    problem = ph.problems.off_centre_spring()
    turn = Rotation.from_rotvec([0.1, 0.2, 0.3]).as_matrix()
    tensors = np.stack([turn @ problem.body.inertia @ turn.T] * 3)
    tensors = (tensors + tensors.transpose(0, 2, 1)) / 2
    vary = {"mass": [2.0, 3.0, 0.5], "inertia": tensors}
    asked = {"vary": vary, "save": OFF_GRID, "method": "mr2", "dt": DT}
    kept = ph.solve_ensemble(problem, SPAN, **asked)
    result = ph.solve_ensemble(problem, SPAN, **asked, out=tmp_path / "a.zarr")
    for name in ("q", "omega", "angular_momentum", "x", "v"):
        np.testing.assert_array_equal(getattr(result, name), getattr(kept, name))
    for name in ("energy", "kinetic_energy", "angular_momentum_inertial"):
        np.testing.assert_allclose(getattr(result, name), getattr(kept, name), atol=1e-12)
    again = ph.load(tmp_path / "a.zarr")
    np.testing.assert_allclose(again.kinetic_energy, kept.kinetic_energy, rtol=1e-13)
    np.testing.assert_array_equal(again.varied("inertia"), tensors)


def test_more_states_than_memory_would_take(tmp_path, monkeypatch):
    """Pieces of few times, written on the way; the check of the size is about memory alone."""
    monkeypatch.setattr("polhode.ensembles.store.PIECE", 32 * GROUP * 4)
    monkeypatch.setattr("polhode.ensembles.task.MOST", 10**6)
    few = {"vary": MANY["vary"], "seed": 11, "method": "mr2", "dt": DT, "members": GROUP + 3}
    with pytest.raises(ph.InputError, match="write them to a file with out="):
        ph.solve_ensemble(HEAVY, SPAN, **few, save="all")
    place = tmp_path / "a.zarr"
    result = ph.solve_ensemble(HEAVY, SPAN, **few, save="all", out=place, chunk=GROUP)
    pieces = sorted(path.name for path in (place / "q").iterdir() if path.name[0] != ".")
    assert pieces == sorted(f"{k}.{i}.0" for k in range(7) for i in range(2))
    monkeypatch.undo()
    np.testing.assert_array_equal(result.q, ph.solve_ensemble(HEAVY, SPAN, **few, save="all").q)


def test_a_store_without_states(tmp_path, many):
    place = tmp_path / "a.zarr"
    result = solve_many(save=None, out=place)
    assert result.q.shape == (0, COUNT, 4)
    for one in (result, ph.load(place)):
        found = one.reductions["attitude_mean"]
        np.testing.assert_array_equal(found, many.reductions["attitude_mean"])
        assert len(one.to_dataframe()) == COUNT


class Killed(Exception):
    pass


def test_a_run_that_was_cut_off_is_recognised(tmp_path, many):
    def until_half(fraction):
        if fraction > 0.5:
            raise Killed

    place = tmp_path / "cut.zarr"
    with pytest.raises(Killed):
        solve_many(chunk=GROUP, out=place, progress=until_half)
    cut = ph.load(place)
    assert not cut.complete
    assert "its run was cut off" in repr(cut)
    assert "not run" in repr(cut)
    assert xarray.open_zarr(place).attrs["complete"] is False
    done = np.arange(COUNT) < GROUP
    np.testing.assert_array_equal(cut.success, done)
    np.testing.assert_array_equal(cut[done].q, many[done].q)
    assert np.isnan(cut[-1:].t_reached).all()
    assert "was not run" in cut.message(COUNT - 1)
    assert same(many, solve_many(chunk=GROUP, out=place))  # one of ours is replaced
    assert ph.load(place).complete


def test_what_is_not_ours_is_not_touched(tmp_path):
    asked = {"vary": SPINS, "method": "mr2", "dt": DT}
    other = tmp_path / "other.zarr"
    xarray.Dataset({"a": ("x", [1.0])}).to_zarr(other, zarr_format=2)
    notes = tmp_path / "notes.zarr"
    notes.mkdir()
    (notes / "notes.txt").write_text("keep me")
    file = tmp_path / "file.zarr"
    file.write_text("keep me")
    for path in (other, notes, file):
        with pytest.raises(ph.FileError, match=f"{path.name}' exists and is no ensemble"):
            ph.solve_ensemble(HEAVY, SPAN, **asked, out=path)
    assert (notes / "notes.txt").read_text() == file.read_text() == "keep me"
    assert float(xarray.open_zarr(other)["a"][0]) == 1.0
    for path in (other, notes):
        with pytest.raises(ph.FileError, match=r"not an? (ensemble of this library|Zarr store)"):
            ph.load(path)
    with pytest.raises(ph.FileError, match="there is no file"):
        ph.load(tmp_path / "nothing.zarr")
    empty = tmp_path / "empty.zarr"
    empty.mkdir()
    assert ph.solve_ensemble(HEAVY, SPAN, **asked, out=empty).complete


@pytest.mark.parametrize("when", ["begin", "on the way", "end"])
def test_what_the_system_refuses_is_told(tmp_path, monkeypatch, when):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    name = {"begin": "_begin", "on the way": "_create", "end": "_consolidate"}[when]
    begin = Store._begin

    def begun(self):
        begin(self)
        monkeypatch.setattr(Store, name, full)

    if when == "begin":
        monkeypatch.setattr(Store, name, full)
    else:
        monkeypatch.setattr(Store, "_begin", begun)
    with pytest.raises(ph.FileError, match=r"cannot write .*No space left.*have room for it"):
        solve_many(10, out=tmp_path / "full.zarr")


def test_trajectories_are_loaded_as_before(tmp_path):
    run = ph.solve(HEAVY, SPAN, method="mr2", dt=DT)
    again = ph.load(run.save(tmp_path / "run.nc"))
    assert isinstance(again, ph.Trajectory)
    np.testing.assert_array_equal(again.q, run.q)
