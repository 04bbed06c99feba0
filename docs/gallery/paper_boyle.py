r"""Boyle's formulations.

Figure 3 of Boyle (2017): the attitude of a precessing binary from its angular velocity. The frame can be
integrated as a quaternion (a *rotor*), as two of its vectors, or as the logarithm of the quaternion (the
*generator*), which must be reset now and then:

$$
\dot R = \tfrac12\,\omega R, \qquad \dot{\mathbf v} = \boldsymbol\omega \times \mathbf v, \qquad
\dot{\mathbf r} = \tfrac12\,\boldsymbol\omega + \boldsymbol\omega \times \mathbf r
+ \mathbf r \times (\boldsymbol\omega \times \mathbf r)\,\frac{1 - r\cot r}{2 r^2} + \dots
$$

All represent the same motion. But vectors vary twice as fast as rotors, and with Dormand and Prince's
method of order 8 need {{vectors}} times the evaluations at equal error. The generator needs still more,
as it passes near its singularity; with resets it needs little more than the rotor. The paper's conclusion
holds: take the rotor. `polhode` does. The [page of the paper](../papers/boyle2017.md) has the
whole range of errors, also for Bulirsch and Stoer's method.
"""

import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

END = 100_000.0  # quick: 20_000.0
TOLERANCES = 10.0 ** -np.arange(4, 13)
binary = ph.problems.precessing_binary()
given = {"frame": binary.frame, "attitude": binary.attitude, "scalar_first": True}
labels = {
    "rotor": "rotor",
    "vectors2": "two vectors",
    "generator": "generator",
    "generator-reset": "generator, reset",
}
FORMULATIONS = list(labels)  # quick: ["rotor", "vectors2", "generator-reset"]


def integrated(formulation, rtol):
    """The evaluations of ω, and the largest error: equation (25), √8 sin of half the angle."""
    run = ph.integrate_angular_velocity(
        binary.omega, (0, END), method="dop853", formulation=formulation, rtol=rtol, atol=rtol, **given
    )
    return run.nfev, run.frame_error(binary.exact).max()


found = {name: np.array([integrated(name, rtol) for rtol in TOLERANCES]) for name in FORMULATIONS}
run = ph.integrate_angular_velocity(binary.omega, (0, 2000), **given, rtol=1e-10)

# ---- picture
# Errors over evaluations of the angular velocity, both logarithmic: four nearly parallel lines. The rotor
# is the lowest, then the generator with resets; two vectors and the generator as such need more work.
fig, ax = plt.subplots(figsize=(6.6, 4.2))
for name, mark in zip(FORMULATIONS, "os^D", strict=False):
    ax.loglog(*found[name].T, marker=mark, markersize=4, label=labels[name])
ax.set(xlabel="evaluations of ω", ylabel="largest error", title="A hundred orbits of a binary")
ax.legend()
plt.show()

# ---- checks
levels = 10.0 ** -np.arange(4, 10)


def work(name):
    """The evaluations at which a line crosses some errors."""
    evaluations, errors = found[name][::-1].T
    return np.exp(np.interp(np.log(levels), np.log(errors), np.log(evaluations)))


ratio = work("vectors2") / work("rotor")
slope = np.polyfit(*np.log(found["vectors2"][-4:]).T, 1)[0]
checks = {
    "the order of the lowest end of the line of two vectors, against 8": (abs(slope + 8), 0.2),
    "vectors over the rotor, from the 1.49 to 2.20 of the page of the paper": (
        float(np.max([1.49 - ratio, ratio - 2.20, 0 * ratio])),
        0.25,
    ),
    "the rotor over the reset generator, evaluations at 1e-6": (
        work("rotor")[2] / work("generator-reset")[2],
        1.0,
    ),
}
measured = {"vectors": f"{ratio.min():.1f} to {ratio.max():.1f}"}
