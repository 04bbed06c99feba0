"""States that are close enough together to draw smooth curves through them.

Between two neighbours the body may turn by ``TURN``, and no curve may leave their chord by more
than ``BEND`` of its extent, as far as its neighbours tell: less than a pixel.  Where states are
further apart, ``run.sol`` gives those between them.
"""

from typing import Any
from weakref import WeakSet

import numpy as np

from polhode.errors import InputError
from polhode.plot.quantities import POINTS

TURN = 0.1  # radians
BEND = 0.0005
FEW = 5  # states that do not show how a curve bends
ROUNDS = 6
STEADY = 1e-7  # a relative change that counts as none
GOLDEN = 0.5 * (5**0.5 - 1)

_smooth: "WeakSet[Any]" = WeakSet()  # runs that need no more states


def smooth(run: Any) -> Any:
    """Return the run with as many states as smooth curves take, at most ``POINTS``.

    A run that has enough, or no dense output, is returned as it is.
    """
    if not hasattr(run, "sol") or run in _smooth:
        return run
    fine = run
    for _ in range(ROUNDS if _in_order(run.t) else 0):
        parts = _parts(fine)
        if len(fine.t) >= POINTS or parts.max() == 1:
            break
        try:
            fine = run.sol(_between(fine.t, parts))
        except InputError:  # no dense output, or none there
            fine = run
            break
    _smooth.add(fine)
    return fine


def _in_order(t: np.ndarray) -> bool:
    steps = np.diff(t)
    return len(steps) > 0 and bool((steps > 0).all() or (steps < 0).all())


def _parts(run: Any) -> np.ndarray:
    """Return the number of parts into which to divide each step."""
    steps = np.abs(np.diff(run.t))
    speeds = np.linalg.norm(run.omega, axis=1)
    parts = np.maximum(speeds[1:], speeds[:-1]) * steps / TURN
    for values in (run.omega, getattr(run, "x", None)):
        if values is not None and len(steps) > 1:
            parts = np.maximum(parts, np.sqrt(_bends(steps, values) / BEND))
    parts = np.maximum(parts, FEW if len(steps) < FEW else 1)
    return np.ceil(np.nan_to_num(parts, nan=1.0, posinf=POINTS).clip(1, POINTS)).astype(int)


def _bends(steps: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return how far a curve leaves the chord of each step, relative to its extent."""
    before, after = steps[:-1, None], steps[1:, None]
    chord = (after * values[:-2] + before * values[2:]) / (before + after)
    extent = max(float(np.ptp(values)), STEADY * float(np.abs(values).max())) or 1.0
    off = np.abs(values[1:-1] - chord).max(axis=1) / (4 * extent)  # of two steps, four times
    return np.maximum(np.append(off, off[-1]), np.append(off[0], off))


def _between(t: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """Return the times with each step divided.

    If they are more than ``POINTS``, they are fewer and unevenly spaced: curves that cannot be
    followed become the bands that they fill, without false patterns.
    """
    count = int(parts.sum())
    if count >= POINTS:
        places = np.arange(POINTS - 1)
        shares = (places + 0.9 * (places * GOLDEN % 1.0)) / (POINTS - 1)
        times = np.interp(shares, np.append(0, np.cumsum(parts)) / count, t)
    else:
        inside = np.arange(count) - np.repeat(np.cumsum(parts) - parts, parts)
        steps = np.repeat(np.diff(t) / parts, parts)
        times = np.repeat(t[:-1], parts) + inside * steps
    return np.append(times, t[-1])
