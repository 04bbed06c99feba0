"""The quantities that the pictures show, as arrays; nothing is drawn here."""

from typing import Any

import numpy as np

FLOOR = 1e-17  # stands for a change of exactly zero
POINTS = 20_000  # more than a picture can show


def direction(run: Any, point: np.ndarray) -> np.ndarray:
    """Turn a direction fixed in the body to inertial axes, (n, 3)."""
    return to_inertial(run, np.broadcast_to(point, (len(run.q), 3)))


def to_inertial(run: Any, vectors: np.ndarray) -> np.ndarray:
    """Turn vectors in body axes, one for each state, to inertial axes, (n, 3)."""
    w, v = run.q[:, :1], run.q[:, 1:]
    k = 2 * np.cross(v, vectors)
    return vectors + w * k + np.cross(v, k)


def tilt_angle(run: Any) -> np.ndarray:
    """Return the angle between the third body axis and the inertial z axis, in degrees."""
    w, x, y, z = run.q.T
    return np.degrees(2 * np.arctan2(np.hypot(x, y), np.hypot(w, z)))


def thinned(t: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return at most ``POINTS`` points of a curve: the lowest and the highest of each stretch."""
    stretches = POINTS // 2
    if len(t) <= POINTS:
        return t, values
    length = -(-len(t) // stretches)
    fill = -len(t) % length
    table = np.append(values, np.full(fill, values[-1])).reshape(-1, length)
    first = np.arange(len(table)) * length
    places = np.stack([table.argmin(axis=1), table.argmax(axis=1)], axis=1) + first[:, None]
    kept = np.minimum(np.unique(places), len(t) - 1)
    return t[kept], values[kept]


Band = tuple[np.ndarray, np.ndarray, np.ndarray]  # edges of stretches, least and largest there


def banded(
    t: np.ndarray, values: np.ndarray, stretches: int
) -> tuple[list[Band], tuple[np.ndarray, np.ndarray]]:
    """Return the bands that stand for fast oscillations of a curve, and the line that remains.

    The time is divided into equal ``stretches``.  Where each of ``AT_LEAST`` neighbours has a
    period or more, a band covers all values; the line is their means there, and elsewhere the
    curve itself, ``thinned``.  Stretches are longer where a curve has few values.
    """
    steps = np.diff(t)
    stretches = min(stretches, len(t) // VALUES)
    ordered = stretches >= FEWEST and ((steps > 0).all() or (steps < 0).all())
    if not ordered or not np.isfinite(values).all():
        return [], thinned(t, values)
    edges = np.linspace(t[0], t[-1], stretches + 1)
    place = np.clip(((t - t[0]) / (t[-1] - t[0]) * stretches).astype(int), 0, stretches - 1)
    first = np.searchsorted(place, np.arange(stretches))
    if (np.diff(np.append(first, len(t))) < 3).any():  # too few values to tell
        return [], thinned(t, values)
    turns = np.zeros(len(t))
    turns[1:-1] = np.diff(np.sign(np.diff(values))) != 0
    fast = _long(np.add.reduceat(turns, first))
    if not fast.any():
        return [], thinned(t, values)
    least, largest = np.minimum.reduceat(values, first), np.maximum.reduceat(values, first)
    means = np.add.reduceat(values, first) / np.diff(np.append(first, len(t)))
    bands, pieces, done = [], [], 0
    for start, end in _runs(fast):
        low, high = least[start:end], largest[start:end]
        bands.append((edges[start : end + 1], _joined(low, np.minimum), _joined(high, np.maximum)))
        before, after = first[start], first[end] if end < stretches else len(t)
        pieces.append(thinned(t[done:before], values[done:before]))
        between = 0.5 * (edges[start:end] + edges[start + 1 : end + 1])
        pieces.append((between, np.clip(_even(means[start:end]), low, high)))
        done = after
    pieces.append(thinned(t[done:], values[done:]))
    x, y = (np.concatenate(parts) for parts in zip(*pieces, strict=True))
    return bands, (x, y)


TURNS, VALUES = 2, 4  # least number of turning points, and of values, in a stretch
FEWEST, AT_LEAST = 60, 10  # stretches of a curve, and of a band


def _runs(chosen: np.ndarray) -> list[tuple[int, int]]:
    """Return (start, end) of each run of True."""
    changes = np.flatnonzero(np.diff(np.concatenate([[0], chosen.astype(int), [0]])))
    return [(int(start), int(end)) for start, end in changes.reshape(-1, 2)]


def _long(turns: np.ndarray) -> np.ndarray:
    """Return which stretches belong to bands, by the number of turning points in each.

    Gaps shorter than ``AT_LEAST`` are closed and bands that are shorter are dropped.  Then short
    gaps at the ends of the curve are closed, if it oscillates there too.
    """
    result = turns >= TURNS
    for start, end in _runs(~result):
        if end - start < AT_LEAST and start > 0 and end < len(result):
            result[start:end] = True
    for start, end in _runs(result):
        result[start:end] = end - start >= AT_LEAST
    for start, end in _runs(~result):
        if end - start < AT_LEAST and turns[start:end].mean() >= TURNS / 2:
            result[start:end] = True
    return result


def _even(means: np.ndarray) -> np.ndarray:
    """Return means over ``AT_LEAST`` neighbours: a stretch has no whole number of periods."""
    window = np.hanning(AT_LEAST + 3)[1:-1]
    half = len(window) // 2
    return np.convolve(np.pad(means, half, mode="reflect"), window / window.sum(), mode="valid")


def _joined(values: np.ndarray, extreme: np.ufunc) -> np.ndarray:
    """Return the extreme of both stretches at each edge, so that straight lines cover all."""
    return extreme(np.append(values[:1], values), np.append(values, values[-1:]))
