"""Checkpoints that somebody edited and signed again: refused with one error, or resumed as said."""

import copy
import hashlib
import json
import os
import re
import signal
import sys
import time
import zipfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import polhode as ph
from polhode.compiler.machine import CompiledOrPlain
from polhode.errors import FileError, InputError
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


# ---- headers
class Stopped(BaseException):
    """A run that was stopped under way, or that would begin."""


@pytest.fixture(scope="module")
def unfinished(tmp_path_factory):
    """Checkpoints of all kinds, finished or stopped half way; made in plain Python."""
    place, top = tmp_path_factory.mktemp("made"), ph.problems.fast_top()
    both = ph.models.heavy_top(1.5) + ph.models.gravity_gradient(0.1, 1.0)
    sum_of_two = ph.Problem(ph.RigidBody([1.0, 2.0, 2.5]), both, omega=[0.3, -0.7, 1.1])
    spring = ph.problems.off_centre_spring()
    vary = {"omega": ph.distributions.Normal([0, 0, 50], 0.5)}
    many = {"members": 3, "vary": vary, "seed": 7, "method": "mr2", "dt": 0.01, "save": [0.1, 0.2]}
    many["reduce"] = ["mean(omega)", "quantiles(speed, 0.1, 0.9)"]

    def stop(fraction):
        if fraction > 0.4:
            raise Stopped

    def make(name, solve, *arguments, progress=stop, **others):
        given = {"checkpoint": place / name, "checkpoint_every": 2, "progress": progress}
        try:
            solve(*arguments, **given, **others)
        except Stopped:
            return

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CompiledOrPlain, "__call__", lambda self, *args: self.function(*args))
        patch.setattr("polhode.solvers.fixed_steps.FIRST_CHUNK", 2)
        make("map", ph.solve, top, (0, 0.2), method="mr2", dt=0.01)
        make("done", ph.solve, top, (0, 0.2), method="mr2", dt=0.01, progress=False)
        make(
            "adaptive", ph.solve, sum_of_two, (0, 9), rtol=1e-6, breakpoints=[0.1], method="dopri5"
        )
        make("spring", ph.solve, spring, (0, 0.2), method="imidm", dt=0.02, t_eval=[0.05, 0.2])
        make("many", ph.solve_ensemble, top, (0, 0.2), **many, threads=1)
        make("gone", ph.solve_ensemble, top, (0, 0.2), **many, threads=1, progress=False)
    return place


NAMES = "map", "done", "adaptive", "spring", "many", "gone"


@contextmanager
def loops_that_stop():
    """Loops are not begun: what is tested lies before them.  Nothing takes seconds."""

    def begin(self, *_):
        raise Stopped

    def late(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(20)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(CompiledOrPlain, "__call__", begin)
            yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def outcome(file) -> str:
    """What comes of a forged checkpoint; anything but the answers that are allowed is raised."""
    try:
        with loops_that_stop():
            ph.resume(file)
    except FileError as error:
        found, allowed = str(error), f"{re.escape(str(file))}|version of polhode"
    except InputError as error:
        found, allowed = str(error), "(model|method|formulation|events|reduce)= is needed to"
    except Stopped:
        return "begun"
    else:
        return "finished"
    assert re.search(allowed, found), found
    return "refused"


def test_these_checkpoints_are_good(unfinished):
    found = {name: outcome(unfinished / name) for name in NAMES}
    whole = {"done", "gone"}
    assert found == {name: "finished" if name in whole else "begun" for name in NAMES}
    for name in ("map", "adaptive", "many"):
        assert checkpoint.head(unfinished / name)["counts"]


HOSTILE = [
    *(None, True, False, 0, -1, 1, 2, 7, 0.5, -0.0, 1e-320, 1e308, -1e308, 2**31, 2**53, 2**63),
    *(
        10**30,
        -(10**30),
        10**12,
        "",
        "x",
        "nan",
        "inf",
        "1e5",
        "\0",
        "../../x",
        "/etc/passwd",
        "é" * 999,
    ),
    *([], [[]], [None], [1, 2, 3], [1e308] * 3, {}, {"": None}, {"name": "x"}, ["a", "b"]),
    *("polhode.contracts:torque", "os:system", "auto", "dop853", "gauss", "mkrk:rk4"),
]


def places(value, path=()):
    """All places in plain data."""
    yield path
    for key in (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    ):
        yield from places(value[key], (*path, key))


def forged(text, random):
    """One or two places of a header changed: replaced, removed, doubled or swapped."""
    text = copy.deepcopy(text)
    for _ in range(1 + int(random.random() < 0.2)):
        found = [path for path in places(text) if path and path[0] != "made"]
        *path, last = found[random.integers(len(found))]
        place = text
        for key in path:
            place = place[key]
        how = random.random()
        if how < 0.7:
            place[last] = copy.deepcopy(HOSTILE[random.integers(len(HOSTILE))])
        elif how < 0.8:
            del place[last]
        elif isinstance(place, list):
            place.insert(last, copy.deepcopy(place[last]))
        else:
            place[f"{last}x"] = place[last]
    return text


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
