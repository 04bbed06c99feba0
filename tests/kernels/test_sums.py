"""Compensated sums, against exact fractions."""

from fractions import Fraction

import numpy as np

from polhode.kernels import sums


def test_plain_sums_carry_nothing():
    m = (1.0, 2.0, 3.0)
    assert sums.plus3(m, sums.no_loss3(m), m) == ((2.0, 4.0, 6.0), ())
    q = (1.0, 0.0, 0.0, 0.0)
    assert sums.no_loss4(q) == ()


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


def test_two_sum_is_exact():
    for a, b in ((1.0, 2.0**-60), (2.0**-60, 1.0), (1.0, -1.0), (0.1, 0.2), (1e16, 1.0)):
        s, rest = sums.two_sum(a, b)
        assert Fraction(s) + Fraction(rest) == Fraction(a) + Fraction(b)
