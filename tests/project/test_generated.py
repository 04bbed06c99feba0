"""Generated files are current."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def records(monkeypatch):
    """The script ``docs/make/records.py``, as a module."""
    monkeypatch.syspath_prepend(ROOT / "docs" / "make")
    import records

    return records


def test_what_follows_from_the_registries_is_current(records):
    stale = [str(file.relative_to(ROOT)) for file in records.stale()]
    assert stale == [], f"run {records.COMMAND}"


def test_a_stale_page_is_named_with_the_command_that_makes_it(records, monkeypatch, capsys):
    page = ROOT / "docs" / "reference" / "methods.md"
    monkeypatch.setattr(records, "stale", lambda: {page: "other"})
    monkeypatch.setattr(sys, "argv", ["records.py", "--check"])
    before = page.read_text(encoding="utf-8")
    assert records.main() == 1
    assert capsys.readouterr().out == "not current: methods.md\nrun python docs/make/records.py\n"
    assert page.read_text(encoding="utf-8") == before


def test_the_command_runs_as_it_is_written(records):
    command = [sys.executable, *records.COMMAND.split()[1:], "--check"]
    assert subprocess.run(command, cwd=ROOT, check=False).returncode == 0
