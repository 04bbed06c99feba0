"""Reductions of ensembles: against the saved states, and refused arguments."""

from functools import partial

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.cli.ensemble import at_the_end
from polhode.ensembles.chunk import find_zeros
from polhode.ensembles.distributions import GROUP
from polhode.ensembles.movers import FixedMover
from polhode.reductions import (
    REDUCTIONS,
    TEXTS,
    FirstTime,
    Histogram,
    Mean,
    MeanAttitude,
    Quantiles,
    Reduction,
    reductions_of,
)
from support.ensembles import (
    COUNT,
    DT,
    FREE,
    HEAVY,
    OWN,
    RATES,
    SPAN,
    SPINS,
    back,
    solve_many,
    tilt,
)


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


def test_code_is_made_once(monkeypatch):
    made, make = [], FixedMover._code
    monkeypatch.setattr(
        FixedMover, "_code", lambda self, axis: made.append(axis) or make(self, axis)
    )
    result = ph.solve_ensemble(
        HEAVY, SPAN, vary=SPINS, reduce=FirstTime(late), save=None, method="mr2", dt=DT
    )
    assert np.isfinite(result.reductions["late_first_time"]).all()
    assert made == [-1]


def test_zeros_do_not_depend_on_each_other():
    def values(shift):
        return lambda t: np.cos(t) - shift

    shifts = np.array([0.1, 0.5, 0.9])
    low, high = np.zeros(3), np.full(3, 3.0)
    together = find_zeros(values(shifts), low, high, 1 - shifts, np.cos(3.0) - shifts)
    np.testing.assert_allclose(together, np.arccos(shifts), rtol=1e-15)
    for k in range(3):
        some = slice(k, k + 1)
        ends = 1 - shifts[some], np.cos(3.0) - shifts[some]
        assert find_zeros(values(shifts[some]), low[some], high[some], *ends) == together[some]


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
def test_user_defined_reductions(tmp_path, place):
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


@pytest.mark.parametrize("kind", TEXTS.values(), ids=TEXTS)
def test_every_text_is_read(kind):
    (found,) = reductions_of(kind.text)
    assert type(found) is kind
    assert REDUCTIONS[kind.__name__] is getattr(ph.reductions, kind.__name__) is kind


# ---- arguments that are refused
ASKED_ERRORS = {
    "save": ({"save": "everything"}, "save must be 'final', 'all'"),
    "save 0": ({"save": 0}, "save must be 'final'"),
    "save once": ({"save": 0.25}, "save must be 'final', .* got 0.25"),
    "save outside": ({"save": [0.0, 7.0]}, r"save\[1\] = 7.0 is outside t_span"),
    "reduce outside": (
        {"reduce": "attitude", "reduce_times": [0.3, 0.1]},
        "reduce_times must go from start to end",
    ),
    "chunk": ({"chunk": 0}, "chunk must be a whole number, 1 or more, got 0"),
    "threads": ({"threads": 0}, "threads must be a whole number, 1 or more, got 0"),
    "reduce": ({"reduce": "median(omega)"}, "'median.omega.' is not understood"),
    "quantity": ({"reduce": "mean(omgea)"}, "there is no quantity 'omgea'"),
    "levels": (
        {"reduce": "quantiles(speed, 5)"},
        "levels of quantiles must be one or more numbers from 0 to 1, got",
    ),
    "edges": ({"reduce": Histogram("speed", (2.0, 1.0))}, "two or more increasing"),
    "an edge": ({"reduce": Histogram("speed", 3.0)}, "two or more increasing numbers, got 3.0"),
    "no levels": ({"reduce": Quantiles("speed", "ab")}, "one or more numbers from 0 to 1"),
    "name": ({"reduce": Mean("speed", name=3)}, "name must be a string, got 3"),
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
    "first times": ({"reduce": FirstTime(tilt), "reduce_times": 5}, "has times of its own, every="),
    "no times": ({"reduce": "attitude", "reduce_times": 0}, "reduce_times must be at least 1"),
    "memory": ({"members": 10**7, "vary": {}, "save": "all"}, "GB of states in memory"),
    "quantiles": (
        {"members": 10**7, "vary": {}, "reduce": "quantiles(speed, 0.5)"},
        r"Quantiles.speed. would keep",
    ),
    "out": ({"out": "states.h5"}, "ending in .zarr, got 'states.h5'"),
    "out 3": ({"out": 3}, "out must be the name of a Zarr store, got 3"),
    "nowhere": ({"out": "nowhere/at/all.zarr"}, "no directory 'nowhere/at'"),
    "vectors": ({"reduce": Quantiles("omega")}, "one component"),
    "bins": ({"reduce": Histogram("omega", (0.0, 1.0))}, "one component"),
    "place": ({"reduce": "mean(position)"}, "members have no position: give position="),
    "nothing": ({"reduce": Reduction("omega")}, "a trial of Reduction failed with NotImpl"),
    "nobody": ({"reduce": NeverEmpty("omega")}, "NeverEmpty failed.*ValueError: zero-size"),
    "rows": ({"reduce": Growing("omega")}, r"Growing failed: its rows .*\(13,\), \(26,\)"),
    "results": ({"reduce": Renaming("omega")}, "a trial of Renaming failed: end returns.*'of_3'"),
    "taken": ({"reduce": Grasping("omega")}, "named 'q', a name that belongs to the saved states"),
    "alike": (
        {"reduce": [MeanAttitude(), Mean("q", name="attitude")]},
        r"Mean\(attitude\) has a result .* 'attitude_mean', a name .* to MeanAttitude\(q\)",
    ),
    "slash": ({"reduce": Mean("omega", name="a/b")}, "name='a/b' must not contain '/'"),
    "unnamed": ({"reduce": Mean(partial(tilt, 0.0))}, "has no name; give name="),
    "attitude": ({"reduce": MeanAttitude("omega")}, "is for the attitude, not for 'omega'"),
}


@pytest.mark.parametrize(("given", "text"), ASKED_ERRORS.values(), ids=ASKED_ERRORS)
def test_bad_arguments_are_refused(given, text):
    given = {"vary": SPINS, **given}
    with pytest.raises(ph.PolhodeError, match=text):
        ph.solve_ensemble(HEAVY, SPAN, **given, method="mr2", dt=DT)


def test_an_energy_needs_a_potential():
    with pytest.raises(ph.InputError, match="has no potential, and members no energy"):
        ph.solve_ensemble(OWN, SPAN, members=2, reduce="mean(energy)", method="imidm", dt=DT)
