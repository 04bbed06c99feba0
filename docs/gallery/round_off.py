r"""What rounding does.

Without torque, some methods make no error but rounding: `strang` moves a free body by its closed form.
Every step then adds a random error of some 1e-16. That of the momentum walks as the square root of
the number of steps $n$; the angle is an integral of the momentum, and the error of the attitude is

$$
\varepsilon \propto n^{3/2} .
$$

Compensated sums carry along what each addition loses: the same method with `compensated=True` is
{{better}} times better after {{steps}} steps. Dots are means over {{bodies}} bodies, compared with the closed
form of the motion, which takes no steps.
"""

import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

LAST, BODIES = 18, 8  # quick: 12, 3
body, dt = ph.RigidBody([1.0, 2.0, 2.5]), 0.05
counts = 2 ** np.arange(4, LAST + 1)
starts = np.random.default_rng(2).uniform(0.3, 1.0, (BODIES, 3)) * [1, 0, 1]
exact = [ph.exact_free_motion(body, None, omega, counts * dt) for omega in starts]


def errors(compensated):
    """Of the attitude in rad, and of the angular momentum in body axes."""
    turns, momenta = [], []
    for omega, true in zip(starts, exact, strict=True):
        run = ph.solve(
            ph.Problem(body, omega=omega),
            (0, true.t[-1]),
            method="strang",
            dt=dt,
            t_eval=true.t,
            compensated=compensated,
        )
        turns.append((run.rotation.inv() * true.rotation).magnitude())
        away = run.angular_momentum_inertial - true.angular_momentum_inertial
        momenta.append(np.linalg.norm(away, axis=1))
    return np.mean(turns, axis=0), np.mean(momenta, axis=0)


plain, carried = errors(False), errors(True)
run = ph.exact_free_motion(body, None, starts[0], np.linspace(0, 40, 401))

# ---- picture
# Errors over the number of steps, both logarithmic. Left, of the attitude, they rise along lines of
# slope 3/2; right, of the momentum, of slope 1/2. Compensated sums are below the others.
fig, axes = plt.subplots(1, 2, sharex=True)
for ax, k, slope, title in zip(
    axes, (0, 1), (1.5, 0.5), ("Attitude (rad)", "Angular momentum"), strict=True
):
    ax.loglog(counts, plain[k], "o-", markersize=4, label="plain sums")
    ax.loglog(counts, carried[k], "s-", markersize=4, label="compensated")
    line = plain[k][-1] * (counts / counts[-1]) ** slope
    ax.loglog(counts, 2 * line, "--", color="C6", label=f"slope {slope:g}")
    ax.set(title=title, xlabel="steps")
    ax.legend()
plt.show()

# ---- checks
import mpmath as mp


def jacobi(omega, t):
    """The angular momentum in body axes at 40 digits, for a start with ω₂ = 0."""
    with mp.workdps(40):
        i1, i2, i3 = (mp.mpf(x) for x in (1.0, 2.0, 2.5))
        a, c = mp.mpf(omega[0]), mp.mpf(omega[2])
        twice, square = i1 * a * a + i3 * c * c, (i1 * a) ** 2 + (i3 * c) ** 2
        d1, d3 = square - twice * i1, twice * i3 - square
        most = max(d1 * (i3 - i2), d3 * (i2 - i1))
        rate = mp.sqrt(most / (i1 * i2 * i3))
        parameter = min(d1 * (i3 - i2), d3 * (i2 - i1)) / most
        sn, cn, dn = (mp.ellipfun(f, rate * mp.mpf(t), m=parameter) for f in ("sn", "cn", "dn"))
        one, three = (cn, dn) if most == d1 * (i3 - i2) else (dn, cn)
        if most == d1 * (i3 - i2):
            two = mp.sqrt(d3 / (i2 * (i3 - i2)))
        else:
            two = mp.sqrt(d1 / (i2 * (i2 - i1)))
        return np.array([float(i1 * a * one), float(i2 * two * sn), float(i3 * c * three)])


off = max(
    np.abs(true.angular_momentum[-1] - jacobi(omega, true.t[-1])).max()
    for omega, true in zip(starts, exact, strict=True)
)
late = counts >= 2**7
slopes = [
    np.polyfit(np.log(counts[late]), np.log(values[late]), 1)[0] for values in (plain[0], plain[1])
]
checks = {
    "momentum of the closed form at the end, against Jacobi's functions by mpmath": (off, 1e-9),
    "slope of the attitude's error, against 3/2": (abs(slopes[0] - 1.5), 0.35),
    "slope of the momentum's error, against 1/2": (abs(slopes[1] - 0.5), 0.35),
}
measured = {
    "bodies": BODIES,
    "steps": f"{counts[-1]:,}".replace(",", " "),
    "better": f"{plain[0][-1] / carried[0][-1]:.0f}",
}
