"""How rounding makes the energy of Lagrange tops drift, with plain and with compensated sums.

Root mean square, over tops and starts, of what the relative energy error grows by in 3, 10, 30 and
90 % of the steps; the power of their number with which it grows; and the trend: the mean change
over a fiftieth of the run by the standard error of that mean, root mean square over tops.  A random
walk has the power 1/2 and a trend of about 1, whatever the number of steps; a steady drift has the
power 1 and a trend that grows.  The method must be so accurate that only rounding is left.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.bench.records import Asked, Bench, Finding, Key, Table

DT, ROWS, WINDOW = 0.02, 1000, 10  # energies are averaged over so many rows
LAGS = 30, 100, 300, 900  # rows
STRIDE = ROWS // 50


def tops(count: int) -> Iterator[ph.Problem]:
    random = np.random.default_rng(3)
    for _ in range(count):
        tilt = Rotation.from_rotvec([random.uniform(0.2, 1.2), 0, 0])
        omega = [random.normal(), random.normal(), random.uniform(10, 30)]
        yield ph.Problem(ph.RigidBody([5, 5, 1]), ph.models.heavy_top(20), tilt, omega)


def drift(method: str, steps: int, count: int, compensated: bool) -> tuple[np.ndarray, float]:
    """The growth over each of LAGS, and the trend."""
    growths, trends = [], []
    for top in tops(count):
        energy: Any = ph.solve(
            top,
            (0, DT * steps),
            method=method,
            dt=DT,
            save_every=steps // ROWS,
            compensated=compensated,
        ).energy
        error = np.convolve(energy / energy[0] - 1, np.full(WINDOW, 1 / WINDOW), "valid")
        growths.append([np.mean((error[lag:] - error[:-lag]) ** 2) for lag in LAGS])
        change = np.diff(error[::STRIDE])
        trends.append(np.mean(change) / np.std(change, ddof=1) * np.sqrt(len(change)))
    return np.sqrt(np.mean(growths, axis=0)), float(np.sqrt(np.mean(np.square(trends))))


def measure(asked: Asked) -> Iterator[Finding]:
    steps, count = asked.count("steps"), asked.count("tops")
    if asked.quick:
        steps, count = min(steps, 100_000), min(count, 2)
    rows = []
    lags = {f"after_{lag * steps // ROWS}": lag for lag in LAGS}
    for compensated in (False, True):
        sums = "compensated" if compensated else "plain"
        asked.say(f"{sums} sums")
        found, trend = drift(asked.values["method"], steps, count, compensated)
        power = float(np.polyfit(np.log(LAGS), np.log(found), 1)[0])
        errors = dict(zip(lags, found.tolist(), strict=True))
        rows.append({"sums": sums, **errors, "power": power, "trend": trend})
    head = {"sums": "sums"} | {key: f"after {key[6:]}" for key in lags}
    head |= {"power": "power", "trend": "trend"}
    yield Table(f"Growth of the relative energy error, {count} tops, {steps} steps", head, rows)


BENCH = Bench(
    name="roundoff",
    summary="how the energy drifts by rounding, with plain and with compensated sums",
    measure=measure,
    repeats=1,
    keys={
        "method": Key("srkn14", "one that compensates"),
        "steps": Key("1e6", "of every top"),
        "tops": Key("8", "how many"),
    },
)
