"""The shape of the Moon from its librations, with JPL's DE421 as the observer.

The Moon's β = (C - A)/B and γ = (B - A)/C, its attitude and its angular momentum are fitted to ten
years of DE421's librations, from a start in which all of them are 1 % off.  The standard deviation
of the observations is the known error of the model, 0.026 milliarcseconds; the constants of DE421
itself are the truth.
"""

from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode import plot

DAY, YEARS = 86400.0, 10
MAS = np.pi / 648e6  # rad
FREE = ["attitude", "mantle", "beta", "gamma"]

source = ph.celestial.de421()
epoch = source.constants["JDEPOC"]  # 1969-06-28, where DE421 gives the state of the core
moon = ph.celestial.moon_by_shape(epoch)
times = np.arange(0.0, YEARS * 365.25, source.interval("librations")) * DAY  # no interpolation
angles, _ = source.librations(epoch, times)
seen = ph.observe.attitudes(times, Rotation.from_euler("ZXZ", angles), sigma=0.026 * MAS)

turn = Rotation.from_rotvec([0.01, -0.01, 0.01])
start = replace(
    moon,
    attitude=Rotation.from_quat(moon.attitude, scalar_first=True) * turn,
    scalar_first=None,
    variables={**moon.variables, "mantle": np.array(moon.variables["mantle"]) * [0.99, 1.01, 1.01]},
    params={
        **moon.params,
        "beta": 1.01 * moon.params["beta"],
        "gamma": 0.99 * moon.params["gamma"],
    },
)
fit = ph.fit(start, seen, free=FREE, method="extrapolation", rtol=1e-12)
print(fit)
plot.save(fit.plot(), "moon_fit.png", dpi=110)

for name in ("beta", "gamma"):
    value, sigma = fit.value_of(name)
    pull = (value - moon.params[name]) / sigma
    print(f"{name:5} {value:.13f} ± {sigma:.1e}, DE421 has {moon.params[name]:.13f}: {pull:+.1f} σ")
    assert abs(pull) < 3.0
pulls = (fit.values["mantle"] - moon.variables["mantle"]) / fit.standard_deviations["mantle"]
print(f"angular momentum of the mantle: {np.abs(pulls).max():.1f} σ at most")
turned = fit.values["attitude"].inv() * Rotation.from_quat(moon.attitude, scalar_first=True)
print(f"attitude: {turned.magnitude() / MAS:.4f} milliarcseconds from DE421's")
assert fit.success
assert np.abs(pulls).max() < 3.0
