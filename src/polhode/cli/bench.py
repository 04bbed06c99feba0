"""``polhode bench``: run a benchmark, or list them."""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polhode.cli import options
from polhode.cli.output import complain, place, plain, stderr, stdout, table
from polhode.errors import InputError

if TYPE_CHECKING:
    from polhode.bench.records import Finding, Missing, Table

PICTURES = ".png", ".pdf", ".svg"
ALL = "all"  # instead of a name
DIGITS = 5  # of stored numbers


def bench(
    name: Annotated[str | None, options.BENCH_NAME] = None,
    repeats: Annotated[int | None, options.BENCH_REPEATS] = None,
    changes: Annotated[list[str] | None, options.KEYS] = None,
    quick: Annotated[bool, options.QUICK_BENCH] = False,
    json_file: Annotated[Path | None, options.JSON_FILE] = None,
    plot: Annotated[Path | None, options.PLOT_FILE] = None,
    store: Annotated[Path | None, options.STORE_FOLDER] = None,
    strict: Annotated[bool, options.STRICT] = False,
    quiet: Annotated[bool, options.QUIET] = False,
) -> None:
    """Run a benchmark, or all of them; without a name, list them.

    All variants take turns in one process; times are CPU times, minimum and median. Peers that are
    not installed are reported as missing; C is compiled on the spot. With `all`, every benchmark
    runs in a process of its own, and those after one that fails run as well.

    Examples:

    - `polhode bench`
    - `polhode bench ensemble --json ensemble.json --plot ensemble.png`
    - `polhode bench precision --set methods=srkn14,strang8 --repeats 25`
    - `polhode bench single --quick`
    - `polhode bench all --quick`
    - `polhode bench all --store docs/reference/benchmarks`
    - `polhode bench drift --strict`, with exit code 1 if a claim is missed
    """
    from polhode.bench import benches, run

    if name is None:
        _list()
        return
    known = benches()
    if store is not None and not store.is_dir():
        raise InputError(f"--store must be a folder that exists, got {str(store)!r}")
    if name == ALL:
        for given, word in ((changes, "--set"), (json_file, "--json"), (plot, "--plot")):
            if given:
                raise InputError(f"{word} is for one benchmark; with all, use --store FOLDER")
        _run_all(list(known), repeats, quick, store, strict, quiet)
        return
    if name not in known:
        raise InputError(f"benchmark must be one of {', '.join(known)}, or {ALL}, got {name!r}")
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

    quick = quick or (store is not None and chosen.long)
    settings = chosen.settings(repeats, quick, report, _changes(changes))
    result = run(chosen, settings, _show)
    if json_file is not None:
        json_file.write_text(json.dumps(result.data(), indent=1) + "\n", encoding="utf-8")
    if store is not None:
        text = json.dumps(_rounded(result.data()), indent=1)
        (store / f"{name}.json").write_text(text + "\n", encoding="utf-8")
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


def _rounded(data: Any) -> Any:
    """The same with numbers of ``DIGITS`` digits: more are noise, and stored runs are small."""
    if isinstance(data, dict):
        return {key: _rounded(each) for key, each in data.items()}
    if isinstance(data, list | tuple):
        return [_rounded(each) for each in data]
    return float(f"{data:.{DIGITS}g}") if isinstance(data, float) else data


# ---- all
def _run_all(
    names: list[str],
    repeats: int | None,
    quick: bool,
    store: Path | None,
    strict: bool,
    quiet: bool,
) -> None:
    """Run every benchmark in its own process: none finds the memory or the threads of another."""
    words = ["--quick"] * quick + ["--quiet"] * quiet
    words += [] if repeats is None else ["--repeats", str(repeats)]
    rows, failed, missed = [], [], []
    with tempfile.TemporaryDirectory() as place:
        for name in names:
            stdout().print(f"[bold]{name}[/]")
            begin, file = time.perf_counter(), Path(place) / f"{name}.json"
            kept = [] if store is None else ["--store", str(store)]
            code = _apart([name, *words, *kept, "--json", str(file)])
            seconds = time.perf_counter() - begin
            if code:
                failed.append(name)
                complain(f"{name} failed with exit code {code}; the next one follows")
                rows.append((name, f"{seconds:.0f}", "failed"))
                continue
            verdicts = json.loads(file.read_text(encoding="utf-8"))["verdicts"]
            off = [each["what"] for each in verdicts if not each["met"]]
            missed += [f"{name}, {what}" for what in off]
            met = f"{len(verdicts) - len(off)} of {len(verdicts)}" if verdicts else "–"
            rows.append((name, f"{seconds:.0f}", met))
    total = sum(float(seconds) for _, seconds, _ in rows)
    rows.append(("all", f"{total:.0f}", ""))
    stdout().print(table(("benchmark", "seconds", "claims met"), rows, left=1))
    for each in missed:
        stdout().print(f"missed: {plain(each)}", soft_wrap=True)
    if failed or (strict and missed):
        complain(f"failed: {', '.join(failed) or 'none'}; claims missed: {len(missed)}")
        raise typer.Exit(1)


def _apart(arguments: Sequence[str]) -> int:
    """Run a benchmark in its own process and return its exit code."""
    sys.stdout.flush()
    return subprocess.run([sys.executable, "-m", "polhode", "bench", *arguments]).returncode


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
