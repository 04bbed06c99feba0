"""What the benchmarks share: timing, C libraries, tables, and facts about the machine.

All variants of a benchmark take turns in one process, so that a busy moment hits them alike, and
the clock is the CPU time of the thread.
"""

import ctypes
import json
import platform
import shutil
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import llvmlite.binding
import numba
import numpy as np

import polhode as ph

COMPILERS = ("gcc", "clang")


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


def round_robin(variants: Mapping[str, tuple[Callable, float]], repeats: int) -> dict[str, Times]:
    """Times of each (call, steps in a call), per step, all taken in turn ``repeats`` times."""
    samples: dict[str, list[float]] = {name: [] for name in variants}
    for call, _ in variants.values():
        call()
    for _ in range(repeats):
        for name, (call, steps) in variants.items():
            begin = time.thread_time_ns()
            call()
            samples[name].append((time.thread_time_ns() - begin) / steps)
    return {name: Times(tuple(ns)) for name, ns in samples.items()}


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


def write_json(path: Path, results: Mapping) -> None:
    path.write_text(json.dumps({"machine": machine(), **results}, indent=2) + "\n")
