"""Measurements of section 7.1 of Mandre (2008): principal moments and axes."""

from itertools import permutations
from operator import matmul, mul

import numpy as np

from polhode.body import RigidBody
from polhode.papers.counted import count_operations
from polhode.papers.mandre2008 import by_hand
from polhode.papers.mandre2008.laboratory import Laboratory
from polhode.papers.mandre2008.reference import Array
from polhode.papers.maps import EXACT, VISIBLE
from polhode.papers.quaternions import cross, product
from polhode.papers.rotations import exp, matrix, quaternion
from polhode.papers.verdicts import Measured, below, holds_if, largest
from polhode.solvers.exact import exact_free_motion

SEED = 20080226


def tensors(count: int) -> list[Array]:
    """Tensors of seeded clouds of particles."""
    rng = np.random.default_rng(SEED)
    made = []
    for _ in range(count):
        r = rng.normal(size=(6, 3)) * [1.0, 1.5, 0.5]
        made.append(np.einsum("ij,ij->", r, r) * np.eye(3) - r.T @ r)
    return made


def axes_of(tensor: Array) -> tuple[Array, Array]:
    """(moments, B) with det B = +1."""
    moments, b = np.linalg.eigh(tensor)
    return moments, b * np.array([1.0, 1.0, np.linalg.det(b)])


def diagonal(_: Laboratory) -> Measured:
    worst = 0.0
    for tensor in tensors(1000):
        moments, b = axes_of(tensor)
        worst = max(
            worst,
            largest(tensor @ b - b * moments) / moments[2],
            largest(b.T @ b - np.eye(3)),
            largest(np.cross(b[:, 0], b[:, 1]) - b[:, 2]),
        )
    return below(EXACT, worst)


def fewer_calculations(_: Laboratory) -> Measured:
    v = np.array([1.0, 2.0, 3.0])
    _, full = count_operations(matmul, tensors(1)[0], v)
    _, less = count_operations(mul, v, v)
    return holds_if(less < full, less, full)


def cubic(_: Laboratory) -> Measured:
    tensor = by_hand.fractions([(7, 2, -3), (2, 5, 1), (-3, 1, 11)])
    a, b, c, d = by_hand.cubic(tensor)
    worst = 0.0
    for x in range(-3, 12):
        first, second, third = tensor - x * np.eye(3, dtype=object)
        size = first @ cross(second, third)
        worst = max(worst, float(abs(size - (((a * x + b) * x + c) * x + d))))
    return holds_if(worst == 0, worst)


def three_real(_: Laboratory) -> Measured:
    apart = unreal = 0.0
    for tensor in tensors(1000):
        roots, moments = np.roots(by_hand.cubic(tensor.tolist())), np.linalg.eigvalsh(tensor)
        unreal = max(unreal, largest(np.imag(roots)))
        apart = max(apart, largest(np.sort(roots.real) - moments) / moments[2])
    turn, right = exp(np.array([0.4, -0.9, 0.3])), np.array([1.0, 1.0, 1.7])
    twin = turn @ np.diag(right) @ turn.T
    lost = largest(np.sort_complex(np.roots(by_hand.cubic(twin.tolist()))) - right)
    kept = largest(np.linalg.eigvalsh(twin) - right)
    return holds_if(unreal == 0 and apart < 1e-10 and lost < 1e-6, unreal, apart, lost, kept)


def null_vector(rows: Array) -> tuple[Array, int]:
    """(n, divisions) with rows n = 0 and |n| = 1, by Gaussian elimination with pivots."""
    a, order, divisions = rows.copy(), [0, 1, 2], 0
    for k in range(2):
        i, j = np.unravel_index(np.abs(a[k:, k:]).argmax(), (3 - k, 3 - k))
        a[[k, k + int(i)]] = a[[k + int(i), k]]
        a[:, [k, k + int(j)]] = a[:, [k + int(j), k]]
        order[k], order[k + int(j)] = order[k + int(j)], order[k]
        for row in range(k + 1, 3):
            a[row] -= a[row, k] / a[k, k] * a[k]
            divisions += 1
    y = -a[1, 2] / a[1, 1]
    x = -(a[0, 1] * y + a[0, 2]) / a[0, 0]
    n = np.empty(3)
    n[order] = x, y, 1.0
    return n / np.linalg.norm(n), divisions + 2


