"""The documentation runs: every Python block, the README's commands, the generated table."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCKS = [
    pytest.param(block, id=f"{page.relative_to(ROOT)}-{i}")
    for page in PAGES
    for i, block in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL))
]


@pytest.mark.parametrize("block", BLOCKS)
def test_every_python_block_runs(block, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "block", "exec"), {"__name__": "block"})


def test_the_method_in_contributing_works_as_it_stands(capsys):
    import polhode as ph

    block = next(b for b in BLOCKS if "kick-turn" in b.values[0]).values[0]
    scope = {"__name__": "kick_turn"}
    exec(compile(block, "block", "exec"), scope)
    run = ph.solve(ph.problems.krysl_free(), (0, 1), method=scope["METHOD"], dt=0.01)
    assert abs(run.angular_momentum_inertial - run.angular_momentum_inertial[0]).max() < 1e-14


def test_the_readme_has_its_two_commands_and_ci_runs_them():
    commands = re.findall(r"^    (python3 -m venv .*)$", (ROOT / "README.md").read_text(), re.M)
    assert len(commands) == 2
    assert commands[0].endswith("polhode run fast-top")
    assert commands[1].endswith("pytest")
    assert "readme_command" in (ROOT / ".ci" / "run").read_text()


def test_the_methods_page_is_current():
    make = runpy.run_path(str(ROOT / "docs" / "make_methods.py"))
    assert make["PAGE"].read_text(encoding="utf-8") == make["page"](), "run docs/make_methods.py"


def test_links_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
