"""Kill ensembles: ``python -m support.killed_ensembles DIR SEED``, as ``killed`` does."""

import random
import shutil
import sys
from pathlib import Path

import numpy as np

import polhode as ph
from polhode.ensembles import places
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


def main(folder: Path, seed: int) -> None:
    checkpoint.os.fsync = lambda handle: None
    killed.live = live
    chance = random.Random(seed)
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


# ---- for tests
def compare(folder: Path) -> None:
    """Check that all killed ensembles, and their stores, have the bits of whole ones."""
    for case, (end, _, arguments) in CASES.items():
        whole = ph.solve_ensemble(
            TOP, (0.0, end), **arguments, **place(case, folder / "whole.ckpt")
        )
        for how in ("random", "operations"):
            file = folder / f"{case}-{how}.ckpt"
            same(ph.resume(file, **again(case)), whole)
            if case == "stored":
                assert same_files(folder / "whole.zarr", file.with_suffix(".zarr"))


def same(a, b):
    """Check that two results are equal in every bit and every word."""
    for name in ("t", "q", "angular_momentum", "omega", "x", "v", "t_reduced", "count", "members",
                 "status", "t_reached", "nsteps", "niter"):  # fmt: skip
        one, other = getattr(a, name), getattr(b, name)
        assert (one is None) == (other is None)
        if one is not None:
            assert (one.shape, one.dtype) == (other.shape, other.dtype), name
            assert one.tobytes() == other.tobytes(), name
    assert list(a.reductions) == list(b.reductions)
    for name, values in a.reductions.items():
        assert values.tobytes() == b.reductions[name].tobytes(), name
    for name in ("method", "reason", "seed", "problem_data", "complete"):
        assert getattr(a, name) == getattr(b, name), name
    assert dict(a.arguments) == dict(b.arguments)


def same_files(a: Path, b: Path) -> bool:
    """Whether two stores hold the same files, apart from the numbers of their runs."""

    def content(at):
        files = {str(x.relative_to(at)): x.read_bytes() for x in at.rglob("*") if x.is_file()}
        number = places.run_of(at).encode()
        lines = files.pop(places.LIST, b"").splitlines()[:-1]  # and of the checksums of these
        files[places.LIST] = b"".join(x for x in lines if x[9:] not in (b".zattrs", b".zmetadata"))
        return {name: data.replace(number, b"number") for name, data in files.items()}

    return content(a) == content(b)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
