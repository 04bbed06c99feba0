"""How rounding makes the energy of Lagrange tops drift, with plain and with compensated sums.

    python benchmarks/roundoff.py [--method NAME] [--steps N] [--tops N]

Root mean square over tops of the relative energy error, averaged over nutations, after 3, 10, 30
and 99 % of the steps, and the power of the number of steps with which it grows: 1/2 is a random
walk.  The method must be so accurate that only rounding is left.
"""

import argparse

import numpy as np
from scipy.spatial.transform import Rotation

import polhode as ph
from common import table

DT, ROWS, WINDOW = 0.02, 1000, 10
PLACES = 30, 100, 300, 990  # of ROWS


def tops(count: int):
    random = np.random.default_rng(3)
    for _ in range(count):
        tilt = Rotation.from_rotvec([random.uniform(0.2, 1.2), 0, 0])
        omega = [random.normal(), random.normal(), random.uniform(10, 30)]
        yield ph.Problem(ph.RigidBody([5, 5, 1]), ph.models.heavy_top(20), tilt, omega)


def drift(method: str, steps: int, count: int, compensated: bool) -> np.ndarray:
    """The error at each of PLACES."""
    options = {"method": method, "dt": DT, "save_every": steps // ROWS, "compensated": compensated}
    errors = []
    for top in tops(count):
        energy = ph.solve(top, (0, DT * steps), **options).energy
        means = [energy[p - WINDOW : p + WINDOW + 1].mean() for p in (WINDOW + 1, *PLACES)]
        errors.append((np.array(means[1:]) - means[0]) / energy[0])
    return np.sqrt(np.mean(np.square(errors), axis=0))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--method", default="srkn14", help="one that compensates")
    parser.add_argument("--steps", type=float, default=1e6)
    parser.add_argument("--tops", type=int, default=8)
    options = parser.parse_args()
    steps, rows = int(options.steps), []
    for compensated in (False, True):
        found = drift(options.method, steps, options.tops, compensated)
        row = {"sums": "compensated" if compensated else "plain"}
        row |= {f"{p * steps // ROWS}": f"{e:.1e}" for p, e in zip(PLACES, found, strict=True)}
        power = np.polyfit(np.log(PLACES), np.log(found), 1)[0]
        rows.append({**row, "power": f"{power:.2f}"})
    print(table(tuple(rows[0]), rows))


if __name__ == "__main__":
    main()
