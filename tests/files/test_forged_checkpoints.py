"""Checkpoints that somebody edited and signed again: refused with one error, or resumed as said."""

import hashlib
import json
import sys
import zipfile
from pathlib import Path

import pytest

import polhode as ph
from polhode.errors import FileError
from polhode.files import checkpoint
from polhode.solvers import plain_data

FILES = Path(__file__).with_name("version_0_1.zip")
pytestmark = pytest.mark.filterwarnings("ignore:.*was made elsewhere")


@pytest.fixture
def place(tmp_path):
    with zipfile.ZipFile(FILES) as files:
        files.extractall(tmp_path)
    return tmp_path


def parts_of(file):
    """(header, what follows it) of a checkpoint."""
    data = file.read_bytes()
    lead = len(checkpoint.MAGIC) + 2 + checkpoint.SIZES.size
    _, length = checkpoint.SIZES.unpack(data[lead - checkpoint.SIZES.size : lead])
    text = json.loads(data[lead : lead + length])
    return text, data[-(-(lead + length) // 8) * 8 : -checkpoint.DIGEST]


def sign(file, header: bytes, arrays: bytes):
    """Write a checkpoint whose sizes and checksum are right, whatever it says."""
    lead = len(checkpoint.MAGIC) + 2 + checkpoint.SIZES.size
    begin = -(-(lead + len(header)) // 8) * 8
    sizes = checkpoint.SIZES.pack(begin + len(arrays) + checkpoint.DIGEST, len(header))
    data = (checkpoint.MAGIC + b"1\n" + sizes + header).ljust(begin, b"\0") + arrays
    file.write_bytes(data + hashlib.sha256(data).digest())


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
