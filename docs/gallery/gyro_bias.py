r"""A gyro with a bias.

A gyro at rest does not show zero, and whoever integrates what it shows drifts away. Here a camera
on a gimbal rests for two seconds, then pans, and tilts; the log has a bias of {{bias}} degrees per
second and the noise of a cheap gyro. To first order the error is the integral of the bias $\mathbf b$
in inertial axes, and the noise adds a random walk,

$$
\boldsymbol\theta(t) \approx \int_0^t R(t')\,\mathbf b\,dt', \qquad
\theta_\mathrm{rms} = \sigma \sqrt{3\, t\, \Delta t} .
$$

`bias=2.0` subtracts the mean of the first two seconds. After a minute the attitude is then off by
{{corrected}}, and by {{raw}} without it.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.transform import Rotation

import polhode as ph

RATE, END, NOISE = 100.0, 60.0, np.radians(0.1)
BIAS = np.radians([0.3, -0.2, 0.25])


def smooth(t):
    """A time that starts to run after two seconds, and its first derivative."""
    s = np.maximum(t - 2.0, 0.0)
    f = s**6 / (1 + s**5)
    return f, (6 * s**5 * (1 + s**5) - 5 * s**10) / (1 + s**5) ** 2


def attitude(t):
    """Pan, then tilt."""
    s, _ = smooth(t)
    pan, tilt = 0.4 * s, 0.5 * np.sin(0.7 * s)
    return Rotation.from_euler("ZY", np.stack([pan, tilt], axis=-1))


def rate(t):
    """The angular velocity in body axes: that of the tilt, and that of the pan, tilted."""
    s, ds = smooth(t)
    tilt = 0.5 * np.sin(0.7 * s)
    zero = np.zeros_like(t)
    pan = 0.4 * ds[:, None] * np.stack([-np.sin(tilt), zero, np.cos(tilt)], axis=1)
    return pan + (0.35 * np.cos(0.7 * s) * ds)[:, None] * np.array([0.0, 1.0, 0.0])


times = np.arange(0.0, END, 1 / RATE)
noise = NOISE * np.random.default_rng(4).standard_normal((len(times), 3))
log = rate(times) + BIAS + noise
given = {"frame": "body", "kind": "rate"}
raw = ph.integrate_samples(log, times, **given)
run = ph.integrate_samples(log, times, **given, bias=2.0, name="a gyro log")
view = {"tolerance": 0.02}


def error(run):
    return (run.rotation.inv() * attitude(run.t)).magnitude()


# ---- picture
# Left: the log, three rates with noise; at rest they are not zero. Right: the error of the attitude
# grows to half a turn with the bias, and stays a hundred times smaller without it.
fig, (left, right) = plt.subplots(1, 2)
early = times < 12
left.plot(times[early], np.degrees(log[early]), linewidth=0.8)
left.set(title="The log", xlabel="time (s)", ylabel="degrees/s")
right.semilogy(times[1:], np.degrees(error(raw)[1:]), label="as logged")
right.semilogy(times[1:], np.degrees(error(run)[1:]), label="bias subtracted")
walk = np.degrees(NOISE * np.sqrt(3 * times[1:] / RATE))
right.semilogy(times[1:], walk, "--", color="C6", label="random walk")
right.set(title="Error of the attitude", xlabel="time (s)", ylabel="degrees", ylim=(1e-3, None))
right.legend()
plt.show()

# ---- checks
clean = ph.integrate_samples(rate(times), times, **given)
biased = ph.integrate_samples(rate(times) + 1e-4 * BIAS, times, **given)
turned = attitude(times).apply(1e-4 * BIAS)
drift = (turned[1:] + turned[:-1]).sum(axis=0) / 2 / RATE
apart = (biased.rotation[-1] * attitude(times[-1:])[0].inv()).as_rotvec()
checks = {
    "attitude from rates without noise and bias, against the closed form, rad": (
        error(clean).max(),
        1e-6,
    ),
    "drift by a small bias, against the integral of R b, relative": (
        np.linalg.norm(apart - drift) / np.linalg.norm(drift),
        1e-3,
    ),
}
measured = {
    "bias": f"{np.degrees(np.linalg.norm(BIAS)):.2f}",
    "corrected": f"{np.degrees(error(run)[-1]):.2g}°",
    "raw": f"{np.degrees(error(raw)[-1]):.0f}°",
}
