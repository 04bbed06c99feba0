"""Files that are damaged, hostile or no files at all: one line about them, and no traceback."""

import copy
import json
import os
import time
import tomllib

import numpy as np
import pytest

from polhode.cli.plan import EnsembleFile, RunFile, make_plan, parse_change
from polhode.errors import FileError, InputError
from polhode.files.samples import read_log

WORDS = """
name = "box"
model = [{name = "heavy_top", strength = 2.0}, {name = "gravity_gradient", mu = 0.1, r = 1.0}]
[body]
inertia = [1.0, 2.0, 2.5]
mass = 3.0
[initial]
omega = [0.3, -0.7, 1.1]
attitude = {quaternion = [1.0, 0.0, 0.0, 0.0], scalar_first = true}
[run]
method = "mr2"
dt = 0.01
t_end = 10.0
save_every = 2
[ensemble]
members = 5
seed = 3
save = [0.0, 0.25]
reduce = ["mean(omega)", "quantiles(speed, 0.1)"]
reduce_times = 6
[vary]
omega = {normal = {mean = [0, 0, 50], sigma = 0.5}}
"model.heavy_top.strength" = {uniform = {low = 10.0, high = 30.0}}
attitude = {around = {sigma = 0.1}}
mass = {sweep = {from = 1.0, to = 2.0, count = 5}}
"""
HOSTILE = [  # as TOML
    *(
        "true",
        "0",
        "-1",
        "1",
        "9223372036854775807",
        "1" * 4000,
        "0.5",
        "-1e308",
        "1e308",
        "5e-324",
    ),
    *(
        "nan",
        "inf",
        '""',
        '"x"',
        '"\\u0000"',
        '"../x"',
        "1979-05-27",
        "07:32:00",
        "[]",
        "[[]]",
        "{}",
    ),
    *("[1, 2, 3]", "[1e308, 1e308, 1e308]", '["a", 1]', "{x = 1}", "[" * 12 + "]" * 12),
    *(
        '"mean(omega"',
        '"heavy_top"',
        '"dop853"',
        "[nan, 0, 0]",
        "[[1, 0, 0], [0, 1, 0], [0, 0, 1]]",
    ),
    *("{file = 'none.csv'}", "{normal = {}}", "{sweep = 1}", '["mean(x)", "mean()", "__import__"]'),
]


class Raw(str):
    """TOML that is written as it is."""


def toml(value):
    if isinstance(value, Raw):
        return value
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {toml(v)}" for k, v in value.items()) + "}"
    return f"[{', '.join(map(toml, value))}]" if isinstance(value, list) else json.dumps(value)


def places(value):
    keys = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    for key in keys:
        yield value, key
        yield from places(value[key])


def forged(random):
    data = copy.deepcopy(tomllib.loads(WORDS))
    for _ in range(1 + int(random.random() < 0.2)):
        found = list(places(data))
        place, key = found[random.integers(len(found))]
        if random.random() < 0.8:
            place[key] = Raw(HOSTILE[random.integers(len(HOSTILE))])
        else:
            del place[key]
    return "\n".join(f"{json.dumps(key)} = {toml(value)}" for key, value in data.items())


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_forged_run_files_are_answered_with_their_keys(tmp_path, request):
    """Thousands with --slow, some hundreds without."""
    random, file, trial = np.random.default_rng(14), tmp_path / "box.toml", 0
    end = time.monotonic() + (30.0 if request.config.getoption("--slow") else 0.0)
    file.write_text(WORDS)
    assert make_plan(str(file), [], EnsembleFile).vary
    while trial < 300 or time.monotonic() < end:
        trial += 1
        text = forged(random)
        file.write_text(text)
        kind = EnsembleFile if trial % 4 else RunFile
        try:
            make_plan(str(file), [], kind)
        except (FileError, InputError) as error:
            found = str(error)
            assert len(found) < 20_000
        except Exception as error:
            raise AssertionError(f"trial {trial}: {text}") from error


