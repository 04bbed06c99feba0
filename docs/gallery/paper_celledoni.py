r"""Celledoni and Säfström's heavy top.

Figures 4 and 5 of Celledoni & Säfström (2006): the vertical, as a fast top without symmetry sees it. The
top is large and gravity weak, so the motion is nearly free, and a splitting can profit from that:

$$
\Phi_h = \varphi^{\mathrm{torque}}_{h/2} \circ \varphi^{\mathrm{free}}_h \circ \varphi^{\mathrm{torque}}_{h/2} .
$$

Methods differ in how they compute the free flow $\varphi^{\mathrm{free}}_h$. McLachlan and Reich's
MR turns about one principal axis after the other. The paper's SEJ and SEJ4 take the exact momentum, by
Jacobi's functions, and a quadrature for the attitude. `strang` computes both exactly. With ten steps a second,
MR leaves the region that the vertical covers, and its error of the energy is {{energy}} times that of SEJ4. The
[page of the paper](../papers/celledoni2006.md) has every statement, and
`polhode reproduce celledoni2006` every figure.
"""

import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

END, H = 100.0, 0.1  # quick: 20.0, 0.1
top = ph.problems.celledoni_heavy_top()
methods = {"MR": "mr2", "SEJ": "sej", "SEJ4": "sej4", "exact flow": "strang"}
runs = {label: ph.solve(top, (0, END), method=name, dt=H) for label, name in methods.items()}
exact = ph.solve(top, (0, END), rtol=1e-13, t_eval=np.arange(0.0, END, 0.01))


def vertical(run):
    """The direction of gravity in the axes of the body."""
    return run.to_body([0.0, 0.0, 1.0])


def drift(run):
    return run.energy - run.energy[0]


run = ph.solve(top, (0, 5), method="strang", dt=0.01)
view = {"show": {"poinsot": False}}

# ---- picture
# Four spheres seen from the side: the region that the vertical covers on the body, exact in grey. With MR
# it covers twice as much; SEJ leaves the region a little, SEJ4 and the exact flow stay in it. Below, the error of
# the energy over time: 10 000 to 200 000 J with MR, below 1 J with the others.
fig, axes = plt.subplots(2, 4, figsize=(8.8, 4.6), height_ratios=(3, 2), sharex="row", sharey="row")
side = vertical(exact)[:, [0, 2]]
for k, (label, found) in enumerate(runs.items()):
    above, below = axes[:, k]
    above.plot(*side.T, color="0.6", linewidth=0.5)
    above.plot(*vertical(found)[:, [0, 2]].T, ".", color=f"C{k}", markersize=2)
    above.set(title=label, aspect="equal", xticks=[], yticks=[])
    above.grid(False)
    below.semilogy(found.t[1:], np.abs(drift(found))[1:], color=f"C{k}", linewidth=0.5)
    below.set(xlabel="time (s)", ylim=(1e-3, 1e6))
axes[1, 0].set_ylabel("energy error (J)")
plt.show()

# ---- checks
from scipy.integrate import solve_ivp

i1, i2, i3 = top.body.principal_moments


def slopes(t, y):
    """The vertical u and the momentum m in the axes of the body, by themselves: u × ω, m × ω + u × e₃."""
    u1, u2, u3, m1, m2, m3 = y
    w1, w2, w3 = m1 / i1, m2 / i2, m3 / i3
    turned = u2 * w3 - u3 * w2, u3 * w1 - u1 * w3, u1 * w2 - u2 * w1
    return *turned, m2 * w3 - m3 * w2 + u2, m3 * w1 - m1 * w3 - u1, m1 * w2 - m2 * w1


# With tolerances of 1e-12 either would be wrong by 1e-8: the top turns by more than a thousand radians.
start, last = [*vertical(exact)[0], *top.angular_momentum], exact.t[-1]
other = solve_ivp(slopes, (0, last), start, "DOP853", rtol=1e-13, atol=1e-13).y[:3, -1]
apart = np.linalg.norm(vertical(exact)[-1] - other)


def strays(run):
    """How far a run comes from the exact curve, at most."""
    from scipy.spatial import cKDTree

    return cKDTree(vertical(exact)).query(vertical(run))[0].max()


largest = {label: np.abs(drift(found)).max() for label, found in runs.items()}
checks = {
    "the vertical at the end, against SciPy's DOP853": (apart, 1e-8),
    "SEJ4, from the exact curve": (strays(runs["SEJ4"]), 0.3),
    "exact flow, from the exact curve": (strays(runs["exact flow"]), 0.1),
    "1 over the distance of MR from it: MR loses it": (1 / strays(runs["MR"]), 1 / 0.3),
}
energy = round(largest["MR"] / largest["SEJ4"], -5)
measured = {"energy": f"{energy:,.0f}".replace(",", " ")}
