"""NetCDF files: written directly, but as xarray would write them, byte for byte.

Made in memory, ours are a little longer: free space of the HDF5 library stays at the end.
"""

import resource

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


END = slice(40, 48)  # where a file says how long it is


def same_bytes(folder) -> bool:
    ours, theirs = ((folder / name).read_bytes() for name in ("direct.nc", "xarray.nc"))
    assert int.from_bytes(ours[END], "little") == len(ours)
    assert not any(ours[len(theirs) :])
    return ours[:40] + ours[48 : len(theirs)] == theirs[:40] + theirs[48:]


def test_all_kinds_of_values(tmp_path):
    netcdf.write(tmp_path / "direct.nc", DATA)
    xarray.Dataset(*DATA).to_netcdf(tmp_path / "xarray.nc", engine="h5netcdf")
    assert same_bytes(tmp_path)
    xarray.testing.assert_identical(
        netcdf.read(tmp_path / "direct.nc"), xarray.load_dataset(tmp_path / "xarray.nc")
    )


@pytest.mark.parametrize("problem", [ph.problems.fast_top(), ph.problems.krysl_free()])
def test_trajectories(tmp_path, problem):
    run = ph.solve(problem, (0, 0.05), method="imidm", dt=0.01)
    run.save(tmp_path / "direct.nc")
    run.to_xarray().to_netcdf(tmp_path / "xarray.nc", engine="h5netcdf")
    assert same_bytes(tmp_path)


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
    assert same_bytes(tmp_path)


def test_slashes_in_names_are_refused(tmp_path):
    with pytest.raises(FileError, match="must not contain '/', got 'a/b'"):
        netcdf.write(tmp_path / "x.nc", netcdf.Data({"a/b": ((), 1.0, {})}, {}, {}))
    assert list(tmp_path.iterdir()) == []


# ---- disks
def test_a_full_disk_leaves_the_old_file(tmp_path):
    """A limit to the size of files is met as a full disk is: by an error of the system."""
    path = tmp_path / "x.nc"
    path.write_bytes(b"old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4000, limits[1]))
    try:
        with pytest.raises(FileError, match=r"cannot write the file '.*x.nc': File too large; its"):
            netcdf.write(path, DATA)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_drafts_never_go_through_links_or_over_foreign_files(tmp_path):
    path, draft, victim = tmp_path / "x.nc", tmp_path / ".x.nc.part", tmp_path / "victim"
    victim.write_text("precious")
    draft.symlink_to(victim)
    with pytest.raises(FileError, match="in the way and is a link"):
        netcdf.write(path, DATA)
    draft.unlink()
    draft.write_text("notes of somebody")
    with pytest.raises(FileError, match="is not a file of this library: move it"):
        netcdf.write(path, DATA)
    assert (victim.read_text(), draft.read_text()) == ("precious", "notes of somebody")
    assert not path.exists()
    draft.write_bytes(b"\x89HDF")  # what a killed process leaves
    netcdf.write(path, DATA)
    assert not draft.exists()
