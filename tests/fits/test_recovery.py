"""Fits of random problems recover the truth, as well as they say."""

import numpy as np
import pytest
from scipy.special import chdtr
from scipy.stats import kstest

import polhode as ph
from support.fits import METHOD, SPAN, distance, disturbed, observed, top

COUNT = 200
FREE = ["state", "moments", "model.strength"]


def random_top(rng):
    """A body that tumbles under a torque that shows."""
    second = rng.uniform(0.3, 1.5, 3)  # moments of mass, from which every body comes
    moments = second.sum() - second
    omega = rng.uniform(1.0, 3.0, 3) * rng.choice([-1.0, 1.0], 3)
    return top(moments, rng.uniform(1.0, 3.0), omega)


@pytest.fixture(scope="module")
def fits():
    """(fit, truth) of each problem, from starts 1 % off."""
    rng = np.random.default_rng(18)
    found = []
    for _ in range(COUNT):
        truth = random_top(rng)
        seen = observed(truth, rng)
        sets = [seen.attitudes(), seen.rates(offset=0.02, bias=True)]
        start = disturbed(truth, rng)
        trace = "trace of inertia"
        scale = np.trace(truth.body.inertia) / np.trace(start.body.inertia)
        start = ph.Problem(
            ph.RigidBody(scale * start.body.principal_moments),
            start.model,
            attitude=start.attitude,
            scalar_first=True,
            omega=start.omega,
        )
        fit = ph.fit(start, sets, free=FREE, hold=trace, t_span=SPAN, **METHOD)
        found.append((fit, truth))
    return found


def error(fit, truth):
    """Fitted numbers less true ones; the bias is the last of them."""
    values = dict(fit.values)
    bias = values.pop("rates.bias")
    kept = type("Values", (), {"values": values})
    return np.r_[distance(kept, truth), 0.02 - bias]


def test_all_converge(fits):
    assert all(fit.success for fit, _ in fits)
    assert max(fit.iterations for fit, _ in fits) < 20


def test_errors_have_the_covariance_that_fits_say(fits):
    """The errors of a fit, divided by its covariance, are a χ² of the free unknowns."""
    free = len(fits[0][0].names) - 1
    total = 0.0
    for fit, truth in fits:
        wrong, sizes = error(fit, truth), np.sqrt(np.diag(fit.covariance))
        total += wrong / sizes @ np.linalg.pinv(fit.correlations, rcond=1e-12) @ (wrong / sizes)
    assert 1e-3 < chdtr(free * COUNT, total) < 1 - 1e-3


def test_pulls_of_each_unknown_are_normal(fits):
    pulls = np.array([error(f, truth) / np.sqrt(np.diag(f.covariance)) for f, truth in fits])
    for name, column in zip(fits[0][0].names, pulls.T, strict=True):
        assert kstest(column, "norm").pvalue > 1e-3, name


def test_residuals_are_a_chi_square_of_the_degrees_of_freedom(fits):
    total, freedom = (
        sum(getattr(f, k) for f, _ in fits) for k in ("chi_square", "degrees_of_freedom")
    )
    assert 1e-3 < chdtr(freedom, total) < 1 - 1e-3
    pulls = np.concatenate([np.ravel(p) for fit, _ in fits for p in fit.pulls.values()])
    assert kstest(pulls[::7], "norm").pvalue > 1e-3
    assert sum(len(places) for fit, _ in fits for places in fit.outliers.values()) < 10


# ---- far starts
def test_a_start_that_loses_the_phase_is_fitted_on_growing_arcs(rng, monkeypatch):
    """Twenty seconds of a free tumble, from moments and rates that are 20 to 45 % off."""
    times = np.arange(0.0, 20.0, 0.2)
    truth = ph.Problem(ph.RigidBody([2.0, 3.0, 4.2]), omega=[0.5, 1.0, 0.3])
    run = observed(truth, rng, times, (0.0, 20.0), method="mr2", dt=0.1).run
    noise = 1e-3 * rng.normal(size=run.omega.shape)
    gyro = ph.observe.rates(run.t, run.omega + noise, sigma=1e-3, bias=True)
    start = ph.Problem(ph.RigidBody([2.9, 3.0, 5.2]), omega=[0.6, 1.0, 0.4])
    given = {"free": ["omega", "moments"], "hold": "moments.I2", "method": "mr2", "dt": 0.1}
    fit = ph.fit(start, gyro, **given)
    assert fit.success
    assert fit.chi_square < 1.3 * fit.degrees_of_freedom
    assert np.abs(fit.values["moments"] - [2.0, 3.0, 4.2]).max() < 0.02
    monkeypatch.setattr("polhode.fits.search.SHARES", (1.0,))
    at_once = ph.fit(start, gyro, **given)
    assert not at_once.success
    assert at_once.chi_square > 1e6
