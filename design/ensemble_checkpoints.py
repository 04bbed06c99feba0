"""Measure the cost of checkpoints of ensembles: python design/ensemble_checkpoints.py

For a map, with saved states and a reduction, in two chunks, and for an adaptive integrator: the
milliseconds and the bytes of one checkpoint, early and late in the run, and the time of the whole
run with and without checkpoints, in turns.
"""

import tempfile
import time
from pathlib import Path
from statistics import median

import polhode as ph
from polhode.ensembles.checkpoint import EnsembleSaver

MEMBERS, REPEATS = 131_072, 3
SPINS = {"omega": ph.distributions.Normal([0, 0, 50], 0.5)}
ASKED = {"members": MEMBERS, "vary": SPINS, "seed": 1, "reduce": "mean(omega)"}
CASES = {  # name: end, steps between two checkpoints, arguments
    "mr2": (2.0, 200, {"method": "mr2", "dt": 1e-3, "save": [0.5, 1.0, 1.5, 2.0]}),
    "dop853": (0.5, 20, {"method": "dop853", "rtol": 1e-9, "save": [0.25, 0.5]}),
}


def main() -> None:
    top, took, sizes, plain_mark = ph.problems.fast_top(), [], [], EnsembleSaver.mark

    def mark(self, chunk):
        before, begun = self.journal.mark.size, time.perf_counter()
        plain_mark(self, chunk)
        took.append(1e3 * (time.perf_counter() - begun))
        sizes.append(self.path.stat().st_size + self.journal.mark.size - before)

    EnsembleSaver.mark = mark
    for name, (end, every, arguments) in CASES.items():
        ph.solve_ensemble(top, (0, end / 100), **{**ASKED, **arguments, "save": "final"})
        seconds: dict[str, list[float]] = {"without": [], "with": []}
        took.clear(), sizes.clear()
        for _ in range(REPEATS):
            for how, lengths in seconds.items():
                with tempfile.TemporaryDirectory() as place:
                    keep = {"checkpoint": Path(place) / "many.ckpt", "checkpoint_every": every}
                    begun = time.perf_counter()
                    given = {**ASKED, **arguments, **(keep if how == "with" else {})}
                    ph.solve_ensemble(top, (0, end), **given)
                    lengths.append(time.perf_counter() - begun)
        count = len(took) // REPEATS
        half = count // 2
        for which, part in (("first", took[:half]), ("second", took[-half:])):
            print(
                f"{name}, {which} chunk: min {min(part):.0f} ms, median {median(part):.0f} ms"
                " a checkpoint"
            )
        print(f"{name}: {min(sizes) / 1e6:.1f} to {max(sizes) / 1e6:.1f} MB written for one")
        least = {how: min(lengths) for how, lengths in seconds.items()}
        print(
            f"{name}: {least['without']:.2f} s without, {least['with']:.2f} s with {count}"
            f" checkpoints and 2 at the ends of chunks (least of {REPEATS})"
        )


if __name__ == "__main__":
    main()
