"""The records of benchmarks: what one is, how it is run, and what it finds.

A benchmark yields its findings as they are made: tables, verdicts (a claim and its measurement) and
notes.  ``run`` collects them with facts about the machine and the peers.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from polhode.errors import InputError

QUICK_REPEATS = 3


@dataclass(frozen=True)
class Table:
    """A table: ``columns`` maps the keys of the rows to their headings, in order.

    ``bars`` is the key of the column to plot, if any.
    """

    title: str
    columns: Mapping[str, str]
    rows: Sequence[Mapping[str, Any]]
    bars: str | None = None

    @staticmethod
    def of(
        title: str, columns: Mapping[str, str], rows: Iterable[Sequence], bars: str | None = None
    ) -> "Table":
        """Make a table of rows of values in the order of the columns."""
        return Table(title, columns, [dict(zip(columns, r, strict=True)) for r in rows], bars)

    def cells(self) -> list[list[str]]:
        """Return the headings and all rows as text."""
        return [
            list(self.columns.values()),
            *([format_cell(row.get(key)) for key in self.columns] for row in self.rows),
        ]


@dataclass(frozen=True)
class Verdict:
    """A claim, what was measured, and whether the claim holds."""

    what: str
    claimed: str
    measured: float | str
    met: bool

    @property
    def text(self) -> str:
        word = "met" if self.met else "MISSED"
        return f"{self.what}: {format_cell(self.measured)}, {self.claimed}: {word}"


@dataclass(frozen=True)
class Note:
    """A remark in one sentence."""

    text: str


@dataclass(frozen=True)
class Missing:
    """A peer that is not installed, and how to install it."""

    name: str
    install: str

    @property
    def text(self) -> str:
        return f"{self.name} is missing and left out; get it with: {self.install}"


Finding = Table | Verdict | Note


@dataclass(frozen=True)
class Settings:
    """How to run a benchmark: ``report`` prints progress, ``values`` are its own keys."""

    repeats: int
    quick: bool = False
    report: Callable[[str], None] = lambda text: None
    values: Mapping[str, str] = field(default_factory=dict)

    def parts(self, key: str) -> list[str]:
        """Return the parts of a value separated by commas; an empty value has none."""
        return [part.strip() for part in self.values[key].split(",") if part.strip()]

    def choose(self, key: str, known: Sequence[str]) -> list[str]:
        """Choose some of the known names; by default all of them."""
        names = self.parts(key)
        unknown = [name for name in names if name not in known]
        if unknown:
            raise InputError(f"{key} must be of {', '.join(known)}; got {', '.join(unknown)}")
        return names or list(known)

    def number(self, key: str) -> float:
        """Read a positive number."""
        try:
            value = float(self.values[key])
        except ValueError:
            value = 0.0
        if not 0.0 < value < float("inf"):
            raise InputError(f"{key} must be a positive number, got {self.values[key]!r}")
        return value

    def count(self, key: str, quick: int | None = None) -> int:
        """Read a positive integer, also written as 1e6; at most ``quick`` in a quick run."""
        value = self.number(key)
        if value != int(value):
            raise InputError(f"{key} must be an integer, got {self.values[key]!r}")
        return min(int(value), quick) if self.quick and quick is not None else int(value)


@dataclass(frozen=True)
class Key:
    """An option of one benchmark: its default and its meaning."""

    default: str
    text: str


@dataclass(frozen=True)
class Result:
    """Everything that a run of a benchmark found."""

    bench: "Bench"
    settings: Settings
    machine: Mapping[str, Any]
    peers: Mapping[str, str]  # name -> version
    missing: Sequence[Missing]
    findings: Sequence[Finding]
    date: str = ""
    seconds: float = 0.0  # on the wall

    @staticmethod
    def of(bench: "Bench", data: Mapping[str, Any]) -> "Result":
        """Return the result that has this plain data."""
        findings: list[Finding] = [Table(**each) for each in data["tables"]]
        findings += [Verdict(**each) for each in data["verdicts"]]
        findings += [Note(**each) for each in data["notes"]]
        settings = Settings(data["repeats"], data["quick"], values=data["keys"])
        missing = [Missing(**each) for each in data["missing"]]
        when = data.get("date", ""), data.get("seconds", 0.0)
        return Result(bench, settings, data["machine"], data["peers"], missing, findings, *when)

    @property
    def tables(self) -> list[Table]:
        return [each for each in self.findings if isinstance(each, Table)]

    @property
    def verdicts(self) -> list[Verdict]:
        return [each for each in self.findings if isinstance(each, Verdict)]

    def data(self) -> dict[str, Any]:
        """Plain data for JSON."""
        lists = {"tables": Table, "verdicts": Verdict, "notes": Note}
        return {
            "benchmark": self.bench.name,
            "summary": self.bench.summary,
            "date": self.date,
            "seconds": self.seconds,
            "repeats": self.settings.repeats,
            "quick": self.settings.quick,
            "keys": dict(self.settings.values),
            "machine": dict(self.machine),
            "peers": dict(self.peers),
            "missing": [asdict(each) for each in self.missing],
        } | {
            key: [asdict(each) for each in self.findings if isinstance(each, kind)]
            for key, kind in lists.items()
        }


@dataclass(frozen=True)
class Bench:
    """A benchmark: what it measures, against which peers, and its place in the list.

    It decorates the function that measures; the documentation of the module of this function
    describes the benchmark on the page of benchmarks.
    """

    name: str
    place: int  # benchmarks are listed in this order
    summary: str
    measure: Callable[[Settings], Iterator[Finding]] = lambda settings: iter(())
    needs: tuple[str, ...] = ()  # names of peers
    vital: tuple[str, ...] = ()  # those of them without which nothing is measured
    repeats: int = 15
    long: bool = False  # its full form takes minutes, so that its quick form is stored
    keys: Mapping[str, Key] = field(default_factory=dict)
    draw: Callable[[Result], Any] | None = None  # a figure, instead of bars

    def __call__(self, measure: Callable[[Settings], Iterator[Finding]]) -> "Bench":
        """Return the benchmark that measures by a function."""
        return replace(self, measure=measure)

    def settings(
        self,
        repeats: int | None = None,
        quick: bool = False,
        report: Callable[[str], None] = lambda text: None,
        changes: Mapping[str, str] | None = None,
    ) -> Settings:
        """Settings with the defaults of this benchmark, and ``changes`` of its keys."""
        for key in changes or {}:
            if key not in self.keys:
                known = ", ".join(self.keys) or "none"
                raise InputError(f"{self.name} has no key {key!r}; its keys: {known}")
        if repeats is None:
            repeats = min(QUICK_REPEATS, self.repeats) if quick else self.repeats
        values = {key: each.default for key, each in self.keys.items()} | dict(changes or {})
        return Settings(repeats, quick, report, values)


def run(
    bench: Bench,
    settings: Settings,
    show: Callable[[Finding | Missing], None] = lambda finding: None,
) -> Result:
    """Run a benchmark; ``show`` is called with every finding as it is made."""
    from polhode.bench.machine import machine
    from polhode.bench.peers import missing, versions

    absent, begin = missing(bench.needs), time.perf_counter()
    for each in absent:
        show(each)
    findings = []
    for finding in () if missing(bench.vital) else bench.measure(settings):
        show(finding)
        findings.append(finding)
    took, today = round(time.perf_counter() - begin, 1), time.strftime("%Y-%m-%d")
    facts = machine(), versions(bench.needs)
    return Result(bench, settings, *facts, absent, findings, today, took)


# ---- verdicts and text
def at_least(what: str, value: float | None, least: float) -> Verdict:
    """Return the verdict on a lower bound; a value of None was not reached."""
    met = value is not None and bool(value >= least)
    return Verdict(what, f"at least {least:g}", "not reached" if value is None else value, met)


def at_most(what: str, value: float, most: float) -> Verdict:
    """Return the verdict on an upper bound."""
    return Verdict(what, f"at most {most:g}", value, bool(value <= most))


def format_cell(cell: Any) -> str:
    """Write a number with the digits that matter; nothing for None."""
    if cell is None:
        return ""
    if not isinstance(cell, float):
        return str(cell)
    size = abs(cell)
    if size == 0.0 or 1000.0 <= size < 1e6:
        return f"{cell:.0f}"
    if 100.0 <= size < 1000.0:
        return f"{cell:.1f}"
    return f"{cell:.2f}" if 0.01 <= size < 100.0 else f"{cell:.1e}"
