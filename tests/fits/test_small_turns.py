"""Small turns of many attitudes, against SciPy's rotations and differences of them."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from polhode.fits import turns

SIZES = 0.0, 1e-9, 3e-5, 2e-4, 0.1, 1.0, 3.0, 3.14159


def rotations(rng, count=20):
    return Rotation.random(count, random_state=rng.integers(2**31))


def vectors(rng):
    axes = rng.normal(size=(len(SIZES), 3))
    return axes / np.linalg.norm(axes, axis=1, keepdims=True) * np.array(SIZES)[:, None]


def quaternions(r):
    return r.as_quat(scalar_first=True)


def test_products_and_matrices(rng):
    p, q = rotations(rng), rotations(rng)
    both = turns.products(quaternions(p), turns.conjugates(quaternions(q)))
    assert np.allclose(turns.matrices(both), (p * q.inv()).as_matrix(), atol=1e-15)


def test_rotation_vectors_and_back(rng):
    given = vectors(rng)
    q = turns.quaternions(given)
    assert np.allclose(q, quaternions(Rotation.from_rotvec(given)), atol=1e-15)
    for sign in (1.0, -1.0):
        assert np.allclose(turns.rotation_vectors(sign * q), given, rtol=1e-12, atol=1e-24)


def test_crosses(rng):
    a, b = rng.normal(size=(2, 5, 3))
    assert np.allclose(np.einsum("nij,nj->ni", turns.crosses(a), b), np.cross(a, b))


def test_left_inverses_are_how_residuals_change(rng):
    given = vectors(rng)[:-1]  # at half a turn they jump
    found, h = turns.left_inverses(given), 1e-6
    for k in range(3):
        step = Rotation.from_rotvec(h * np.eye(3)[k])
        e = Rotation.from_rotvec(given)
        slope = ((step.inv() * e).as_rotvec() - (step * e).as_rotvec()) / (2 * h)
        assert np.allclose(slope, -found[:, :, k], atol=2e-8)


@pytest.mark.parametrize("size", SIZES)
def test_right_matrix_is_how_attitudes_turn(rng, size):
    v = rng.normal(size=3)
    v *= size / np.linalg.norm(v)
    found, h = turns.right_matrix(v), 1e-6
    for k in range(3):
        ahead, behind = (Rotation.from_rotvec(v + sign * h * np.eye(3)[k]) for sign in (1, -1))
        slope = (behind.inv() * ahead).as_rotvec() / (2 * h)
        assert np.allclose(slope, found[:, k], atol=1e-9)
