"""Damaged and forged stores: they load as the same numbers, or end in one ``FileError``."""

import json
import os
import pickle
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
import xarray

import polhode as ph
from polhode.ensembles import contents, places, store
from support import damaged_stores
from support.damaged_stores import (
    DAMAGES,
    change,
    flip,
    forge_text,
    make_store,
    numbers_in,
    renew_list,
    repair,
    solve,
)
from support.power_loss import Disk

pytestmark = pytest.mark.usefixtures("plain")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    place = tmp_path_factory.mktemp("made") / "a.zarr"
    make_store(place)
    return place


@pytest.fixture(scope="module")
def numbers(made):
    return numbers_in(made)


@pytest.fixture
def copy(made, tmp_path):
    shutil.copytree(made, tmp_path / "a.zarr")
    return tmp_path / "a.zarr"


# ---- damage
def test_damage_of_every_file_is_noticed(copy, made, numbers, rng):
    """Three kinds of damage to each file of a finished store, one after another."""
    assert numbers_in(copy) == numbers
    files = sorted(x.relative_to(made) for x in made.rglob("*") if x.is_file())
    for name in files:
        for damage in rng.choice(DAMAGES, 3, replace=False):
            damage(copy / name, rng)
            with pytest.raises(ph.FileError) as told:
                ph.load(copy)
            assert "\n" not in str(told.value)
            assert name.name in str(told.value) or name.name.startswith(".")
            repair(copy / name, made / name)
    assert numbers_in(copy) == numbers


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda q: flip(q / "1.0.0", np.random.default_rng(1)), "the chunk '1.0.0' in"),
        (lambda q: (q / "1.0.0").unlink(), "lacks the chunk 'q/1.0.0'"),
        (lambda q: (q.parent / "niter" / "0").unlink(), "lacks 'niter/0', which is on its list"),
        (lambda q: os.truncate(q / "1.0.0", 100), "the chunk '1.0.0' .* has|declares"),
        (lambda q: shutil.copy(q / "1.0.0", q / "3.0.0"), "'3.0.0' .* outside the array"),
        (lambda q: shutil.copy(q / "1.0.0", q / "2.0.0"), "'q/2.0.0' is not as it was written"),
        (lambda q: (q.parent / ".contents").unlink(), "complete but has no list of its files"),
        (lambda q: shutil.rmtree(q), "lacks the array 'q'"),
        (lambda q: shutil.copytree(q, q.parent / "p"), "holds 'p/.*', which is not on its list"),
        (lambda q: shutil.copy(q / "0.0.0", q.parent / "0"), "holds '0', which this library did"),
    ],
)
def test_the_message_names_the_chunk(copy, damage, words):
    damage(copy / "q")
    with pytest.raises(ph.FileError, match=words):
        ph.load(copy)


def test_chunks_of_large_stores_are_compared_when_they_are_read(copy, monkeypatch, numbers):
    monkeypatch.setattr(contents, "COMPARED", 0)
    assert numbers_in(copy) == numbers
    flip(copy / "q" / "1.0.0", np.random.default_rng(2))
    run = ph.load(copy)
    assert run.select(times=[0, 1, 4, 5]).q.shape == (4, 6, 4)
    with pytest.raises(ph.FileError, match=r"the chunk '1.0.0' in .*a.zarr/q' is damaged"):
        run.q  # noqa: B018
    with pytest.raises(RuntimeError, match="checksum"):  # other readers notice it, too
        xarray.open_zarr(copy)["q"].load()


def test_an_unfinished_store_has_checksums(tmp_path):
    class Stopped(Exception):
        pass

    def stop(_):
        raise Stopped

    place, path = tmp_path / "a.zarr", tmp_path / "run.ckpt"
    with pytest.raises(Stopped):
        solve(out=place, checkpoint=path, checkpoint_every=1, progress=stop)
    assert not ph.load(place).complete
    os.truncate(place / "time" / "0", 30)
    for call in (ph.load, lambda _: ph.resume(path)):
        with pytest.raises(ph.FileError, match=r"the chunk '0' in .*time' is damaged"):
            call(place)
    (place / "time" / "0").unlink()
    with pytest.raises(ph.FileError, match="lacks the chunk 'time/0'"):
        ph.load(place)


def test_a_finished_store_is_compared_when_its_checkpoint_is_resumed(tmp_path):
    place, path = tmp_path / "a.zarr", tmp_path / "run.ckpt"
    solve(out=place, checkpoint=path)
    assert ph.resume(path).complete
    flip(place / "q" / "0.0.0", np.random.default_rng(3))
    with pytest.raises(ph.FileError, match=r"the chunk '0.0.0' in .*q' is damaged"):
        ph.resume(path)


def test_stores_without_checksums_load_with_one_warning(copy, numbers):
    (copy / places.LIST).unlink()
    for folder in [x for x in copy.iterdir() if x.is_dir()]:
        for chunk in folder.glob("[0-9]*"):
            os.truncate(chunk, chunk.stat().st_size - 4)
        packed = json.loads((folder / ".zarray").read_text())["filters"][0]
        change(folder / ".zarray", filters=None, compressor=packed)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert numbers_in(copy) == numbers
    assert [one.category for one in told] == [ph.PolhodeWarning]
    assert "without checksums" in str(told[0].message)
    assert told[0].filename == damaged_stores.__file__
    (copy / "q" / "1.0.0").unlink()
    with pytest.raises(ph.FileError, match=r"lacks the chunk 'q/1.0.0'"):
        ph.load(copy)


