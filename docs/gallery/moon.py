r"""The Moon, against JPL.

The Moon shows us always the same face, but not quite: on an inclined ellipse it swings from side to
side, and up and down, so that within a year we see 59 % of it. Below is where the Earth's centre stands in the
sky of the Moon, in the longitude and latitude over which it is overhead, from an integration of the
Moon's rotation through the year 2000 in the field of Earth and Sun,

$$
\frac{d\mathbf m}{dt} = \sum_{\text{Earth, Sun}} \mathbf x \times \nabla V_{n \le 4} ,
$$

with the positions of JPL's ephemeris DE421. JPL's own librations, which laser ranging confirms, tell
the error. A rigid Moon departs by {{rigid}} milliarcseconds (rms over the year, 8 mm on the surface each), one
whose mantle alone turns by {{mantle}}, and one with all terms of JPL's model, tides and a fluid
core among them, by {{de421}}, most of it in the polynomials in which JPL's result is stored
([more](../guide/moon.md)). Needs `pip install 'polhode[celestial]'`.
"""

import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

DAYS, MODELS = 366, ("rigid", "mantle", "de421")  # quick: 366, ("mantle",)
start, day = "2000-01-01", 86400.0
ask = {"method": "extrapolation", "rtol": 1e-12, "t_eval": np.arange(DAYS + 1) * day}
runs = {}
for name in MODELS:
    if name == "de421":
        runs[name] = ph.celestial.layered_moon(start).solve((0, DAYS * day), **ask)
    else:
        moon = ph.celestial.moon(start, mantle=name == "mantle")
        runs[name] = ph.solve(moon, (0, DAYS * day), **ask)
run = runs["mantle"]
gaps = {name: 1e3 * ph.celestial.moon_residuals(one, start) for name, one in runs.items()}
rms = {name: np.sqrt((gap**2).sum(axis=1).mean()) for name, gap in gaps.items()}
view = {"tolerance": 0.003}

# ---- picture
# Left: the point under the Earth moves on a tangle of ellipses, eight degrees to each side and seven up
# and down. Right: on a logarithmic axis, three models of the Moon depart from JPL's by a second of arc,
# a tenth, and less than a ten-thousandth.
import de421
from jplephem.ephem import Ephemeris

fig, (left, right) = plt.subplots(1, 2)
fine = run.sol(np.linspace(0, DAYS * day, 4001))
place = Ephemeris(de421).position("moon", 2451544.5, fine.t / day).T  # from the Earth, km
x, y, z = -fine.to_body(place).T
left.plot(np.degrees(np.arctan2(y, x)), np.degrees(np.arctan2(z, np.hypot(x, y))), linewidth=1)
left.set(title="The Earth over the Moon", xlabel="longitude (degrees)", ylabel="latitude (degrees)")
left.set(aspect="equal")
for name, gap in gaps.items():
    right.semilogy(run.t / day, np.linalg.norm(gap, axis=1), label=name)
right.set(title="Departure from JPL's librations", xlabel="day of 2000", ylabel="milliarcseconds")
right.legend()
plt.show()

# ---- checks
bounds = {"rigid": 2000.0, "mantle": 150.0, "de421": 0.1}
checks = {
    f"{name}: attitude on {DAYS} days, against JPL's DE421, rms in milliarcseconds": (
        value,
        bounds[name],
    )
    for name, value in rms.items()
}
measured = {name: f"{value:.2g}" if value < 1 else f"{value:.0f}" for name, value in rms.items()}
