"""Bodies: accepted and refused arguments, messages, and axes."""

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


# ---- points of bodies that move
@pytest.fixture(scope="module")
def tumbling():
    tensor = [[2.5, 0.3, 0.1], [0.3, 3.0, -0.2], [0.1, -0.2, 4.0]]
    body = ph.RigidBody(tensor, mass=2.0, centre=[1.0, 2.0, 3.0])
    times = np.linspace(0, 2, 401)
    return ph.exact_free_motion(body, Rotation.from_rotvec([0.3, 0.1, -0.2]), [0.3, 2, 0.5], times)


POINTS = np.array([[1.0, 0.0, 0.0], [0.2, -0.7, 0.4], [0.0, 0.0, 0.0]])


def test_points_go_where_matrices_take_them(tumbling):
    matrices = tumbling.rotation.as_matrix()
    expected = np.einsum("nij,kj->nki", matrices, POINTS)
    found = tumbling.point_position(POINTS)
    assert found.shape == (401, 3, 3)
    assert np.allclose(found, expected, rtol=0, atol=1e-15)
    one = tumbling.point_position(POINTS[1])
    assert one.shape == (401, 3)
    assert np.array_equal(one, found[:, 1])
    assert tumbling.point_position(np.zeros((0, 3))).shape == (401, 0, 3)


def test_the_velocity_of_a_point_is_the_derivative_of_its_position(tumbling):
    h, middle = tumbling.t[1], slice(3, -3)
    x, v = tumbling.point_position(POINTS), tumbling.point_velocity(POINTS)
    weights = np.array([-1, 9, -45, 0, 45, -9, 1]) / (60 * h)  # h⁶ ω⁷/140 is 1e-14
    n = len(x)
    slope = sum(w * x[k : n - 6 + k] for k, w in enumerate(weights))
    assert np.allclose(v[middle], slope, rtol=0, atol=1e-12)
    assert np.array_equal(tumbling.point_velocity(POINTS[1]), v[:, 1])
    assert not v[:, 2].any()


def test_vectors_go_from_one_frame_to_the_other(tumbling):
    there = tumbling.to_inertial(tumbling.angular_momentum)
    assert np.allclose(there, tumbling.angular_momentum_inertial, rtol=0, atol=1e-14)
    assert np.allclose(tumbling.to_body(there), tumbling.angular_momentum, rtol=0, atol=1e-14)
    up = tumbling.to_body([0, 0, 1])
    assert np.allclose(up, tumbling.rotation.as_matrix()[:, 2], rtol=0, atol=1e-16)
    stack = np.stack([tumbling.omega, tumbling.angular_momentum], axis=1)
    assert np.allclose(tumbling.to_inertial(stack)[:, 1], there, rtol=0, atol=1e-15)


def test_a_centre_of_mass_that_moves_is_added(tumbling):
    run = tumbling[:]
    run.x, run.v = np.outer(run.t, [1.0, 2, 3]), np.tile([1.0, 2, 3], (len(run), 1))
    for points in (POINTS, POINTS[0]):
        moved = run.point_position(points) - tumbling.point_position(points)
        assert np.allclose(moved.reshape(401, -1, 3), run.x[:, None], rtol=0, atol=1e-14)
        faster = run.point_velocity(points) - tumbling.point_velocity(points)
        assert np.allclose(faster, [1, 2, 3], rtol=0, atol=1e-14)


@pytest.mark.usefixtures("plain")
def test_points_of_a_frame_without_a_body():
    run = ph.integrate_angular_velocity(lambda t: (0.0, 0.0, 2.0), (0, 1), frame="body")
    assert np.allclose(run.point_velocity([1, 0, 0])[0], [0, 2, 0])


def test_the_centre_is_in_files(tumbling, tmp_path):
    again = ph.load(tumbling.save(tmp_path / "body.nc"))
    assert again.body.centre.tolist() == [1, 2, 3]


def test_bad_points_are_refused(tumbling):
    for bad in ([1, 2], "here", [[1, 2, np.nan]], np.zeros((2, 2, 3))):
        with pytest.raises(ph.InputError, match="p must be"):
            tumbling.point_position(bad)
    with pytest.raises(ph.InputError, match=r"each of 401 times, .* got shape \(2, 3\)"):
        tumbling.to_inertial([[1, 2, 3], [4, 5, 6]])