@pytest.mark.parametrize(
    "text",
    [
        b"x = " + b"1" * 5000,
        b"[run]\nt_end = " + b"9" * 4000,
        b"x = " + b"[" * 5000,
        b"x = " + b"[" * 300 + b"]" * 300,
        b"x = " + b"{a = " * 3000,
        b".".join([b"a"] * 5000) + b" = 1",
        b"[" + b".".join([b"a"] * 5000) + b"]",
        b"\xff\xfe",
        b"\0" * 100,
    ],
)
def test_run_files_that_are_no_toml(text, polhode, tmp_path):
    (tmp_path / "x.toml").write_bytes(text)
    code, _, wrong = polhode("run", "x.toml")
    assert (code, len(wrong.splitlines())) == (2, 1), wrong
    assert "x.toml is not TOML: " in wrong


@pytest.mark.parametrize("value", ["1" * 5000, "[" * 5000, "[" * 100 + "]" * 100])
def test_changes_that_are_no_toml(value):
    with pytest.raises(InputError, match="the value must be TOML"):
        parse_change(f"dt={value}")


def test_directories_pipes_and_devices_are_no_files(polhode, tmp_path):
    os.mkfifo(tmp_path / "pipe.toml")
    os.mkfifo(tmp_path / "pipe.csv")
    os.mkdir(tmp_path / "folder.toml")
    for call, words in (
        (("run", "pipe.toml"), "it is a pipe or a device, not a file"),
        (("run", "folder.toml"), "it is a directory, not a file"),
        (("run", "/dev/zero"), "neither a problem"),
        (("gyro", "pipe.csv"), "there is no file 'pipe.csv'"),
        (("gyro", "/dev/zero"), "there is no file '/dev/zero'"),
        (("gyro", "."), "there is no file '.'"),
        (("resume", "pipe.csv"), "it is a pipe or a device, not a file"),
        (("resume", "/dev/zero"), "it is a pipe or a device, not a file"),
        (("resume", "."), "it is a directory, not a file"),
        (("run", "fast-top", "--checkpoint", "."), "and '.' is a directory"),
        (("run", "fast-top", "--checkpoint", ".."), "and '..' is a directory"),
        (("run", "fast-top", "--checkpoint", "folder.toml"), "and 'folder.toml' is a directory"),
        (("ensemble", "fast-top", "--checkpoint", "/", "--set", "members=2"), ""),
    ):
        code, _, wrong = polhode(*call)
        assert code == 2
        assert words in wrong
        assert "Traceback" not in wrong


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b't,x,y,z\n0,"' + b"1" * 200_000 + b'",0,0\n', "field larger than field limit"),
        (b"t,x,y,z\n0," + b"1" * 200_000 + b",0,0\n", "has an infinite value"),
        (b"t,x,y,z\n0," + b"x" * 200_000 + b",0,0\n", "is not a number"),
        (b"\0" * 1000, "four|column|samples"),
        (b"t,x,y,z\n\0,\0,\0,\0\n", "is not"),
        (b"\xff\xfe\0", "is not a text file"),
        (b'"\n"\n', "column"),
    ],
)
def test_logs_that_are_no_logs(text, words, tmp_path):
    (tmp_path / "log.csv").write_bytes(text)
    with pytest.raises((FileError, InputError), match=words) as refused:
        read_log(tmp_path / "log.csv")
    assert len(str(refused.value)) < 500


def test_columns_are_numbered_in_plain_digits(tmp_path):
    (tmp_path / "log.csv").write_text("0,1,2,3\n")
    for column in ("²", "1" * 5000):
        with pytest.raises(InputError, match="there is no column"):
            read_log(tmp_path / "log.csv", [column, 2, 3, 4])


def test_members_from_a_table_with_a_huge_cell(polhode, tmp_path):
    (tmp_path / "m.csv").write_text('mass\n"' + "1" * 200_000 + '"\n')
    (tmp_path / "x.toml").write_text(
        WORDS.replace(
            "mass = {sweep = {from = 1.0, to = 2.0, count = 5}}", "mass = {file = 'm.csv'}"
        )
    )
    code, _, wrong = polhode("ensemble", "x.toml")
    assert code == 2
    assert "cannot be read: field larger than field limit" in wrong


def test_a_name_in_a_checkpoint_does_not_lead_elsewhere(tmp_path):
    from polhode.cli.output import title

    file = tmp_path / "run.ckpt"
    for name in ("../x", "/tmp/x", "..", ".", "a/b", "", None, "x" * 300, "a\0b"):
        assert title(name, file) == "run"
    assert title("Earth: 2000 (b)", file) == "Earth: 2000 (b)"
