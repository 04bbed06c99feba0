import itertools

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polhode.compiler.machine import compiled
from polhode.kernels import quaternion
from support.precise import ROUNDING, distance, hamilton, length, repeatable, unit_quaternion

whole = st.integers(-1000, 1000).map(float)
vectors = st.tuples(whole, whole, whole)
quaternions = st.tuples(whole, whole, whole, whole)
E_Z = (0.0, 0.0, 1.0)

# the 24 units of Hurwitz: rotations of a cube with exact components
SIGNS = (-1.0, 1.0)
HURWITZ = [
    *(tuple(s * float(i == j) for j in range(4)) for i in range(4) for s in SIGNS),
    *(tuple(0.5 * s for s in signs) for signs in itertools.product(SIGNS, repeat=4)),
]
units = st.sampled_from(HURWITZ)


def random_units(count=200):
    rng = np.random.default_rng(3)
    for q in rng.normal(size=(count, 4)):
        yield tuple((q / np.linalg.norm(q)).tolist()), tuple(rng.normal(size=3).tolist())


def sandwich(q, v):
    """q v q*."""
    conjugate = q[0], -q[1], -q[2], -q[3]
    return hamilton(hamilton(q, (0, *v)), conjugate)[1:]


@repeatable
@given(quaternions, quaternions)
def test_product_is_hamiltons(p, q):
    assert quaternion.product(p, q) == hamilton(p, q)
    assert quaternion.product1(p, q[0] - 1.0, q[1:]) == hamilton(p, q)


@repeatable
@given(quaternions, quaternions)
def test_conjugate(p, q):
    conjugate, product = quaternion.conjugate, quaternion.product
    assert conjugate(conjugate(q)) == q
    assert conjugate(product(p, q)) == product(conjugate(q), conjugate(p))
    assert product(q, conjugate(q)) == (sum(x * x for x in q), 0.0, 0.0, 0.0)


@repeatable
@given(units, units, vectors)
def test_turns_of_a_cube_are_exact(p, q, v):
    to_inertial, to_body = quaternion.to_inertial, quaternion.to_body
    assert to_inertial(q, v) == sandwich(q, v)
    assert to_body(q, to_inertial(q, v)) == v
    assert to_inertial(q, to_body(q, v)) == v
    assert to_inertial(p, to_inertial(q, v)) == to_inertial(quaternion.product(p, q), v)
    assert to_inertial(tuple(-x for x in q), v) == to_inertial(q, v)
    assert quaternion.vertical(q) == to_body(q, E_Z)


@repeatable
@given(units, vectors)
def test_turned_is_active_and_turned_back_its_inverse(q, v):
    c1, axis = q[0] - 1.0, q[1:]
    assert quaternion.turned(c1, axis, v) == sandwich(q, v)
    assert quaternion.turned_back(c1, axis, quaternion.turned(c1, axis, v)) == v


def test_a_quarter_turn_about_z_takes_x_to_y():
    half = float(mp.sqrt(0.5))
    x, y, z = quaternion.to_inertial((half, 0.0, 0.0, half), (1.0, 0.0, 0.0))
    assert abs(x) <= 4 * ROUNDING  # √0.5 is rounded, and its squares add up to 1 ± 2 roundings
    assert abs(y - 1) <= 4 * ROUNDING
    assert z == 0


def test_any_attitude_to_rounding(at_speed):
    to_inertial, to_body = at_speed(quaternion.to_inertial), at_speed(quaternion.to_body)
    vertical = at_speed(quaternion.vertical)
    for q, v in random_units():
        conjugate = quaternion.conjugate(q)
        exact = [mp.mpf(x) for x in q]
        norm = sum(x * x for x in exact)  # 1 but for the rounding of q
        # 16: two cross products, three sums and |q|² - 1, of at most 2|v| each
        allowed = 16 * ROUNDING * length(v)
        assert distance(to_inertial(q, v), [x / norm for x in sandwich(exact, v)]) <= allowed
        assert distance(to_body(q, v), [x / norm for x in sandwich(conjugate, v)]) <= allowed
        assert distance(vertical(q), sandwich(conjugate, E_Z)) <= 4 * ROUNDING


@pytest.mark.parametrize("angle", [1e-160, 1e-8, 1e-3])
def test_small_turns_are_increments(angle):
    """c1 = cos - 1 is not rounded near 1: the change itself is right, not only the sum."""
    turned_back, product1 = compiled(quaternion.turned_back), compiled(quaternion.product1)
    c1, axis = unit_quaternion((angle, 0.0, 0.0))
    c1, axis = float(c1), tuple(map(float, axis))
    _, m2, m3 = turned_back(c1, axis, (0.0, 1.0, 0.0))
    assert abs(m3 + mp.sin(angle)) <= 4 * ROUNDING * angle
    assert abs(m2 - mp.cos(angle)) <= ROUNDING
    w, x, _, _ = product1((1.0, 0.0, 0.0, 0.0), c1, axis)
    assert abs(x - mp.sin(mp.mpf(angle) / 2)) <= 2 * ROUNDING * angle
    assert abs(w - mp.cos(mp.mpf(angle) / 2)) <= ROUNDING


def test_lengths_drift_as_a_random_walk():
    """Brouwer's law: 40 000 products leave |q|² within a few times √40000 roundings of 1."""
    product1 = compiled(quaternion.product1)
    c1, axis = unit_quaternion((0.01, 0.02, -0.015))
    c1, axis = float(c1), tuple(map(float, axis))
    q, steps = (1.0, 0.0, 0.0, 0.0), 40_000
    for _ in range(steps):
        q = product1(q, c1, axis)
    # (1 + c1)² + axis² itself is 1 within 1e-18, which adds up to 4e-14 over the steps
    norm = (1 + mp.mpf(c1)) ** 2 + sum(mp.mpf(x) ** 2 for x in axis) - 1
    drift = sum(mp.mpf(x) ** 2 for x in q) - 1 - steps * norm
    assert abs(drift) <= 4 * ROUNDING * mp.sqrt(steps)
