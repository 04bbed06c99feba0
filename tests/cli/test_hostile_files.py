"""Files that are damaged, hostile or no files at all: one line about them, and no traceback."""

import os
import time

import numpy as np
import pytest

from polhode.cli.plan import EnsembleFile, RunFile, make_plan, parse_change
from polhode.errors import FileError, InputError
from polhode.files.samples import read_log
from support.forged_run_files import WORDS, forged


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
