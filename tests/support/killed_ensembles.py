"""Kill ensembles while they run: ``python -m support.killed_ensembles DIR``, as ``killed`` does."""

import random
import shutil
import sys
from pathlib import Path

import numpy as np

import polhode as ph
from polhode.ensembles.distributions import GROUP, Around, Normal, OnSphere, Sweep, Uniform
from polhode.ensembles.reductions import FirstTime, Mean
from polhode.files import checkpoint
from support import killed

MEMBERS = GROUP + 200


def turned(t, q, omega):
    return q[1] - 0.05


TOP = ph.problems.fast_top()
REDUCE = ["attitude", "quantiles(speed)", Mean("omega"), FirstTime(turned, name="turned")]
SPINS = {
    "omega": Normal([0, 0, 50], [0.1, 0.2, 0.5]),
    "attitude": Around(0.1),
    "model.strength": np.linspace(10.0, 20.0, MEMBERS),
}
THROWN = {
    "omega": OnSphere(Uniform(3.0, 5.0)),
    "inertia": Sweep([[2.0, 3.0, 4.0], [3.0, 3.0, 1.0]]),
    "model.strength": Sweep(np.linspace(1.0, 2.0, 150)),
}
MAP = {"vary": SPINS, "seed": 4, "chunk": GROUP, "method": "mr2", "dt": 1e-3}
TOLERANCE = {"rtol": 1e-9, "method": "dop853"}
CASES = {  # name: end, steps between two checkpoints, arguments
    "map": (0.3, 20, {**MAP, "save": 50, "reduce": REDUCE, "reduce_times": 31}),
    "adaptive": (8.0, 4, {"vary": THROWN, "seed": 5, **TOLERANCE, "save": [1.0, 4.0]}),
    "stored": (0.3, 40, {**MAP, "save": 30, "reduce": "mean(omega)", "reduce_times": 4}),
}  # fmt: skip


def again(case: str) -> dict:
    """What must be given again to resume."""
    return {"reduce": REDUCE} if case == "map" else {}


def place(case: str, file: Path) -> dict:
    return {"out": file.with_suffix(".zarr")} if case == "stored" else {}


def live(case: str, file: Path) -> None:
    """Start or resume an ensemble, in one process."""
    end, every, arguments = CASES[case]
    if file.exists():
        ph.resume(file, threads=1, **again(case))
    else:
        keep = {"checkpoint": file, "checkpoint_every": every, **place(case, file)}
        ph.solve_ensemble(TOP, (0.0, end), threads=1, **arguments, **keep)


def main(folder: Path) -> None:
    checkpoint.os.fsync = lambda handle: None
    killed.live = live
    chance = random.Random(20040618)
    for case in CASES:
        warm = folder / "warm"
        warm.mkdir()
        live(case, warm / "warm.ckpt")  # compiles
        shutil.rmtree(warm)
        warm.mkdir()
        seconds = killed.undisturbed(lambda case=case, warm=warm: live(case, warm / "warm.ckpt"))
        shutil.rmtree(warm)
        paths = [folder / f"{case}-{how}.ckpt" for how in ("random", "operations")]
        lives = killed.killed_at_random(case, paths[0], chance, seconds)
        more = killed.killed_at_operations(case, paths[1], 9 if case == "stored" else 2)
        sys.stdout.write(f"{case} {lives} {more}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
