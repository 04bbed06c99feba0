"""Results: derived quantities, parts, tables, files."""

import copy
import json
from typing import get_overloads, get_type_hints

import h5netcdf
import numpy as np
import pytest
import xarray
from scipy.spatial.transform import Rotation

import polhode as ph

TENSOR = [[2.5, 0.3, 0.1], [0.3, 3.0, -0.2], [0.1, -0.2, 4.0]]


@pytest.fixture(scope="module")
def run():
    problem = ph.Problem(
        ph.RigidBody(TENSOR, mass=2.0),
        ph.models.heavy_top(2.0),
        attitude=Rotation.from_rotvec([0.3, 0.1, -0.2]),
        omega=[0.3, 0.2, 2.0],
        name="tilted",
    )
    return ph.solve(problem, (0, 2), method="imidm", dt=0.01, save_every=2)


def test_quantities_agree_with_matrices(run):
    matrices = run.rotation.as_matrix()
    momentum = run.omega @ np.array(TENSOR)
    assert np.allclose(run.angular_momentum, momentum, rtol=0, atol=1e-13)
    inertial = np.einsum("nij,nj->ni", matrices, momentum)
    assert np.allclose(run.angular_momentum_inertial, inertial, rtol=0, atol=1e-13)
    kinetic = 0.5 * np.einsum("ni,ni->n", momentum, run.omega)
    assert np.allclose(run.energy, kinetic + 2.0 * matrices[:, 2, 2], rtol=0, atol=1e-13)
    assert np.allclose(np.linalg.norm(run.q, axis=1), 1, rtol=0, atol=1e-14)


def test_the_sign_of_the_quaternion_is_continuous():
    long = ph.solve(ph.problems.fast_top(), (0, 10), method="imidm", dt=0.01)
    assert (np.einsum("ni,ni->n", long.q[1:], long.q[:-1]) > 0.9).all()
    assert long.q[:, 0].min() < 0  # it does pass through both signs


def test_parts_are_trajectories(run):
    part = run[10:20]
    assert len(part) == 10
    assert np.array_equal(part.q, run.q[10:20])
    assert np.array_equal(part.energy, run.energy[10:20])
    assert len(run[-1]) == 1
    assert run[-1].t[0] == run.t[-1]
    assert np.array_equal(run[run.t > 1].t, run.t[run.t > 1])


def test_words_say_what_happened(run):
    for words in ("tilted", "imidm", "dt=0.01", "200 steps", "Newton iterations", "success"):
        assert words in repr(run)
        assert words in run._repr_html_()


def test_without_a_potential_there_is_no_energy():
    problem = ph.Problem(
        ph.RigidBody([1, 2, 2.5]),
        ph.torque(lambda t, q, omega, params: (0.1, 0.0, 0.0)),
        omega=[1, 0, 0],
    )
    run = ph.solve(problem, (0, 0.1), method="forward-euler-m", dt=0.1)
    assert run.energy is None
    assert "energy" not in run.to_xarray()
    assert "energy" not in run.to_dataframe()
    assert run.kinetic_energy[0] == 0.5


def test_tables(run):
    data, table = run.to_xarray(), run.to_dataframe()
    assert dict(data.sizes) == {"time": 101, "component": 3, "quaternion": 4}
    assert np.array_equal(data.omega.sel(component="z"), run.omega[:, 2])
    assert np.array_equal(table["omega_z"], run.omega[:, 2])
    assert np.array_equal(table["q_w"], run.q[:, 0])
    assert np.array_equal(table.index, run.t)


def test_a_file_gives_everything_back(run, tmp_path):
    path = run.save(tmp_path / "tilted.nc")
    again = ph.load(path)
    for name in ("t", "q", "angular_momentum", "omega", "angular_momentum_inertial", "energy"):
        assert np.array_equal(getattr(again, name), getattr(run, name)), name
    for name in ("method", "status", "message", "nsteps", "nfev", "niter", "arguments", "problem"):
        assert getattr(again, name) == getattr(run, name), name
    assert repr(again) == repr(run)
    assert again.body.mass == 2.0


