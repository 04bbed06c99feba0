"""What scripts here share beyond ``polhode.bench``: options, tables, conclusions."""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

from polhode.bench.machine import machine
from polhode.bench.peers import installed as installed
from polhode.bench.timing import round_robin as round_robin


# ---- options
def parser(
    doc: str, repeats: int | None = 15, least: int = 7, results: bool = True
) -> argparse.ArgumentParser:
    """For a script whose docstring is ``doc``: --repeats, at least ``least``, and --json."""
    made = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    if results:
        made.add_argument("--json", type=Path, help="also write the results to this file")
    if repeats is not None:
        made.add_argument(
            "--repeats",
            type=lambda text: max(least, int(text)),
            default=repeats,
            metavar="N",
            help=f"of every timing, at least {least}; default {repeats}",
        )
    return made


def listed(text: str) -> list[str]:
    """What was given separated by commas."""
    return text.split(",")


# ---- peers
def need(module: ModuleType | None, name: str) -> None:
    """End the program if a peer is not there."""
    if module is None:
        sys.exit(f"{name} is not installed; get it with: pip install 'polhode[bench]'")


# ---- output
def table(head: Sequence[str], rows: Sequence[Mapping]) -> str:
    """The values of the rows in columns, the first to the left, numbers to the right."""

    def text(cell) -> str:
        return f"{cell:.2f}" if isinstance(cell, float) else "" if cell is None else str(cell)

    lines = [[text(cell) for cell in row] for row in (head, *(r.values() for r in rows))]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if i else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def conclude(options: argparse.Namespace, results: Mapping, verdicts: Sequence[str]) -> None:
    """Print the verdicts; write them and the results to --json."""
    print(*verdicts, sep="\n")
    if options.json is not None:
        write_json(
            options.json, {"repeats": options.repeats, **results, "verdicts": list(verdicts)}
        )


def write_json(path: Path, results: Mapping) -> None:
    path.write_text(json.dumps({"machine": machine(), **results}, indent=2) + "\n")
