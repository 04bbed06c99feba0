"""Cold starts: from the start of a process to the first result with a torque it has never seen.

Seconds of CPU time of a fresh Python process with an empty cache, which defines a torque as users
do, solves with it and reads the attitudes; the least of some processes.  Its parts: imports,
checking and binding (``ph.prepare``), what Numba and the library's own compiler do in Python, and
LLVM.  ``warm`` is the same program started again, which finds its machine code on disk.

Methods for free bodies run without a torque; integrators for a given angular velocity get a new
function ω(t).
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polhode
from polhode.bench.records import Bench, Finding, Key, Settings, Table, at_most
from polhode.integrators import INTEGRATORS
from polhode.methods import METHODS

FIRST = "imidm", "extrapolation", "mr2"
LIMIT_OF_FIRST, LIMIT = 2.5, 6.0  # seconds
PARTS = "imports", "binding", "compiler", "llvm"

PROGRAM = """
import json, os, sys, time
from math import sin

import polhode as ph

ph.RigidBody, ph.Problem, ph.torque, ph.prepare, ph.integrate_angular_velocity
seconds = {"imports": sum(os.times()[:2])}

from numba.core import event


class InLLVM(event.Listener):
    depth, begin, total = 0, 0.0, 0.0

    def on_start(self, event):
        self.depth += 1
        if self.depth == 1:
            self.begin = time.thread_time()

    def on_end(self, event):
        self.depth -= 1
        if self.depth == 0:
            self.total += time.thread_time() - self.begin


in_llvm = InLLVM()
event.register("numba:llvm_lock", in_llvm)


def torque(t, q, omega, params):
    w, x, y, z = q
    strength, rate = params
    return strength * (w * x + y * z), strength * (x * z - w * y), 0.01 * sin(rate * t)


def velocity(t):
    return 0.3 * sin(t), 0.2, 0.1 * t


name, kind, keywords = json.loads(sys.argv[1])
if kind == "rate":
    keywords["frame"] = "inertial"
    run = ph.integrate_angular_velocity(velocity, (0.0, 1.0), method=name, **keywords)
else:
    model = [ph.torque(torque, (1.0, 2.0))] if kind == "torque" else []
    problem = ph.Problem(ph.RigidBody([1.0, 1.5, 2.0]), *model, omega=[0.3, 0.2, 1.0])
    solver = ph.prepare(problem, method=name, **keywords)
    seconds["binding"] = sum(os.times()[:2]) - seconds["imports"]
    run = solver((0.0, 1.0))
run.q[-1]
seconds["total"], seconds["llvm"] = sum(os.times()[:2]), in_llvm.total
print(json.dumps(seconds))
"""


def given(name: str) -> tuple[str, str, dict[str, float]]:
    """Return a method, what it is tried on, and the arguments of its run."""
    method = METHODS.get(name)
    if method is not None:
        return name, "free" if method.free_only else "torque", {"dt": 0.01}
    integrator = INTEGRATORS[name]
    steps = {"rtol": 1e-9} if integrator.adaptive else {"dt": 0.01}
    return name, "rate" if integrator.linear else "torque", steps


def started(name: str, cache: str) -> dict[str, float]:
    """Run the program in a process of its own; returns seconds of CPU time."""
    home = str(Path(polhode.__file__).parents[1])
    path = os.pathsep.join([home, *filter(None, [os.environ.get("PYTHONPATH")])])
    settings = {**os.environ, "NUMBA_CACHE_DIR": cache, "PYTHONPATH": path}
    for variable in ("POLHODE_CACHE", "PYTHONDONTWRITEBYTECODE"):
        settings.pop(variable, None)
    program = Path(cache) / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    command = [sys.executable, str(program), json.dumps(given(name))]
    ended = subprocess.run(command, env=settings, capture_output=True, text=True, check=True)
    found = json.loads(ended.stdout)
    found.setdefault("binding", 0.0)
    known = found["imports"] + found["binding"] + found["llvm"]
    return {**found, "compiler": found["total"] - known}


def measured(name: str, repeats: int) -> dict[str, Any]:
    """Return a row of the table: the fastest of some cold starts, and of as many warm ones."""
    cold, warm = [], []
    for _ in range(repeats):
        with TemporaryDirectory() as cache:
            cold.append(started(name, cache))
            warm.append(started(name, cache))
    best = min(cold, key=lambda found: found["total"])
    parts = {part: best[part] for part in PARTS}
    return {"name": name, **parts, "cold": best["total"], "warm": min(w["total"] for w in warm)}


@Bench(
    name="compile",
    place=15,
    summary="cold starts: a first result with a new torque, every method and integrator",
    repeats=3,
    keys={"only": Key("", "methods and integrators, by default all, in a quick run three")},
)
def benchmark(settings: Settings) -> Iterator[Finding]:
    everything = [*METHODS, *INTEGRATORS]
    names = settings.choose("only", everything)
    if settings.quick and not settings.parts("only"):
        names = list(FIRST)
    with TemporaryDirectory() as cache:
        started(names[0], cache)  # the byte code of the library is on disk from now on
    rows = []
    for name in names:
        settings.report(name)
        rows.append(measured(name, settings.repeats))
    columns = {"name": "method", **{part: part for part in PARTS}, "cold": "cold", "warm": "warm"}
    columns["llvm"] = "LLVM"
    yield Table("Cold starts, seconds of CPU time", columns, rows, bars="cold")
    for row in rows:
        if row["name"] in FIRST:
            yield at_most(f"cold start of {row['name']}, seconds", row["cold"], LIMIT_OF_FIRST)
    slowest = max(rows, key=lambda row: row["cold"])
    yield at_most(f"slowest cold start, {slowest['name']}, seconds", slowest["cold"], LIMIT)
