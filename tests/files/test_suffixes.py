"""``run.save``: the suffix chooses the format; everything is written completely or not at all."""

import errno
import json
import os
import shutil
import sys

import numpy as np
import pytest
import xarray
import zarr

import polhode as ph
from polhode.files import tables, whole, zarr_folder

NUMBERS = "t", "q", "angular_momentum", "omega", "angular_momentum_inertial", "energy"


@pytest.fixture(scope="module")
def run():
    body = ph.RigidBody([1.0, 2.0, 2.5], mass=2.0)
    start = {"omega": [0.3, 1.0, 0.2], "position": [0, 0, 1], "velocity": [1, 0, 1 / 3]}
    return ph.solve(ph.Problem(body, name="tumbling", **start), (0, 3), t_eval=np.linspace(0, 3, 7))


@pytest.fixture
def folder(run, tmp_path):
    return run.save(tmp_path / "run.zarr")


def full(*args):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_text_has_all_digits(run, tmp_path):
    path = run.save(tmp_path / "run.csv")
    table = np.genfromtxt(path, delimiter=",", names=True)
    assert np.array_equal(table["time"], run.t)
    for k, letter in enumerate("wxyz"):
        assert np.array_equal(table[f"q_{letter}"], run.q[:, k])
    for k, letter in enumerate("xyz"):
        assert np.array_equal(table[f"x_{letter}"], run.x[:, k])
    assert path.read_text() == run.to_dataframe().to_csv()


def test_extreme_numbers_in_text(tmp_path):
    values = np.array([5e-324, -0.0, 1e308, np.pi, np.nan, np.inf])
    path = tables.write(tmp_path / "n.csv", {"n": np.arange(6), "value": values}, {})
    rows = [line.split(",") for line in path.read_text().splitlines()]
    assert rows[0] == ["n", "value"]
    assert rows[5] == ["4", ""]
    read = np.array([float(cell or "nan") for _, cell in rows[1:]])
    assert read.tobytes() == values.tobytes()


@pytest.mark.parametrize("name", ["run.csv", "run.zarr", "run.nc"])
def test_a_full_disk_leaves_what_was_there(name, run, tmp_path, monkeypatch):
    path = tmp_path / name
    if name != "run.zarr":
        path.write_text("the old one")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ph.FileError, match="No space left on device; its directory must"):
        run.save(path)
    assert [file.read_text() for file in tmp_path.iterdir()] == ["the old one"] * path.exists()


def test_parquet_names_its_extra(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ph.FileError, match=r"pip install 'polhode\[parquet\]'"):
        run.save(tmp_path / "run.parquet")
    assert list(tmp_path.iterdir()) == []


def test_parquet_has_columns_and_origin(run, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(run.save(tmp_path / "run.parquet"))
    assert np.array_equal(table["q_w"].to_numpy(), run.q[:, 0])
    assert json.loads(table.schema.metadata[b"polhode"])["method"] == run.method


@pytest.mark.parametrize("name", ["run.h5", "run", "run.NC"])
def test_other_suffixes_name_the_choices(name, run, tmp_path):
    with pytest.raises(
        ph.FileError, match=r"must end in \.nc \(NetCDF\), \.zarr, \.csv or \.parquet"
    ):
        run.save(tmp_path / name)
    for suffix in ("csv", "zarr"):
        with pytest.raises(ph.FileError, match="there is no directory"):
            run.save(tmp_path / "nowhere" / f"run.{suffix}")


# ---- Zarr
def test_a_store_gives_everything_back(run, folder):
    again = ph.load(folder)
    for name in (*NUMBERS, "x", "v"):
        assert np.array_equal(getattr(again, name), getattr(run, name)), name
    assert repr(again) == repr(run)
    assert again.problem == run.problem
    assert again.body.mass == 2.0
    assert [file.name for file in folder.parent.iterdir()] == ["run.zarr"]


def test_other_readers_open_a_store(run, folder):
    assert np.array_equal(zarr.open_group(folder, mode="r")["q"][:], run.q)
    data = xarray.open_zarr(folder, consolidated=False, chunks=None)
    assert np.array_equal(data["omega"], run.omega)
    assert np.array_equal(data["time"], run.t)
    assert data["x"].attrs["units"] == "m"


def test_no_states_at_all(run, tmp_path):
    assert len(ph.load(run[:0].save(tmp_path / "none.zarr"))) == 0


def test_a_place_that_is_taken_is_refused(run, folder, tmp_path):
    for name in ("run.zarr", "new.zarr"):
        draft = whole.draft_of(tmp_path / "new.zarr")
        draft.mkdir(exist_ok=True)
        with pytest.raises(ph.FileError, match=r"exists: move it away, or use another name"):
            run.save(tmp_path / name)
    assert draft.is_dir()
    assert len(ph.load(folder)) == len(run)


def test_damaged_stores_are_refused(run, folder):
    """Each bit of some bytes, files cut off, missing or too long."""
    whole_store = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    ours = [file for file in whole_store if file.parent == folder or file.name == "0"]
    assert len(ours) == 10
    rng = np.random.default_rng(3)
    for file in ours:
        old = whole_store[file]
        cases = [old[:-1], old + b"0", b""]
        for place in rng.integers(0, len(old), 20):
            flipped = bytearray(old)
            flipped[place] ^= 1 << int(rng.integers(0, 8))
            cases.append(bytes(flipped))
        for case in cases:
            file.write_bytes(case)
            try:
                again = ph.load(folder)
            except ph.FileError as error:
                assert file.name in str(error)  # noqa: PT017
            else:  # a blank or a bracket of the text, perhaps
                assert all(np.array_equal(getattr(again, n), getattr(run, n)) for n in NUMBERS)
                assert again.problem == run.problem
                assert file.name == zarr_folder.GROUP
        file.unlink()
        with pytest.raises(ph.FileError):
            ph.load(folder)
        file.write_bytes(old)
    assert np.array_equal(ph.load(folder).q, run.q)


@pytest.mark.parametrize(
    "arrays",
    [
        {"q": [10**12, 4]},
        {"../q": [7, 4]},
        {"q": [-1]},
        {"q": ["7"]},
        {"q": []},
        [],
        None,
        {"q": 7},
    ],
)
def test_forged_lists_of_arrays_are_refused(arrays, folder):
    file = folder / zarr_folder.GROUP
    group = json.loads(file.read_bytes())
    facts = {k: v for k, v in group["attributes"].items() if k != "crc32c"} | {"arrays": arrays}
    forged = json.dumps(facts, sort_keys=True).encode()
    from numcodecs import CRC32C

    facts["crc32c"] = CRC32C.checksum(forged).to_bytes(4, "little").hex()
    file.write_text(json.dumps(group | {"attributes": facts}))
    with pytest.raises(ph.FileError):
        ph.load(folder)


def test_links_are_not_followed(folder, tmp_path):
    file = folder / "q" / "c" / "0" / "0"
    shutil.move(file, tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ph.FileError, match="missing, or not as it was written"):
        ph.load(folder)
