"""Every example runs as it stands, in an empty directory."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(path for kind in ("*.py", "*.toml") for path in (ROOT / "examples").glob(kind))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_example(path, tmp_path):
    many = "[ensemble]" in path.read_text()
    command = ["-m", "polhode", "ensemble" if many else "run", path]
    command = [path] if path.suffix == ".py" else command
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert many or "success" in done.stdout
    if many:
        assert any(file.suffix == ".png" for file in tmp_path.iterdir())
    elif path.suffix == ".toml" or re.search(r"\.save\(.*\.nc", path.read_text()):
        written = [file for file in tmp_path.iterdir() if file.suffix == ".nc"]
        assert any(file.stat().st_size > 1000 for file in written)
