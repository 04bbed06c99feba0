"""Tables of models, problems, shapes, reductions, and a stored run; ``records.py`` writes them.

They stand in hand-written pages, between ``<!-- table: NAME -->`` and ``<!-- end -->``.
"""

import inspect
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path

import benchmarks

import polhode as ph
from methods import listed, table
from polhode.ensembles.reductions import REDUCTIONS
from polhode.models import MODELS
from polhode.papers import PAPERS
from polhode.papers.verdicts import ADDED, CORRECTED, FAILS, HOLDS
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


# ---- of the stored run of ``polhode bench overview``
def expected() -> list[str]:
    """The table of times, and what was measured where."""
    return _stored(0) and [*_stored(0), "", *benchmarks.provenance("overview")]


def programs() -> list[str]:
    return _stored(2)


def _stored(place: int) -> list[str]:
    run = benchmarks.stored().get("overview")
    if run is None or len(run["tables"]) <= place:
        return ["No run is stored."]
    return benchmarks.table(run["tables"][place])


PEERS = {
    "scipy": ("SciPy solve_ivp", "SciPy ode"),
    "heyoka": ("heyoka",),
    "quaternion": ("numpy-quaternion",),
    "orekit": ("Orekit, closed form", "Orekit"),
    "basilisk": ("Basilisk",),
    "mujoco": ("MuJoCo",),
}  # the rows of the stored run that belong to a page
ERRORS = "1e-06", "1e-09", "1e-12"


def against(peer: str) -> list[str]:
    """Times of polhode, and how many times as long a peer takes, by problem and error."""
    run = benchmarks.stored()["overview"]
    rows = {row["peer"]: row for row in run["tables"][0]["rows"]}
    problems = [key.removesuffix(" 1e-06") for key in run["tables"][0]["columns"] if "1e-06" in key]
    found = []
    for problem in problems:
        for name in PEERS[peer]:
            cells = [rows[name][f"{problem} {error}"] for error in ERRORS]
            if any(cell != "–" for cell in cells):
                ours = [rows["polhode"][f"{problem} {error}"] for error in ERRORS]
                found.append((problem, name, *map(_in_words, ours, cells)))
    head = "problem | against | error 1e-6 rad | 1e-9 | 1e-12"
    return [
        "Microseconds of polhode for the whole motion, and how many times as long the other takes;",
        "each in its best form ([what was measured](../reference/what-to-expect.md)).",
        "",
        *table(head, found),
        "",
        *benchmarks.provenance("overview"),
    ]


def agreement() -> list[str]:
    """The smallest error that each library reached in each problem, whatever the time."""
    run = benchmarks.stored()["overview"]
    runs = run["tables"][1]["rows"]
    problems = list(dict.fromkeys(row["problem"] for row in runs))
    rows = []
    for peer in dict.fromkeys(row["peer"] for row in runs):
        errors = [
            min((x["error"] for x in runs if (x["peer"], x["problem"]) == (peer, p)), default=None)
            for p in problems
        ]
        rows.append((peer, *("–" if x is None else f"{x:.0e}" for x in errors)))
    return [
        *table(" | ".join(("library", *problems)), rows),
        "",
        *benchmarks.provenance("overview"),
    ]


def missed() -> list[str]:
    """The claims that stored runs miss, with what they measured."""
    rows = [
        (f"[`{name}`](benchmarks.md#{name})", claim["what"], claim["claimed"], _number(claim))
        for name, run in benchmarks.stored().items()
        for claim in run["verdicts"]
        if not claim["met"]
    ]
    return table("benchmark | claim | | measured", rows) if rows else ["None."]


def _number(claim: dict) -> str:
    measured = claim["measured"]
    return measured if isinstance(measured, str) else f"{measured:.2f}"


def verdicts() -> list[str]:
    """How many statements of each paper hold, from its table of claims."""
    words = {HOLDS: "hold", CORRECTED: "hold with a correction", ADDED: "hold; additions of ours",
             FAILS: "do not hold"}  # fmt: skip
    rows = []
    for name, paper in PAPERS.items():
        found = Counter(statement.expected for statement in paper.statements)
        assert set(found) <= set(words), found
        counts = (str(found[verdict]) for verdict in words)
        rows.append((f"`{name}`", str(found.total()), *counts))
    return table(" | ".join(("paper", "statements", *words.values())), rows)


def _in_words(ours: str, theirs: str) -> str:
    return f"{ours}, {theirs}"


MAKERS = (
    *(models, problems, rates, shapes, reductions),
    *(expected, programs, agreement, missed, verdicts),
)
TABLES = {table.__name__: table for table in MAKERS}
TABLES |= {f"peer_{name}": partial(against, name) for name in PEERS}


def pages() -> dict[Path, str]:
    """The pages with tables, as they should be."""

    def made(found: re.Match) -> str:
        return "\n".join((found[1].rstrip("\n"), *TABLES[found[2]](), found[3]))

    return {page: MARKED.sub(made, page.read_text(encoding="utf-8")) for page in marked()}


def marked() -> Iterator[Path]:
    for page in sorted(DOCS.rglob("*.md")):
        if MARKED.search(page.read_text(encoding="utf-8")):
            yield page
