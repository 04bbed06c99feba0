import math

import mpmath as mp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polhode.kernels import newton
from support.precise import ROUNDING, distance, repeatable

whole = st.integers(-1000, 1000).map(float)
vectors = st.tuples(whole, whole, whole)
UNIT = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
NAN = float("nan")


def squared(ulps):
    return (ulps * ROUNDING) ** 2


def test_rounding_is_half_the_spacing_of_floats():
    assert newton.rounding() == ROUNDING == math.ulp(1.0) / 2


@pytest.mark.parametrize(
    ("size", "last", "done"),
    [
        (squared(1.0), 1.0, True),  # below rounding
        (0.0, 0.0, True),  # nothing to correct
        (1e-17, 1e-1, True),  # the next is size²/last: 1e-33
        (1e-15, 1e-3, False),  # the next would be 1e-27
        (1e-3, 1e-1, False),
        (squared(4000.0), squared(3000.0), True),  # near rounding and no longer shrinking
        (squared(5000.0), squared(3000.0), False),  # not near enough
        (squared(60.0), 0.0, True),  # the first one, so near that it is the last
        (squared(70.0), 0.0, False),
        (1e-3, 1e-4, False),  # growing: diverges
        (NAN, 1.0, False),
        (1e-40, NAN, True),
        (1e-20, NAN, False),
    ],
)
def test_settled(size, last, done, at_speed):
    assert at_speed(newton.settled)(size, last, 1.0) is done


def test_settled_does_not_depend_on_units():
    for scale in (1e-100, 1e100):
        assert newton.settled(1e-17 * scale, 1e-1 * scale, scale)
        assert not newton.settled(1e-15 * scale, 1e-3 * scale, scale)


@repeatable
@given(vectors, vectors)
def test_one_correction_solves_a_linear_equation(x, b):
    residual = tuple(p - q for p, q in zip(x, b, strict=True))
    found, size, done = newton.corrected(x, 0.0, residual, UNIT, 0.0)
    assert found == b
    assert size == sum(r * r for r in residual)
    assert done is (x == b)


def test_the_scale_lets_an_unknown_vanish():
    """x = 0 has no size of its own; what it is added to has."""
    small = (1e-17, 0.0, 0.0)
    assert not newton.corrected(small, 1.0, small, UNIT, 0.0)[2]
    assert newton.corrected(small, 1.0, small, UNIT, 1.0)[2]


def test_newtons_method_ends_at_the_solution(at_speed):
    """x + (x x b)/4 + x1² e1 / 8 = c to the last digits, in few corrections."""
    corrected, b, c = at_speed(newton.corrected), (0.5, -1.0, 2.0), (0.3, -0.7, 0.2)

    def equation(x1, x2, x3):
        return (
            x1 + (x2 * b[2] - x3 * b[1]) / 4 + x1 * x1 / 8 - c[0],
            x2 + (x3 * b[0] - x1 * b[2]) / 4 - c[1],
            x3 + (x1 * b[1] - x2 * b[0]) / 4 - c[2],
        )

    x, size, done, count = c, 0.0, False, 0
    while not done and count < 20:
        rows = (
            (1 + x[0] / 4, b[2] / 4, -b[1] / 4),
            (-b[2] / 4, 1.0, b[0] / 4),
            (b[1] / 4, -b[0] / 4, 1.0),
        )
        x, size, done = corrected(x, size, equation(*x), rows, 0.0)
        count += 1
    right = mp.findroot(lambda *y: list(equation(*y)), list(c))
    assert distance(x, right) <= 4 * ROUNDING  # the residual has four roundings of numbers below 1
    assert 3 <= count <= 5  # errors square: 1e-1, 1e-3, 1e-7, 1e-14, below rounding


@repeatable
@given(vectors, vectors, vectors, st.sampled_from([0.5, 1.0, 2.0]))
def test_extrapolation_is_exact_for_parabolas(a, b, c, h):
    """Rates a + b k + c k² at k = -1, -2, -3 give the one at k = 0."""
    rates = tuple(
        tuple(p + q * k + r * k * k for p, q, r in zip(a, b, c, strict=True)) for k in (-1, -2, -3)
    )
    assert newton.extrapolated(h, rates) == tuple(h * p for p in a)


@repeatable
@given(vectors, vectors, vectors, vectors)
def test_history_shifts(x, a, b, c):
    rates = newton.history(0.5, x, (a, b, c))
    assert rates == (tuple(2 * p for p in x), a, b)
