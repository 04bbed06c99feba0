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


def is_free(run: Any) -> bool:
    """Return whether the problem has no torque at all."""
    exact = getattr(run, "method", "") == "exact free motion"
    return exact or getattr(run, "problem", {}).get("model") == "free"


def tilt_angle(run: Any) -> np.ndarray:
    """Return the angle between the third body axis and the inertial z axis, in degrees."""
    w, x, y, z = run.q.T
    return np.degrees(2 * np.arctan2(np.hypot(x, y), np.hypot(w, z)))


def changes(run: Any) -> dict[str, np.ndarray]:
    """Relative changes since the start of what the motion may conserve, by name.

    The energy, if a potential is known.  The angular momentum in inertial axes if there is no
    torque; otherwise its component along z, which any torque symmetric about z conserves.  With a
    position only the energy, if it is known.  Nothing without a body.
    """
    result: dict[str, np.ndarray] = {}
    if run.angular_momentum_inertial is None:
        return result
    if run.energy is not None:
        result["energy"] = np.abs(run.energy - run.energy[0]) / _size(run.energy)
    if result and getattr(run, "x", None) is not None and not is_free(run):
        return result
    m = run.angular_momentum_inertial
    size = np.linalg.norm(m[0]) or 1.0
    if is_free(run):
        result["momentum"] = np.linalg.norm(m - m[0], axis=1) / size
    else:
        result["momentum along z"] = np.abs(m[:, 2] - m[0, 2]) / size
    return result


def _size(values: np.ndarray) -> float:
    return float(abs(values[0]) or np.abs(values).max() or 1.0)


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
