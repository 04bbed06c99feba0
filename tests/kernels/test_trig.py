import math
import runpy
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polhode.compiler.machine import compiled, fma
from polhode.compiler.tree import bind, flat
from polhode.kernels import trig
from support.precise import ROUNDING, exact_fma, repeatable

ULP = 2 * ROUNDING  # of numbers from 1 to 2
exact_sincos1 = bind(trig.sincos1, {fma: exact_fma})


def right(a):
    return mp.sin(mp.mpf(a)), -2 * mp.sin(mp.mpf(a) / 2) ** 2


def samples(top, count=1000):
    return np.random.default_rng(0).uniform(-top, top, count).tolist()


@pytest.mark.parametrize(
    ("top", "ulps"),
    [(1e-8, 2), (1e-3, 2), (0.1, 2), (math.pi / 4, 2), (math.pi / 2, 3)],  # the docstring's
)
def test_small_angles_in_ulps(top, ulps):
    sincos1 = compiled(trig.sincos1)
    for a in samples(top):
        for found, true in zip(sincos1(a), right(a), strict=True):
            assert abs(found - true) <= ulps * math.ulp(float(true)), a


@pytest.mark.parametrize("top", [math.pi, 10.0, 1e3, 1e6, 1e8, 1e11, trig.FARTHEST])
def test_large_angles(top):
    sincos1 = compiled(trig.sincos1)
    for a in samples(top):
        s, c1 = sincos1(a)
        sine, cosine1 = right(a)
        assert abs(s - sine) <= 8e-16, a  # the docstring's
        assert abs(c1 - cosine1) <= 14e-16, a


@pytest.mark.parametrize("turns", [1, 2, 1000, 15_900_000])
def test_near_whole_turns_nothing_is_lost(turns):
    """There the angle that is left is small, and so is its error."""
    a = float(turns * 2 * mp.pi)
    s, c1 = compiled(trig.sincos1)(a)
    sine, cosine1 = right(a)
    # the third part of 2 pi, which is left out, is 6e-33 a turn
    assert abs(s - sine) <= 2 * ROUNDING * abs(sine) + turns * 6e-33
    assert abs(c1 - cosine1) <= 4 * ROUNDING * abs(cosine1) + turns * 6e-33


@pytest.mark.parametrize("top", [0.1, math.pi, 1e3, 1e8])
def test_plain_python_loses_what_its_fma_rounds(top):
    for a in samples(top):
        for found, true in zip(trig.sincos1(a), right(a), strict=True):
            # a * b + c instead of one fma: the product with the turns is rounded, as a itself is
            assert abs(found - true) <= 14e-16 + 2 * ROUNDING * abs(a), a


def test_compiled_is_plain_with_an_exact_fma():
    sincos1 = compiled(trig.sincos1)
    for a in samples(0.1, 100) + samples(10.0, 100) + samples(1e8, 100):
        assert sincos1(a) == exact_sincos1(a)


@pytest.mark.parametrize("a", [0.0, 5e-324, 1e-310, 1e-160])
def test_tiny_angles_are_their_own_sines(a, at_speed):
    assert at_speed(trig.sincos1)(a) == (a, -0.5 * a * a)


@pytest.mark.parametrize(
    "a", [1e14, -1e14, 3e15, -6e16, 1e17, 1e300, math.inf, -math.inf, math.nan]
)
def test_an_angle_that_cannot_be_reduced_is_nan(a, at_speed):
    """Beyond 1e16 sines were as large as 1e36; before, a little off."""
    assert all(map(math.isnan, at_speed(trig.sincos1)(a)))


def test_short_turns_have_the_bits_of_long_ones(at_speed):
    short, any_turn = at_speed(trig.sincos1_of_short_turn), at_speed(trig.sincos1_of_turn)
    for a in [0.0, -0.0, 5e-324, -1e-310, *samples(1e-3), *samples(3.13)]:
        assert [x.hex() for x in short(a)] == [x.hex() for x in any_turn(a)], a


@pytest.mark.parametrize("a", [3.1305, -math.pi, 4.0, 1e8, 1e300, math.inf, math.nan])
def test_beyond_them_there_are_none(a, at_speed):
    assert all(map(math.isnan, at_speed(trig.sincos1_of_short_turn)(a)))


@repeatable
@given(st.floats(-1e8, 1e8))
def test_odd_and_even(a):
    s, c1 = trig.sincos1(a)
    assert trig.sincos1(-a) == (-s, c1)


@pytest.mark.parametrize("quarter", range(-9, 10))
def test_continuous_with_the_right_sign_in_all_quadrants(quarter):
    """The reduction jumps from one turn to the next at odd multiples of pi; the values do not."""
    sincos1 = compiled(trig.sincos1)
    a = quarter * math.pi / 2
    below, above = sincos1(math.nextafter(a, -100)), sincos1(math.nextafter(a, 100))
    # the two angles are two spacings apart, the values off by 14e-16 each at most
    assert np.allclose(below, above, rtol=0, atol=2 * math.ulp(abs(a) + 1) + 28e-16)
    s, c1 = sincos1(a + math.pi / 4)
    assert s * math.sin(a + math.pi / 4) > 0
    assert (1 + c1) * math.cos(a + math.pi / 4) > 0


@repeatable
@given(st.floats(-1e8, 1e8))
def test_sin_and_cos(a):
    s, c1 = trig.sincos1(a)
    assert trig.sin(a) == s
    assert trig.cos(a) == 1.0 + c1


def test_double_angle(at_speed):
    double_angle = at_speed(trig.double_angle)
    for a in samples(math.pi / 2):
        s, c1 = map(float, right(a))
        s2, c2 = double_angle(s, c1)
        sine, cosine1 = right(2 * mp.mpf(a))
        # s is off by half an ulp of s, c1 of c1, and three operations follow
        assert abs(s2 - sine) <= 3 * ULP * abs(s)
        assert abs(c2 - cosine1) <= 2 * ULP * abs(cosine1)


def test_coefficients_are_those_of_the_script():
    script = runpy.run_path(str(Path(__file__).parents[2] / "design" / "sincos.py"))
    with mp.workdps(script["DIGITS"]):
        made = script["interpolated"](script["p"]), script["interpolated"](script["q"])
    assert flat(tuple(map(tuple, made))) == [
        getattr(trig, f"{letter}{j}") for letter in "PQ" for j in range(8)
    ]
