"""Measure the cost of a checkpoint: python design/checkpoints.py

A map keeps every step and writes a checkpoint every n steps.  Printed are the milliseconds of one,
early and late in the run (rows already stored are not written again), and of the last one, which
puts everything into one file; also the bytes written on the way.
"""

import tempfile
import time
from pathlib import Path
from statistics import median

import polhode as ph
from polhode.solvers import checkpoint, solver

EVERY, STEPS = 10_000, 1_000_000


def main() -> None:
    top, took, sizes = ph.problems.fast_top(), [], []

    class Timed(checkpoint.Saver):
        def mark(self, *given):
            begun = time.perf_counter()
            super().mark(*given)
            took.append(time.perf_counter() - begun)
            sizes.append(self.path.stat().st_size + given[2].nbytes)

        def finish(self, *given):
            begun = time.perf_counter()
            super().finish(*given)
            took.append(time.perf_counter() - begun)
            sizes.append(self.path.stat().st_size)

    solver.Saver = Timed
    given = {"method": "mr2", "dt": 1e-3}
    with tempfile.TemporaryDirectory() as place:
        asked = {"checkpoint": Path(place) / "run.ckpt", "checkpoint_every": EVERY}
        ph.solve(top, (0, 1), **given)
        begun = time.perf_counter()
        ph.solve(top, (0, STEPS * 1e-3), **given)
        plain = time.perf_counter() - begun
        begun = time.perf_counter()
        ph.solve(top, (0, STEPS * 1e-3), **given, **asked)
        kept = time.perf_counter() - begun
        begun = time.perf_counter()
        ph.resume(asked["checkpoint"])
        read = time.perf_counter() - begun
    tenth = len(took) // 10
    for name, part in (("first", slice(0, tenth)), ("last", slice(-1 - tenth, -1))):
        times = [1e3 * seconds for seconds in took[part]]
        print(f"{name} tenth: min {min(times):.2f} ms, median {median(times):.2f} ms a checkpoint")
    print(f"bytes of one: {sizes[0]} to {sizes[-2]}")
    print(f"at the end: {1e3 * took[-1]:.0f} ms, {sizes[-1]} bytes; read again {1e3 * read:.0f} ms")
    print(f"the run: {plain:.2f} s without, {kept:.2f} s with {len(took)} checkpoints")


if __name__ == "__main__":
    main()
