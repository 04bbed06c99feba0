r"""Krysl's fast top.

Figure 3 of Krysl (2006): errors of seven methods of second order, on a top that spins at 50 rad/s. Two
of them, IMIDM and TRAPM, are new there. They are the two halves of one idea: Euler steps forward and
back that preserve the momentum, composed one way or the other,

$$
\Phi^{\mathrm{IMIDM}}_h = \Phi^{+}_{h/2} \circ \Phi^{-}_{h/2}, \qquad
\Phi^{\mathrm{TRAPM}}_h = \Phi^{-}_{h/2} \circ \Phi^{+}_{h/2} ,
$$

so that each is the other one seen half a step later. All errors fall as $h^2$, and theirs are
{{lead}} times smaller than those of the best of the others, as the paper says. The
[page of the paper](../papers/krysl2006.md) judges all its statements;
`polhode reproduce krysl2006` draws all its figures.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import polhode as ph

PRESENT, OTHERS = ["imid", "trap", "imidm", "trapm"], ["akw", "bbtrap", "swc1"]
COUNTS = [2000, 4000, 8000, 16000, 32000]  # quick: [16000, 32000]
top = ph.problems.fast_top()
A, _, C = top.body.principal_moments


def slopes(t, y):
    """Krysl's (7), for a quaternion and the momentum of the body: no code of the library."""
    w, i, j, k, a, b, c = y
    p, q, r = a / A, b / A, c / C
    turning = -i * p - j * q - k * r, w * p + j * r - k * q, w * q + k * p - i * r, w * r + i * q - j * p
    torque = b * r - c * q + 40 * (j * k + w * i), c * p - a * r - 40 * (i * k - w * j), a * q - b * p
    return [*(0.5 * x for x in turning), *torque]


start = [*top.attitude, *top.angular_momentum]
end = solve_ivp(slopes, (0, 10), start, "DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
right = Rotation.from_quat(end[:4], scalar_first=True)


def error(method, count):
    """The angle between attitudes after ten seconds."""
    run = ph.solve(top, (0, 10), method=method, dt=10 / count, save_every=count)
    return (right.inv() * run.rotation[-1]).magnitude()


errors = {name: [error(name, n) for n in COUNTS] for name in OTHERS + PRESENT}
run = ph.solve(top, (0, 2), method="imidm", dt=0.002)
view = {"show": {"poinsot": False}, "tolerance": 0.02}

# ---- picture
# Errors over the step, both logarithmic: seven lines of slope 2; the two lowest coincide.
fig, ax = plt.subplots(figsize=(6.6, 4.2))
steps, marks = 10 / np.array(COUNTS), iter("XsDv^po")
for name in OTHERS + PRESENT:
    line = "-" if name in PRESENT else "--"
    ax.loglog(steps, errors[name], line, marker=next(marks), markersize=5, label=name.upper())
ax.set(title="The fast top after ten seconds", xlabel="step (s)", ylabel="error of the attitude (rad)")
ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
plt.show()

# ---- checks
best = {name: errors[name][-1] for name in errors}
lead = min(best[name] for name in [*OTHERS, "imid", "trap"]) / max(best["imidm"], best["trapm"])
orders = [np.log2(e[-2] / e[-1]) for e in errors.values()]
checks = {
    "orders of all seven, against 2": (max(abs(order - 2) for order in orders), 0.05),
    "IMIDM over TRAPM, against 1": (abs(best["imidm"] / best["trapm"] - 1), 0.05),
    "the next best over these two, against 5.9 of the page of the paper": (abs(lead - 5.9), 0.5),
}
measured = {"lead": f"{lead:.1f}"}
