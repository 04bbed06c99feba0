"""Every example runs as it stands, in an empty directory."""

import re
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(path for kind in ("*.py", "*.toml") for path in (ROOT / "examples").glob(kind))
SLOW = {"moon_fit.py": pytest.mark.slow}  # most of a minute


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=SLOW.get(path.name, ())) for path in EXAMPLES],
    ids=lambda path: path.name,
)
def test_example(path, polhode, monkeypatch, capsys, tmp_path):
    many = "[ensemble]" in path.read_text()
    if path.suffix == ".py":
        monkeypatch.setattr(sys, "argv", [str(path)])
        runpy.run_path(str(path), run_name="__main__")
        printed = capsys.readouterr().out
    else:
        code, printed, error = polhode("ensemble" if many else "run", path)
        assert code == 0, error
    assert many or "success" in printed
    if many:
        assert any(file.suffix == ".png" for file in tmp_path.iterdir())
    elif path.suffix == ".toml" or re.search(r"\.save\(.*\.nc", path.read_text()):
        written = [file for file in tmp_path.iterdir() if file.suffix == ".nc"]
        assert any(file.stat().st_size > 1000 for file in written)