def elimination(_: Laboratory) -> Measured:
    worst, count = 0.0, 0
    for tensor in tensors(1000):
        moments, b = axes_of(tensor)
        for k in range(3):
            n, count = null_vector(tensor - moments[k] * np.eye(3))
            worst = max(worst, largest(n * np.sign(n @ b[:, k]) - b[:, k]))
    good = worst < 1e-9  # moments differ by as little as 1e-5
    return holds_if(False, worst, count, corrected=good)


def equal_moments(_: Laboratory) -> Measured:
    turn, other = exp(np.array([0.4, -0.9, 0.3])), exp(np.array([-1.2, 0.5, 0.8]))
    ball = 2.5 * np.eye(3)
    three = largest(other.T @ ball @ other - ball)
    moments = np.array([1.0, 1.0, 1.7])
    twin = turn @ np.diag(moments) @ turn.T
    n3 = null_vector(twin - 1.7 * np.eye(3))[0]
    n1 = np.cross(n3, [1.0, 0.0, 0.0])
    n1 = n1 / np.linalg.norm(n1)
    b = np.stack([n1, np.cross(n3, n1), n3], axis=1)
    two = largest(b.T @ twin @ b - np.diag(moments))
    return below(EXACT, three, two)


def right_handed(_: Laboratory) -> Measured:
    b = exp(np.array([0.4, -0.9, 0.3]))
    agree = cases = 0
    for order in permutations(range(3)):
        for signs in np.ndindex(2, 2, 2):
            n = (b[:, order] * (1 - 2 * np.array(signs))).T
            products = all(
                largest(np.cross(n[i], n[(i + 1) % 3]) - n[(i + 2) % 3]) < EXACT for i in range(3)
            )
            agree += products == (abs(np.linalg.det(n) - 1) < EXACT)
            flipped = np.linalg.det(n * np.array([[-1.0], [1.0], [1.0]]))
            agree += abs(flipped + np.linalg.det(n)) < EXACT
            cases += 2
    return holds_if(agree == cases, agree, cases)


# ---- the change of axes of a body with a full tensor: attitude, rate, a point, a part of the body
TENSOR = tensors(3)[2]
MOMENTS, B = axes_of(TENSOR)
A, OMEGA = exp(np.array([0.5, 0.8, -1.1])), np.array([0.7, -0.4, 0.9])
X = np.array([0.3, 1.1, -0.6])
PART, PLACE = exp(np.array([-0.3, 1.4, 0.2])), np.array([0.2, -0.5, 0.4])


def new_axes(_: Laboratory) -> Measured:
    torque = np.cross(X, [1.0, 2.0, -1.0])
    rate = np.linalg.solve(TENSOR, torque - np.cross(OMEGA, TENSOR @ OMEGA))
    new = B.T @ OMEGA
    there = (B.T @ torque - np.cross(new, MOMENTS * new)) / MOMENTS
    found = (
        B.T @ rate - there,
        B.T @ np.cross(OMEGA, X) - np.cross(new, B.T @ X),
        B.T @ (PART @ X + PLACE) - (B.T @ PART @ X + B.T @ PLACE),
    )
    return below(EXACT, *map(largest, found))


def point_after(tensor: Array, attitude: Array, omega: Array, point: Array) -> Array:
    """Return a point of the body after 3 s."""
    return exact_free_motion(RigidBody(tensor), attitude, omega, [3.0]).point_position(point)[0]


def new_attitude(_: Laboratory) -> Measured:
    q, turn = quaternion(A), quaternion(B)
    given = point_after(TENSOR, A, OMEGA, X)
    (printed, off, page), (right, after, same) = (
        (
            largest(new @ B.T @ X - A @ X),
            largest(point_after(MOMENTS, new, B.T @ OMEGA, B.T @ X) - given),
            largest(matrix(product(*pair)) - new),
        )
        for new, pair in ((B @ A, (turn, q)), (A @ B, (q, turn)))
    )
    fine = max(right, after, page, same) < EXACT and min(printed, off) > VISIBLE
    shown = printed, right, off, after, max(page, same)
    return holds_if(printed < EXACT, *shown, corrected=fine)


def new_part(_: Laboratory) -> Measured:
    q, beside = quaternion(PART), B.T @ PART
    printed, right = (largest(matrix(product(quaternion(turn), q)) - beside) for turn in (B, B.T))
    return holds_if(printed < EXACT, printed, right, corrected=right < EXACT)
