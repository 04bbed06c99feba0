"""On whole numbers every operation is exact, so results must be equal to the definition."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from polhode.kernels import vector
from support.precise import ROUNDING, column, distance, repeatable

whole = st.integers(-1000, 1000).map(float)
vectors = st.tuples(whole, whole, whole)


@repeatable
@given(vectors, vectors, whole)
def test_component_by_component(a, b, f):
    pairs = list(zip(a, b, strict=True))
    assert vector.add(a, b) == tuple(x + y for x, y in pairs)
    assert vector.subtract(a, b) == tuple(x - y for x, y in pairs)
    assert vector.scale(a, b) == tuple(x * y for x, y in pairs)
    assert vector.multiply(f, a) == tuple(f * x for x in a)
    assert vector.add_scaled(a, f, b) == tuple(x + f * y for x, y in pairs)
    assert vector.dot(a, b) == sum(x * y for x, y in pairs)


@repeatable
@given(vectors, vectors, vectors)
def test_cross(a, b, c):
    assert vector.cross((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)) == (0.0, 0.0, 1.0)
    assert vector.dot(vector.cross(a, b), c) == round(np.linalg.det(np.array([a, b, c])))
    # Lagrange
    double = vector.multiply(vector.dot(a, c), b)
    assert vector.cross(a, vector.cross(b, c)) == vector.add_scaled(double, -vector.dot(a, b), c)


@repeatable
@given(vectors, vectors)
def test_solve3_is_exact_for_a_triangle_of_ones(b, off):
    x, y, z = off
    rows = (1.0, x, y), (0.0, 1.0, z), (0.0, 0.0, 1.0)
    solution = vector.solve3(rows, b)
    assert tuple(vector.dot(row, solution) for row in rows) == b


@pytest.mark.parametrize("off", [0.0, 1e-6, 0.1, 1.0])  # how far from the unit matrix
def test_solve3_to_rounding(off, at_speed):
    solve3, rng = at_speed(vector.solve3), np.random.default_rng(2)
    for _ in range(50):
        matrix = np.eye(3) + off * rng.normal(size=(3, 3))
        b = tuple(rng.normal(size=3).tolist())
        found = solve3(tuple(map(tuple, matrix.tolist())), b)
        inverse = mp.matrix(matrix.tolist()) ** -1
        condition = np.linalg.norm(matrix) ** 2 * float(mp.mnorm(inverse, "f")) ** 2
        # Cramer's rule: a few roundings of products of two rows, over the determinant
        assert distance(found, inverse * column(b)) <= 8 * ROUNDING * condition * np.linalg.norm(b)


@repeatable
@given(vectors, vectors, vectors, vectors)
def test_solve3_takes_rows_not_columns(r1, r2, r3, b):
    determinant = vector.dot(r1, vector.cross(r2, r3))
    assume(determinant != 0)
    # Cramer's rule in whole numbers
    columns = list(zip(r1, r2, r3, strict=True))
    for k in range(3):
        swapped = [*columns[:k], b, *columns[k + 1 :]]
        numerator = vector.dot(swapped[0], vector.cross(swapped[1], swapped[2]))
        x = vector.solve3((r1, r2, r3), b)[k]
        # numerators are exact; 1/determinant and the product round once each
        assert abs(x - numerator / determinant) <= 4 * ROUNDING * abs(x)
