"""Checkpoints that somebody edited and signed again: refused with one error, or resumed as said."""

import json
import os
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest

import polhode as ph
from polhode.errors import FileError
from polhode.files import checkpoint
from polhode.solvers import plain_data
from support.forged_checkpoints import (
    NAMES,
    forged,
    make_checkpoints,
    outcome,
    parts_of,
    places,
    sign,
)

FILES = Path(__file__).with_name("version_0_1.zip")
pytestmark = pytest.mark.filterwarnings("ignore:.*was made elsewhere")


@pytest.fixture
def place(tmp_path):
    with zipfile.ZipFile(FILES) as files:
        files.extractall(tmp_path)
    return tmp_path


# ---- functions
FOREIGN = [
    "polhode.files.checkpoint:remove",
    "polhode.files.whole:os",
    "polhode.models.user:torque",
    "polhode.models.user:potential",
    "polhode.models.heavy_top:heavy_top",
    "polhode.models.heavy_top:any_arm",
    "polhode.models.heavy_top:potential",
    "polhode.models.heavy_top:three",
    "polhode.models.heavy_top:torque.__globals__",
    "polhode.models.nothing:torque",
    "polhode.models:torque",
    "polhode.contracts:total",
    "polhode.__main__:torque",
    "os:system",
    "os.path:torque",
    "polhode.models..heavy_top:torque",
    "../models/heavy_top:torque",
    ":",
    "",
]


@pytest.mark.parametrize("name", FOREIGN)
def test_a_checkpoint_names_nothing_but_functions_of_models(name):
    with pytest.raises(FileError, match="has no torque"):
        plain_data._find_function(name, "torque")


def test_a_checkpoint_imports_no_other_module(place):
    text, arrays = parts_of(place / "map.cut.ckpt")
    text["data"]["problem"]["model"]["functions"]["torque"] = "polhode.bench.tops:torque"
    sign(place / "map.cut.ckpt", json.dumps(text).encode(), arrays)
    sys.modules.pop("polhode.bench.tops", None)
    with pytest.raises(FileError, match=r"no torque 'polhode\.bench\.tops:torque', which the run"):
        ph.resume(place / "map.cut.ckpt")
    assert "polhode.bench.tops" not in sys.modules


# ---- headers
@pytest.fixture(scope="module")
def unfinished(tmp_path_factory):
    place = tmp_path_factory.mktemp("made")
    make_checkpoints(place)
    return place


def test_these_checkpoints_are_good(unfinished):
    found = {name: outcome(unfinished / name) for name in NAMES}
    whole = {"done", "gone"}
    assert found == {name: "finished" if name in whole else "begun" for name in NAMES}
    for name in ("map", "adaptive", "many"):
        assert checkpoint.head(unfinished / name)["counts"]


@pytest.mark.parametrize("name", NAMES)
def test_forged_headers_are_refused_with_one_error(unfinished, tmp_path, name, request):
    """Thousands of forged headers with --slow, a few dozen without."""
    random = np.random.default_rng([14, NAMES.index(name)])
    text, arrays = parts_of(unfinished / name)
    journal = unfinished / f"{name}.rows"
    rows = journal.read_bytes() if journal.exists() else None
    file, counts = tmp_path / "forged.ckpt", {}
    end = time.monotonic() + (10.0 if request.config.getoption("--slow") else 0.0)
    trial = 0
    while trial < 60 or time.monotonic() < end:
        if rows is not None:
            (tmp_path / "forged.ckpt.rows").write_bytes(rows)
        made, trial = forged(text, random), trial + 1
        sign(file, json.dumps(made).encode(), arrays)
        try:
            what = outcome(file)
        except BaseException as error:
            changed = [
                (p, at(text, p), at(made, p)) for p in places(made) if at(text, p) != at(made, p)
            ]
            raise AssertionError(f"trial {trial}: {changed[-1:]}") from error
        counts[what] = counts.get(what, 0) + 1
        assert {path.name for path in tmp_path.iterdir()} <= {"forged.ckpt", "forged.ckpt.rows"}
    assert counts["refused"] > trial / 3


def at(value, path):
    for key in path:
        try:
            value = value[key]
        except (LookupError, TypeError):
            return "nothing"
    return value


@pytest.mark.parametrize(
    "header",
    [
        b"[" * 100_000,
        b"{}",
        b"[]",
        b"7",
        b"NaN",
        b'{"a":' * 5000,
        b"1" * 5000,
        b"\xff",
        b'"\\ud800"',
    ],
)
def test_headers_that_are_no_headers_are_refused(unfinished, tmp_path, header):
    file = tmp_path / "x.ckpt"
    sign(file, header, b"")
    assert outcome(file) == "refused"
    _, arrays = parts_of(unfinished / "map")
    sign(file, header, arrays)
    assert outcome(file) == "refused"


@pytest.mark.parametrize("size", [0, 1, 2**40, 2**63, 2**64 - 1])
def test_sizes_that_cannot_be_are_refused(unfinished, tmp_path, size):
    data = bytearray((unfinished / "map").read_bytes())
    lead = len(checkpoint.MAGIC) + 2
    for place in (lead, lead + 8):
        forged = bytearray(data)
        forged[place : place + 8] = size.to_bytes(8, "little")
        (tmp_path / "x.ckpt").write_bytes(forged)
        assert outcome(tmp_path / "x.ckpt") == "refused"


# ---- what is no file
def test_pipes_devices_and_directories_are_refused_at_once(tmp_path, unfinished):
    os.mkfifo(tmp_path / "pipe")
    for file in (tmp_path / "pipe", tmp_path, Path("/dev/zero"), tmp_path / "none"):
        assert outcome(file) == "refused"
        with pytest.raises(FileError, match="cannot read"):
            checkpoint.read(file)
    journal, file = tmp_path / "x.ckpt.rows", tmp_path / "x.ckpt"
    file.write_bytes((unfinished / "map").read_bytes())
    for make in (os.mkfifo, os.mkdir):
        make(journal)
        with pytest.raises(FileError):
            ph.resume(file)
        os.rmdir(journal) if journal.is_dir() else journal.unlink()


def test_a_large_hollow_file_is_not_read(tmp_path):
    with (tmp_path / "x.ckpt").open("wb") as file:
        file.write(checkpoint.MAGIC + b"1\n" + checkpoint.SIZES.pack(2**43, 100))
        file.truncate(2**43)
    with pytest.raises(FileError, match=r"declares 8.8e\+03 GB, with .* GB of memory"):
        ph.resume(tmp_path / "x.ckpt")
