r"""Error against work.

Which method for which accuracy? `ph.compare` runs one motion with several methods and steps, measures
the error of the attitude at the end against a reference of its own, and counts evaluations of the
torque. Here a heavy top without symmetry turns for five seconds. The error of a method of order $p$
falls as a power of the work $W$,

$$
\varepsilon \propto W^{-p} ,
$$

until only rounding is left. Methods of low order are cheap for pictures; the more digits are asked for,
the higher the order that wins ([more](../guide/choose-a-method.md)).
"""

import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

moments = 4.0, 5.0, 2.0
top = ph.Problem(ph.RigidBody(moments), ph.models.heavy_top(20.0), omega=[1.0, 2.0, 9.0], name="top")
methods = ["imidm", "strang", "mr4", "strang4", "strang6", "strang8"]
found = ph.compare(top, (0, 5), methods=methods, dts=0.1 / 2.0 ** np.arange(9), repeats=1)
work = {name: [row for row in found.rows if row.method == name and row.error] for name in methods}
run = ph.solve(top, (0, 5), method="strang6", dt=0.01)
view = {"show": {"poinsot": False}}

# ---- picture
# Errors over evaluations of the torque, both logarithmic: lines of slopes 2 to 8 that cross, and end at
# 1e-13.
fig, ax = plt.subplots(figsize=(6.6, 4.2))
for name, rows in work.items():
    torques, errors = [row.torques for row in rows], [row.error for row in rows]
    ax.loglog(torques, errors, "o-", markersize=4, label=f"{name}, order {ph.METHODS[name].order}")
ax.set(title="A top, five seconds", xlabel="evaluations of the torque", ylabel="error (rad)")
ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
plt.show()

# ---- checks
from scipy.integrate import solve_ivp

A, B, C = moments


def slopes(t, y):
    """Euler's equations with a quaternion, as they are in books."""
    (w, i, j, k), (p, q, r) = y[:4], y[4:]
    x, y = 2 * (i * k - w * j), 2 * (j * k + w * i)  # of the vertical
    turning = -i * p - j * q - k * r, w * p + j * r - k * q, w * q + k * p - i * r, w * r + i * q - j * p
    rates = ((B - C) * q * r + 20 * y) / A, ((C - A) * r * p - 20 * x) / B, (A - B) * p * q / C
    return [*(0.5 * x for x in turning), *rates]


start = [*top.attitude, *top.omega]
q = solve_ivp(slopes, (0, 5), start, "DOP853", rtol=3e-14, atol=1e-14).y[:4, -1]
best = ph.solve(top, (0, 5), method="strang8", dt=0.1 / 2**6).q[-1]
apart = np.linalg.norm(best * np.sign(best @ q) - q / np.linalg.norm(q))
off = []
for name, rows in work.items():
    points = np.log([[row.torques, row.error] for row in rows if 1e-11 < row.error < 1e-4])
    if len(points) > 2:
        slope = -np.median(np.diff(points[:, 1]) / np.diff(points[:, 0]))
        off.append(abs(slope - ph.METHODS[name].order))
checks = {
    "attitude by strang8, against SciPy's DOP853, rad": (
        2 * apart,
        1e-10,
    ),
    f"slopes of {len(off)} lines, against the orders of their methods": (max(off), 0.5),
}
