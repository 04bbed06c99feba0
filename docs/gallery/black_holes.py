r"""Two black holes that precess.

The orbit of two spinning black holes precesses, and their spins precess about it. With the total mass
as the unit, the orbital speed $v$, the direction $\boldsymbol\ell$ of the orbital momentum, and masses
of the reduced mass $\nu$ and the difference $\delta$, to leading order (Kidder 1995)

$$
\dot{\mathbf S}_{1,2} = v^5 \left(\tfrac34 + \tfrac{\nu}{2} \mp \tfrac34\delta\right) \boldsymbol\ell \times \mathbf S_{1,2},
\qquad \frac{\nu}{v}\,\dot{\boldsymbol\ell} = -\dot{\mathbf S}_1 - \dot{\mathbf S}_2,
\qquad \dot v = \tfrac{32}{5}\,\nu\, v^9 .
$$

The frame that follows the holes has the angular velocity
$\boldsymbol\omega = v^3 \boldsymbol\ell + \boldsymbol\ell \times \dot{\boldsymbol\ell}$, which depends on the frame itself
and on $v$ and the spins: attitude and variables are one system for `ph.integrate_angular_velocity`.
As gravitational waves carry energy away, the holes come closer: $v$ grows from 0.2 to {{end}}.
"""

import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

NU, DELTA, END = 0.24, 0.2, 2e4
start = {"v": 0.2, "S1": (0.1, 0.05, 0.08), "S2": (-0.04, 0.06, 0.02)}


def cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def precession(q, y):
    """The direction ℓ, axis 3 of the frame, and the slopes of both spins."""
    w, i, j, k = q
    v, s1, s2 = y
    axis = 2 * (i * k + w * j), 2 * (j * k - w * i), 1 - 2 * (i * i + j * j)
    one, two = cross(axis, s1), cross(axis, s2)
    a = v**5 * (0.75 + NU / 2 - 0.75 * DELTA)
    b = v**5 * (0.75 + NU / 2 + 0.75 * DELTA)
    return axis, (a * one[0], a * one[1], a * one[2]), (b * two[0], b * two[1], b * two[2])


def omega(t, q, y, params):
    """The rate of the orbit about ℓ, and what turns ℓ, in inertial axes."""
    axis, d1, d2 = precession(q, y)
    v, f = y[0], -y[0] / NU
    turn = cross(axis, (f * (d1[0] + d2[0]), f * (d1[1] + d2[1]), f * (d1[2] + d2[2])))
    w = v * v * v
    return w * axis[0] + turn[0], w * axis[1] + turn[1], w * axis[2] + turn[2]


def slope(t, q, y, params):
    _, d1, d2 = precession(q, y)
    return params[0] * 6.4 * NU * y[0] ** 9, d1, d2


def inspiral(radiates):
    return ph.integrate_angular_velocity(
        omega, (0, END), frame="inertial", variables=start, slope=slope, params=radiates, rtol=1e-13
    )


run, still = inspiral(1.0), inspiral(0.0)


def momentum(run):
    """The orbital momentum, and the sum with the spins."""
    orbital = NU / run.variables["v"][:, None] * run.to_inertial([0.0, 0.0, 1.0])
    return orbital, orbital + run.variables["S1"] + run.variables["S2"]


# ---- picture
# Left: from above, the direction of the orbital momentum moves on circles about the almost constant
# direction of the sum. Right: the components of both spins oscillate, faster and faster.
fine = run.sol(np.linspace(0, END, 3001))
fig, (left, right) = plt.subplots(1, 2)
for vector, name in zip(momentum(fine), ("orbital momentum", "with the spins"), strict=True):
    direction = vector / np.linalg.norm(vector, axis=1, keepdims=True)
    left.plot(*direction[:, :2].T, label=name)
left.set(title="Directions", xlabel="x", ylabel="y", aspect="equal")
left.legend(loc="upper left")
for name, colour in (("S1", "C0"), ("S2", "C1")):
    for k, line in enumerate(("-", "--", ":")):
        right.plot(fine.t, fine.variables[name][:, k], line, color=colour, linewidth=1)
    right.plot([], [], color=colour, label=f"$S_{name[1]}$, along x, y and z")
right.set(title="Spins", xlabel="time (total mass)", ylim=(-0.15, 0.19))
right.legend()
plt.show()

# ---- checks
from scipy.integrate import solve_ivp


def whole(t, y):
    """The equations above for v, ℓ, both spins, and axis 1 of the frame."""
    v, axis, s1, s2, first = y[0], y[1:4], y[4:7], y[7:10], y[10:]
    d1 = v**5 * (0.75 + NU / 2 - 0.75 * DELTA) * np.cross(axis, s1)
    d2 = v**5 * (0.75 + NU / 2 + 0.75 * DELTA) * np.cross(axis, s2)
    d = -v / NU * (d1 + d2)
    rate = v**3 * axis + np.cross(axis, d)
    return [6.4 * NU * v**9, *d, *d1, *d2, *np.cross(rate, first)]


y = [0.2, 0, 0, 1, *start["S1"], *start["S2"], 1, 0, 0]
other = solve_ivp(whole, (0, END), y, "DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
last = run[-1]
frame = np.append(last.to_inertial([1.0, 0.0, 0.0]), last.to_inertial([0.0, 0.0, 1.0]))
speed = (0.2**-8 - 8 * 6.4 * NU * END) ** -0.125
total = momentum(still)[1]
checks = {
    "the frame at the end, against SciPy's DOP853 for its vectors": (
        np.abs(frame - [*other[10:], *other[1:4]]).max(),
        1e-8,
    ),
    "v at the end, against the closed form": (abs(last.variables["v"][0] - speed), 1e-12),
    "momentum without radiation, largest change": (np.abs(total - total[0]).max(), 1e-12),
}
measured = {"end": f"{speed:.3f}"}
