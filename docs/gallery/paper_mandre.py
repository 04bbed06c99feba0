r"""Mandre's quaternion, normalised or not.

Mandre (2008) derives a Nyström method of fourth order for the second derivative of a quaternion. The
paper has no figure; this is the one that its text asks for. A quaternion leaves the unit sphere as
errors add up, and the paper normalises it every thousand steps. Its formulas contain $q^*$, the
conjugate, where $q^{-1} = q^*/|q|^2$ would be right for any length:

$$
\boldsymbol\omega = 2\,q^{-1}\dot q .
$$

As printed, without normalisation the error of the attitude after {{end}} s is {{gain}} times as large
as with the inverse and normalisation in each step, which is the default of `rkn4`. With the inverse it does not matter how often
the quaternion is normalised.

The order of `rkn4` is 4. It loses energy in proportion to $h^5 t$ and so falls behind by $h^5 t^2$, which is most of
its error here: halving the step divides the error of the attitude after {{end}} s by $2^{{{late}}}$. The [page of the paper](../papers/mandre2008.md) has the other findings.
"""

import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

END, H = 100.0, 0.025
body = ph.RigidBody([1.0, 2.0, 3.0])
tumbling = ph.Problem(body, omega=[1.0, 1.0, 1.0])
variants = {
    "as printed, never normalised": {"as_printed": True, "normalise_every": 0},
    "as printed, every 1000 steps": {"as_printed": True},
    "as printed, every step": {"as_printed": True, "normalise_every": 1},
    "inverse, every 1000 steps": {"normalise_every": 1000},
    "inverse, every step": {},
}
runs = {
    name: ph.solve(tumbling, (0, END), method="rkn4", dt=H, options=options)
    for name, options in variants.items()
}
run = runs["inverse, every step"]
exact = ph.exact_free_motion(body, None, [1.0, 1.0, 1.0], run.t)


def error(run):
    """The largest angle so far between attitudes."""
    return np.maximum.accumulate((exact.rotation.inv() * run.rotation).magnitude())


# ---- picture
# Left: the error of the attitude over time. Right: the error of the energy. As printed, both grow faster
# where the quaternion is not normalised; the two lines with the inverse coincide.
fig, (left, right) = plt.subplots(1, 2)
for k, (name, found) in enumerate(runs.items()):
    line = {"color": f"C{k}", "linestyle": ":" if name == "inverse, every step" else "-"}
    left.semilogy(found.t[1:], error(found)[1:], label=name, **line)
    energy = np.maximum.accumulate(np.abs(found.energy / found.energy[0] - 1))
    right.semilogy(found.t[1:], energy[1:], **line)
left.set(title="A free body", xlabel="time (s)", ylabel="attitude error (rad)", ylim=(1e-9, None))
right.set(title="Its energy", xlabel="time (s)", ylabel="relative error", ylim=(1e-9, None))
fig.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=3)
plt.show()

# ---- checks
from scipy.integrate import solve_ivp


def slopes(t, y):
    """Euler's equations and the quaternion's, by hand."""
    w, i, j, k, p, q, r = y
    turning = -i * p - j * q - k * r, w * p + j * r - k * q, w * q + k * p - i * r, w * r + i * q - j * p
    return [*(0.5 * x for x in turning), -q * r, r * p, -p * q / 3]


other = solve_ivp(slopes, (0, END), [1, 0, 0, 0, 1, 1, 1], "DOP853", rtol=1e-13, atol=1e-13).y[:4, -1]
q = exact.q[-1] * np.sign(exact.q[-1] @ other)


def ends(end, dt):
    """The errors of attitude and energy of rkn4 at the end of a shorter or longer run."""
    found = ph.solve(tumbling, (0, end), method="rkn4", dt=dt)
    turn = ph.exact_free_motion(body, None, [1.0, 1.0, 1.0], found.t).rotation[-1].inv() * found.rotation[-1]
    return turn.magnitude(), abs(found.energy[-1] / found.energy[0] - 1)


def order(end, dt):
    return np.log2(np.divide(ends(end, dt), ends(end, dt / 2)))


last = {name: error(found)[-1] for name, found in runs.items()}
late = order(END, H)
checks = {
    "the closed form at the end, against SciPy's DOP853, rad": (
        2 * np.linalg.norm(q - other / np.linalg.norm(other)),
        1e-9,
    ),
    "the order of rkn4 after 1 s, against 4": (abs(order(1.0, 0.05)[0] - 4), 0.1),
    "the order of its error of the energy, at the end, against 5": (abs(late[1] - 5), 0.1),
    "inverse, every 1000 steps over every step, against 1": (
        abs(last["inverse, every 1000 steps"] / last["inverse, every step"] - 1),
        0.01,
    ),
}
worst = last["as printed, never normalised"] / last["inverse, every step"]
measured = {"end": f"{END:.0f}", "gain": f"{worst:.0f}", "late": f"{late[0]:.1f}"}
