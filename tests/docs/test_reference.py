"""The reference: every public name has an example, and all examples in docstrings run."""

import ast
import doctest
import inspect
import sys
from pathlib import Path
from types import ModuleType

import pytest

import polhode as ph
from support.pages import DOCS, ROOT

sys.path[:0] = [str(DOCS), str(DOCS / "make")]

from extensions import commands, python_names, registries  # noqa: E402

PACKAGE = Path(ph.__file__).parent
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
ENTRIES = registries.every()
LONG = "precessing-binary"  # some hundred turns: in machine code


def docstrings(file: Path) -> dict[str, str]:
    """Name -> docstring of a module, its functions and classes, and its values, with examples."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    name = str(file.relative_to(PACKAGE))
    found = {name: ast.get_docstring(tree) or ""}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found[f"{name}:{node.name}"] = ast.get_docstring(node) or ""
    for node in tree.body:
        text = node.value if isinstance(node, ast.Expr) else None
        if isinstance(text, ast.Constant) and isinstance(text.value, str):
            found.setdefault(f"{name}:{node.lineno}", inspect.cleandoc(text.value))
    return {name: text for name, text in found.items() if ">>>" in text}


EXAMPLES = {
    name: text
    for file in sorted(PACKAGE.rglob("*.py"))
    if file.parent.name != "scripts" and ">>>" in file.read_text(encoding="utf-8")
    for name, text in docstrings(file).items()
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_of_a_docstring_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said: list[str] = []
    example = doctest.DocTestParser().get_doctest(EXAMPLES[name], {}, name, name, 0)
    outcome = doctest.DocTestRunner(optionflags=FLAGS).run(example, out=said.append)
    assert outcome.attempted
    assert outcome.failed == 0, "".join(said)


@pytest.mark.parametrize("name", sorted(ph.__all__))
def test_every_public_name_has_an_example(name):
    value = getattr(ph, name)
    named = callable(value) or isinstance(value, ModuleType)
    text = inspect.getdoc(value) if named else python_names.ph_text(name)
    assert ">>>" in (text or "")


def test_every_public_name_is_in_one_group_of_the_index():
    assert sorted(python_names.names()) == sorted(ph.__all__)


def test_every_command_has_a_page_with_its_options():
    from typer.main import get_command

    from polhode.cli.main import app

    for name, command in get_command(app).commands.items():
        text = commands.page(name, commands.commands()[name])
        for parameter in command.params:
            if parameter.name != "help":
                assert all(f"`{option}`" in text for option in parameter.opts if "-" in option)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: "-".join(entry))
def test_the_example_of_an_entry_runs(entry, request, tmp_path, monkeypatch, capsys):
    if entry[1] != LONG:
        request.getfixturevalue("plain")
    monkeypatch.chdir(tmp_path)
    exec(compile(ENTRIES[entry].example, "-".join(entry), "exec"), {"__name__": "entry"})
    assert (ROOT / "src" / "polhode" / ENTRIES[entry].file).exists()
