"""On whole numbers every operation is exact, so results must be equal to the definition."""

from hypothesis import given
from hypothesis import strategies as st

from polhode.kernels import inertia
from polhode.kernels.vector import add, add_scaled, cross, dot, multiply, scale
from support.precise import repeatable

whole = st.integers(-1000, 1000).map(float)
vectors = st.tuples(whole, whole, whole)
matrices = st.tuples(vectors, vectors, vectors)
UNIT = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def apply(rows, v):
    return tuple(dot(row, v) for row in rows)


@repeatable
@given(vectors, vectors)
def test_gyroscopic(m, a):
    assert inertia.gyroscopic(m, a) == cross(m, scale(a, m))


@repeatable
@given(st.tuples(*[st.floats(-10, 10)] * 3), st.floats(0.1, 10), st.floats(0.1, 10))
def test_nothing_gyroscopic_about_an_axis_of_symmetry(m, a, b):
    assert inertia.gyroscopic(m, (a, a, b))[2] == 0
    assert inertia.gyroscopic(m, (a, a, a)) == (0, 0, 0)


@repeatable
@given(vectors, vectors, vectors, whole)
def test_gyroscopic_newton_rows(m, a, v, f):
    """The rate is quadratic in m, so half the central difference is its derivative."""
    ahead, behind = (inertia.gyroscopic(add_scaled(m, s, v), a) for s in (1.0, -1.0))
    derivative = multiply(0.5, add_scaled(ahead, -1.0, behind))
    rows = inertia.gyroscopic_newton_rows(f, m, a)
    assert apply(rows, v) == add_scaled(v, -f, derivative)


@repeatable
@given(whole, vectors, matrices, vectors)
def test_euler_newton_rows(f, a, jacobian, v):
    rows = inertia.euler_newton_rows(f, a, jacobian)
    assert apply(rows, v) == add_scaled(v, -f, scale(a, apply(jacobian, v)))


@repeatable
@given(matrices, whole, vectors, vectors)
def test_with_skew(rows, f, w, v):
    assert apply(inertia.with_skew(rows, f, w), v) == add(apply(rows, v), multiply(f, cross(w, v)))
