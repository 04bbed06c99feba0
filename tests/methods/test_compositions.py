"""Weights of compositions: order conditions, splittings of matrices in 60 digits, and of bodies."""

from dataclasses import replace

import mpmath as mp
import numpy as np
import pytest

import polhode as ph
from polhode.tableaus.composition import COMPOSITIONS
from support.bodies import REFERENCE_ERROR, TIME, errors
from support.convergence import estimate_order

COMPOSITION = pytest.mark.parametrize("composition", COMPOSITIONS.values(), ids=COMPOSITIONS)


def weights_of(composition):
    return [mp.mpf(str(w)) for w in composition.weights]


@COMPOSITION
def test_weights_are_symmetric_and_sum_to_one(composition):
    with mp.workdps(60):
        weights = weights_of(composition)
        assert weights == weights[::-1]
        assert abs(mp.fsum(weights) - 1) < mp.mpf(10) ** -48
    assert sum(composition.floats) == pytest.approx(1, abs=1e-15)


@COMPOSITION
def test_odd_powers_cancel_below_the_order(composition):
    """The conditions on powers are met to the digits given, and the next is not."""
    digits = min(-w.as_tuple().exponent for w in composition.weights)
    with mp.workdps(60):
        for power in range(3, composition.order + 2, 2):
            total = abs(mp.fsum(w**power for w in weights_of(composition)))
            if power < composition.order:
                assert total < 200 * mp.mpf(10) ** -digits
            else:
                assert total > 1e-4


@COMPOSITION
def test_order_on_matrices_that_do_not_commute(composition):
    """exp(h (A + B + C)) by Strang's splitting: the error of one step is of order p + 1."""
    with mp.workdps(60):
        seed = iter(range(1, 100))
        parts = [
            mp.matrix(3, 3).apply(lambda _: mp.frac(mp.sqrt(next(seed) + mp.mpf(1) / 3)) - 0.5)
            for _ in range(3)
        ]

        def strang(h):
            a, b = mp.expm(parts[0] * h / 2), mp.expm(parts[1] * h / 2)
            return a * b * mp.expm(parts[2] * h) * b * a

        steps, errors = [mp.mpf(1) / 2**k for k in (4, 5, 6, 7)], []
        for h in steps:
            product = mp.eye(3)
            for w in weights_of(composition):
                product = product * strang(w * h)
            exact = mp.expm((parts[0] + parts[1] + parts[2]) * h)
            errors.append(mp.mnorm(product - exact))
        found = estimate_order([float(h) for h in steps], [float(e) for e in errors], floor=1e-26)
    assert found == pytest.approx(composition.order + 1, abs=0.1)


@COMPOSITION
def test_order_on_a_nonlinear_problem(composition):
    """A body under a torque that depends on time, split about its axes."""
    method = replace(
        ph.METHODS["mr2"], name="made here", order=composition.order, weights=composition.floats
    )
    counts = {4: (48, 64, 96, 128), 6: (16, 20, 24, 32), 8: (8, 10, 12, 14)}[composition.order]
    right, found = TIME.reference((0.0, 1.0, 2.0)), []
    for count in counts:
        run = ph.solve(TIME.problem, (0, 2), method=method, dt=2 / count, save_every=count // 2)
        found.append(errors(run, *right))
    steps = [2 / count for count in counts]
    for of_one in np.transpose(found):
        order = estimate_order(steps, of_one, floor=REFERENCE_ERROR)
        assert order == pytest.approx(composition.order, abs=0.1)
