"""The race to a given accuracy: which runs reach it, and which of them is the fastest.

All runs take turns in one process.  For each error and each kind of run (an integrator, a form of
heyoka's equations) the fastest run that reaches the error counts, even by luck.  A first look at
the clock selects ``SHOWN`` runs of each kind, which are then timed well; ratios are of their least
times.
"""

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from polhode.bench.records import Finding, Note, Settings, Table, Verdict, at_least
from polhode.bench.timing import Times, timed

SHOWN, FIRST_LOOK = 3, 5  # runs of a kind that are timed well; repeats before that
Clock = Callable[[Mapping[Any, Callable], int], dict[Any, Times]]


@dataclass(frozen=True)
class Variant:
    """A run and the error that it reaches."""

    kind: str  # an integrator, or a form of heyoka's equations
    name: str
    error: float
    call: Callable
    count: int | None = None  # evaluations or steps
    target: float | None = None  # the only error it competes for; default: every error it reaches

    def reaches(self, error: float) -> bool:
        return self.error <= error and self.target in (None, error)


def fastest(
    variants: Iterable[Variant], error: float, times: Mapping[Variant, Times], each: int = 1
) -> list[Variant]:
    """Return the fastest few of each kind that reach an error, the fastest of all first."""
    counts: Counter[str] = Counter()
    chosen = []
    good = [v for v in variants if v in times and v.reaches(error)]
    for variant in sorted(good, key=lambda v: times[v].minimum):
        counts[variant.kind] += 1
        if counts[variant.kind] <= each:
            chosen.append(variant)
    return chosen


# ---- rows
def columns(what: str, ratio: str, count: str = "") -> dict[str, str]:
    """Headings: a run, its error, ``count`` of its work, its time, and a ratio of times."""
    counts = {"count": count} if count else {}
    times = {"us_min": "µs min", "us_median": "µs median"}
    ratios = {"ratio_min": ratio, "ratio_median": "median"}
    return {"what": what, "error": "error", **counts, **times, **ratios}


def row(
    error: float, variant: Variant, times: Times, ratio: tuple[Times, Times] | None = None
) -> tuple:
    """Make a row of the table, with the quotient of two times."""
    count = () if variant.count is None else (variant.count,)
    ratios: tuple = (None, None)
    if ratio:
        above, below = ratio
        ratios = above.minimum / below.minimum, above.median / below.median
    what, own = f"{error:.0e}  {variant.name}", (times.minimum / 1e3, times.median / 1e3)
    return what, variant.error, *count, *own, *ratios


HEAD = columns("error and variant", "heyoka / ours, min")
Rows = Callable[[float, list[Variant], list[Variant], Mapping[Variant, Times]], list[tuple]]


def heyoka_over_ours(
    error: float,
    theirs: list[Variant],
    ours: list[Variant],
    times: Mapping[Variant, Times],
    forms: int | None = 1,
) -> list[tuple]:
    """heyoka's fastest forms, then all of ours with heyoka's time over theirs."""
    if not theirs:
        return []
    first = times[theirs[0]]
    return [
        *(row(error, v, times[v]) for v in theirs[:forms]),
        *(row(error, v, times[v], (first, times[v])) for v in ours),
    ]


ALL_FORMS = partial(heyoka_over_ours, forms=None)


# ---- the race
@dataclass(frozen=True)
class Race:
    """The runs of one problem, and the ratios that are claimed for it."""

    title: str
    claims: Mapping[float, float | None]  # error -> the least ratio heyoka / ours
    theirs: Sequence[Variant]
    ours: Sequence[Variant]
    problem: str = ""  # its name in the verdicts
    judged: str | None = None  # the kind of ours that is judged; default: the fastest
    rows: Rows = heyoka_over_ours
    head: Mapping[str, str] = field(default_factory=lambda: HEAD)
    clock: Clock = timed

    def run(self, settings: Settings) -> Generator[Finding, None, dict[Variant, Times]]:
        """Notes, the table and the verdicts; returns the times of the runs that were timed well."""
        first = self.clock({v: v.call for v in (*self.theirs, *self.ours)}, FIRST_LOOK)
        chosen = [
            variant
            for error in self.claims
            for variants in (self.theirs, self.ours)
            for variant in fastest(variants, error, first, SHOWN)
        ]
        times = self.clock({v: v.call for v in chosen}, settings.repeats)
        rows: list[tuple] = []
        verdicts: list[Verdict] = []
        for error, least in self.claims.items():
            theirs, ours = (fastest(group, error, times) for group in (self.theirs, self.ours))
            rows += self.rows(error, theirs, ours, times)
            if not theirs:
                yield Note(f"heyoka does not reach {error:.0e}")
            elif least is not None:
                verdicts.append(self.verdict(error, least, times[theirs[0]], ours, times))
        yield Table.of(self.title, self.head, rows)
        yield from verdicts
        return times

    def verdict(
        self,
        error: float,
        least: float,
        peer: Times,
        ours: list[Variant],
        times: Mapping[Variant, Times],
    ) -> Verdict:
        good = [v for v in ours if self.judged in (None, v.kind)]
        ratio = peer.minimum / times[good[0]].minimum if good else None
        problem = f"{self.problem}, " if self.problem else ""
        what = f"{problem}{error:.0e}: heyoka / {self.judged or 'ours'}"
        return at_least(what, ratio, least)
