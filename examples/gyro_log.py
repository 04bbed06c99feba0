"""Generate and integrate a gyro log: a platform that cones and nods, 100 samples per second.

This writes ``gyro_log.csv``, the log in the guide to sampled data: degrees per second with a little
noise, jittering time stamps, five lost samples.  The motion is known in closed form, so the errors
are known, too: with the noise, and of the integration alone.
"""

import numpy as np
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode import plot

SEED, RATE, LENGTH, NOISE = 7, 100.0, 10.0, 0.02  # Hz, s, degrees per second
LOST = [400, 401, 402, 700, 701]
SPIN, CONE, TILT, NOD = 1.2, 5.0, np.radians(12), 0.8  # rad/s, rad/s, rad, rad/s


def about(axis, angle):
    """Return rotations about a fixed axis."""
    return Rotation.from_rotvec(np.outer(np.atleast_1d(angle), np.eye(3)["xyz".index(axis)]))


def attitude(t):
    """Return the attitude relative to the start: spin about z, nod about x, cone about z and y."""
    cone = about("z", CONE * t) * about("y", [TILT]) * about("z", -CONE * t)
    start = about("y", [-TILT])
    return start * about("z", SPIN * t) * about("x", 0.3 * np.sin(NOD * t)) * cone


def body_rate(t):
    """Return the angular velocity in body axes: each rotation adds its own rate."""
    x, _, z = np.eye(3)
    rate = np.outer(np.full_like(t, SPIN), z)
    rate = about("x", -0.3 * np.sin(NOD * t)).apply(rate)
    rate += np.outer(0.3 * NOD * np.cos(NOD * t), x)
    rate = about("z", -CONE * t).apply(rate) + CONE * z
    return about("z", CONE * t).apply(about("y", [-TILT]).apply(rate) - CONE * z)


rng = np.random.default_rng(SEED)
steps = (1 + rng.uniform(-0.2, 0.2, int(LENGTH * RATE))) / RATE
stamps = np.round(np.r_[0.0, np.cumsum(steps)], 6)  # microseconds
clean = body_rate(stamps)
noisy = np.degrees(clean) + NOISE * rng.standard_normal(clean.shape)
with open("gyro_log.csv", "w", encoding="utf-8") as file:
    file.write("# a coning platform, degrees per second\ntime,wx,wy,wz\n")
    for k, (t, w) in enumerate(zip(stamps, noisy, strict=True)):
        cells = ["", "", ""] if k in LOST else [f"{x:.3f}" for x in w]
        file.write(f"{t:.6f},{','.join(cells)}\n")

given = {"frame": "body", "kind": "rate", "missing": "bridge", "name": "gyro_log"}
values, times = ph.read_samples("gyro_log.csv", kind="rate", degrees=True)
run = ph.integrate_samples(values, times, **given)
error = (run.rotation.inv() * attitude(times)).magnitude().max()
print(run)
print(f"with the noise of the gyro, the attitude is off by {error:.1e} rad")
run.save("gyro_log.nc")
plot.save(run.plot(), "gyro.png", dpi=110)

clean[LOST] = np.nan
for order in (2, 4, 6, 8):
    run = ph.integrate_samples(clean, stamps, order=order, **given)
    error = (run.rotation.inv() * attitude(stamps)).magnitude().max()
    print(f"without noise, order {order}: {error:.1e} rad, estimated {run.error.max():.1e}")
    assert error < 1.5 * run.error.max()
