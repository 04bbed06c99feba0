"""What a paper states, what was measured, and the report of both.

The statements of a paper are the rows of its table ``claims.md``, in the order of the paper.  The
measurement of a row has its name: the entry "undo-forward" of a module's ``MEASUREMENTS``, or the
function ``undo_forward``.  A verdict is computed from the measurement; the verdict in the table is
the known one, so that a change in the library which alters a verdict shows.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module, resources
from pathlib import Path
from types import ModuleType
from typing import Any

from polhode.papers.verdicts import HOLDS, UNTESTED, VERDICTS, Check, Measured, Untestable

TABLE = "claims.md"
COLUMNS = "name", "§", "statement", "claimed", "measured", "verdict", "note"
TIMED = ", timed"  # after a verdict: what is measured includes execution times, with their range

Progress = Callable[[str], None]


# ---- records
@dataclass(frozen=True)
class Claim:
    """One statement of a paper with its measurement."""

    section: str
    statement: str
    claimed: str
    measured: str
    verdict: str
    note: str = ""
    name: str = ""
    expected: str = ""
    timed: bool = False  # times are shown; the verdict rests on them only if it is about hardware

    @property
    def as_expected(self) -> bool:
        """Whether it was measured, with the known verdict."""
        return bool(self.measured) and self.verdict == self.expected


@dataclass(frozen=True)
class Report:
    """All claims of a paper, the files of its figures, and its tables in Markdown."""

    claims: tuple[Claim, ...]
    figures: tuple[Path, ...]
    tables: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every claim was tested, as expected."""
        return bool(self.claims) and all(claim.as_expected for claim in self.claims)

    def markdown(self) -> str:
        """Return the claims as a Markdown table, in the order of the paper."""
        rows = [
            "| § | statement | claimed | measured | verdict |",
            "| --- | --- | --- | --- | --- |",
        ]
        for claim in self.claims:
            verdict = claim.verdict if claim.verdict == HOLDS else f"**{claim.verdict}**"
            note = f": {claim.note}" if claim.note else ""
            cells = claim.section, claim.statement, claim.claimed, claim.measured, verdict + note
            rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        return "\n".join(rows) + "\n"


@dataclass(frozen=True, kw_only=True)
class Statement:
    """A claim before it is measured; ``check`` takes the laboratory of the paper."""

    name: str
    section: str
    statement: str
    claimed: str
    words: str  # what was measured, with a place ``{}`` for each value
    expected: str
    note: str
    check: Check
    timed: bool = False

    def measure(self, laboratory: Any) -> Claim:
        """Return the claim with its measurement, or with the reason why it could not be made."""
        note = self.note
        try:
            verdict, values = self.check(laboratory)
            measured = self.words.format(*values)
        except Untestable as reason:
            measured, verdict, note = "", UNTESTED, str(reason)
        return Claim(
            self.section,
            self.statement,
            self.claimed,
            measured,
            verdict,
            note,
            self.name,
            self.expected,
            self.timed,
        )


# ---- tables of claims
def measurements(modules: Iterable[ModuleType]) -> dict[str, Check]:
    """Return the measurements of modules, by the name of their row.

    They are the entries of ``MEASUREMENTS`` and the public functions that return ``Measured``.  A
    function whose name is taken in its module may end with an underscore.
    """
    found: dict[str, Check] = {}
    for module in modules:
        functions = {
            name.rstrip("_").replace("_", "-"): thing
            for name, thing in vars(module).items()
            if getattr(thing, "__module__", None) == module.__name__
            and getattr(thing, "__annotations__", {}).get("return") == Measured
            and not name.startswith("_")
        }
        for part in (getattr(module, "MEASUREMENTS", {}), functions):
            if twice := sorted(set(part) & set(found)):
                raise ValueError(f"{module.__name__} measures again: {', '.join(twice)}")
            found |= part
    return found


def rows_of(text: str) -> list[dict[str, str]]:
    """The rows of a Markdown table of claims, by column; a bar in a cell is written ``\\|``."""
    rows = []
    for line in [line for line in text.splitlines() if line.startswith("|")][2:]:
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) != len(COLUMNS):
            raise ValueError(f"a claim must have the cells {COLUMNS}, got {line!r}")
        rows.append(dict(zip(COLUMNS, cells, strict=True)))
    return rows


def statements_of(text: str, checks: Mapping[str, Check]) -> tuple[Statement, ...]:
    """Return the statements of a table, each with its measurement."""
    made: dict[str, Statement] = {}
    for row in rows_of(text):
        name, verdict = row["name"], row["verdict"]
        expected, timed = verdict.removesuffix(TIMED), verdict.endswith(TIMED)
        if expected not in VERDICTS:
            raise ValueError(f"claim {name!r}: the verdict {expected!r} must be one of {VERDICTS}")
        if name in made:
            raise ValueError(f"claim {name!r}: the name is used twice")
        if name not in checks:
            raise ValueError(f"claim {name!r}: no function measures it")
        made[name] = Statement(
            name=name,
            section=row["§"],
            statement=row["statement"],
            claimed=row["claimed"],
            words=row["measured"],
            expected=expected,
            note=row["note"],
            check=checks[name],
            timed=timed,
        )
    if left := sorted(set(checks) - set(made)):
        raise ValueError(f"measurements without a row in the table of claims: {', '.join(left)}")
    return tuple(made.values())


# ---- papers
@dataclass(frozen=True)
class Paper:
    """A paper that can be reproduced.

    Its package has the table ``claims.md`` and a module ``figures`` with ``draw(laboratory, out)``;
    ``measured_in`` are the modules with the measurements; ``tables`` makes those of the paper
    again, in Markdown, from the laboratory.
    """

    package: str
    title: str = field(kw_only=True)
    figures: int = field(kw_only=True)  # how many are drawn
    laboratory: Callable[[bool, Progress], Any] = field(kw_only=True)
    measured_in: tuple[ModuleType, ...] = field(kw_only=True)
    tables: Callable[[Any], tuple[str, ...]] = field(default=lambda laboratory: (), kw_only=True)

    @property
    def name(self) -> str:
        """The name of its package."""
        return self.package.rpartition(".")[2]

    @property
    def reference(self) -> str:
        """Its key in ``references.bib``."""
        return self.name

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """The rows of its table of claims."""
        table = resources.files(self.package).joinpath(TABLE).read_text(encoding="utf-8")
        return statements_of(table, measurements(self.measured_in))

    def reproduce(self, quick: bool, out: Path, progress: Progress) -> Report:
        """Measure every claim, and draw the figures into ``out``.

        ``quick`` takes fewer and shorter runs; it tests the same claims.
        """
        laboratory, claims = self.laboratory(quick, progress), []
        for statement in self.statements:
            progress(f"{statement.section} {statement.name}")
            claims.append(statement.measure(laboratory))
        draw = import_module(f"{self.package}.figures").draw
        return Report(tuple(claims), draw(laboratory, Path(out)), self.tables(laboratory))
