"""``polhode reproduce``: measure the claims of a paper again."""

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer

from polhode.cli import options
from polhode.cli.output import complain, plain, stderr, stdout
from polhode.errors import InputError


def reproduce(
    paper: Annotated[str, options.PAPER_NAME],
    quick: Annotated[bool, options.QUICK] = False,
    out: Annotated[Path | None, options.FIGURES] = None,
) -> None:
    """Measure every claim of a paper again: claimed, measured, verdict; and draw its figures.

    Exits with 1 if a claim could not be tested, or its verdict is not the known one.

    Examples:

    - `polhode reproduce krysl2006`
    - `polhode reproduce krysl2006 --quick --out figures`
    """
    from polhode.papers import PAPERS

    if paper not in PAPERS:
        raise InputError(f"paper must be one of {', '.join(PAPERS)}, got {paper!r}")
    place = out or Path(paper)
    place.mkdir(parents=True, exist_ok=True)
    console = stderr()
    if console.is_terminal:
        with console.status(paper) as status:
            report = PAPERS[paper].reproduce(quick, place, lambda text: status.update(plain(text)))
    else:
        report = PAPERS[paper].reproduce(quick, place, lambda text: console.print(plain(text)))
    _print_claims(report)
    for text in report.tables:
        stdout().print(plain(text))
    console.print(plain(f"{len(report.figures)} figures in {place}"))
    if not report.ok:
        complain("not every claim was tested with the known verdict")
        raise typer.Exit(1)


def _print_claims(report: Any) -> None:
    from rich.box import SIMPLE
    from rich.table import Table

    table = Table(box=SIMPLE, show_lines=True, header_style="bold", pad_edge=False)
    table.add_column("§", no_wrap=True)
    for heading, share in (("statement", 5), ("claimed", 3), ("measured", 6), ("verdict", 3)):
        table.add_column(heading, ratio=share)
    for claim in report.claims:
        note = f"\n[dim]{plain(claim.note)}[/]" if claim.note else ""
        table.add_row(
            plain(claim.section),
            plain(claim.statement),
            plain(claim.claimed),
            plain(claim.measured) + note,
            plain(claim.verdict),
        )
    console = stdout()
    console.print(table)
    counts = Counter(claim.verdict for claim in report.claims)
    verdicts = ", ".join(f"{verdict}: {count}" for verdict, count in counts.most_common())
    console.print(plain(f"{len(report.claims)} claims; {verdicts}"))
