"""What a paper states, what is measured, and the verdict.

A paper is a list of ``Statement``s: the claim in words, the function that measures it, and the
verdict that is expected.  ``tested`` turns them into ``Claim``s, a ``Report`` holds those and the
figures.  A verdict is computed from the measurement; the expectation is only compared with it, so
that a change in the library which alters a verdict shows.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HOLDS, CORRECTED, FAILS = "holds", "holds with the correction", "does not hold"
VERDICTS = HOLDS, CORRECTED, FAILS
UNTESTED = "not tested"

Measured = tuple[str, str]  # what was measured in words and numbers, and the verdict
Check = Callable[[Any], Measured]


class Untestable(RuntimeError):
    """A measurement that could not be made, and why."""


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
    timed: bool = False  # the verdict rests on execution times: another machine may find another

    @property
    def as_expected(self) -> bool:
        return bool(self.measured) and (self.timed or self.verdict == self.expected)


@dataclass(frozen=True)
class Report:
    """All claims of a paper, and the figures that were drawn."""

    claims: tuple[Claim, ...]
    figures: tuple[Path, ...]

    @property
    def ok(self) -> bool:
        """Whether every claim was tested, and those without a clock as expected."""
        return bool(self.claims) and all(claim.as_expected for claim in self.claims)

    def markdown(self) -> str:
        """The claims as a Markdown table, in the order of the paper."""
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
    """A claim before it is measured; ``check`` takes what the claims of a paper share."""

    name: str
    section: str
    statement: str
    claimed: str
    expected: str
    note: str
    check: Check
    timed: bool = False

    def tested(self, shared: Any) -> Claim:
        note = self.note
        try:
            measured, verdict = self.check(shared)
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


class Statements(list[Statement]):
    """Statements in the order of the paper, each added by a decorator on its check."""

    def claim(
        self,
        name: str,
        section: str,
        statement: str,
        *,
        claimed: str,
        expected: str = HOLDS,
        note: str = "",
        timed: bool = False,
    ) -> Callable[[Check], Check]:
        if expected not in VERDICTS or any(old.name == name for old in self):
            raise ValueError(f"claim {name!r}: unknown verdict {expected!r}, or the name is taken")

        def add(check: Check) -> Check:
            self.append(
                Statement(
                    name=name,
                    section=section,
                    statement=statement,
                    claimed=claimed,
                    expected=expected,
                    note=note,
                    check=check,
                    timed=timed,
                )
            )
            return check

        return add


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper that can be reproduced: ``reproduce(quick, out, progress) -> Report``."""

    name: str
    title: str
    reference: str
    statements: tuple[Statement, ...]
    reproduce: Callable[[bool, Path, Callable[[str], None]], Report]


def tested(
    statements: Iterable[Statement], shared: Any, progress: Callable[[str], None]
) -> tuple[Claim, ...]:
    """Every statement measured, one after the other."""
    claims = []
    for statement in statements:
        progress(f"{statement.section} {statement.name}")
        claims.append(statement.tested(shared))
    return tuple(claims)


def judged(printed: bool, corrected: bool = False) -> str:
    """The verdict, from whether the statement holds as printed, or else with its correction."""
    if printed:
        return HOLDS
    return CORRECTED if corrected else FAILS
