"""The disk cache across processes: hit if nothing has changed, never stale if something has."""

import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

import polhode as ph
from polhode.compiler import disk_cache, machine

PACKAGE = Path(ph.__file__).parent

HELPER = """
def factor(x):
    return 0.5 * x
"""

SCRIPT = '''
import json
import sys

import helper
import numpy as np

from polhode import loops
from polhode.contracts import Model

K = 0.7
SOURCE = "def torque(t, q, m, body, params):\\n    return 0.1 * q[1], 0.6, 0.3"


def twice(x):
    return 2.0 * x


def constant(t, q, m, body, params):
    """A torque."""
    return 0.3 * q[1], 0.0, 0.0


def reads_a_global(t, q, m, body, params):
    return K * q[1], 0.0, 0.0


def encloses(c):
    return lambda t, q, m, body, params: (c * q[1], 0.0, 0.0)


def calls(t, q, m, body, params):
    return twice(q[1]), 0.0, 0.0


def imports(t, q, m, body, params):
    return helper.factor(q[1]), 0.0, 0.0


scope = {}
exec(SOURCE, scope)
TORQUES = {
    "constant": constant,
    "global": reads_a_global,
    "closure": encloses(2.5),
    "function": calls,
    "module": imports,
    "lambda": lambda t, q, m, body, params: (0.1, -q[2], 0.2),
    "exec": scope["torque"],
}
BODY = (2.0, 3.0, 4.5), (1 / 2.0, 1 / 3.0, 1 / 4.5), (1.0, 0.0, 0.0, 0.0), 1.0, 1.0
STATES = np.array([[0.6, 0.8, 0.0, 0.0, 0.3, 0.4, 5.0], [0.8, 0.0, 0.6, 0.0, 0.3, 0.4, 5.0]])


def result(run, model):
    out = np.empty((2, 6))
    run(np.zeros(2), STATES, BODY, model.params, out)
    return out


found = {}
for name in sys.argv[1:]:
    model = Model(name=name, torque=TORQUES[name], potential=None)
    machine = loops.build(loops.accelerations, None, model)
    fast = result(machine, model)
    slow = result(loops.joined(loops.accelerations, None, model), model)
    found[name] = {
        "hit": bool(machine.machine.stats.cache_hits),
        # plain Python rounds twice where compiled code rounds once: some of that
        "right": bool(np.allclose(fast, slow, rtol=0, atol=1e-14)),
        "state": fast.tolist(),
    }
print(json.dumps(found))
'''

ALL = ["constant", "global", "closure", "function", "module", "lambda", "exec"]
EDITS = [
    ("0.3 * q[1], 0.0", "0.4 * q[1], 0.0"),
    ("K = 0.7", "K = 0.8"),
    ("encloses(2.5)", "encloses(3.5)"),
    ("2.0 * x", "2.25 * x"),
    ("(0.1, -q[2], 0.2)", "(0.1, -q[2], 0.25)"),
    ("q[1], 0.6, 0.3", "q[1], 0.7, 0.3"),
]
COMMENTS = [('"""A torque."""', '"""Still a torque."""'), ("K = 0.7", "K = 0.7  # of wood")]


