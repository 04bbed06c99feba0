"""Traces of heavy tops on the sphere: loops, cusps and waves, and a chaotic one.

The axis of a symmetric top (moments A, A, C; spin momentum a = C ω₃, momentum b about the vertical,
V = s cos θ) moves between two circles.  With u = cos θ and E the energy minus a²/2C,

    u'² = f(u) = 2/A (E - s u)(1 - u²) - (b - a u)²/A²

and the circles are the two roots of the cubic in [-1, 1].  The precession reverses where u = b/a:
if this lies between the circles, the axis makes loops; on the upper circle, cusps; beyond it,
waves.
"""

import math

import numpy as np
from matplotlib.figure import Figure
from scipy.interpolate import CubicHermiteSpline
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode import plot
from polhode.plot import style

A, C, WEIGHT, SPIN, TILT = 5.0, 1.0, 20.0, 25.0, math.radians(40)


def lagrange_top(precession):
    """Return a top that starts with its spin and a rate of precession about the vertical only."""
    return ph.Problem(
        ph.RigidBody([A, A, C]),
        ph.models.heavy_top(WEIGHT),
        attitude=Rotation.from_rotvec([TILT, 0, 0]),
        omega=[0, precession * math.sin(TILT), SPIN],
        name=f"lagrange-top{precession:+g}",
    )


def circles(run):
    """Return the roots of f in [-1, 1], from the initial state."""
    a, b = run.angular_momentum[0, 2], run.angular_momentum_inertial[0, 2]
    energy = run.energy[0] - a * a / (2 * C)
    f = np.polymul([-2 * WEIGHT / A, 2 * energy / A], [-1, 0, 1])
    f = np.polysub(f, np.polymul([-a, b], [-a, b]) / A**2)
    return np.sort(np.roots(f).real)[:2]


def turning_points(run):
    """Return the extremes of u along the run, also between its states."""
    down = run.rotation.inv().apply([0, 0, 1])  # the vertical in body axes
    slope = down[:, 0] * run.omega[:, 1] - down[:, 1] * run.omega[:, 0]
    u = CubicHermiteSpline(run.t, down[:, 2], slope)
    values = u(u.derivative().roots(extrapolate=False))
    return values.min(), values.max()


sheet = Figure(figsize=(10, 3.4), layout="constrained")
for name, precession, ax in zip(
    ("Loops", "Cusps", "Waves"), (-0.8, 0.0, 0.45), sheet.subplots(1, 3), strict=True
):
    run = ph.solve(lagrange_top(precession), (0, 7.5), method="strang6", dt=0.005)
    low, high = circles(run)
    found = turning_points(run)
    print(f"{name}: θ between {math.degrees(math.acos(high)):.8f} and", end=" ")
    print(f"{math.degrees(math.acos(low)):.8f}°; run and roots differ by", end=" ")
    print(f"{max(abs(found[0] - low), abs(found[1] - high)):.0e} in cos θ")
    assert np.allclose(found, (low, high), atol=1e-9)  # the accuracy of the spline
    tilts = np.degrees(np.arccos([low, high]))
    style.dress(run.plot("trace", ax, view=(62, -75), tilts=tilts), name)
plot.save(ax, "tops.png", dpi=130)

# An asymmetric top: neighbours separate exponentially
CENTRE = (0.5, 0.0, 1.0)
runs = []
for shift in (0.0, 1e-10):
    problem = ph.Problem(
        ph.RigidBody([2.0, 3.0, 4.5]),
        ph.models.heavy_top(WEIGHT, CENTRE),
        attitude=Rotation.from_rotvec([0.7 + shift, 0, 0]),
        omega=[0, 0, 3],
        name="chaotic-top",
    )
    runs.append(ph.solve(problem, (0, 60), method="strang6", dt=0.01))
first, second = runs
apart = (first.rotation * second.rotation.inv()).magnitude()
drift = np.abs(first.energy / first.energy[0] - 1).max()
growing = (first.t > 0) & (apart < 1e-2) & (first.t < 30)
rate = np.polyfit(first.t[growing], np.log(apart[growing]), 1)[0]
print(first)
print(f"chaotic top: neighbours separate as exp({rate:.2f} t); energy conserved to {drift:.0e}")
assert apart.max() > 1
assert 0.3 < rate < 1.5
first.save("chaotic-top.nc")

sheet = Figure(figsize=(10, 3.9), layout="constrained")
left, right = sheet.subplots(1, 2, width_ratios=(2, 3))
style.dress(first.plot("trace", left, point=CENTRE), "Path of the centre of mass")
style.dress(right, "Two tops that start 1e-10 apart", "time (s)", "angle between them (rad)")
right.semilogy(first.t, apart, color=style.BLUE, linewidth=1, label="chaotic top")
still = [ph.solve(lagrange_top(x), (0, 60), method="strang6", dt=0.01) for x in (0.0, 1e-10)]
apart = (still[0].rotation * still[1].rotation.inv()).magnitude()
right.semilogy(first.t[1:], apart[1:], color=style.GREEN, linewidth=1, label="symmetric top")
style.legend(right, "inside")
plot.save(left, "chaotic-top.png", dpi=130)
