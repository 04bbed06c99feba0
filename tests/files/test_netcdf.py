"""NetCDF files: written directly, but as xarray would write them, byte for byte."""

import numpy as np
import pytest
import xarray

import polhode as ph
from polhode.errors import FileError
from polhode.files import netcdf

DATA = netcdf.Data(
    {
        "q": (("time", "quaternion"), np.arange(20.0).reshape(5, 4), {"long_name": "attitude ω"}),
        "steps": (("member",), np.array([1, 2, 3]), {}),
        "good": (("member",), np.array([True, False, True]), {"units": "1"}),
        "single": (("time",), np.arange(5, dtype="f4"), {}),
        "name": (("member",), np.array(["a", "bc", "dé"]), {}),
        "number": ((), np.float64(3.5), {"units": "kg"}),
        "small": (("member",), np.array([1, 2, 3], "u1"), {}),
        "none": (("nothing",), np.empty(0), {}),
    },
    {"time": (("time",), np.arange(5.0), {"units": "s"}), "quaternion": list("wxyz")},
    {"format": netcdf.FORMAT, "mass": 1.5, "status": 3, "list": [1, 2], "text": "", "big": 10**12},
)


def same_bytes(folder, data: netcdf.Data) -> bool:
    netcdf.write(folder / "direct.nc", data)
    xarray.Dataset(*data).to_netcdf(folder / "xarray.nc", engine="h5netcdf")
    return (folder / "direct.nc").read_bytes() == (folder / "xarray.nc").read_bytes()


def test_all_kinds_of_values(tmp_path):
    assert same_bytes(tmp_path, DATA)
    xarray.testing.assert_identical(
        netcdf.read(tmp_path / "direct.nc"), xarray.load_dataset(tmp_path / "xarray.nc")
    )


@pytest.mark.parametrize("problem", [ph.problems.fast_top(), ph.problems.krysl_free()])
def test_trajectories(tmp_path, problem):
    run = ph.solve(problem, (0, 0.05), method="imidm", dt=0.01)
    run.save(tmp_path / "direct.nc")
    run.to_xarray().to_netcdf(tmp_path / "xarray.nc", engine="h5netcdf")
    assert (tmp_path / "direct.nc").read_bytes() == (tmp_path / "xarray.nc").read_bytes()


def test_ensembles(tmp_path):
    result = ph.solve_ensemble(
        ph.problems.fast_top(),
        (0, 0.05),
        method="imidm",
        dt=0.01,
        vary={"omega": ph.distributions.Normal([0, 0, 50], 0.1)},
        members=5,
        seed=1,
        reduce=["mean(omega)", "quantiles(energy)"],
    )
    result.save(tmp_path / "direct.nc")
    result.to_xarray().to_netcdf(tmp_path / "xarray.nc", engine="h5netcdf")
    assert (tmp_path / "direct.nc").read_bytes() == (tmp_path / "xarray.nc").read_bytes()


def test_slashes_in_names_are_refused(tmp_path):
    with pytest.raises(FileError, match="must not contain '/', got 'a/b'"):
        netcdf.write(tmp_path / "x.nc", netcdf.Data({"a/b": ((), 1.0, {})}, {}, {}))
    assert list(tmp_path.iterdir()) == []
