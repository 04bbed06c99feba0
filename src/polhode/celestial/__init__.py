"""The rotations of Moon and Earth: real ones in the field of JPL's ephemeris, and model ones.

Examples
--------
>>> import polhode as ph
>>> earth = ph.celestial.rigid_earth_model()
>>> run = ph.solve(earth, (0, 1), rtol=1e-9)  # a sidereal day
>>> run.success
True
"""

from polhode.celestial.ephemeris import de421
from polhode.celestial.layers import layered_moon
from polhode.celestial.libration import moon, moon_residuals
from polhode.celestial.model_orbits import rigid_earth_model, rigid_moon_model
from polhode.celestial.nutation import core_resonance, earth_nutations
from polhode.celestial.precession import earth, earth_residuals
from polhode.celestial.shape import moon_by_shape

__all__ = [
    "core_resonance",
    "de421",
    "earth",
    "earth_nutations",
    "earth_residuals",
    "layered_moon",
    "moon",
    "moon_by_shape",
    "moon_residuals",
    "rigid_earth_model",
    "rigid_moon_model",
]
