"""What the benchmarks share: options, peers, timing, C libraries, tables, facts about the machine.

All variants of a benchmark take turns in one process, so that a busy moment hits them alike, and
the clock is the CPU time of the thread.
"""

import argparse
import ctypes
import importlib
import json
import platform
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import llvmlite.binding
import numba
import numpy as np

import polhode as ph

COMPILERS = ("gcc", "clang")
SAMPLE = 2e6  # nanoseconds: shorter runs are called several times for one sample


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
def installed(name: str) -> Any:
    """The module, or None where there is none."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def need(module: ModuleType | None, name: str) -> None:
    """End the program if a peer is not there."""
    if module is None:
        sys.exit(f"{name} is not installed; get it with: pip install 'polhode[bench]'")


# ---- timing
@dataclass(frozen=True)
class Times:
    """Nanoseconds of one variant, one entry for each repeat."""

    ns: tuple[float, ...]

    @property
    def minimum(self) -> float:
        return min(self.ns)

    @property
    def median(self) -> float:
        return statistics.median(self.ns)


def round_robin(
    variants: Mapping[Any, tuple[Callable, float]],
    repeats: int,
    clock: Callable[[], int] = time.thread_time_ns,
    before: Callable[[Any], None] = lambda name: None,
) -> dict[Any, Times]:
    """Times of each (call, steps in a call), per step, all taken in turn ``repeats`` times.

    ``before(name)`` comes ahead of every call, and is not timed.  What runs in threads of its own
    needs ``clock=time.process_time_ns``.
    """
    samples: dict[Any, list[float]] = {name: [] for name in variants}
    for name, (call, _) in variants.items():
        before(name)
        call()
    for _ in range(repeats):
        for name, (call, steps) in variants.items():
            before(name)
            begin = clock()
            call()
            samples[name].append((clock() - begin) / steps)
    return {name: Times(tuple(ns)) for name, ns in samples.items()}


def timed(variants: Sequence, repeats: int) -> dict[Any, Times]:
    """Times of each variant's ``call``.

    Short ones are called several times for one sample, so that the clock's own cost does not show.
    """
    first = round_robin({v: (v.call, 1) for v in variants}, 3)
    calls = {}
    for variant in variants:
        count = max(1, int(SAMPLE / max(1e3, first[variant].minimum)))
        calls[variant] = partial(_repeated, variant.call, count), count
    return round_robin(calls, repeats)


def _repeated(call: Callable, count: int) -> None:
    """The results are not kept: to hold many of them would cost more than to make one."""
    for _ in range(count):
        call()


# ---- C
def compilers() -> dict[str, str]:
    """The C compilers found, each with the first line it says about itself."""
    found = {}
    for name in COMPILERS:
        if shutil.which(name):
            said = subprocess.run([name, "--version"], capture_output=True, text=True, check=True)
            found[name] = said.stdout.splitlines()[0]
    return found


def c_library(compiler: str, flags: Sequence[str], source: Path, folder: Path) -> ctypes.CDLL:
    """``source`` compiled and loaded.

    Linked apart from compiling: a link with -Ofast would flush subnormals of the whole process.
    """
    stem = folder / f"{source.stem}{len(list(folder.iterdir()))}"
    made, library = stem.with_suffix(".o"), stem.with_suffix(".so")
    subprocess.run([compiler, *flags, "-fPIC", "-c", source, "-o", made], check=True)
    subprocess.run([compiler, "-shared", made, "-lm", "-o", library], check=True)
    return ctypes.CDLL(str(library))


# ---- facts
def machine() -> dict:
    """General facts: kind of CPU, what it can do, versions."""
    features = llvmlite.binding.get_host_cpu_features()
    return {
        "cpu": llvmlite.binding.get_host_cpu_name(),
        "features": [name for name in ("avx2", "fma", "avx512f", "neon") if features.get(name)],
        "system": platform.system(),
        "architecture": platform.machine(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "llvm": ".".join(map(str, llvmlite.binding.llvm_version_info)),
        "polhode": ph.__version__,
        "compilers": compilers(),
    }


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
