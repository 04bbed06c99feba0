"""The script that hashes a fixed list of runs works, and its hash does not depend on the call."""

import runpy
from pathlib import Path

BITS = runpy.run_path(str(Path(__file__).parents[2] / "design" / "same_bits.py"))


def test_pairs_run_in_plain_python():
    runs = dict(BITS["pairs"]())
    with BITS["plain_python"]():
        for name in ("rates extrapolation rotor", "body extrapolation quaternion"):
            hashes = {BITS["outcome"](runs[name]) for _ in range(2)}
            assert len(hashes) == 1, name
