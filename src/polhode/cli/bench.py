"""``polhode bench``: run a benchmark, or list them."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polhode.cli import options
from polhode.cli.output import complain, place, plain, stderr, stdout, table
from polhode.errors import InputError

if TYPE_CHECKING:
    from polhode.bench.records import Finding, Missing, Table

PICTURES = ".png", ".pdf", ".svg"


def bench(
    name: Annotated[str | None, options.BENCH_NAME] = None,
    repeats: Annotated[int | None, options.BENCH_REPEATS] = None,
    changes: Annotated[list[str] | None, options.KEYS] = None,
    quick: Annotated[bool, options.QUICK_BENCH] = False,
    json_file: Annotated[Path | None, options.JSON_FILE] = None,
    plot: Annotated[Path | None, options.PLOT_FILE] = None,
    strict: Annotated[bool, options.STRICT] = False,
    quiet: Annotated[bool, options.QUIET] = False,
) -> None:
    """Run a benchmark; without a name, list them.

    All variants take turns in one process; times are CPU times, minimum and median. Peers that are
    not installed are reported as missing; C is compiled on the spot.

    Examples:

    - `polhode bench`
    - `polhode bench ensemble --json ensemble.json --plot ensemble.png`
    - `polhode bench precision --set methods=srkn14,strang8 --repeats 25`
    - `polhode bench single --quick`
    - `polhode bench drift --strict`, with exit code 1 if a claim is missed
    """
    from polhode.bench import benches, run

    if name is None:
        _list()
        return
    known = benches()
    if name not in known:
        raise InputError(f"benchmark must be one of {', '.join(known)}, got {name!r}")
    chosen = known[name]
    if json_file is not None:
        place(json_file, json_file.name, [json_file.suffix])
    if plot is not None:
        if plot.suffix not in PICTURES:
            raise InputError(f"--plot must end in {', '.join(PICTURES)}, got {str(plot)!r}")
        place(plot, plot.name, PICTURES)
    console = stderr()

    def report(text: str) -> None:
        if not quiet:
            console.print(plain(text), style="dim")

    settings = chosen.settings(repeats, quick, report, _changes(changes))
    result = run(chosen, settings, _show)
    if json_file is not None:
        json_file.write_text(json.dumps(result.data(), indent=1) + "\n", encoding="utf-8")
    if plot is not None:
        from polhode.plot import benchmark

        sheet = chosen.draw(result) if chosen.draw is not None else benchmark(result)
        sheet.savefig(plot, dpi=110)
    missed = [each.what for each in result.verdicts if not each.met]
    if strict and missed:
        complain(f"missed: {'; '.join(missed)}")
        raise typer.Exit(1)


def _changes(given: list[str] | None) -> dict[str, str]:
    pairs = [text.partition("=") for text in given or ()]
    for key, sign, _ in pairs:
        if not (key and sign):
            raise InputError(f"--set takes KEY=VALUE, got {key + sign!r}")
    return {key: value for key, _, value in pairs}


# ---- output
def _list() -> None:
    from polhode.bench import benches
    from polhode.bench.peers import missing

    found, headings = benches(), ("name", "what is measured", "against", "keys for --set")
    rows = (
        map(plain, (each.name, each.summary, ", ".join(each.needs), ", ".join(each.keys)))
        for each in found.values()
    )
    stdout().print(table(headings, map(tuple, rows), wrapped=headings))
    for absent in missing(dict.fromkeys(name for each in found.values() for name in each.needs)):
        stderr().print(plain(f"{absent.name} is missing; get it with: {absent.install}"))


def _show(finding: "Finding | Missing") -> None:
    from polhode.bench import Missing, Table

    if isinstance(finding, Table):
        _print(finding)
    elif isinstance(finding, Missing):
        stderr().print(plain(finding.text))
    else:
        stdout().print(plain(finding.text), soft_wrap=True)


def _print(found: "Table") -> None:
    head, *rows = ([*map(plain, cells)] for cells in found.cells())
    console = stdout()
    console.print(f"\n[bold]{plain(found.title)}[/]")
    console.print(table(head, rows, left=1), soft_wrap=True)
    console.print()
