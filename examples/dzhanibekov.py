"""The Dzhanibekov effect: a book spun about its middle axis turns over, again and again.

The rates of a free body have the period 4K/λ, with an elliptic integral K; in this time, the body
turns over twice.  The closer it starts to the middle axis, the closer the motion is to the
separatrix, and the longer it takes between flips: K grows as the logarithm of the distance.
"""

import math

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import brentq
from scipy.special import ellipkm1

import polhode as ph
from polhode import plot
from polhode.plot import style

BOOK = ph.RigidBody([0.0019867, 0.0039, 0.0057667], mass=0.8)  # 24 cm × 17 cm × 3 cm
SPIN = 8.0  # rad/s about the middle axis, which has I2


def between_flips(omega):
    """Return 2K/λ in closed form; K takes the complement of the parameter, not the parameter."""
    i1, i2, i3 = BOOK.principal_moments
    m1, m2, m3 = (BOOK.principal_moments * omega) ** 2
    d1 = m2 * (i2 - i1) / i2 + m3 * (i3 - i1) / i3
    d3 = m1 * (i3 - i1) / i1 + m2 * (i3 - i2) / i2
    d2 = m3 * (i3 - i2) / i3 - m1 * (i2 - i1) / i1  # 0 on the separatrix
    most = max(d1 * (i3 - i2), d3 * (i2 - i1))
    return 2 * ellipkm1(abs(d2) * (i3 - i1) / most) * math.sqrt(i1 * i2 * i3 / most)


def flips(run):
    """Return the times at which the rate about the middle axis changes sign."""

    def middle(t):
        return ph.exact_free_motion(BOOK, None, run.omega[0], t).omega[0, 1]

    places = np.flatnonzero(np.diff(np.sign(run.omega[:, 1])))
    return np.array([brentq(middle, *run.t[[k, k + 1]], xtol=1e-13, rtol=1e-15) for k in places])


def start(tilt, axis):
    """Return the rate, ``tilt`` radians off the middle axis towards ``axis``."""
    omega = np.array([0.0, math.cos(tilt), 0.0])
    omega[axis] = math.sin(tilt)
    return SPIN * omega


run = ph.exact_free_motion(BOOK, None, start(1e-3, 0), np.linspace(0, 16, 4001))
times = flips(run)
measured, closed = np.diff(times).mean(), between_flips(run.omega[0])
print(run)
print(f"{len(times)} flips, {measured:.12f} s apart; in closed form {closed:.12f} s")
assert np.allclose(np.diff(times), closed, rtol=1e-11)
run.save("dzhanibekov.nc")

tilts = 10.0 ** -np.arange(1, 13)
waits = {}
for axis in (0, 2):  # on either side of the separatrix
    for tilt in tilts:
        omega = start(tilt, axis)
        wait = between_flips(omega)
        found = flips(ph.exact_free_motion(BOOK, None, omega, np.linspace(0, 1.7 * wait, 99)))
        waits[axis, tilt] = found[1] - found[0], wait
off = max(abs(found / wait - 1) for found, wait in waits.values())
print(f"{len(waits)} initial states down to 1e-12 rad: the two agree to {off:.0e}")
assert off < 1e-11

sheet = Figure(figsize=(10, 3.6), layout="constrained")
left, right = sheet.subplots(1, 2, width_ratios=(3, 2))
plot.rates(run, left)
style.dress(left, "A book, 0.001 rad off its middle axis", "time (s)", "rate (rad/s)")
for time in times:
    left.axvline(time, color=style.GREY, linewidth=0.8, linestyle=(0, (1, 2)))
style.dress(right, "Time between two flips", "distance from the middle axis (rad)", "time (s)")
for axis, colour in ((0, style.BLUE), (2, style.GREEN)):
    line = np.logspace(-12.3, -0.7, 200)
    right.plot(line, [between_flips(start(x, axis)) for x in line], color=colour, linewidth=1)
    found = [waits[axis, tilt][0] for tilt in tilts]
    right.plot(tilts, found, "o", ms=4, color=colour, label=f"towards axis {axis + 1}")
right.plot([], [], color=style.GREY, linewidth=1, label="2K/λ")
right.set_xscale("log")
style.legend(right, "inside")
plot.save(left, "dzhanibekov.png", dpi=130)
