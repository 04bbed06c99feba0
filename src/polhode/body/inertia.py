"""Inertia tensors: checks, rounding, and principal axes."""

from typing import Any

import numpy as np

from polhode.errors import InputError

EPS = float(np.finfo(float).eps)
TOLERANCE = 1e-9  # relative, for the symmetry and for the triangle inequality
NEGLIGIBLE = 4 * EPS  # entries below this, relative to the largest, are rounding
EQUAL = 16 * EPS  # eigenvalues closer than this, relative to the largest, count as equal


def tensor_of(inertia: Any) -> np.ndarray:
    """Return the symmetric 3×3 tensor of three moments or nine entries, without rounding noise."""
    try:
        array = np.array(inertia, dtype=float)
    except (TypeError, ValueError):
        raise InputError(
            f"inertia must be three moments or a 3×3 tensor of numbers, got {inertia!r}"
        ) from None
    if array.shape not in ((3,), (3, 3)):
        raise InputError(
            f"inertia must be three moments or a 3×3 tensor, got an array of shape {array.shape}"
        )
    if not np.isfinite(array).all():
        raise InputError(f"inertia must be finite, got {array.tolist()}")
    if array.shape == (3,):
        return np.diag(array)
    size = np.abs(array).max()
    worst = np.abs(array - array.T).max()
    if worst > TOLERANCE * size:
        raise InputError(
            f"inertia must be symmetric, but differs from its transpose by {worst:.3g};"
            " products of inertia enter off the diagonal with a minus sign, twice"
        )
    array = (array + array.T) / 2
    array[np.abs(array) <= NEGLIGIBLE * size] = 0.0
    return array


def checked(moments: np.ndarray) -> np.ndarray:
    """Return the moments if a body can have them: positive, each at most the sum of the others."""
    moments = np.array(moments, dtype=float)
    shown = ", ".join(f"{moment:.10g}" for moment in moments)
    largest = moments.max()
    if largest <= 0 or moments.min() < 0:
        raise InputError(f"moments of inertia must be positive, got ({shown})")
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        if moments[k] > (moments[i] + moments[j]) * (1 + TOLERANCE):
            raise InputError(
                f"no body has the moments ({shown}): I{k + 1} = {moments[k]:.10g} is larger than"
                f" I{i + 1} + I{j + 1} = {moments[i] + moments[j]:.10g}; check units and axes, and"
                " that the tensor is inertia and not the second moment of mass"
            )
    return moments


def spread(second: np.ndarray) -> np.ndarray:
    """Return the inertia (tr S) 1 - S of a second moment of mass S."""
    return np.trace(second) * np.eye(3) - second


def second_moment(inertia: np.ndarray) -> np.ndarray:
    """Return the second moment of mass (tr I/2) 1 - I of an inertia; positive for every body."""
    return np.trace(inertia) / 2 * np.eye(3) - inertia


# ---- principal axes
def principal(tensor: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (principal moments, axes in columns); a diagonal tensor keeps its order and its axes.

    Equal moments leave axes undetermined.  For three, the axes are the given ones.  For two, they
    are the axis of symmetry, the projection of one given axis, and their product, independent of
    rounding.
    """
    if is_diagonal(tensor):
        return np.diag(tensor).copy(), np.eye(3)
    moments, axes = np.linalg.eigh(tensor)
    close = EQUAL * np.abs(moments).max()
    moments[np.abs(moments) <= close] = 0.0
    moments = merged(moments, close)
    if moments[0] == moments[2]:
        return moments, np.eye(3)
    if moments[0] == moments[1]:
        n = _positive(axes[:, 2])
        return moments, np.column_stack((*_across(n), n))
    if moments[1] == moments[2]:
        n = _positive(axes[:, 0])
        return moments, np.column_stack((n, *_across(n)))
    first, second = _positive(axes[:, 0]), _positive(axes[:, 1])
    return moments, np.column_stack((first, second, np.cross(first, second)))


def settled(tensor: np.ndarray, noise: float) -> np.ndarray:
    """Return the tensor without noise: diagonal if it nearly is, nearly equal moments equal."""
    quiet = np.where(np.abs(tensor) <= noise, 0.0, tensor)
    if is_diagonal(quiet):
        return np.diag(merged(np.diag(quiet), noise))
    moments, axes = np.linalg.eigh(tensor)
    a, b, c = merged(moments, noise)
    if a == c:
        return np.diag([a, a, a])
    if a == b:
        return a * np.eye(3) + (c - a) * np.outer(axes[:, 2], axes[:, 2])
    if b == c:
        return c * np.eye(3) + (a - c) * np.outer(axes[:, 0], axes[:, 0])
    return tensor


def merged(moments: np.ndarray, close: float) -> np.ndarray:
    """Return the moments, with those that are ``close`` replaced by their mean."""
    if np.ptp(moments) <= close:
        return np.full(3, moments.mean())
    i, j = min(((0, 1), (1, 2), (0, 2)), key=lambda pair: abs(np.subtract(*moments[list(pair)])))
    moments = np.array(moments)
    if abs(moments[i] - moments[j]) <= close:
        moments[i] = moments[j] = (moments[i] + moments[j]) / 2
    return moments


def is_diagonal(tensor: np.ndarray) -> bool:
    return not (tensor - np.diag(np.diag(tensor))).any()


def _positive(n: np.ndarray) -> np.ndarray:
    """Return n or -n, whichever has a positive largest component (the first of equal ones)."""
    return n * np.sign(n[np.argmax(np.abs(n).round(6))])


def _across(n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (u, v) with u × v = n; u is the projection of the given axis farthest from n."""
    u = -n * n[k := int(np.argmin(np.abs(n).round(6)))]
    u[k] += 1.0
    u /= np.linalg.norm(u)
    return u, np.cross(n, u)
