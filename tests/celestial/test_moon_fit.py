"""The Moon's β and γ from DE421's librations."""

from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.celestial import layered, shape
from polhode.celestial.layers import layered_moon

DAY = 86400.0
EPOCH = 2440400.5  # of DE421, where its core is known
SIGMA = 0.026e-3 * np.pi / 648000.0  # rad, the known error of the model over 50 years


def test_rates_by_shape_are_those_of_the_layers_at_the_constants():
    """Moments follow from β and γ by (1) of ``libration`` in another order of operations."""
    moon, named = layered_moon(EPOCH), ph.celestial.moon_by_shape(EPOCH)
    y, params = (moon.mantle, moon.core), tuple(named.params.values())
    omega, (mantle, core) = shape.rates(3e5, moon.attitude, y, params)
    own = layered.rates(3e5, moon.attitude, y, (moon.numbers, moon.body, moon.tables))
    assert np.allclose(omega, own[0], rtol=1e-13)
    assert np.allclose(mantle, own[1][0], rtol=1e-9)  # differences of moments
    assert np.allclose(core, own[1][1], rtol=1e-9)


def test_beta_and_gamma_come_from_four_years_of_librations():
    """From 0.1 % off; ``examples/moon_fit.py`` takes ten years, from 1 % off."""
    source, moon = ph.celestial.de421(), ph.celestial.moon_by_shape(EPOCH)
    t = np.arange(0.0, 1461.0, 8.0) * DAY  # where DE421's series is exact
    angles, _ = source.librations(EPOCH, t)
    seen = ph.observe.attitudes(t, Rotation.from_euler("ZXZ", angles), sigma=SIGMA)
    wrong = {"beta": moon.params["beta"] * 1.001, "gamma": moon.params["gamma"] * 0.999}
    start = replace(moon, params={**moon.params, **wrong})
    free = ["attitude", "mantle", "beta", "gamma"]
    fit = ph.fit(start, seen, free=free, method="extrapolation", rtol=1e-12)
    assert fit.success
    for name, constant in (("beta", "LBET"), ("gamma", "LGAM")):
        value, sigma = fit.value_of(name)
        assert abs(value - source.constants[constant]) < 3 * sigma < 1e-7 * value
