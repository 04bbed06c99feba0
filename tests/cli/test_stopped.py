"""Runs that are stopped from outside say how to continue."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from polhode.cli.output import stoppable
from support.run_files import TOPS

SOURCE = Path(__file__).parents[2] / "src"


def start(folder, *arguments):
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "POLHODE_MESSAGES": "0"}
    return subprocess.Popen(
        [sys.executable, "-m", "polhode", *map(str, arguments)],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


LONG = "run", "fast-top", "--t-end", "1e7", "--dt", "1e-3", "--save-every", "100000000", "--no-plot"
FOREVER = ("--set", "run.t_end=1e7", "--set", "run.dt=1e-3", "--no-plot")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("many", [False, True])
def test_signals(tmp_path, number, code, many):
    (tmp_path / "tops.toml").write_text(TOPS)
    command = ("ensemble", "tops.toml", *FOREVER) if many else LONG
    running = start(tmp_path, *command, "--checkpoint", "long.ckpt")
    for _ in range(600):
        if (tmp_path / "long.ckpt").exists():
            break
        time.sleep(0.1)
    running.send_signal(number)
    _, printed = running.communicate(timeout=60)
    assert running.returncode == code, printed
    assert "stopped; continue with: polhode resume long.ckpt" in printed
    assert not re.search("Traceback|Aborted", printed)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_without_a_checkpoint_it_names_the_option(capsys, number, code):
    before = signal.getsignal(number)
    with pytest.raises(SystemExit) as ended, stoppable(None):
        signal.raise_signal(number)
    assert ended.value.code == code
    assert "with --checkpoint FILE a run can be continued" in capsys.readouterr().err
    assert signal.getsignal(number) is before


def test_results_and_checkpoint_are_different_files(polhode):
    for command in ("run", "fast-top"), ("ensemble", "tops.toml"):
        Path("tops.toml").write_text(TOPS)
        code, _, printed = polhode(*command, "--out", "a.nc", "--checkpoint", "a.nc")
        assert code == 2
        assert "--out and --checkpoint must be different files, got a.nc twice" in printed
    assert [path.name for path in Path().iterdir()] == ["tops.toml"]
