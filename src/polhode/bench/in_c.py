"""Loops in C beside the benchmarks: compiled on the spot, checked and timed against ours.

``C, same operations`` is compiled without liberties, and must give our results to the last bit;
``C, fastest`` is the same source with -Ofast, with and without SLP vectors.
"""

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from polhode.bench.records import Finding, Note, Settings, Table, at_least
from polhode.bench.timing import columns, round_robin, row
from polhode.compiler.tree import flat

COMPILERS = ("gcc", "clang")
KINDS = {  # how a source is compiled -> flags
    "C, same operations": ("-O3", "-march=native", "-ffp-contract=off"),
    "C, fastest": ("-Ofast", "-march=native"),
    "C, fastest, no SLP": ("-Ofast", "-march=native", "-fno-tree-slp-vectorize"),
}
SAME, *FASTEST = KINDS


@cache
def compilers() -> dict[str, str]:
    """Return the C compilers found, each with the first line of its version."""
    found = {}
    for name in COMPILERS:
        if shutil.which(name):
            shown = subprocess.run([name, "--version"], capture_output=True, text=True, check=True)
            found[name] = shown.stdout.splitlines()[0]
    return found


@dataclass
class Workshop:
    """A folder in which sources beside this file are compiled."""

    folder: Path
    made: int = 0

    def library(self, compiler: str, flags: Sequence[str], name: str) -> ctypes.CDLL:
        """Compile and load the source ``name``.

        Linking is a separate step: with -Ofast it would flush subnormals of the whole process.
        """
        self.made += 1
        source = Path(__file__).with_name(name)  # a library of the same name would be the same
        made, library = (self.folder / f"{source.stem}{self.made}{end}" for end in (".o", ".so"))
        subprocess.run([compiler, *flags, "-fPIC", "-c", source, "-o", made], check=True)
        subprocess.run([compiler, "-shared", made, "-lm", "-o", library], check=True)
        return ctypes.CDLL(str(library))


@contextmanager
def workshop() -> Iterator[Workshop]:
    """Make a temporary folder to compile in."""
    with tempfile.TemporaryDirectory() as folder:
        yield Workshop(Path(folder))


# ---- one body, in C and by the compiled loop
@dataclass(frozen=True)
class Loop:
    """A loop of ours, its name in C with its further arguments, and the least ratios claimed."""

    ours: Callable[[], tuple]  # (the last state, iterations)
    name: str = ""
    arguments: tuple = ()  # arrays and floats
    least: float = 0.0  # over the same operations in C
    least_of_fastest: float = 0.0


def loop_in_c(
    library: ctypes.CDLL, loop: Loop, steps: int, step: float, state: tuple
) -> Callable[[], np.ndarray]:
    """Return a call of a loop in C, which returns the last state."""
    function = getattr(library, loop.name)
    function.restype = ctypes.c_long
    array = np.ctypeslib.ndpointer(np.float64)
    kinds = [ctypes.c_double if isinstance(x, float) else array for x in loop.arguments]
    function.argtypes = ctypes.c_long, ctypes.c_double, array, *kinds
    first = np.array(flat(state))
    work = np.empty_like(first)

    def go() -> np.ndarray:
        work[:] = first
        assert function(steps, step, work, *loop.arguments) >= 0
        return work

    return go


def against_c(
    title: str,
    source: str,
    loops: Mapping[str, Loop],
    grid: tuple[int, float, tuple],
    settings: Settings,
) -> Iterator[Finding]:
    """Time loops against C, and check that the bits agree; the grid is (steps, step, state)."""
    steps = grid[0]
    calls: dict[Any, Callable] = {}
    settings.report("compiling C")
    with workshop() as shop:
        libraries = {
            (kind, compiler): shop.library(compiler, flags, source)
            for kind, flags in KINDS.items()
            for compiler in compilers()
        }
    for what, loop in loops.items():
        settings.report(f"compiling {what}")
        calls[what, None, None] = loop.ours
        for (kind, compiler), library in libraries.items() if loop.name else ():
            call = calls[what, kind, compiler] = loop_in_c(library, loop, *grid)
            same = np.array_equal(call(), flat(loop.ours()[0]))
            assert same or kind != SAME, f"{what}: {compiler} gives other bits"
    if libraries:
        yield Note(
            f"After {steps} steps all results equal those of C, same operations, bit for bit."
        )
    settings.report("timing")
    times = round_robin({key: (call, steps) for key, call in calls.items()}, settings.repeats)
    rows: list[dict[str, Any]] = []
    ratios: dict[tuple[str, str], list[float]] = {}
    for (what, kind, compiler), taken in times.items():
        if kind is None:
            rows.append(row(what, taken))
            continue
        ratio = taken.minimum / times[what, None, None].minimum
        rows.append(row(f"  {kind}, {compiler}", taken, ratio))
        ratios.setdefault((what, SAME if kind == SAME else "fastest"), []).append(ratio)
    yield Table(title, columns("a step", "C / ours"), rows, bars="ns_min")
    for (what, kind), found in ratios.items():
        loop, words = loops[what], "the same operations in C" if kind == SAME else "the fastest C"
        least = loop.least if kind == SAME else loop.least_of_fastest
        yield at_least(f"{what}: speed over {words}", min(found), least)
