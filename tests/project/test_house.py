"""The layout of the package: few files at the top, ten layers, short functions, privacy.

``python tests/project/test_house.py [FOLDER]`` lists what is too long or reads what is private.
"""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "polhode"
LAYERS, TOP_FILES, FUNCTION, CLASS = 10, 8, 60, 250

LONG: dict[str, str] = {}  # "file:name" -> why it is longer than the limit

Node = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def files(folder: Path = PACKAGE) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def docstrings(tree: ast.AST) -> set[int]:
    """The lines of docstrings."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, Node)) and node.body:
            first = node.body[0]
            text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
            if text and isinstance(first.value.value, str):
                lines |= set(range(first.lineno, first.end_lineno + 1))
    return lines


def too_long(file: Path) -> Iterator[tuple[str, int]]:
    """(name, lines) of what exceeds the limits; without docstrings, comments and blanks."""
    text = file.read_text(encoding="utf-8")
    tree = ast.parse(text)
    skipped = docstrings(tree)
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.strip().startswith("#"):
            skipped.add(number)
    for node in ast.walk(tree):
        if isinstance(node, Node):
            count = len(set(range(node.lineno, node.end_lineno + 1)) - skipped)
            if count > (CLASS if isinstance(node, ast.ClassDef) else FUNCTION):
                yield f"{file.relative_to(PACKAGE)}:{node.name}", count


def private_reads(file: Path) -> Iterator[str]:
    """Where a module reads a name that begins with an underscore and belongs to another."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    own = {node.name for node in ast.walk(tree) if isinstance(node, Node)}
    for node in ast.walk(tree):
        place = f"{file.relative_to(PACKAGE)}:{getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("polhode"):
            for alias in node.names:
                if private(alias.name):
                    yield f"{place} imports {alias.name}"
        elif isinstance(node, ast.Attribute) and private(node.attr):
            owner = node.value
            if isinstance(owner, ast.Name) and (owner.id in ("self", "cls") or owner.id in own):
                continue
            if not assigned_here(tree, node.attr):
                yield f"{place} reads {node.attr}"


def assigned_here(tree: ast.AST, name: str) -> bool:
    """Whether a module defines an attribute, or a slot or method, of that name itself."""
    for node in ast.walk(tree):
        if isinstance(node, Node) and node.name == name:
            return True
        if (
            isinstance(node, ast.Attribute)
            and node.attr == name
            and isinstance(node.ctx, ast.Store)
        ):
            return True
        if isinstance(node, (ast.AnnAssign, ast.Assign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                return True
        if isinstance(node, ast.Constant) and node.value == name:
            return True
    return False


def private(name: str) -> bool:
    public = name.startswith("__") and name.endswith("__")
    return name.startswith("_") and not public and name not in NAMED_TUPLES and name != "_version"


NAMED_TUPLES = ("_fields", "_replace", "_asdict", "_make", "_field_defaults")  # public, says Python


def test_few_files_lie_at_the_top_of_the_package():
    assert len(list(PACKAGE.glob("*.py"))) <= TOP_FILES


def test_layers():
    with (ROOT / "pyproject.toml").open("rb") as file:
        contracts = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    (layers,) = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    assert len(layers) <= LAYERS


def test_functions_and_classes_are_short():
    found = {name: lines for file in files() for name, lines in too_long(file)}
    assert {name: n for name, n in found.items() if name not in LONG} == {}
    assert set(LONG) <= set(found), "no longer too long: take them off the list"


OF_NUMBA = [  # where it looks for definitions, and what an intrinsic does
    "compiler/machine.py reads _registries",
    "compiler/traced.py reads _defn",
]


def test_no_module_reads_what_is_private_to_another():
    found = [re.sub(r":\d+ ", " ", read) for file in files() for read in private_reads(file)]
    assert found == OF_NUMBA


if __name__ == "__main__":
    for path in files(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else PACKAGE):
        for name, count in too_long(path):
            sys.stdout.write(f"{name} has {count} lines\n")
        for line in private_reads(path):
            sys.stdout.write(f"{line}\n")
