"""Stores and checkpoints on bad disks and from strangers: nothing is removed that is not ours."""

import os
import re
import resource
import threading
import time
from contextlib import suppress

import numpy as np
import pytest

import polhode as ph
from polhode.ensembles import places, store
from polhode.ensembles.checkpoint import KIND, place_of_store
from polhode.files.checkpoint import read, write
from support.small_disks import small_disk

TOP = ph.problems.fast_top()
MANY = {
    "vary": {"omega": np.column_stack([np.zeros((300, 2)), np.linspace(40.0, 60.0, 300)])},
    "method": "mr2",
    "dt": 0.01,
    "save": "all",
    "chunk": 256,
}
pytestmark = pytest.mark.usefixtures("plain")


def solve(span=(0.0, 0.2), **others):
    return ph.solve_ensemble(TOP, span, **MANY, **others)


def tree(folder):
    """Everything below a folder, with its content."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


class Stopped(Exception):
    pass


@pytest.fixture
def checkpoint(tmp_path):
    """The checkpoint of an ensemble that was interrupted before its store was there."""
    folder = tmp_path / "mine"
    folder.mkdir()
    path = folder / "run.ckpt"

    def stop(_):
        raise Stopped

    with pytest.raises(Stopped):
        solve(out=folder / "states.zarr", checkpoint=path, checkpoint_every=2, progress=stop)
    return path


def forge(path, **changes):
    """Rewrite a checkpoint with another header, as a stranger could: its checksum is right."""
    data, arrays = read(path, KIND)
    write(path, KIND, data | changes, arrays)


@pytest.fixture
def victim(tmp_path):
    folder = tmp_path / "victim"
    (folder / "photos").mkdir(parents=True)
    (folder / "photos" / "one").write_text("precious")
    return folder


# ---- foreign checkpoints
@pytest.mark.parametrize("store", [True, False])
@pytest.mark.parametrize("name", ["../victim", "{}/victim", "../victim/photos", "link"])
def test_a_foreign_checkpoint_removes_nothing(checkpoint, victim, tmp_path, name, store):
    (checkpoint.parent / "link").symlink_to(victim)
    forge(checkpoint, out=name.format(tmp_path), store=store)
    before = tree(victim)
    with pytest.raises(ph.FileError, match=r"must keep its states in a .zarr store"):
        ph.resume(checkpoint)
    assert tree(victim) == before


@pytest.mark.parametrize("store", [True, False])
@pytest.mark.parametrize("name", ["../victim.zarr", "{}/victim.zarr", "link.zarr"])
def test_a_store_outside_its_directory_must_be_confirmed(checkpoint, victim, tmp_path, name, store):
    victim.rename(tmp_path / "victim.zarr")
    (checkpoint.parent / "link.zarr").symlink_to(tmp_path / "victim.zarr")
    forge(checkpoint, out=name.format(tmp_path), store=store)
    before = tree(tmp_path / "victim.zarr")
    with pytest.raises(ph.FileError, match=r"outside its own directory: confirm.*out= again"):
        ph.resume(checkpoint)
    with pytest.raises(ph.FileError, match=r"not a (store|Zarr|ensemble)"):
        ph.resume(checkpoint, out=tmp_path / "victim.zarr")
    assert tree(tmp_path / "victim.zarr") == before


def test_the_number_of_a_run_is_no_path(checkpoint, victim, tmp_path):
    forge(checkpoint, run="/../../victim", store=False)
    before = tree(victim)
    with pytest.raises(ph.FileError, match="edited or damaged: its run is"):
        ph.resume(checkpoint)
    assert tree(victim) == before


def test_only_the_store_of_the_same_run_is_cleared(checkpoint, tmp_path):
    """A killed process may have left a draft, or a store of which the checkpoint knows nothing."""
    right = solve()
    place = checkpoint.parent / "states.zarr"
    data, _ = read(checkpoint, KIND)
    assert places.run_of(place) == data["run"]
    forge(checkpoint, store=False, counts={"done": [], "chunk": None}, mark=data["whole"])
    (places.draft_of(place, data["run"])).mkdir()
    found = ph.resume(checkpoint)
    assert found.q.tobytes() == right.q.tobytes()
    assert sorted(path.name for path in checkpoint.parent.iterdir()) == [
        "run.ckpt", "run.ckpt.rows", "states.zarr"
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["link", "file"])
def test_a_draft_is_not_followed_to_another_store(checkpoint, tmp_path, kind):
    """What stands under the name of a draft may be a link to a store of somebody else."""
    other, (data, _) = tmp_path / "other.zarr", read(checkpoint, KIND)
    solve(out=other)
    draft = places.draft_of(checkpoint.parent / "states.zarr", data["run"])
    draft.symlink_to(other) if kind == "link" else draft.write_text("precious")
    forge(checkpoint, store=False)
    before = tree(other)
    with pytest.raises(ph.FileError, match="not a directory of this library: move it away"):
        ph.resume(checkpoint)
    assert tree(other) == before
    assert kind == "link" or draft.read_text() == "precious"


def test_the_store_of_another_run_is_not_cleared(checkpoint):
    place = checkpoint.parent / "states.zarr"
    forge(checkpoint, store=False, run="0" * 32)
    before = tree(place)
    with pytest.raises(ph.FileError, match=r"not a store of this run.*out= again"):
        ph.resume(checkpoint)
    assert tree(place) == before


# ---- removal
@pytest.mark.parametrize("where", ["notes", "q/notes", "q/0.0.0.txt", "photos/one"])
def test_a_store_with_something_else_in_it_is_not_removed(tmp_path, where):
    place = tmp_path / "a.zarr"
    solve(out=place)
    (place / where).parent.mkdir(exist_ok=True)
    (place / where).write_text("precious")
    before = tree(place)
    with pytest.raises(ph.FileError, match="which this library did not write: move it"):
        solve(out=place)
    assert tree(place) == before


def test_links_are_not_followed(tmp_path, victim):
    place = tmp_path / "a.zarr"
    solve(out=place)
    (place / "photos").symlink_to(victim / "photos")
    with pytest.raises(ph.FileError, match="holds 'photos', which this library did not write"):
        solve(out=place)
    assert (victim / "photos" / "one").exists()


def test_a_store_without_a_mark_is_not_replaced(tmp_path):
    place = tmp_path / "a.zarr"
    solve(out=place)
    for name in (".zattrs", ".zmetadata"):  # as versions before wrote them
        text = (place / name).read_text()
        (place / name).write_text(re.sub(r',\s*"run": "\w+"', "", text))
    assert places.run_of(place) is None
    before = tree(place)
    with pytest.raises(ph.FileError, match="not a store that this version of polhode made"):
        solve(out=place)
    assert tree(place) == before


# ---- full disks
@pytest.fixture
def limited():
    """A function that limits the size of files, which is met as a full disk is."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)

    def limit(size):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))

    yield limit
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_after_a_full_disk_the_pair_resumes_to_the_same_bits(tmp_path, limited):
    right, path, place = solve(), tmp_path / "run.ckpt", tmp_path / "a.zarr"
    limited(20_000)
    with pytest.raises(ph.FileError, match=r"cannot write .*File too large"):
        solve(out=place, checkpoint=path)
    limited(resource.RLIM_INFINITY)
    found = ph.resume(path)
    assert found.q.tobytes() == right.q.tobytes()
    assert ph.load(place).complete