@pytest.mark.usefixtures("plain")
def test_a_file_gives_nested_parameters_back(tmp_path):
    model = ph.models.heavy_top(2.0) + ph.models.soft_wall("printed")
    problem = ph.Problem(ph.RigidBody([1, 2, 2.5]), model, omega=[1, 0, 0])
    run = ph.solve(problem, (0, 0.1), method="forward-euler-m", dt=0.1)
    assert ph.load(run.save(tmp_path / "sum.nc")).problem == run.problem


@pytest.mark.usefixtures("plain")
def test_a_file_says_where_it_came_from(run, tmp_path):
    facts = xarray.load_dataset(run.save(tmp_path / "tilted.nc")).attrs
    assert facts["polhode_version"] == ph.__version__
    assert json.loads(facts["arguments"]) == {"dt": 0.01, "save_every": 2}
    problem = json.loads(facts["problem"])
    assert problem["model"] == "heavy_top"
    assert problem["parameters"] == {"strength": 2.0}
    assert problem["inertia"] == TENSOR


def test_nothing_half_written_is_left(run, tmp_path, monkeypatch):
    def fails(*args, **kwargs):
        raise OSError("disk full")

    old = run.save(tmp_path / "run.nc").read_bytes()
    monkeypatch.setattr(h5netcdf.File, "create_variable", fails)
    with pytest.raises(OSError, match="disk full"):
        run.save(tmp_path / "run.nc")
    assert [file.name for file in tmp_path.iterdir()] == ["run.nc"]
    assert (tmp_path / "run.nc").read_bytes() == old


def test_other_files_are_refused(run, tmp_path):
    with pytest.raises(ph.FileError, match=r"must end in \.nc"):
        run.save(tmp_path / "run.txt")
    with pytest.raises(ph.FileError, match="no directory"):
        run.save(tmp_path / "nowhere" / "run.nc")
    with pytest.raises(ph.FileError, match="there is no file"):
        ph.load(tmp_path / "run.nc")
    (tmp_path / "text.nc").write_text("no NetCDF")
    with pytest.raises(ph.FileError, match="not a NetCDF"):
        ph.load(tmp_path / "text.nc")
    xarray.Dataset({"a": ("x", [1.0])}).to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    with pytest.raises(ph.FileError, match="not a trajectory of this library"):
        ph.load(tmp_path / "other.nc")


def test_one_state_after_another():
    run = ph.solve(ph.problems.krysl_free(), (0.0, 0.2), t_eval=[0.0, 0.1, 0.2])
    assert [state.t.tolist() for state in run] == [[0.0], [0.1], [0.2]]
    assert run[-1].t.tolist() == run[2].t.tolist() == [0.2]
    for index in (3, 100, -4):
        with pytest.raises(IndexError, match=f"the index {index} is outside a trajectory of 3 sta"):
            run[index]


def test_types_that_users_see():
    from matplotlib.axes import Axes

    names = {"Axes": Axes}
    for name in ("q", "omega"):
        function = vars(ph.Trajectory)[name].func
        assert get_type_hints(function)["return"] is np.ndarray
    drawn = [get_type_hints(each, localns=names) for each in get_overloads(ph.Trajectory.plot)]
    assert [each["return"] for each in drawn] == [np.ndarray, Axes]


def spinning(t, q):
    return 0.3 * q[1], 0.1, q[2]


RUNS = {
    "map": lambda: ph.solve(ph.problems.fast_top(), (0, 0.1), method="mr2", dt=0.01),
    "some states": lambda: ph.solve(
        ph.problems.fast_top(), (0, 0.1), method="mr2", dt=0.01, save_every=7
    ),
    "adaptive": lambda: ph.solve(ph.problems.fast_top(), (0, 0.1)),
    "given rate": lambda: ph.integrate_angular_velocity(spinning, (0, 1), frame="body"),
}


@pytest.mark.parametrize("make", RUNS.values(), ids=RUNS)
def test_copies(make):
    run = make()
    for one in (copy.copy(run), copy.deepcopy(run)):
        np.testing.assert_array_equal(one.t, run.t)
        np.testing.assert_array_equal(one.q, run.q)
        np.testing.assert_array_equal(one.sol([0.03, 0.07]).q, run.sol([0.03, 0.07]).q)
