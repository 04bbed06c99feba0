"""Kepler's equation, against mpmath."""

import mpmath as mp
import numpy as np
import pytest

from polhode.kernels.kepler import MOST, eccentric_anomaly

MEANS = [0.0, *np.geomspace(1e-9, np.pi, 60), *np.linspace(-np.pi, 0, 40)[:-1]]


@pytest.mark.parametrize("e", [0.0, 0.1, 0.5, 0.9, MOST])
def test_it_is_solved_to_rounding(e):
    """An error of E is one of M, divided by dM/dE = 1 - e cos E; M has that of its rounding."""
    for mean in map(float, MEANS):
        found = eccentric_anomaly(mean, e)
        with mp.workdps(40):
            exact = mp.findroot(lambda x, m=mean: x - mp.mpf(e) * mp.sin(x) - m, found)
            slope = float(1 - mp.mpf(e) * mp.cos(exact))
            error = abs(float(exact - mp.mpf(found)))
        assert error <= 4.5e-16 * max(abs(found), abs(mean)) / slope, mean


def test_it_converges_everywhere():
    """On a fine grid the sides of the equation differ by rounding."""
    for e in (0.3, 0.7, 0.95, MOST):
        for mean in np.linspace(-np.pi, np.pi, 3001).tolist():
            found = eccentric_anomaly(mean, e)
            assert abs(found - e * np.sin(found) - mean) < 2e-15


def test_whole_turns_are_left_out():
    assert eccentric_anomaly(1.0 + 2 * np.pi * 1000, 0.3) == pytest.approx(
        eccentric_anomaly(1.0, 0.3), abs=1e-12
    )
    assert eccentric_anomaly(0.7, 0.0) == 0.7
    assert eccentric_anomaly(-0.7, 0.4) == -eccentric_anomaly(0.7, 0.4)
