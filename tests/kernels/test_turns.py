"""Turns about the principal axes, against quaternions in mpmath numbers."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polhode.kernels.turns import turn_1, turn_2, turn_3
from precise import ROUNDING, distance, hamilton, length, repeatable, to_mp

TURNS = {turn_1: 1, turn_2: 2, turn_3: 3}
numbers = st.floats(-1, 1, allow_subnormal=False)
vectors = st.tuples(numbers, numbers, numbers)
quaternions = st.tuples(numbers, numbers, numbers, numbers)


@pytest.mark.parametrize("turn", TURNS)
@repeatable
@given(q=quaternions, m=vectors, half=st.floats(-20, 20))
def test_a_turn_is_the_product_with_a_unit_quaternion(turn, q, m, half):
    new_q, new_m = turn(q, m, half)
    with mp.workdps(40):
        unit = [mp.cos(half), mp.mpf(0), mp.mpf(0), mp.mpf(0)]
        unit[TURNS[turn]] = mp.sin(half)
        back = unit[0], *(-x for x in unit[1:])
        expected = hamilton(to_mp(q), unit)
        turned_back = hamilton(hamilton(back, (0, *to_mp(m))), unit)[1:]
        # a dozen roundings, of the sine and cosine and of what they multiply
        assert distance(new_q, expected) <= 12 * ROUNDING * length(q)
        assert distance(new_m, turned_back) <= 24 * ROUNDING * length(m)
    assert new_m[TURNS[turn] - 1] == m[TURNS[turn] - 1]


@pytest.mark.parametrize("turn", TURNS)
def test_no_turn_changes_nothing(turn):
    state = (0.8, 0.4, -0.2, 0.4), (1.0, -2.0, 3.0)
    assert turn(*state, 0.0) == state


@pytest.mark.parametrize("turn", TURNS)
def test_lengths_drift_as_a_random_walk(turn):
    """100 000 roundings of one sign would be 1e-11."""
    q, m = (0.8, 0.4, -0.2, 0.4), (1.0, -2.0, 3.0)
    for angle in np.random.default_rng(1).uniform(-0.1, 0.1, 100_000).tolist():
        q, m = turn(q, m, angle)
    assert np.linalg.norm(q) == pytest.approx(1, abs=2e-13)
    assert np.linalg.norm(m) == pytest.approx(np.sqrt(14), rel=2e-13)
