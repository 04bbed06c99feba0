"""Power loss: what was not brought to the disk is gone, and checkpoints resume from what is left.

``Disk`` is a model of a disk under a running process.  A file keeps the content that it had when it
was last synced, and a directory the entries; a file that is cut is cut at once.  In the ``eager``
model new entries and removals reach the disk at once, too, before the content of files: what
journalling file systems may do.
"""

import os
import stat

import numpy as np
import pytest

import polhode as ph
from polhode.files import whole

TOP = ph.problems.fast_top()
VARY = {"omega": ph.distributions.Normal([0, 0, 50], 0.5)}
RUN = {"method": "mr2", "dt": 0.01}
MANY = {"members": 3, "vary": VARY, "seed": 7, "save": [0.01, 0.03]}


class Disk:
    """What a directory would hold after a power loss, after each call that may change it."""

    def __init__(self, place, patch, eager):
        self.place, self.eager = place, eager
        self.content, self.entries, self.states = {}, {}, []
        for name in ("open", "fsync", "replace", "unlink"):
            patch.setattr(os, name, self.around(getattr(os, name), name))

    def around(self, call, name):
        def called(*arguments, **others):
            found = call(*arguments, **others)
            if name == "open" and arguments[1] & os.O_EXCL:
                self.content.pop(os.fstat(found).st_ino, None)  # a new file under an old number
            if name == "fsync":
                self.synced(arguments[0])
            self.states.append(self.left())
            return found

        return called

    def synced(self, handle):
        about = os.fstat(handle)
        if stat.S_ISDIR(about.st_mode):
            self.entries = {path.name: path.stat().st_ino for path in self.place.iterdir()}
        else:
            self.content[about.st_ino] = os.pread(handle, about.st_size, 0)

    def left(self):
        now = {path.name: path.stat() for path in self.place.iterdir()}
        sizes = {about.st_ino: about.st_size for about in now.values()}
        names = {name: about.st_ino for name, about in now.items()} if self.eager else self.entries
        return {n: self.content.get(node, b"")[: sizes.get(node)] for n, node in names.items()}


def states_of(place, eager, solve):
    """All that may be left of a directory in which ``solve(checkpoint)`` ran."""
    place.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        disk = Disk(place, patch, eager)
        result = solve(place / "x.ckpt")
    different = []
    for state in disk.states:
        if state not in different:
            different.append(state)
    return result, different


def resumes(place, state, result):
    """Whether a run resumes from what is left to the same result, or has not begun."""
    place.mkdir()
    for name, data in state.items():
        (place / name).write_bytes(data)
    if "x.ckpt" not in state:
        return True
    try:
        again = ph.resume(place / "x.ckpt")
    except ph.FileError:
        return False
    return bool(np.array_equal(again.q, result.q) and np.array_equal(again.t, result.t))


def run(file):
    given = {"checkpoint": file, "checkpoint_every": 4}
    return ph.solve(TOP, (0, 0.2), **RUN, **given)


def ensemble(file):
    given = {"checkpoint": file, "checkpoint_every": 2, "threads": 1}
    return ph.solve_ensemble(TOP, (0, 0.03), **RUN, **MANY, **given)


def twice(file):
    """A second ensemble of the same name, which replaces the first."""
    ensemble(file)
    return ensemble(file)


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize(
    ("solve", "eager"), [(run, False), (run, True), (ensemble, True), (twice, False)]
)
def test_checkpoints_resume_after_a_power_loss(tmp_path, monkeypatch, solve, eager):
    monkeypatch.setattr("polhode.solvers.fixed_steps.FIRST_CHUNK", 4)
    result, states = states_of(tmp_path / "made", eager, solve)
    assert len(states) > 5
    for k, state in enumerate(states):
        assert resumes(tmp_path / f"{k}", state, result), (k, {n: len(d) for n, d in state.items()})
    assert any("x.ckpt" in state and "x.ckpt.rows" in state for state in states)


@pytest.mark.usefixtures("plain")
def test_the_model_finds_what_is_not_synced(tmp_path, monkeypatch):
    """Without the flush of a journal some states do not resume: the test above is not blind."""
    monkeypatch.setattr("polhode.solvers.fixed_steps.FIRST_CHUNK", 4)
    sync = os.fsync
    monkeypatch.setattr(os, "fsync", sync)

    def solve(file):
        tell, rows = os.fsync, str(file) + ".rows"

        def lazy(handle):
            if not (os.path.exists(rows) and os.path.samestat(os.fstat(handle), os.stat(rows))):
                tell(handle)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "fsync", lazy)
            return run(file)

    result, states = states_of(tmp_path / "made", False, solve)
    good = [resumes(tmp_path / f"{k}", state, result) for k, state in enumerate(states)]
    assert not all(good)


def test_the_order_of_calls_in_replacing_a_file(tmp_path, monkeypatch):
    """Content, then the name, then the directory."""
    calls = []
    fsync, replace = os.fsync, os.replace

    def synced(handle):
        is_folder = stat.S_ISDIR(os.fstat(handle).st_mode)
        calls.append("directory" if is_folder else f"content {os.fstat(handle).st_size}")
        fsync(handle)

    def replaced(*names):
        calls.append("name")
        replace(*names)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)
    whole.replace(tmp_path / "x", [b"abc", b"defg"], "the file")
    assert calls == ["content 7", "name", "directory"]