@pytest.fixture
def folder(tmp_path):
    """A copy of the library that tests may edit, with a place for the cache."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE, tmp_path / "polhode", ignore=ignored)
    return tmp_path


def run(folder, names, edits=(), helper=HELPER, **environment):
    """Return the output of the script in a new process, which must not warn."""
    found, _ = run_warned(folder, names, edits, helper, "error", **environment)
    return found


def run_warned(folder, names, edits=(), helper=HELPER, warned="always", **environment):
    """Return (output, stderr) of the script in a new process."""
    script = SCRIPT
    for old, new in edits:
        assert script.count(old) == 1
        script = script.replace(old, new)
    (folder / "script.py").write_text(script)
    (folder / "helper.py").write_text(helper)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA_", "POLHODE_"))}
    kept |= {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}  # edits within a second
    command = [sys.executable, "-W", warned, "script.py", *names]
    done = subprocess.run(
        command, cwd=folder, env=kept | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


def hits(found):
    assert all(case["right"] for case in found.values())
    return {name for name in found if found[name]["hit"]}


def test_hit_by_content_and_never_stale(folder):
    place = {"NUMBA_CACHE_DIR": str(folder / "cache")}
    first = run(folder, ALL, **place)
    assert hits(first) == set()

    again = run(folder, ALL, edits=COMMENTS, **place)
    assert hits(again) == set(ALL)
    assert [again[name]["state"] for name in ALL] == [first[name]["state"] for name in ALL]

    edited = run(folder, ALL, edits=EDITS, helper=HELPER.replace("0.5", "0.75"), **place)
    assert hits(edited) == set()
    assert all(edited[name]["state"] != first[name]["state"] for name in ALL)

    kernel = folder / "polhode" / "kernels" / "vector.py"
    text = kernel.read_text()
    assert text.count("return a[0] + b[0],") == 1
    kernel.write_text(text.replace("return a[0] + b[0],", "return a[0] + 1.001 * b[0],"))
    other = run(folder, ["constant"], **place)
    assert hits(other) == set()
    assert other["constant"]["state"] != first["constant"]["state"]

    kernel.write_text(text)
    back = run(folder, ["constant"], **place)
    assert hits(back) == {"constant"}
    assert back["constant"] == again["constant"]


def cache_files(folder):
    return [path for path in folder.rglob("*") if path.suffix in (".nbi", ".nbc")]


def test_turned_off_it_writes_nothing(folder):
    place = {"NUMBA_CACHE_DIR": str(folder / "cache")}
    assert hits(run(folder, ["constant"], POLHODE_CACHE="0", **place)) == set()
    assert cache_files(folder) == []


def block(package):
    """Make every room of the package one in which no cache can be written."""
    for room in (package, *(path for path in package.rglob("*") if path.is_dir())):
        (room / "__pycache__").touch()  # a file where a directory should be


def test_where_the_library_cannot_be_written_it_lies_in_the_users_directory(folder):
    block(folder / "polhode")
    home = folder / "home"
    home.mkdir()
    place = {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    assert hits(run(folder, ["constant"], **place)) == set()
    assert hits(run(folder, ["constant"], **place)) == {"constant"}
    files = cache_files(folder)
    assert files
    assert all(home in path.parents for path in files)


def test_without_any_place_it_runs_after_one_warning(folder):
    block(folder / "polhode")
    nowhere = str(folder / "script.py" / "cache")  # below a file
    place = {"HOME": nowhere, "XDG_CACHE_HOME": nowhere, "NUMBA_CACHE_DIR": nowhere}
    found, printed = run_warned(folder, ["constant", "global"], **place)
    assert hits(found) == set()
    assert printed.count("PolhodeWarning") == 1
    assert "set NUMBA_CACHE_DIR to a directory of your own" in printed
    assert cache_files(folder) == []


# ---- in this process
def increased(x):
    return x + 0.5


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache directory, for functions that are compiled in this process."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(disk_cache, "_warned", set())
    return tmp_path / "cache"


def compiled_again(monkeypatch):
    """Whether ``increased`` is compiled, and not taken from the cache, as in a new process."""
    monkeypatch.setattr(machine, "_dispatchers", {})
    function = machine.compiled(increased)
    assert function(1.0) == 1.5
    return not function.stats.cache_hits


def test_a_full_disk_is_no_reason_to_stop(cache, monkeypatch):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.warns(ph.PolhodeWarning, match=f"cannot be kept in '{cache}.*File too large"):
            assert compiled_again(monkeypatch)
        assert compiled_again(monkeypatch), "the warning comes once"
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert compiled_again(monkeypatch)
    assert not compiled_again(monkeypatch)


def flipped(data):
    place = len(data) // 2
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


COMMAND = b"cos\nmkdir\n(S'run'\ntR."  # a pickle that runs a command
DAMAGES = {
    "empty": lambda data: b"",
    "truncated": lambda data: data[: len(data) // 2],
    "a bit": flipped,
    "other bytes": lambda data: COMMAND,
}


@pytest.mark.parametrize("name", DAMAGES)
@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
def test_damaged_entries_are_compiled_again(cache, suffix, name, monkeypatch):
    monkeypatch.chdir(cache.parent)
    assert compiled_again(monkeypatch)
    (file,) = [path for path in cache_files(cache) if path.suffix == suffix]
    file.write_bytes(DAMAGES[name](file.read_bytes()))
    assert compiled_again(monkeypatch)
    assert not compiled_again(monkeypatch)
    assert not Path("run").exists(), "nothing in a damaged file is run"


@pytest.mark.parametrize(("mode", "reason"), [(0o777, "everybody"), (0o775, "its group")])
def test_a_directory_that_others_may_write_to_is_not_used(cache, mode, reason, monkeypatch):
    assert compiled_again(monkeypatch)
    (room,) = cache.iterdir()
    room.chmod(mode)
    monkeypatch.setattr(disk_cache, "_is_private", lambda gid: False)
    with pytest.warns(ph.PolhodeWarning, match=f"{reason} may write to it.*set NUMBA_CACHE_DIR"):
        assert compiled_again(monkeypatch)
    monkeypatch.setattr(disk_cache, "_is_private", lambda gid: mode == 0o775)
    assert compiled_again(monkeypatch) == (mode == 0o777)
