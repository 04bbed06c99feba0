"""The free motion of symmetric bodies, against rotations in mpmath numbers and ``free_flow``."""

import mpmath as mp
import numpy as np
import pytest

from polhode.kernels.free_flow import free_drift
from polhode.kernels.symmetric_flow import SYMMETRIC_DRIFTS
from precise import ROUNDING, distance, hamilton, length, to_mp, unit_quaternion

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
