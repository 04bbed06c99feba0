"""Compensated sums, against exact fractions."""

from fractions import Fraction

import numpy as np
import pytest

from polhode.compiler.machine import compiled
from polhode.kernels import sums


def test_plain_sums_carry_nothing():
    m = (1.0, 2.0, 3.0)
    assert sums.plus3(m, sums.no_loss3(m), m) == ((2.0, 4.0, 6.0), ())
    q = (1.0, 0.0, 0.0, 0.0)
    assert sums.plus4(q, sums.no_loss4(q), q) == ((2.0, 0.0, 0.0, 0.0), ())
    assert sums.to_unit(q, ()) == ()


def test_a_million_changes_are_added_without_loss(at_speed):
    added = at_speed(sums.added)
    changes = np.random.default_rng(2).normal(scale=1e-3, size=100_000).tolist()
    x, e, plain = 1.0, 0.0, 1.0
    for d in changes:
        x, e = added(x, e, d)
        plain += d
    exact = sum(map(Fraction, changes), Fraction(1))
    assert abs(Fraction(x) + Fraction(e) - exact) < 1e-28  # the roundings of e alone
    assert abs(Fraction(plain) - exact) > 1e-16
    assert abs(e) <= np.spacing(x)


@pytest.mark.parametrize("seed", range(5))
def test_to_unit_length(seed):
    """Compiled, for its squares need an exact ``fma``."""
    rng = np.random.default_rng(seed)
    q = rng.normal(size=4)
    q = tuple((q / np.linalg.norm(q) * (1 + 1e-14 * rng.normal())).tolist())
    e = tuple((1e-17 * rng.normal(size=4)).tolist())
    new = compiled(sums.to_unit_length)(q, e)
    length = sum((Fraction(a) + Fraction(b)) ** 2 for a, b in zip(q, new, strict=True))
    assert abs(length - 1) < 1e-27  # the square of what was wrong, 1e-14


def test_two_sum_is_exact():
    for a, b in ((1.0, 2.0**-60), (2.0**-60, 1.0), (1.0, -1.0), (0.1, 0.2), (1e16, 1.0)):
        s, rest = sums.two_sum(a, b)
        assert Fraction(s) + Fraction(rest) == Fraction(a) + Fraction(b)
