"""Tables of models, problems, shapes and reductions; ``records.py`` writes them.

They stand in hand-written pages, between ``<!-- table: NAME -->`` and ``<!-- end -->``.
"""

import inspect
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import polhode as ph
from methods import listed, table
from polhode.ensembles.reductions import REDUCTIONS
from polhode.models import MODELS
from polhode.problems import CATALOGUE, RATES

DOCS = Path(__file__).parents[1]
MARKED = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def arguments(function: Callable) -> str:
    """The arguments of a function with their defaults, without those that all shapes have."""
    found = [
        f"`{p.name}`" if p.default in (p.empty, None) else f"`{p.name}={plain(p.default)}`"
        for p in inspect.signature(function).parameters.values()
        if p.kind is not p.KEYWORD_ONLY
    ]
    return listed(found)


def plain(value: object) -> str:
    """A default as a run file has it."""
    return str(list(value)) if isinstance(value, tuple) else repr(value).replace("'", '"')


def text(function: object) -> str:
    """A docstring in one line, up to the first section with a heading."""
    described = (inspect.getdoc(function) or "").partition("\n\nExamples\n")[0]
    described = described.partition("\n\nParameters\n")[0]
    return " ".join(described.replace("``", "`").split()).replace("|", "\\|")


# ---- the tables
def models() -> list[str]:
    rows = [
        (f"`{name}`", arguments(make), acting(name, make), text(make))
        for name, make in MODELS.items()
    ]
    return table("`name` | parameters | acts by | meaning", rows)


def acting(name: str, make: Callable[..., ph.Model]) -> str:
    """Whether the examples of a model have forces and torques."""
    examples = import_module(f"polhode.models.{name}").EXAMPLES
    made = [make(**example) for example in examples]
    forces = ["force"] * any(model.moves for model in made)
    torques = ["torque"] * any(not model.is_free for model in made)
    return " and ".join(forces + torques) or "–"


def problems() -> list[str]:
    rows = [
        (f"`{name}`", entry.summary, f"`{entry.method}`", f"{entry.dt:g}", f"{entry.t_end:g}")
        for name, entry in CATALOGUE.items()
    ]
    return table("name | problem | method | dt | t_end", rows)


def rates() -> list[str]:
    rows = [(f"`{make.__name__}()`", text(make)) for make in RATES.values()]
    return table("function | angular velocity", rows)


def shapes() -> list[str]:
    rows = [(f"`{name}`", arguments(make), text(make)) for name, make in ph.shapes.SHAPES.items()]
    return table("function | arguments | shape", rows)


def reductions() -> list[str]:
    rows = [
        (f"`{name}`", arguments(kind), f"`{kind.text}`" if kind.text else "–", text(kind))
        for name, kind in REDUCTIONS.items()
    ]
    return table("class | arguments | as text | gives", rows)


TABLES = {table.__name__: table for table in (models, problems, rates, shapes, reductions)}


def pages() -> dict[Path, str]:
    """The pages with tables, as they should be."""

    def made(found: re.Match) -> str:
        return "\n".join((found[1].rstrip("\n"), *TABLES[found[2]](), found[3]))

    return {page: MARKED.sub(made, page.read_text(encoding="utf-8")) for page in marked()}


def marked() -> Iterator[Path]:
    for page in sorted(DOCS.rglob("*.md")):
        if MARKED.search(page.read_text(encoding="utf-8")):
            yield page
