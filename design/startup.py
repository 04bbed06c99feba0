"""How long commands take to start, as multiples of ``python -c "import numpy"``.

The commands take turns, so that whatever else the machine does slows all of them alike.  Prints the
wall-clock time and the processor time of each, and their ratios to the import's: of the minima, and
of the medians.  A first round, which is not counted, compiles and fills the caches.

    python design/startup.py --repeats 9
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SCRIPT = Path(sys.executable).with_name("polhode")  # as a user calls it
POLHODE = [str(SCRIPT)] if SCRIPT.exists() else [sys.executable, "-m", "polhode"]
RUN = [*POLHODE, "run", "fast-top"]
COMMANDS: dict[str, tuple[list[str], float]] = {  # the command, and the ratio allowed
    "import numpy": ([sys.executable, "-c", "import numpy"], 1.0),
    "import polhode": ([sys.executable, "-c", "import polhode"], 4.0),
    "polhode --help": ([*POLHODE, "--help"], 4.0),
    "polhode run --help": ([*POLHODE, "run", "--help"], 4.0),
    "shell completion": (POLHODE, 4.0),
    "run --no-plot": ([*RUN, "--no-plot"], 12.0),
    "run": (RUN, 20.0),
}
COMPLETION = {"_POLHODE_COMPLETE": "complete_bash", "COMP_WORDS": "polhode run", "COMP_CWORD": "1"}


def seconds(name: str, folder: str) -> tuple[float, float]:
    """(wall-clock time, processor time) of a command, run in ``folder``."""
    extra = COMPLETION if name == "shell completion" else {}
    begun, used = time.perf_counter(), _processor_time()
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"} | extra
    subprocess.run(COMMANDS[name][0], cwd=folder, env=environment, check=True, capture_output=True)
    return time.perf_counter() - begun, _processor_time() - used


def _processor_time() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """Time all commands in turn and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    repeats = parser.parse_args().repeats
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in COMMANDS}
    with tempfile.TemporaryDirectory() as folder:
        for name in COMMANDS:
            seconds(name, folder)
        for _ in range(repeats):
            for name, taken in times.items():
                taken.append(seconds(name, folder))
    print(f"{'':20}{'wall-clock':>16}{'ratio':>7}{'median':>7}", end="")
    print(f"{'processor':>14}{'ratio':>7}{'median':>7}{'allowed':>9}")
    for name, taken in times.items():
        print(f"{name:20}", end="")
        for clock in (0, 1):
            one, unit = ([pair[clock] for pair in each] for each in (taken, times["import numpy"]))
            ratios = [typical(one) / typical(unit) for typical in (min, statistics.median)]
            print(f"{min(one):14.3f} s{ratios[0]:7.2f}{ratios[1]:7.2f}", end="")
        print(f"{COMMANDS[name][1]:7g}")


if __name__ == "__main__":
    main()
