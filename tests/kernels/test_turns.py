"""Turns about the principal axes, against quaternions in mpmath numbers."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polhode.kernels.turns import KEPT, turn_1, turn_2, turn_3
from support.precise import ROUNDING, distance, hamilton, length, repeatable, to_mp

TURNS = {turn_1: 1, turn_2: 2, turn_3: 3}
numbers = st.floats(-1, 1, allow_subnormal=False)
vectors = st.tuples(numbers, numbers, numbers)
quaternions = st.tuples(numbers, numbers, numbers, numbers)


@pytest.mark.parametrize("turn", TURNS)
@repeatable
@given(q=quaternions, m=vectors, half=st.floats(-20, 20))
def test_a_turn_is_the_product_with_a_unit_quaternion(turn, q, m, half):
    new_q, new_m, _ = turn(q, m, (), half)
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
    assert turn(*state, (), 0.0) == (*state, ())


@pytest.mark.parametrize("turn", TURNS)
def test_lengths_drift_as_a_random_walk(turn):
    """100 000 roundings of one sign would be 1e-11."""
    q, m = (0.8, 0.4, -0.2, 0.4), (1.0, -2.0, 3.0)
    for angle in np.random.default_rng(1).uniform(-0.1, 0.1, 100_000).tolist():
        q, m, _ = turn(q, m, (), angle)
    assert np.linalg.norm(q) == pytest.approx(1, abs=2e-13)
    assert np.linalg.norm(m) == pytest.approx(np.sqrt(14), rel=2e-13)


@pytest.mark.parametrize("turn", TURNS)
def test_what_sums_lose_is_kept(turn):
    """Many turns against quaternions in mpmath numbers: e holds what the leading parts lost."""
    q, m, e = (0.8, 0.4, -0.2, 0.4), (1.0, -2.0, 3.0), ((0.0,) * 4, (0.0,) * 3)
    with mp.workdps(40):
        right_q, right_m, half_turn = to_mp(q), (mp.mpf(0), *to_mp(m)), mp.mpf(0)
        for angle in np.random.default_rng(1).uniform(-0.1, 0.1, 300).tolist():
            q, m, e = KEPT[turn](q, m, e, angle)
            half_turn += mp.mpf(angle)
        unit = [mp.cos(half_turn), mp.mpf(0), mp.mpf(0), mp.mpf(0)]
        unit[TURNS[turn]] = mp.sin(half_turn)
        back = unit[0], *(-x for x in unit[1:])
        expected = hamilton(right_q, unit), hamilton(hamilton(back, right_m), unit)[1:]
        for value, lost, right in zip((q, m), e, expected, strict=True):
            whole = [mp.mpf(x) + mp.mpf(y) for x, y in zip(value, lost, strict=True)]
            # 300 turns of 0.06 round their change, by 1e-17 each and at random
            assert distance(whole, right) <= 4 * ROUNDING * length(right)
