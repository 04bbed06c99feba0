r"""Why Hyperion tumbles.

Almost all moons end in the synchronous state: one rotation in each orbit, upright, long axis towards
the planet. For Hyperion this state exists, but it is *attitude unstable*: tilted by a millionth of a
radian, the moon lies on its side after {{sync}} orbits. The 2 : 1 resonance, two rotations in each
orbit, stays upright.

What follows is chaos. The largest Lyapunov exponent of the tumbling moon,

$$
\lambda = \lim_{t\to\infty} \frac1t \ln \frac{|\delta(t)|}{|\delta(0)|} ,
$$

is found by `ph.lyapunov` from exact derivatives of the steps: $1/\lambda$ is {{time}} days, {{turns}}
orbits. Whatever is known of the moon today, it is not known where its axis will point in a year.
Exponents come in pairs of opposite sign, as the motion has a Hamiltonian.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.transform import Rotation

import polhode as ph

ORBITS, LONG = 60, 2000  # quick: 40, 200
orbit, day = 2 * np.pi, 2 * np.pi / 21.28
hyperion = ph.problems.hyperion()


def tilted(tilt, rate):
    """The moon with its long axis towards Saturn, tilted about it, at periapsis."""
    attitude = Rotation.from_rotvec([tilt, 0.0, 0.0])
    return ph.Problem(
        hyperion.body, hyperion.model, attitude=attitude, omega=[0.0, 0.0, rate], name="Hyperion"
    )


def lean(run):
    """Of the shortest axis from the orbit normal."""
    x, y, z = run.to_inertial([0.0, 0.0, 1.0]).T
    return np.arctan2(np.hypot(x, y), z)


states = {"synchronous": 0.5520, "2 : 1": 2.3220}  # rates of the periodic motions at periapsis
runs = {
    name: ph.solve(tilted(1e-6, rate), (0, ORBITS * orbit), rtol=1e-11)
    for name, rate in states.items()
}
run = ph.solve(tilted(0.3, 1.0), (0, 25 * orbit), rtol=1e-10)
chaos = ph.lyapunov(tilted(0.3, 1.0), LONG * orbit, method="mr4", dt=orbit / 100, exponents=6)
view = {"show": {"poinsot": False}, "tolerance": 0.02}

# ---- picture
# Left: on a logarithmic axis the tilt of the synchronous state grows from a millionth to a radian,
# that of the 2 : 1 state does not. Right: six exponents settle as time goes on, in pairs of opposite
# sign.
fig, (left, right) = plt.subplots(1, 2)
for name, one in runs.items():
    fine = one.sol(np.linspace(0, one.t[-1], 4001))
    left.semilogy(fine.t / orbit, lean(fine), label=name)
left.set(title="Tilted by a millionth", xlabel="orbits", ylabel="tilt (rad)")
left.legend()
right.plot(chaos.t / orbit, chaos.running, linewidth=1)
right.set(title="Lyapunov exponents", xlabel="orbits", ylabel="per unit of time", ylim=(-0.25, 0.25))
plt.show()

# ---- checks
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

inertia, e = hyperion.body.principal_moments, 0.1


def slopes(t, y):
    """Euler's equations with an attitude matrix, on an orbit of Kepler's."""
    turn, omega = y[:9].reshape(3, 3), y[9:]
    anomaly = brentq(lambda x: x - e * np.sin(x) - t, t - e, t + e, xtol=1e-15)
    r = 1 - e * np.cos(anomaly)
    u = turn.T @ [(np.cos(anomaly) - e) / r, np.sqrt(1 - e * e) * np.sin(anomaly) / r, 0.0]
    rates = (3 / r**3 * np.cross(u, inertia * u) - np.cross(omega, inertia * omega)) / inertia
    return [*(turn @ np.cross(omega, np.eye(3)).T).ravel(), *rates]


def end(change):
    """The attitude after two orbits, from a start that is turned about the first body axis."""
    start = Rotation.from_rotvec([0.3 + change, 0.0, 0.0]).as_matrix()
    y = solve_ivp(
        slopes, (0, 2 * orbit), [*start.ravel(), 0.0, 0.0, 1.0], "DOP853", rtol=1e-12, atol=1e-13
    ).y[:9, -1]
    return Rotation.from_matrix(y.reshape(3, 3))


tangent = ph.solve(tilted(0.3, 1.0), (0, 2 * orbit), rtol=1e-12, sensitivities=["state"])
column = tangent.stm[-1][:3, 0]  # what a turn about the first body axis becomes
turn = (end(-1e-4).inv() * end(1e-4)).as_rotvec() / 2e-4
checks = {
    "derivative of the attitude after two orbits, against differences by SciPy's DOP853": (
        np.abs(column - turn).max() / np.abs(column).max(),
        1e-5,
    ),
    "sums of exponents of opposite sign": (
        np.abs(chaos.exponents + chaos.exponents[::-1]).max(),
        1e-3,
    ),
}
fine = runs["synchronous"].sol(np.linspace(0, ORBITS * orbit, 20_001))
measured = {
    "sync": f"{fine.t[np.argmax(lean(fine) > 1)] / orbit:.0f}",
    "time": f"{chaos.lyapunov_time / day:.0f}",
    "turns": f"{chaos.lyapunov_time / orbit:.1f}",
}
