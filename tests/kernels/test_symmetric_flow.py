"""The free motion of symmetric bodies, against rotations in mpmath numbers and ``free_flow``."""

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from polhode.compiler.machine import compiled
from polhode.kernels.free_flow import free_drift
from polhode.kernels.symmetric_flow import SYMMETRIC_DRIFTS, half1, twice
from support.precise import ROUNDING, distance, hamilton, length, to_mp, unit_quaternion

AXES = pytest.mark.parametrize("axis", range(3))


def body(axis, across, along):
    moments = [across] * 3
    moments[axis] = along
    return tuple(moments), tuple(1 / i if i else 0.0 for i in moments)


@AXES
@pytest.mark.parametrize("along", [0.3, 1.0, 2.0, 3.7], ids=lambda x: f"{x} along the axis")
def test_two_turns_one_after_the_other(axis, along, at_speed):
    turn = at_speed(SYMMETRIC_DRIFTS[axis])
    moments, inverse = body(axis, 2.0, along)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        t, m = float(rng.uniform(-2, 2)), tuple(rng.normal(size=3).tolist())
        (c1, v), change = turn(t, m, moments, inverse)
        n = [a + b for a, b in zip(m, change, strict=True)]
        about = [mp.mpf(0)] * 3
        about[axis] = mp.mpf(t) * m[axis] * (1 / mp.mpf(along) - 1 / mp.mpf(2))
        first = unit_quaternion([mp.mpf(t) * x / 2 for x in to_mp(m)])
        second = unit_quaternion(about)
        first, second = ((1 + c, *u) for c, u in (first, second))
        whole = hamilton(first, second)
        back = second[0], *(-x for x in second[1:])
        expected = hamilton(hamilton(back, (0, *to_mp(m))), second)[1:]
        size = 1 + abs(t) * length(m) / min(2.0, along)  # angles of this size are rounded
        assert distance((1 + mp.mpf(c1), *v), whole) < 12 * ROUNDING * size
        assert distance(n, expected) < 24 * ROUNDING * size * length(m)
        assert n[axis] == m[axis]


@AXES
@pytest.mark.parametrize("along", [0.0, 0.5, 2.0, 4.0], ids=["rod", "prolate", "sphere", "disc"])
def test_as_for_any_body(axis, along):
    """What the general solution gives, up to the sign of the quaternion."""
    moments, inverse = body(axis, 2.0, along)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        t, m = float(rng.uniform(-9, 9)), rng.normal(size=3)
        m[axis] *= along != 0
        found = SYMMETRIC_DRIFTS[axis](t, tuple(m.tolist()), moments, inverse)
        expected = free_drift(t, tuple(m.tolist()), moments, inverse)
        (c, v), (d, u) = found[0], expected[0]
        sign = 1 if (1 + c) * (1 + d) + np.dot(v, u) > 0 else -1
        assert sign * np.array([1 + c, *v]) == pytest.approx(np.array([1 + d, *u]), abs=1e-13)
        assert found[1] == pytest.approx(expected[1], abs=1e-13)


@AXES
def test_at_rest(axis):
    moments, inverse = body(axis, 2.0, 1.0)
    nothing = (0.0, 0.0, 0.0)
    still = (0.0, nothing), nothing
    assert SYMMETRIC_DRIFTS[axis](3.0, nothing, moments, inverse) == still


@pytest.mark.parametrize("largest", [1e-2, 1.0, 3.0, 100.0])
def test_twice_an_angle_to_twice_the_digits(largest):
    """Of length 1, and in the direction of (d + i s)², in exact fractions; compiled for ``fma``."""
    half, double = compiled(half1), compiled(twice)
    for k in np.random.default_rng(5).uniform(-largest, largest, size=300).tolist():
        s, d1 = half(k)
        (sine, cosine1), low = double(s, d1)
        s, d, across, along = Fraction(s), 1 + Fraction(d1), Fraction(sine), 1 + Fraction(cosine1)
        across, along = across + Fraction(low[0]), along + Fraction(low[1])
        assert abs(across**2 + along**2 - 1) < 1e-29
        x, y = d * d - s * s, 2 * d * s
        assert abs(across * x - along * y) < 1e-29
        assert across * y + along * x > 0


@pytest.mark.parametrize("k", [0.7, 1.1, 1.6, 2.2, 2.9])
def test_the_turn_lies_half_way_without_a_bias(k):
    """(v1, v2) is along (m1, m2) turned by half of k, on average far closer than its roundings."""
    m3, (moments, inverse) = 1.25, body(2, 2.0, 1.0)
    t = k / (m3 * (inverse[2] - inverse[0]))
    drift, (s, d1) = compiled(SYMMETRIC_DRIFTS[2]), compiled(half1)((t * m3) * 0.5)
    s, d = Fraction(s), 1 + Fraction(d1)
    apart = []
    for angle in np.random.default_rng(6).uniform(0, 2 * np.pi, size=4096):
        m = float(np.cos(angle)), float(np.sin(angle)), m3
        v1, v2, _ = map(Fraction, drift(t, m, moments, inverse)[0][1])
        m1, m2 = Fraction(m[0]), Fraction(m[1])
        x, y = m1 * d + m2 * s, m2 * d - m1 * s
        apart.append(float((v1 * y - v2 * x) / (v1 * x + v2 * y)))
    assert np.std(apart) < 2 * ROUNDING
    assert abs(np.mean(apart)) < 4 * np.std(apart) / 64  # of 4096
