r"""The Earth, against the IAU.

The Earth's axis precesses in 26 000 years, because Moon and Sun pull at its bulge, and nods on the way:
the largest of its nutations has an amplitude of 9″ and a period of 18.6 years, in which the Moon's node goes round.
A rigid, triaxial Earth with the moments $A < B < C$ in the field of DE421 feels

$$
\mathbf T = \sum_{\text{Moon, Sun}} \frac{3 G M}{r^3}\; \mathbf u \times I \mathbf u .
$$

It starts as IAU 2006/2000A has it, and its pole is compared with that of the IAU, which follows from
decades of very long baseline interferometry. After {{years}} years and {{turns}} rotations the two differ
by {{rms}} milliarcseconds (rms without trend; each is 3 cm on the ground), a three-hundredth of the
nutation. Most of that is the fluid core, which this Earth does not have: the ratios of the nutations show
its free nutation, of {{core}} days ([more](../guide/earth.md)). Needs
`pip install 'polhode[celestial]'`.
"""

import erfa
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

YEARS = 19  # quick: 2
start, day = "1975-01-01", 86400.0
days = np.arange(round(YEARS * 365.25) + 1)
run = ph.solve(
    ph.celestial.earth(start),
    (0, days[-1] * day),
    method="extrapolation",
    rtol=1e-12,
    t_eval=days * day,
)
gaps = ph.celestial.earth_residuals(run, start)  # of the pole's X and Y, milliarcseconds
rms = np.sqrt((gaps**2).sum(axis=1).mean())


def nod(x, y):
    """Of a pole: what is left of it in arcseconds without the precession of IAU 2006."""
    t = (days + 2442413.5 - 2451545.0) / 36525
    mean = 2004.191898 * t - 0.4297829 * t**2, -0.025896 * t - 22.4072747 * t**2
    return [np.degrees(values) * 3600 - part for values, part in zip((x, y), mean, strict=True)]


# ---- picture
# Left: the pole draws an ellipse of nine by seven arcseconds with small loops, and that of the IAU lies on
# it. Right: differences of the two poles over time, some tens of milliarcseconds.
fig, (left, right) = plt.subplots(1, 2, width_ratios=(2, 3))
m = run.angular_momentum_inertial / np.linalg.norm(run.angular_momentum_inertial, axis=1)[:, None]
left.plot(*nod(m[:, 0], m[:, 1]), linewidth=2.5, alpha=0.5, label="rigid Earth")
x, y, _ = erfa.xys06a(2442413.5, days)
left.plot(*nod(x, y), linewidth=0.8, label="IAU")
left.set(title="Nutation", xlabel="X (arcseconds)", ylabel="Y (arcseconds)", aspect="equal")
left.set(xlim=(-9, 9), ylim=(-11.5, 11.5))
left.legend(loc="center")
right.plot(1975 + days[::4] / 365.25, gaps[::4], linewidth=0.8, label=["X", "Y"])
right.set(title="Less that of the IAU", xlabel="year", ylabel="milliarcseconds")
right.set_xticks(range(1975, 1995, 5))
right.legend()
plt.show()

# ---- checks
trend = np.polyfit(days, m[:, 0], 1)[0] - np.polyfit(days, x, 1)[0]
precession = np.polyfit(days, x, 1)[0]
checks = {
    "pole, against IAU 2006/2000A by pyerfa, rms in milliarcseconds": (rms, 50.0),
    "precession in X, likewise, relative": (abs(trend / precession), 1e-3),
}
long = YEARS >= 18
terms = ph.celestial.earth_nutations(run, start) if long else []
period = abs(ph.celestial.core_resonance(terms).period) if long else 430.0
checks["free nutation of the core, against 430 days (Mathews, Herring and Buffett), days"] = (
    abs(period - 430.0),
    10.0,
)
measured = {
    "years": YEARS,
    "turns": f"{days[-1] * 1.0027379:.0f}",
    "rms": f"{rms:.0f}",
    "core": f"{period:.0f}",
}
