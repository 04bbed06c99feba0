"""NetCDF files: written directly, but as xarray would write them, byte for byte.

Made in memory, ours are a little longer: free space of the HDF5 library stays at the end, and the
checksum follows it.
"""

import hashlib
import os
import resource

import h5py
import numpy as np
import pytest
import xarray

import polhode as ph
from polhode.compiler.machine import CompiledOrPlain
from polhode.errors import FileError
from polhode.files import netcdf
from polhode.files.given import damage_refused
from support.forged_netcdf import seal
from support.small_disks import small_disk

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
    ours, seal = ours[: -netcdf.SEALED], ours[-netcdf.SEALED :]
    assert seal == netcdf.SEAL + hashlib.sha256(ours).digest()
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


def test_a_small_disk_leaves_the_old_file(tmp_path):
    path = tmp_path / "disk" / "x.nc"
    with small_disk(tmp_path / "disk", 8) as resize:
        path.write_bytes(b"old")
        with pytest.raises(FileError, match=r"cannot write the file '.*x.nc': No space left"):
            netcdf.write(path, DATA)
        assert path.read_bytes() == b"old"
        assert list(path.parent.iterdir()) == [path]
        resize(1024)
        netcdf.write(path, DATA)
        assert path.stat().st_size > 8192


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


# ---- damaged and forged files
@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The bytes of a trajectory and of an ensemble."""
    place, top = tmp_path_factory.mktemp("saved"), ph.problems.krysl_free()
    vary = {"omega": ph.distributions.Normal([0, 0, 5], 0.1)}
    many = {"vary": vary, "members": 5, "seed": 1, "save": [0.1, 0.2], "reduce": "mean(omega)"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CompiledOrPlain, "__call__", lambda self, *args: self.function(*args))
        run = ph.solve(top, (0.0, 0.2), t_eval=[0.0, 0.1, 0.2])
        result = ph.solve_ensemble(top, (0.0, 0.2), **many, threads=1)
        files = run.save(place / "run.nc"), result.save(place / "many.nc")
    return [file.read_bytes() for file in files]


def without(name):
    return lambda file: file.__delitem__(name)


def instead(name, values, *dimensions):
    def forge(file):
        del file[name]
        file[name] = values
        for place, dimension in enumerate(dimensions):
            file[name].dims[place].attach_scale(file[dimension])

    return forge


def attribute(name, value):
    return lambda file: file.attrs.__setitem__(name, value)


def no_attribute(name):
    return lambda file: file.attrs.__delitem__(name)


def bomb(file):
    file.create_dataset("bomb", shape=(400_000_000,), dtype="f8")


def large(file):
    file.create_dataset("bomb", shape=(10**12,), dtype="f8", chunks=(10**6,), compression="gzip")


def outside(file):
    file.create_dataset("other", shape=(8,), dtype="u1", external=[("/etc/hostname", 0, 8)])


def linked(file):
    file["other"] = h5py.ExternalLink("/etc/hostname", "q")


def softly_linked(file):
    file["other"] = h5py.SoftLink("/q")


def virtual(file):
    layout = h5py.VirtualLayout(shape=(8,), dtype="f8")
    layout[:] = h5py.VirtualSource("/etc/hostname", "q", shape=(8,))
    file.create_virtual_dataset("other", layout)


COMMON = {
    "no q": (without("q"), "q"),
    "no time": (without("time"), "damaged"),
    "no dimensions": (instead("q", np.ones((3, 4))), "q has no dimensions"),
    "text for q": (instead("q", ["a", "b", "c"], "component"), "damaged"),
    "no arguments": (no_attribute("arguments"), "arguments"),
    "arguments of another kind": (attribute("arguments", "[1, 2]"), "damaged"),
    "arguments that are no text": (attribute("arguments", 7.5), "damaged"),
    "no method": (no_attribute("method"), "method"),
    "bad JSON": (attribute("problem", "{"), "Expecting property name"),
    "deep JSON": (attribute("problem", "[" * 100_000), "damaged"),
    "a bomb": (bomb, "bomb declares 3200000000 bytes, and has 0"),
    "a larger bomb": (large, "bomb declares 8000000000000 bytes, and has 0"),
    "outside": (outside, "other lies in another file"),
    "a link": (linked, "other is a link"),
    "a soft link": (softly_linked, "other is a link"),
    "virtual": (virtual, "other lies in another file"),
    "a group": (lambda file: file.create_group("more"), "more is not a variable"),
    "another format": (attribute("format", "polhode trajectory 9"), "not a trajectory of this"),
    "no text": (attribute("format", 7), "not a trajectory of this"),
}
FORGERIES = {
    **{(0, name): forgery for name, forgery in COMMON.items()},
    **{(1, name): forgery for name, forgery in COMMON.items()},
    (0, "no momentum"): (without("angular_momentum"), "angular_momentum"),
    (0, "too few columns"): (instead("q", np.ones((3, 3)), "time", "component"), r"\(3, 3\)"),
    (1, "other rows"): (instead("status", np.zeros(3, "i8"), "component"), "status is int64 over"),
    (1, "text"): (instead("status", list("abcde"), "member"), "status is"),
    (0, "bad status"): (attribute("status", 77), "77"),
    (0, "bad inertia"): (attribute("inertia", [1.0, 2.0]), "reshape"),
    (0, "impossible inertia"): (attribute("inertia", [-1.0] * 9), "inertia"),
    (1, "no status"): (without("status"), "status"),
    (1, "no members"): (without("member"), "damaged"),
    (1, "huge numbers"): (instead("member", np.arange(5) * 10**14), "members are|damaged"),
    (1, "bad seed"): (attribute("seed", "x"), "damaged"),
    (1, "no omega"): (without("omega"), "it lacks 'omega'"),
    (1, "method of another kind"): (attribute("method", 0.5), "'method' is no text"),
}


@pytest.mark.parametrize("case", FORGERIES, ids=str)
def test_forged_files_are_refused_with_one_error(tmp_path, saved, case):
    path, (forge, words) = tmp_path / "run.nc", FORGERIES[case]
    path.write_bytes(saved[case[0]])
    with h5py.File(path, "r+") as file:
        forge(file)
    seal(path)
    with pytest.raises(FileError, match=words) as refused:
        ph.load(path)
    assert "run.nc' " in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("which", [0, 1])
def test_damaged_files_are_refused(tmp_path, saved, which, request):
    """Bytes that are cut off, changed, or lost in a block: never other numbers."""
    path, rng = tmp_path / "run.nc", np.random.default_rng([14, which])
    whole = saved[which]
    for trial in range(20_000 if request.config.getoption("--slow") else 500):
        data = bytearray(whole)
        if trial % 3 == 0:
            del data[int(rng.integers(len(data))) :]
        elif trial % 3 == 1:
            for place in rng.integers(len(data), size=1 + trial % 5):
                data[place] ^= int(rng.integers(1, 256))
        else:
            first = int(rng.integers(len(data)))
            length = len(data[first : first + 512])
            data[first : first + length] = bytes(length)
        if data in (whole, whole[: -netcdf.SEALED]):
            continue
        path.write_bytes(data)
        with pytest.raises(FileError, match=r"run\.nc' (is not a NetCDF-4|was edited or damaged)"):
            ph.load(path)


def test_other_programs_read_and_change_files(tmp_path, saved):
    path = tmp_path / "run.nc"
    path.write_bytes(saved[0])
    with h5py.File(path, "r+") as file:
        file.attrs["note"] = "mine"
    assert path.read_bytes()[-netcdf.SEALED :][:16] != netcdf.SEAL
    assert len(ph.load(path)) == 3  # after a look by another process
    with h5py.File(path, "r+") as file:
        bomb(file)
    with pytest.raises(FileError, match="bomb declares 3200000000 bytes, and has 0"):
        ph.load(path)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import time; time.sleep(60)", "did not read it within"),
        ("import os; os.kill(os.getpid(), 11)", "the HDF5 library crashed"),
        ("raise OSError('no such thing')", "OSError: no such thing"),
    ],
)
def test_a_library_that_hangs_or_crashes_does_so_elsewhere(
    tmp_path, saved, monkeypatch, code, words
):
    path = tmp_path / "run.nc"
    path.write_bytes(saved[0][: -netcdf.SEALED])
    monkeypatch.setattr(netcdf, "LOOK", code)
    monkeypatch.setattr(netcdf, "PATIENCE", 0.5)
    with pytest.raises(FileError, match=f"run.nc' is not a NetCDF-4 file, or damaged: .*{words}"):
        ph.load(path)


def test_what_is_no_file_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "x.nc")
    for path in (tmp_path / "x.nc", "/dev/zero", tmp_path / "none.nc"):
        with pytest.raises(FileError, match="there is no file"):
            ph.load(path)


def test_errors_about_damage_are_one_line():
    words = r"^'x\.nc' was edited or damaged: one and two$"
    with pytest.raises(FileError, match=words), damage_refused("x.nc"):
        raise ValueError("one\n  and two")
