"""Logs in text files, and ``polhode gyro``."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import polhode as ph
from polhode.cli import main as entry
from support.gyros import CONING, jittered

ROOT = Path(__file__).parents[2]
LOG = ROOT / "examples" / "gyro_log.csv"


@pytest.fixture
def gyro(monkeypatch, capsys, tmp_path):
    """Call ``polhode gyro`` in an empty directory: (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["polhode", "gyro", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            entry.main()
        printed = capsys.readouterr()
        return ended.value.code or 0, printed.out, printed.err

    return call


def written(values, times, head="t,x,y,z\n", separator=","):
    """A log with all digits."""
    path = Path("log.csv")
    rows = [separator.join(map(repr, map(float, row))) for row in np.column_stack([times, values])]
    path.write_text(head + "\n".join(rows) + "\n")
    return path


# ---- files
@pytest.mark.parametrize("separator", [",", ";", "\t", " ", ", "])
@pytest.mark.parametrize("head", ["", "t{0}x{0}y{0}z\n", "# made today\n\nt{0}x{0}y{0}z\n"])
def test_logs_are_read_as_they_were_written(separator, head, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    t = jittered(1.0, 20)
    path = written(CONING.body_rate(t), t, head.format(separator), separator)
    values, times = ph.read_samples(path, kind="rate")
    assert np.array_equal(times, t)
    assert np.array_equal(values, CONING.body_rate(t))


def test_columns_units_and_kinds(tmp_path):
    path = tmp_path / "log.txt"
    path.write_text('n,"gx",gy,gz,"stamp"\n1,180,0,0,1000\n2,90,0,,2500\n3,45,0,nan,3000\n')
    names = ["stamp", "gx", "gy", "gz"]
    values, times = ph.read_samples(path, kind="rate", columns=names, degrees=True, time_unit="ms")
    assert np.allclose(times, [1.0, 2.5, 3.0])
    assert np.allclose(values[:, 0], [np.pi, np.pi / 2, np.pi / 4])
    assert np.isnan(values[:, 2]).tolist() == [False, True, True]
    by_number, _ = ph.read_samples(path, kind="increment", columns=[5, 2, 3, 4])
    assert by_number[:, 0].tolist() == [90, 45]  # since the line before


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", {}, "has no samples"),
        ("t,x,y,z\n", {}, "a line of names but no samples"),
        ("t,x,y,z\n0,1,2,3\n1,1,fast,3\n", {}, "line 3 .*'fast' in column 3 is not a number"),
        ("# a\nt,x,y,z\n0,1,2,3\n1,1,2\n", {}, "line 4 .*has 3 columns, but column 4"),
        ("t,x,y,z\n0,1,2,3\n,1,2,3\n", {}, "line 3 .*has no time"),
        ("t,x,y,z\n0,1,2,3\n1,inf,2,3\n", {}, "line 3 .*infinite"),
        ("t,x,y,z\n0,1,2,3\n2,1,2,3\n1,1,2,3\n", {}, "line 4.*time 1 is before that of line 3"),
        ("t,x,y,z\n0,1,2,3\n0,1,2,3\n", {}, "line 3.*repeats that of line 2"),
        ("t,x,y\n0,1,2\n", {}, "no column 4 .*it has 3"),
        ("t,x,y,z\n0,1,2,3\n", {"columns": ["t", "x", "y", "Z"]}, "no column 'Z'.*t, x, y, z"),
        ("0,1,2,3\n", {"columns": ["t", "x", "y", "z"]}, "no column 't'.*no line of names"),
        ("0,1,2,3\n", {"columns": [0, 1, 2, 3]}, "no column 0 .*counted from 1"),
        ("0,1,2,3\n", {"columns": [1, 2, 3]}, "columns must be four"),
        ("0,1,2,3\n", {"time_unit": "h"}, "time_unit must be one of s, ms, us, ns, got 'h'"),
        ("0,1,2,3\n", {"kind": "angle"}, "kind must be 'rate' or 'increment'"),
    ],
)
def test_bad_logs_are_refused_with_their_line(text, options, message, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(text)
    with pytest.raises(ph.PolhodeError, match=message):
        ph.read_samples(path, **{"kind": "rate", **options})


def test_files_that_are_not_logs(tmp_path):
    with pytest.raises(ph.FileError, match="there is no file"):
        ph.read_samples(tmp_path / "log.csv", kind="rate")
    (tmp_path / "log.csv").write_bytes(b"\xff\xfe\x00\x81" * 10)
    with pytest.raises(ph.FileError, match="not a text file"):
        ph.read_samples(tmp_path / "log.csv", kind="rate")


def test_the_log_of_the_example_is_current(tmp_path):
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "gyro_log.py")],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    again, kept = ((place / "gyro_log.csv").read_text() for place in (tmp_path, LOG.parent))
    assert again == kept, "copy the log that examples/gyro_log.py writes"