@pytest.mark.parametrize("kilobytes", [40, 90, 150, 210])
def test_on_a_small_disk_the_pair_resumes_to_the_same_bits(tmp_path, kilobytes):
    """The disk is full while the store is created, in the first chunk, or later."""
    right, disk = solve(), tmp_path / "disk"
    path, place = disk / "run.ckpt", disk / "a.zarr"
    with small_disk(disk, kilobytes) as resize:
        with pytest.raises(ph.FileError, match="No space left"):
            solve(out=place, checkpoint=path)
        resize(4096)
        found = ph.resume(path) if path.exists() else solve(out=place, checkpoint=path)
        assert found.q.tobytes() == right.q.tobytes()
        assert ph.load(place).complete
        assert {file.name for file in disk.iterdir()} <= {"run.ckpt", "run.ckpt.rows", "a.zarr"}


def test_without_a_checkpoint_nothing_is_left(tmp_path, limited):
    limited(20_000)
    with pytest.raises(ph.FileError, match=r"cannot write .*File too large"):
        solve(out=tmp_path / "a.zarr")
    assert list(tmp_path.iterdir()) == []


# ---- files beside a checkpoint
@pytest.mark.parametrize("text", ["notes", "many notes of somebody, for years" * 99, "\0" * 99])
def test_a_foreign_file_beside_a_checkpoint_is_refused(tmp_path, text):
    path = tmp_path / "run.ckpt"
    rows = tmp_path / "run.ckpt.rows"
    rows.write_text(text)
    for call in (
        lambda: ph.solve(TOP, (0.0, 0.1), method="mr2", dt=0.01, checkpoint=path),
        lambda: solve(checkpoint=path),
    ):
        with pytest.raises(ph.FileError, match=r"run.ckpt.rows' is in the way and is not a file"):
            call()
        assert rows.read_text() == text
        assert not path.exists()
    rows.unlink()
    ph.solve(TOP, (0.0, 0.1), method="mr2", dt=0.01, checkpoint=path)
    rows.write_text(text)
    with pytest.raises(ph.FileError, match="in the way"):
        ph.resume(path)
    assert rows.read_text() == text


