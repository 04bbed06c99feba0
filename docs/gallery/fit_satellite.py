r"""The inertia of a satellite, from its gyro.

A CubeSat with a boom tumbles. From two minutes of its gyro's log, with noise and an unknown bias, `ph.fit`
finds the motion, the bias and the whole inertia tensor, with standard deviations, by least squares
with the exact derivatives of the motion. Euler's equations,

$$
I\dot{\boldsymbol\omega} + \boldsymbol\omega \times (I\boldsymbol\omega + \mathbf h) = 0 ,
$$

do not change if $I$ and $\mathbf h$ are multiplied by a number: the rates of a body alone show only
ratios of moments. Here a wheel with the known momentum $\mathbf h$ gives the scale.

The truth is known, so the errors are, too: in units of their standard deviations they should be
normally distributed, and $\chi^2$ is {{chi}} for {{freedom}} degrees of freedom.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.transform import Rotation

import polhode as ph

NOISE, BIAS = np.radians(0.05), np.radians([0.4, -0.3, 0.2])  # rad/s
wheel = 0.008, 0.01, 0.004  # N m s
bus = ph.shapes.box([0.1, 0.1, 0.3], mass=4.0)
boom = ph.shapes.cylinder(radius=0.01, length=0.4, mass=0.3)
boom = boom.turned(Rotation.from_rotvec([0.3, 1.2, 0.1])).moved([0.12, 0.03, 0.1])
satellite = ph.RigidBody.from_shapes(bus, boom)


def gyroscopic(t, q, omega, h):
    """What a wheel of the momentum h does to the body."""
    a, b, c = omega
    return h[1] * c - h[2] * b, h[2] * a - h[0] * c, h[0] * b - h[1] * a


model = ph.torque(gyroscopic, wheel, name="wheel")
truth = ph.Problem(satellite, model, omega=[0.25, 0.1, 0.4], name="CubeSat with a boom")
SPAN = 120.0  # quick: 40.0
times = np.arange(0.0, SPAN, 0.1)
run = ph.solve(truth, (0, SPAN), rtol=1e-10)
noise = NOISE * np.random.default_rng(3).standard_normal((len(times), 3))
log = run.sol(times).omega + BIAS + noise

gyro = ph.observe.rates(times, log, sigma=NOISE, bias=True)
guess = ph.Problem(ph.RigidBody([0.04, 0.05, 0.015]), model, omega=log[:5].mean(axis=0))
fit = ph.fit(guess, gyro, free=["angular_momentum", "inertia"], rtol=1e-9)
view = {"tolerance": 0.01}

# ---- picture
# Left: a minute of the log, three rates with noise, and the fitted motion on top. Right: the six entries
# of the tensor and the three of the bias, fitted less true in standard deviations, are within a band
# of two.
fig, (left, right) = plt.subplots(1, 2, width_ratios=(3, 2))
minute = times < 60
smooth = ph.solve(fit.problem, (0, SPAN), rtol=1e-9).sol(times).omega + fit.values["rates.bias"]
left.plot(times[minute], np.degrees(log[minute]), ".", markersize=1.5, alpha=0.6)
left.set_prop_cycle(None)
left.plot(times[minute], np.degrees(smooth[minute]), linewidth=1)
left.set(title="The log, and the fit", xlabel="time (s)", ylabel="degrees/s")
entries = "xx", "yy", "zz", "xy", "xz", "yz"
true = np.array([satellite.inertia["xyz".index(a), "xyz".index(b)] for a, b in entries])
found, sigmas = np.transpose([fit.value_of(f"inertia.I{name}") for name in entries])
bias, doubt = fit.values["rates.bias"], fit.standard_deviations["rates.bias"]
pulls = np.append((found - true) / sigmas, (bias - BIAS) / doubt)
right.axhspan(-2, 2, alpha=0.15)
right.plot(range(9), pulls, "o")
right.set(title="Fitted less true", ylabel="standard deviations", ylim=(-4, 4))
names = [*(f"I_{{{name}}}" for name in entries), "b_1", "b_2", "b_3"]
right.set_xticks(range(9), [f"${name}$" for name in names])
plt.show()

# ---- checks
from scipy.integrate import solve_ivp
from scipy.optimize import least_squares


def residuals(numbers):
    """Those of a motion by SciPy, with its start, bias and tensor."""
    start, bias, (xx, yy, zz, xy, xz, yz) = numbers[:3], numbers[3:6], numbers[6:]
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    inverse = np.linalg.inv(tensor)

    def slope(t, omega):
        a, b, c = omega
        n, p, q = tensor @ omega + wheel
        return inverse @ (p * c - q * b, q * a - n * c, n * b - p * a)

    rates = solve_ivp(slope, (0, SPAN), start, "DOP853", times, rtol=1e-9, atol=1e-11).y.T
    return ((rates + bias - log) / NOISE).ravel()


here = np.concatenate([fit.problem.omega, bias, found])
other = least_squares(residuals, here, x_scale=np.abs(here), xtol=1e-12, ftol=1e-12)
checks = {
    "the minimum, against SciPy's least_squares on DOP853, in standard deviations": (
        np.abs((other.x[6:] - found) / sigmas).max(),
        1e-2,
    ),
    "chi² there, likewise, relative": (abs(fit.chi_square / (2 * other.cost) - 1), 1e-6),
    "tensor and bias, against the truth, in standard deviations": (np.abs(pulls).max(), 4.0),
}
measured = {"chi": f"{fit.chi_square:.0f}", "freedom": fit.degrees_of_freedom}
