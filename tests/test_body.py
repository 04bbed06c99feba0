"""Bodies: what is accepted, what is refused and how, and which axes things are in."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import polhode as ph


def test_three_moments_and_diagonal_tensors_keep_their_order():
    for inertia in ([3.0, 1.0, 2.5], np.diag([3.0, 1.0, 2.5])):
        body = ph.RigidBody(inertia, mass=2.0)
        assert body.is_aligned
        assert body.principal_moments.tolist() == [3.0, 1.0, 2.5]
        assert body.data == ((3.0, 1.0, 2.5), (1 / 3, 1.0, 0.4), (1.0, 0.0, 0.0, 0.0), 2.0, 0.5)


angles = st.floats(-3, 3)


@given(vector=st.tuples(angles, angles, angles))
def test_a_full_tensor_is_diagonalised_by_a_proper_rotation(vector):
    turn = Rotation.from_rotvec(vector).as_matrix()
    tensor = turn @ np.diag([2.0, 3.0, 4.5]) @ turn.T
    body = ph.RigidBody((tensor + tensor.T) / 2)
    axes = body.principal_axes
    assert np.linalg.det(axes) == pytest.approx(1, abs=1e-14)
    # eigenvalues of a 3×3 matrix come to a few ulp of its norm
    assert np.allclose(np.sort(body.principal_moments), [2.0, 3.0, 4.5], rtol=0, atol=2e-14)
    rebuilt = axes @ np.diag(body.principal_moments) @ axes.T
    assert np.allclose(rebuilt, body.inertia, rtol=0, atol=5e-14)


def test_off_diagonal_rounding_does_not_reorder_the_axes():
    tensor = np.diag([3.0, 1.0, 2.5])
    tensor[0, 1] = tensor[1, 0] = 1e-16
    assert ph.RigidBody(tensor).is_aligned


@pytest.mark.parametrize(
    "moments", [(1, 1, 2), (1, 1, 0), (1e-40, 1.5e-40, 2e-40), (3e37, 2e37, 2e37)]
)
def test_discs_rods_molecules_and_moons_are_bodies(moments):
    body = ph.RigidBody(moments)
    assert all(np.isfinite(body.data[1]))


@pytest.mark.parametrize(
    ("inertia", "words"),
    [
        ([1, 2, 4], r"I3 = 4 is larger than I1 \+ I2 = 3"),
        ([1, -1, 1], "must be positive"),
        ([0, 0, 0], "must be positive"),
        ([1, 2], r"shape \(2,\)"),
        ([1, 2, np.nan], "must be finite"),
        ([[1, 2, 0], [0, 1, 0], [0, 0, 1]], "must be symmetric"),
        ("a box", "must be three moments"),
    ],
)
def test_impossible_inertia_is_refused_with_the_reason(inertia, words):
    with pytest.raises(ph.InputError, match=words):
        ph.RigidBody(inertia)


def test_a_mass_must_be_positive():
    with pytest.raises(ph.InputError, match="mass"):
        ph.RigidBody([1, 1, 1], mass=0)


def test_a_body_cannot_be_changed_behind_its_back():
    body = ph.RigidBody([1, 2, 2.5])
    with pytest.raises(ValueError, match="read-only"):
        body.inertia[0, 0] = 3