def test_links_beside_a_checkpoint_are_refused(tmp_path):
    path, target = tmp_path / "run.ckpt", tmp_path / "target"
    for name in ("run.ckpt.rows", ".run.ckpt.part"):
        target.write_text("precious")
        (tmp_path / name).symlink_to(target)
        with pytest.raises(ph.FileError, match="is in the way and is a link"):
            ph.solve(TOP, (0.0, 0.1), method="mr2", dt=0.01, checkpoint=path)
        (tmp_path / name).unlink()
        assert target.read_text() == "precious"
        assert not path.exists()


def test_out_and_checkpoint_are_different_files(tmp_path):
    with pytest.raises(ph.InputError, match="out and checkpoint must be different files"):
        solve(out=tmp_path / "a.zarr", checkpoint=tmp_path / "a.zarr")
    assert os.listdir(tmp_path) == []


def test_places_are_relative_to_the_checkpoint(tmp_path):
    data = {"out": "below/a.zarr", "run": None}
    assert place_of_store(tmp_path / "run.ckpt", data) == tmp_path / "below" / "a.zarr"
    with pytest.raises(ph.InputError, match="has no store: leave out="):
        place_of_store(tmp_path / "run.ckpt", {"out": None}, "a.zarr")


def test_an_interruption_while_threads_still_write_leaves_nothing(tmp_path):
    """A file that a thread renamed was taken for a foreign one, and hid the interruption."""
    path, run, ready = tmp_path / "many.zarr", places.new_run(), threading.Event()

    def write(draft):
        end = time.monotonic() + 0.3
        while time.monotonic() < end:
            with suppress(FileNotFoundError):
                partial = draft / ".zgroup.1234.partial"
                partial.write_text("{}")
                partial.rename(draft / ".zgroup")
            ready.set()

    def interrupted():
        with store.create_store(path, run) as draft:
            thread = threading.Thread(target=write, args=(draft,))
            thread.start()
            ready.wait()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    time.sleep(0.4)
    assert not list(tmp_path.iterdir())


def test_a_draft_that_a_thread_makes_anew_is_removed_again(tmp_path):
    """As by a write of Zarr that was under way when another one failed."""
    path = tmp_path / "a.zarr"
    draft = places.draft_of(path, "run")

    def write_late():
        time.sleep(0.03)
        draft.mkdir(exist_ok=True)

    def fail():
        with store.create_store(path, "run"):
            late.start()
            raise OSError("full")

    late = threading.Thread(target=write_late)
    with pytest.raises(OSError, match="full"):
        fail()
    late.join()
    assert list(tmp_path.iterdir()) == []
