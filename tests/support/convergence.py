"""The order of convergence, from errors at several steps."""

from collections.abc import Sequence

import numpy as np


def estimate_order(
    steps: Sequence[float],
    errors: Sequence[float],
    *,
    floor: float,
    points: int = 3,
    last: int = 4,
) -> float:
    """The slope of log(error) over log(step), by least squares over the ``last`` valid points.

    Points below ``floor`` (rounding, the error of the reference) say nothing about the method and
    are left out, and so is what follows the first of them.  Fewer than ``points`` valid points, or
    errors that do not fall, are not a measurement: ``ValueError``.
    """
    order = np.argsort(steps)[::-1]
    h, e = np.asarray(steps, float)[order], np.asarray(errors, float)[order]
    lost = np.flatnonzero(~(e > floor))  # also NaN
    valid = lost[0] if len(lost) else len(e)
    h, e = h[:valid], e[:valid]
    if valid < points:
        raise ValueError(f"{valid} errors above {floor:.1e}, need {points}: {list(errors)}")
    if (np.diff(e) >= 0).any():
        raise ValueError(f"errors do not fall with the step: {e.tolist()}")
    return float(np.polyfit(np.log(h[-last:]), np.log(e[-last:]), 1)[0])
