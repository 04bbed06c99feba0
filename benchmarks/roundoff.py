"""How rounding makes the energy of Lagrange tops drift, with plain and with compensated sums.

    python benchmarks/roundoff.py [--method NAME] [--steps N] [--tops N]

Root mean square, over tops and starts, of what the relative energy error grows by in 3, 10, 30 and
90 % of the steps; the power of their number with which it grows; and the trend: the mean change
over a fiftieth of the run by the standard error of that mean, root mean square over tops.  A random
walk has the power 1/2 and a trend of about 1, whatever the number of steps; a steady drift has the
power 1 and a trend that grows.  The method must be so accurate that only rounding is left.
"""

import numpy as np
from scipy.spatial.transform import Rotation

import polhode as ph
from common import parser, table

DT, ROWS, WINDOW = 0.02, 1000, 10  # energies are averaged over so many rows
LAGS = 30, 100, 300, 900  # rows
STRIDE = ROWS // 50


def tops(count: int):
    random = np.random.default_rng(3)
    for _ in range(count):
        tilt = Rotation.from_rotvec([random.uniform(0.2, 1.2), 0, 0])
        omega = [random.normal(), random.normal(), random.uniform(10, 30)]
        yield ph.Problem(ph.RigidBody([5, 5, 1]), ph.models.heavy_top(20), tilt, omega)


def drift(method: str, steps: int, count: int, compensated: bool) -> tuple[np.ndarray, float]:
    """The growth over each of LAGS, and the trend."""
    options = {"method": method, "dt": DT, "save_every": steps // ROWS, "compensated": compensated}
    growths, trends = [], []
    for top in tops(count):
        energy = ph.solve(top, (0, DT * steps), **options).energy
        error = np.convolve(energy / energy[0] - 1, np.full(WINDOW, 1 / WINDOW), "valid")
        growths.append([np.mean((error[lag:] - error[:-lag]) ** 2) for lag in LAGS])
        change = np.diff(error[::STRIDE])
        trends.append(np.mean(change) / np.std(change, ddof=1) * np.sqrt(len(change)))
    return np.sqrt(np.mean(growths, axis=0)), float(np.sqrt(np.mean(np.square(trends))))


def main() -> None:
    asked = parser(__doc__, None, results=False)
    asked.add_argument("--method", default="srkn14", help="one that compensates")
    asked.add_argument("--steps", type=float, default=1e6)
    asked.add_argument("--tops", type=int, default=8)
    options = asked.parse_args()
    steps, rows = int(options.steps), []
    for compensated in (False, True):
        found, trend = drift(options.method, steps, options.tops, compensated)
        row = {"sums": "compensated" if compensated else "plain"}
        row |= {f"{lag * steps // ROWS}": f"{e:.1e}" for lag, e in zip(LAGS, found, strict=True)}
        power = np.polyfit(np.log(LAGS), np.log(found), 1)[0]
        rows.append({**row, "power": f"{power:.2f}", "trend": f"{trend:.1f}"})
    print(table(tuple(rows[0]), rows))


if __name__ == "__main__":
    main()
