"""The natural logarithm against 40 digits."""

import math

import mpmath
import numpy as np

from polhode.kernels.logarithm import log


def test_it_is_within_a_unit_in_the_last_place(rng):
    wide, near = 10.0 ** rng.uniform(-300, 300, 2000), 1.0 + 1e-3 * rng.normal(size=2000)
    found = []
    with mpmath.workdps(40):
        for x in [*wide.tolist(), *near.tolist(), *rng.uniform(0.5, 2.0, 2000).tolist()]:
            exact = mpmath.log(x)
            found.append(float(abs(log(x) - exact)) / np.spacing(abs(float(exact))))
    assert max(found) < 1.5


def test_places_without_rounding():
    assert log(1.0) == 0.0
    assert log(math.e) == 1.0
    assert log(2.0**40) == 40 * log(2.0)
