"""What a benchmark is, and what it finds.

A benchmark yields its findings one by one as they are made: tables, verdicts (what is claimed, what
was measured), notes.  ``measured`` collects them with facts about the machine and the peers.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from polhode.errors import InputError

QUICK_REPEATS = 3


@dataclass(frozen=True)
class Table:
    """Rows of numbers and words; ``columns`` gives the heading of each of their keys, in order.

    ``bars`` is the key of the column that a picture shows, if any.
    """

    title: str
    columns: Mapping[str, str]
    rows: Sequence[Mapping[str, Any]]
    bars: str | None = None

    def cells(self) -> list[list[str]]:
        """The headings and all rows as words."""
        return [
            list(self.columns.values()),
            *([shown(row.get(key)) for key in self.columns] for row in self.rows),
        ]


@dataclass(frozen=True)
class Verdict:
    """A claim, what was measured, and whether it holds."""

    what: str
    claimed: str
    measured: float | str
    met: bool

    @property
    def text(self) -> str:
        word = "met" if self.met else "MISSED"
        return f"{self.what}: {shown(self.measured)}, {self.claimed}: {word}"


@dataclass(frozen=True)
class Note:
    """A sentence about what was done or seen."""

    text: str


@dataclass(frozen=True)
class Missing:
    """A peer that is not there, and how to get it."""

    name: str
    install: str

    @property
    def text(self) -> str:
        return f"{self.name} is missing and left out; get it with: {self.install}"


Finding = Table | Verdict | Note


@dataclass(frozen=True)
class Asked:
    """How to run: ``say`` is told what is being done; ``values`` are the benchmark's own keys."""

    repeats: int
    quick: bool = False
    say: Callable[[str], None] = lambda text: None
    values: Mapping[str, str] = field(default_factory=dict)

    def listed(self, key: str) -> list[str]:
        """What is given separated by commas; an empty list for nothing."""
        return [part.strip() for part in self.values[key].split(",") if part.strip()]

    def chosen(self, key: str, known: Sequence[str]) -> list[str]:
        """Some of what is known, by default all."""
        names = self.listed(key)
        unknown = [name for name in names if name not in known]
        if unknown:
            raise InputError(f"{key} must be of {', '.join(known)}; got {', '.join(unknown)}")
        return names or list(known)

    def number(self, key: str) -> float:
        """A positive number."""
        try:
            value = float(self.values[key])
        except ValueError:
            value = 0.0
        if not 0.0 < value < float("inf"):
            raise InputError(f"{key} must be a positive number, got {self.values[key]!r}")
        return value

    def count(self, key: str) -> int:
        """A positive integer; 1e6 is one."""
        value = self.number(key)
        if value != int(value):
            raise InputError(f"{key} must be an integer, got {self.values[key]!r}")
        return int(value)


@dataclass(frozen=True)
class Key:
    """Something to choose in one benchmark: the default, and what it means."""

    default: str
    text: str


@dataclass(frozen=True)
class Result:
    """Everything a run of a benchmark found."""

    name: str
    summary: str
    repeats: int
    quick: bool
    values: Mapping[str, str]
    machine: Mapping[str, Any]
    peers: Mapping[str, str]  # name -> version
    missing: Sequence[Missing]
    findings: Sequence[Finding]

    @property
    def tables(self) -> list[Table]:
        return [each for each in self.findings if isinstance(each, Table)]

    @property
    def verdicts(self) -> list[Verdict]:
        return [each for each in self.findings if isinstance(each, Verdict)]

    @property
    def notes(self) -> list[Note]:
        return [each for each in self.findings if isinstance(each, Note)]

    def data(self) -> dict[str, Any]:
        """As plain data, for JSON."""
        lists: dict[str, Sequence[Any]] = {
            "tables": self.tables,
            "verdicts": self.verdicts,
            "notes": self.notes,
        }
        return {
            "benchmark": self.name,
            "summary": self.summary,
            "repeats": self.repeats,
            "quick": self.quick,
            "keys": dict(self.values),
            "machine": dict(self.machine),
            "peers": dict(self.peers),
            "missing": [asdict(each) for each in self.missing],
        } | {key: [asdict(each) for each in found] for key, found in lists.items()}


@dataclass(frozen=True)
class Bench:
    """A benchmark: what it compares, with whom, and how it is done."""

    name: str
    summary: str
    measure: Callable[[Asked], Iterator[Finding]]
    needs: tuple[str, ...] = ()  # peers by their names
    repeats: int = 15
    keys: Mapping[str, Key] = field(default_factory=dict)
    draw: Callable[[Result], Any] | None = None  # a figure, in place of bars

    def asked(
        self,
        repeats: int | None = None,
        quick: bool = False,
        say: Callable[[str], None] = lambda text: None,
        changes: Mapping[str, str] | None = None,
    ) -> Asked:
        """How to run, with the defaults of this benchmark."""
        for key in changes or {}:
            if key not in self.keys:
                known = ", ".join(self.keys) or "none"
                raise InputError(f"{self.name} has no key {key!r}; its keys: {known}")
        if repeats is None:
            repeats = min(QUICK_REPEATS, self.repeats) if quick else self.repeats
        values = {key: each.default for key, each in self.keys.items()} | dict(changes or {})
        return Asked(repeats, quick, say, values)


def measured(
    bench: Bench, asked: Asked, show: Callable[[Finding | Missing], None] = lambda found: None
) -> Result:
    """Run a benchmark; ``show`` sees every finding as it is made."""
    from polhode.bench.machine import machine
    from polhode.bench.peers import missing, versions

    absent = missing(bench.needs)
    for each in absent:
        show(each)
    findings = []
    for finding in bench.measure(asked):
        show(finding)
        findings.append(finding)
    return Result(
        name=bench.name,
        summary=bench.summary,
        repeats=asked.repeats,
        quick=asked.quick,
        values=asked.values,
        machine=machine(),
        peers=versions(bench.needs),
        missing=absent,
        findings=findings,
    )


# ---- verdicts and words
def at_least(what: str, value: float, least: float) -> Verdict:
    return Verdict(what, f"at least {least:g}", value, bool(value >= least))


def at_most(what: str, value: float, most: float) -> Verdict:
    return Verdict(what, f"at most {most:g}", value, bool(value <= most))


def shown(cell: Any) -> str:
    """Numbers with the digits that matter; nothing for None."""
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
