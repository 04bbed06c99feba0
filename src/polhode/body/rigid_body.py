"""``RigidBody``: inertia and mass, checked; principal axes inside, the user's axes outside."""

import math
from functools import cached_property
from typing import Any

import numpy as np

from polhode.errors import InputError

TOLERANCE = 1e-9  # relative, of the symmetry and of the triangle inequality
NEGLIGIBLE = 4 * np.finfo(float).eps  # off-diagonal terms below this are rounding


class RigidBody:
    """A rigid body: its inertia about the centre of mass (or the fixed point), and its mass.

    Parameters
    ----------
    inertia : three moments, or a symmetric 3×3 tensor, in the user's body axes (kg m²)
        Three moments and diagonal tensors keep their order and axes; a tensor with off-diagonal
        terms is diagonalised inside, and everything given and returned stays in the user's axes.
        Moments must be positive and obey the triangle inequality; equality is allowed (discs), and
        one moment may be zero if the two others are equal (a rod, which has no rate about itself).
    mass : kg
    """

    def __init__(self, inertia: Any, mass: float = 1.0):
        self.inertia = _tensor(inertia)
        self.mass = float(mass)
        if not (math.isfinite(self.mass) and self.mass > 0):
            raise InputError(f"mass must be a positive number of kilograms, got {mass!r}")
        off_diagonal = self.inertia - np.diag(np.diag(self.inertia))
        self.is_aligned = not off_diagonal.any()
        if self.is_aligned:
            moments, rotation = np.diag(self.inertia), np.eye(3)
        else:
            moments, rotation = np.linalg.eigh(self.inertia)
            rotation = _proper(rotation)
        self.principal_moments = _checked(moments)
        self.principal_axes = rotation  # columns, in the user's body axes
        for array in (self.inertia, self.principal_moments, self.principal_axes):
            array.setflags(write=False)

    @cached_property
    def data(self) -> tuple:
        """(inertia, inverse, axes, mass, 1/mass): the body as compiled code sees it."""
        moments = tuple(self.principal_moments.tolist())
        inverse = tuple(1.0 / i if i > 0 else 0.0 for i in moments)
        return moments, inverse, self._axes, self.mass, 1.0 / self.mass

    @cached_property
    def symmetry_axis(self) -> int | None:
        """The principal axis (0, 1 or 2) about which the other two moments are equal, or None."""
        a, b, c = self.data[0]
        return 2 if a == b else 0 if b == c else 1 if a == c else None

    @cached_property
    def _axes(self) -> tuple[float, ...]:
        """The quaternion that takes principal axes to the user's body axes."""
        if self.is_aligned:
            return 1.0, 0.0, 0.0, 0.0
        from scipy.spatial.transform import Rotation

        return tuple(Rotation.from_matrix(self.principal_axes).as_quat(scalar_first=True).tolist())

    def __repr__(self) -> str:
        given = self.principal_moments if self.is_aligned else self.inertia
        return f"RigidBody({np.array2string(given, separator=', ')}, mass={self.mass!r})"


def _tensor(inertia: Any) -> np.ndarray:
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


def _proper(rotation: np.ndarray) -> np.ndarray:
    """Eigenvectors with determinant +1, the largest component of the first two positive."""
    for k in (0, 1):
        column = rotation[:, k]
        rotation[:, k] = column * np.sign(column[np.argmax(np.abs(column))])
    rotation[:, 2] = np.cross(rotation[:, 0], rotation[:, 1])
    return rotation


def _checked(moments: np.ndarray) -> np.ndarray:
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
