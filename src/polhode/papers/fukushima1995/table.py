"""Measurements for table 1 of Fukushima (1995): what E and the equations of motion cost.

As in the paper, E is a matrix: of (1), of Euler's angles, of Serret and Andoyer's variables.  The
formulas are in ``schemes``, where their operations are counted, and in ``clock.c``, which a C
compiler makes into two programs, of double and of quadruple precision.  The verdicts on the schemes
rest on the operations, that on quadruple precision on a ratio of times far from its limit.
"""

import shutil
import subprocess
import tempfile
from functools import cache, partial
from pathlib import Path

import numpy as np

from polhode.compiler.tree import bind
from polhode.papers.counted import Counted, counted, counting, work_of
from polhode.papers.fukushima1995.laboratory import Laboratory
from polhode.papers.fukushima1995.schemes import JOINTLY, SCHEMES, STARTS, TIME
from polhode.papers.timing import least, ranged
from polhode.papers.verdicts import Measured, holds_if

SOURCE = Path(__file__).with_name("clock.c")
ROUNDS = 24
OPTIONS = {
    "double": ("-DREAL=double", "-DSIN=sin", "-DCOS=cos", "-DROOT=sqrt", "-DNUMBER(x)=x",
               "-DCOUNT=20000"),
    "quadruple": ("-DQUADRUPLE", "-DREAL=__float128", "-DSIN=sinq", "-DCOS=cosq", "-DROOT=sqrtq",
                  "-DNUMBER(x)=x##Q", "-DCOUNT=400"),
}  # fmt: skip
STORED = {  # nanoseconds of clock.c, gcc -O2 on x86-64: (E, equations) of new, Euler, Andoyer
    "double": ((36.0, 77.0), (39.0, 68.5), (52.5, 106.0)),
    "quadruple": ((3280.0, 5930.0), (3140.0, 5320.0), (4210.0, 7120.0)),
}
PRINTED = {  # microseconds of an HP 9000/715: (E, equations)
    ("new", "double"): (117, 195),
    ("Euler", "double"): (117, 206),
    ("Serret-Andoyer", "double"): (147, 250),
    ("Euler", "quadruple"): (3378, 7195),
}
ALIKE = 1.2  # Serret and Andoyer's variables differ by more than this in the paper, 1.21 and 1.26
ROUGHLY = 1.5  # "roughly 30": within this factor
NAMES = tuple(SCHEMES)


# ---- operations
def work(scheme: str, jointly: bool = False) -> np.ndarray:
    """The work of (E, the equations of motion); with sine and cosine ``jointly`` if asked."""
    start, pieces = (Counted(TIME), counted(STARTS[scheme])), JOINTLY if jointly else {}
    functions = [counting(bind(function, pieces)) for function in SCHEMES[scheme]]
    return np.array([work_of(partial(function, *start)) for function in functions], dtype=float)


def work_ratios(scheme: str, jointly: bool = False) -> np.ndarray:
    """The work of a scheme over that of Euler's angles, (of E, of the equations)."""
    return work(scheme, jointly) / work("Euler", jointly)


# ---- times
def build(precision: str, folder: str) -> str:
    """Compile ``clock.c``; returns the program."""
    program = str(Path(folder) / precision)
    compiler = shutil.which("gcc") or "gcc"
    words = compiler, "-O2", *OPTIONS[precision], str(SOURCE), "-o", program, "-lquadmath", "-lm"
    subprocess.run(words, check=True, capture_output=True)
    return program


@cache
def clocks() -> tuple[dict[str, np.ndarray], str]:
    """Nanoseconds by precision, arrays (groups, schemes, 2), and where they come from."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            programs = {precision: build(precision, folder) for precision in OPTIONS}
            lines: dict[str, list[list[float]]] = {precision: [] for precision in OPTIONS}
            for _ in range(ROUNDS // 4):  # in turn
                for precision, program in programs.items():
                    asked = [program, "4"]
                    out = subprocess.run(asked, check=True, capture_output=True, text=True).stdout
                    lines[precision] += [list(map(float, row.split())) for row in out.splitlines()]
    except (subprocess.CalledProcessError, OSError):
        stored = {precision: np.array([times]) for precision, times in STORED.items()}
        return stored, "no gcc with libquadmath here; stored times of clock.c by gcc -O2 on x86-64"
    found = {name: least(rows).reshape(-1, len(NAMES), 2) for name, rows in lines.items()}
    return found, "clock.c by gcc -O2"


def time_ratios(scheme: str) -> tuple[str, str]:
    """The times of a scheme over those of Euler's angles, (of E, of the equations), in words."""
    times = clocks()[0]["double"]
    found = times[:, NAMES.index(scheme)] / times[:, NAMES.index("Euler")]
    first, second = (ranged(column) for column in found.T)
    return first, second


def quadruple() -> np.ndarray:
    """Times of quadruple over double precision, Euler's angles, an array (groups, 2)."""
    times, place = clocks()[0], NAMES.index("Euler")
    return times["quadruple"][:, place] / times["double"][:, place]


def tables(_: Laboratory) -> tuple[str, ...]:
    """Table 1 of ours beside the paper's, in Markdown."""
    times, whence = clocks()
    rows = [
        f"Table 1, beside the paper's: µs of an HP 9000/715 at 50 MHz, and ns here ({whence})",
        "",
        "| scheme | precision | E, paper | equations, paper | E | equations | operations |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for (scheme, precision), (e, equations) in PRINTED.items():
        here = [ranged(column, ".0f") for column in times[precision][:, NAMES.index(scheme)].T]
        counts = " and ".join(f"{x:.0f}" for x in work(scheme)) if precision == "double" else ""
        cells = scheme, precision, str(e), str(equations), *here, counts
        rows.append("| " + " | ".join(cells) + " |")
    return ("\n".join(rows) + "\n",)


# ---- 1
def thirty_times(_: Laboratory) -> Measured:
    ratios = quadruple()
    middle = np.median(ratios, axis=0)
    good = middle.min() > 30 / ROUGHLY and middle.max() < 30 * ROUGHLY
    return holds_if(good, *(ranged(column, ".0f") for column in ratios.T), clocks()[1])


# ---- 3, table 1
def no_difference(_: Laboratory) -> Measured:
    one_by_one, jointly = work_ratios("new"), work_ratios("new", jointly=True)
    alike = one_by_one.max() < ALIKE and one_by_one.min() > 1 / ALIKE
    return holds_if(alike, *one_by_one, *jointly, *time_ratios("new"))


def andoyer_slower(_: Laboratory) -> Measured:
    found = [*work_ratios("Serret-Andoyer"), *work_ratios("Serret-Andoyer", jointly=True)]
    return holds_if(min(found) > ALIKE, *found, *time_ratios("Serret-Andoyer"))