# ---- forgery
class Bomb:
    """Leaves a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


@pytest.mark.parametrize("where", ["filters", "compressor", "dtype"])
def test_pickles_are_never_decoded(copy, tmp_path, where, monkeypatch):
    monkeypatch.setattr("numcodecs.pickles.ALLOW_UNSAFE_PICKLE_DECODE", True)
    sign, codec = tmp_path / "exploded", {"id": "pickle", "protocol": 5}
    (copy / "status" / "0").write_bytes(pickle.dumps(Bomb(sign)))
    news = {"filters": [codec], "compressor": None}
    if where == "compressor":
        news = {"filters": None, "compressor": codec}
    if where == "dtype":
        news["dtype"] = "|O"
    change(copy / "status" / ".zarray", **news)
    renew_list(copy)
    with pytest.raises(ph.FileError, match=r"codecs .*pickle|dtype '\|O'"):
        ph.load(copy)
    assert not sign.exists()


def resize(place, **lengths):
    """Declare other lengths of dimensions."""
    for file in place.glob("*/.zarray"):
        dims = json.loads((file.parent / ".zattrs").read_text())["_ARRAY_DIMENSIONS"]
        about = json.loads(file.read_text())
        shape = [lengths.get(d, n) for d, n in zip(dims, about["shape"], strict=True)]
        change(file, shape=shape)
    renew_list(place)


@pytest.mark.parametrize("length", [10**12, 4 * 10**7])
def test_what_does_not_fit_is_refused_before_it_is_read(copy, length):
    resize(copy, member=length)
    with pytest.raises(ph.FileError, match=r"declares arrays of [\d.e+]+ GB in files of .* memory"):
        ph.load(copy)
    resize(copy, member=7)
    with pytest.raises(ph.FileError, match="lacks the chunk"):
        ph.load(copy)


def test_chunks_that_declare_more_than_they_hold_are_refused(copy):
    file = copy / "q" / "0.0.0"
    data = bytearray(file.read_bytes())
    data[4:8] = (2**31 - 20).to_bytes(4, "little")
    file.write_bytes(data[:-4] + contents.crc32c(bytes(data[:-4])).to_bytes(4, "little"))
    renew_list(copy)
    with pytest.raises(ph.FileError, match="declares 2147483628 bytes in"):
        ph.load(copy)


def test_members_with_huge_numbers_are_refused(copy):
    array = store.open_for_writing(copy)["member"]
    for number in (10**13, -1):
        array[5] = number
        renew_list(copy)
        with pytest.raises(ph.FileError, match=r"numbers of members go from -?\d+ to \d+"):
            ph.load(copy)


def test_states_that_do_not_fit_are_selected_first(copy, monkeypatch):
    run = ph.load(copy)
    monkeypatch.setattr(store, "memory", lambda: 1000)
    with pytest.raises(
        ph.InputError, match=r"q of 6 times and 6 members takes .*select some first"
    ):
        run.q  # noqa: B018
    assert run[:3].select(times=-1).q.shape == (1, 3, 4)


def test_forged_metadata(copy, made, rng):
    """With the right list: they load, or end in a ``FileError``, and never in anything else."""
    files = [x.relative_to(made) for x in made.rglob(".z*")]
    files += 8 * [Path(".zattrs"), Path("q/.zarray"), Path("member/.zarray")]
    counts = {"loaded": 0, "refused": 0, "lines": 0}
    for _ in range(250):
        name = files[rng.integers(len(files))]
        (copy / name).write_text(forge_text(made / name, rng), errors="surrogatepass")
        renew_list(copy)
        try:
            numbers_in(copy)
            counts["loaded"] += 1
        except ph.FileError as error:
            counts["lines" if "\n" in str(error) else "refused"] += 1
        shutil.copy(made / name, copy / name)
    assert min(counts["loaded"], counts["refused"]) > 20
    assert counts["lines"] == 0


# ---- power failures
def test_after_a_power_failure_the_pair_resumes_to_the_same_bits(tmp_path, monkeypatch):
    """All that was not flushed to the disk is lost, after each single flush of a run."""
    monkeypatch.setattr(store, "PIECE_BYTES", 2 * 6 * 32)
    right, before = solve(), tmp_path / "before"
    before.mkdir()
    disk = Disk(before, monkeypatch)
    solve(out=before / "a.zarr", checkpoint=before / "run.ckpt", checkpoint_every=1)
    states = [state for state in disk.states if "run.ckpt" in state]
    assert len(states) > 30
    for number, state in enumerate([*states[::15], states[-1]]):
        after = tmp_path / str(number)
        Disk.restore(state, after)
        found = ph.resume(after / "run.ckpt")
        assert found.q.tobytes() == right.q.tobytes()
        assert found.reductions["omega_mean"].tobytes() == right.reductions["omega_mean"].tobytes()
        assert numbers_in(after / "a.zarr")[2:] == numbers_in(before / "a.zarr")[2:]
