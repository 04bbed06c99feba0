"""Results of ensembles, in memory and in stores."""

import errno
import json
import os

import numpy as np
import pytest
import xarray
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.ensembles.distributions import GROUP
from polhode.ensembles.store import Store
from support.ensembles import (
    COUNT,
    DT,
    HEAVY,
    MANY,
    OFF_GRID,
    SPAN,
    SPINS,
    check_bits,
    same,
    solve_many,
)


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


def test_tables(many, tmp_path):
    table = many[5:8].to_dataframe()
    assert table.index.tolist() == [5, 6, 7]
    assert table["omega_z"].tolist() == many.omega[-1, 5:8, 2].tolist()
    assert {"varied_model.strength", "tilt_first_time", "energy", "status"} <= set(table)
    tensors = {"inertia": np.stack([np.diag([2.0, 3.0, 4.5])] * 2)}
    final = ph.solve_ensemble(HEAVY, SPAN, vary=tensors, save=None, method="mr2", dt=DT)
    assert {"varied_inertia_xx", "varied_inertia_yz"} <= set(final.to_dataframe())
    written = many[5:8].save(tmp_path / "some.csv")
    assert written.read_text() == table.to_csv()
    with pytest.raises(ph.FileError, match=r"must end in \.nc .*\.zarr, \.csv or \.parquet"):
        many.save(tmp_path / "some.txt")


def test_text(many):
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
    assert data.attrs.pop("run")
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
    with pytest.raises(ph.FileError, match="that this result is read from"):
        again.save(stored.path)


def test_only_selected_states_are_read(tmp_path):
    result = solve_many(
        GROUP + 20, chunk=GROUP, out=tmp_path / "a.zarr", reduce=None, reduce_times=None
    )
    wanted = result[10:20].q
    (tmp_path / "a.zarr" / "q" / "0.1.0").write_bytes(b"spoilt")
    np.testing.assert_array_equal(result[10:20].q, wanted)
    with pytest.raises(ph.FileError, match=r"the chunk '0.1.0' in .*a.zarr/q' is damaged"):
        result[GROUP:].q  # noqa: B018


@pytest.mark.usefixtures("plain")
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
    """Pieces of few times, written during the run; the size check is about memory only."""
    monkeypatch.setattr("polhode.ensembles.store.PIECE_BYTES", 32 * GROUP * 4)
    monkeypatch.setattr("polhode.ensembles.task.MOST_BYTES", 10**6)
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


def test_an_interrupted_run_is_recognised(tmp_path, many):
    def until_half(fraction):
        if fraction > 0.5:
            raise Killed

    place = tmp_path / "cut.zarr"
    with pytest.raises(Killed):
        solve_many(chunk=GROUP, out=place, progress=until_half)
    cut = ph.load(place)
    assert not cut.complete
    assert "its run was interrupted" in repr(cut)
    assert "not run" in repr(cut)
    assert xarray.open_zarr(place).attrs["complete"] is False
    done = np.arange(COUNT) < GROUP
    np.testing.assert_array_equal(cut.success, done)
    np.testing.assert_array_equal(cut[done].q, many[done].q)
    assert np.isnan(cut[-1:].t_reached).all()
    assert "was not run" in cut.message(COUNT - 1)
    assert same(many, solve_many(chunk=GROUP, out=place))  # one of ours is replaced
    assert ph.load(place).complete


def test_foreign_files_are_not_touched(tmp_path):
    asked = {"vary": SPINS, "method": "mr2", "dt": DT}
    other = tmp_path / "other.zarr"
    xarray.Dataset({"a": ("x", [1.0])}).to_zarr(other, zarr_format=2)
    notes = tmp_path / "notes.zarr"
    notes.mkdir()
    (notes / "notes.txt").write_text("keep me")
    file = tmp_path / "file.zarr"
    file.write_text("keep me")
    for path in (other, notes, file):
        with pytest.raises(ph.FileError, match=f"{path.name}' exists and is not a store"):
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
def test_errors_of_the_system_are_explained(tmp_path, monkeypatch, when):
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
    with pytest.raises(ph.FileError, match=r"cannot write .*No space left.*have enough free space"):
        solve_many(10, out=tmp_path / "full.zarr")


def test_trajectories_are_loaded_as_before(tmp_path):
    run = ph.solve(HEAVY, SPAN, method="mr2", dt=DT)
    again = ph.load(run.save(tmp_path / "run.nc"))
    assert isinstance(again, ph.Trajectory)
    np.testing.assert_array_equal(again.q, run.q)
