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
