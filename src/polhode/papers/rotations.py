"""Rotation matrices in NumPy, to check the papers' formulas independently of the library.

skew(w) x = w × x, exp(skew(w)) rotates by |w| about w; quaternions are scalar first.
"""

from typing import Any

import numpy as np

Array = np.ndarray


def skew(w: Any) -> Array:
    """Return the matrix of w ×."""
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def exp(psi: Any) -> Array:
    """exp(skew(psi)), by Rodrigues' formula."""
    angle = float(np.sqrt(psi @ psi))
    x = skew(psi)
    a = np.sinc(angle / np.pi)
    b = 0.5 * np.sinc(angle / (2 * np.pi)) ** 2
    return np.eye(3) + a * x + b * (x @ x)


def log(rotation: Array) -> Array:
    """Return the rotation vector of a small rotation."""
    axial = 0.5 * np.array([(rotation - rotation.T)[i] for i in ((2, 1), (0, 2), (1, 0))])
    sine = float(np.sqrt(axial @ axial))
    return axial * (np.arcsin(sine) / sine if sine > 1e-8 else 1.0 + sine * sine / 6.0)


def matrix(q: Any) -> Array:
    """Return the attitude matrix of a quaternion."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_quat(q, scalar_first=True).as_matrix()


def quaternion(rotation: Array) -> tuple[float, ...]:
    """Return the quaternion of an attitude matrix."""
    from scipy.spatial.transform import Rotation

    return tuple(Rotation.from_matrix(rotation).as_quat(scalar_first=True).tolist())