# ---- the command
def test_the_command_alone(gyro):
    t = jittered(10.0, 400)
    code, out, err = gyro(written(CONING.body_rate(t), t))
    assert (code, err) == (0, "")
    for words in ("body rates in rad/s", "401 lines", "gaps", "none", "order 6", "rad at most"):
        assert words in out
    assert sorted(p.name for p in Path().iterdir()) == [
        "log-attitude.nc",
        "log-attitude.png",
        "log.csv",
    ]
    run = ph.load("log-attitude.nc")
    right = CONING.attitude(0.0).inv() * CONING.attitude(t)
    assert (run.rotation.inv() * right).magnitude().max() < 1e-9
    assert run.problem["name"] == "log"


def test_the_log_of_the_example(gyro):
    code, out, err = gyro(LOG, "--degrees", "--bridge", "--out", "results")
    assert (code, err) == (0, "")
    assert "2 bridged" in out
    assert "5 samples missing" in out
    assert "degrees/s" in out
    assert ph.load("results/gyro_log-attitude.nc").arguments["missing"] == "bridge"


def test_increments_to_a_table(gyro):
    t = jittered(10.0, 400)
    values = np.vstack([[9.0, 9.0, 9.0], CONING.samples(t, "inertial", "increment")])
    start = CONING.attitude(0.0)
    q = ",".join(map(repr, start.as_quat(scalar_first=True).tolist()))
    options = "--kind", "increment", "--frame", "inertial", "--order", 8, "--attitude", q
    code, out, _ = gyro(written(values, t), *options, "--out", "here/q.csv", "--no-plot", "-q")
    assert (code, out) == (0, "")
    assert [p.name for p in Path("here").iterdir()] == ["q.csv"]
    table = np.genfromtxt("here/q.csv", delimiter=",", names=True)
    assert table.dtype.names[:5] == ("time", "q_w", "q_x", "q_y", "q_z")
    last = CONING.attitude(t[-1]).as_quat(scalar_first=True)
    found = np.array([table[f"q_{c}"][-1] for c in "wxyz"])
    assert min(np.abs(found - last).max(), np.abs(found + last).max()) < 1e-10


def test_mistakes_on_the_command_line(gyro):
    t = np.linspace(0, 1, 11)
    log = written(np.zeros((11, 3)), t)
    for options, message in (
        (("--frame", "space"), "frame must be 'body' or 'inertial'"),
        (("--kind", "rates"), "kind must be"),
        (("--order", 3), "order must be 2, 4, 6 or 8"),
        (("--attitude", "1,0,0"), "--attitude takes w,x,y,z"),
        (("--attitude", "1,1,0,0"), "unit quaternion"),
        (("--columns", "t,x,y,w"), "no column 'w'"),
        (("--time-unit", "min"), "time_unit must be one of"),
        (("--max-gap", 0.01), "max_gap"),
        (("--out", "log.csv"), "would replace the log itself"),
    ):
        if options[0] == "--max-gap":
            log = written(np.zeros((10, 3)), np.delete(t, 5))
        code, out, err = gyro(log, *options)
        assert (code, out) == (2, ""), options
        assert message in err
        assert [p.name for p in Path().iterdir()] == ["log.csv"]
    assert "there is no file" in gyro("lgo.csv")[2]


def test_a_missing_value_is_refused_with_its_line(gyro):
    code, _, err = gyro(LOG, "--degrees")
    assert code == 2
    assert "line 403 of 'gyro_log.csv' lacks a value (5 such lines)" in err
    assert "--bridge" in err


def test_degrees_are_suspected(gyro):
    code, _, err = gyro(written(np.full((101, 3), 400.0), np.linspace(0, 1, 101)))
    assert code == 0
    assert err.startswith("warning: the body turns by 6.93 rad")
    assert "--degrees" in err
