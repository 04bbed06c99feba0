"""The inertia of a tumbling satellite from its gyro log.

A CubeSat with a boom tumbles while its momentum wheel turns at a known speed.  The log has noise
and an unknown bias.  Rates of a free body show only ratios of moments: there is no scale in Euler's
equations.  The wheel brings one, its momentum in N m s, so that the fit gives kg m².  The truth is
known here, so the errors are, too.
"""

import numpy as np
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode import plot

SEED, RATE, LENGTH = 3, 10.0, 120.0  # Hz, s
NOISE, BIAS = np.radians(0.05), np.radians([0.4, -0.3, 0.2])  # rad/s
WHEEL = 0.008, 0.01, 0.004  # N m s

bus = ph.shapes.box([0.1, 0.1, 0.3], mass=4.0)
boom = ph.shapes.cylinder(radius=0.01, length=0.4, mass=0.3)
boom = boom.turned(Rotation.from_rotvec([0.3, 1.2, 0.1])).moved([0.12, 0.03, 0.1])
satellite = ph.RigidBody.from_shapes(bus, boom)


def wheel(t, q, omega, params):
    """Return h × ω, what a wheel of the momentum h does to the body."""
    h1, h2, h3 = params
    a, b, c = omega
    return h2 * c - h3 * b, h3 * a - h1 * c, h1 * b - h2 * a


model = ph.torque(wheel, WHEEL, name="wheel")
truth = ph.Problem(satellite, model, omega=[0.25, 0.1, 0.4], name="tumbling satellite")
times = np.arange(0.0, LENGTH, 1.0 / RATE)
run = ph.solve(truth, (0, LENGTH), rtol=1e-10, t_eval=times)
rng = np.random.default_rng(SEED)
log = np.degrees(run.omega + BIAS + NOISE * rng.standard_normal(run.omega.shape))
header = "time,gyro_x_dps,gyro_y_dps,gyro_z_dps"
np.savetxt(
    "gyro.csv", np.column_stack([times, log]), "%.5f", delimiter=",", header=header, comments=""
)

# ---- what one would have: a log, and a rough idea of the satellite
rates, stamps = ph.read_samples("gyro.csv", kind="rate", degrees=True)
gyro = ph.observe.rates(stamps, rates, sigma=NOISE, bias=True)
guess = ph.Problem(ph.RigidBody([0.04, 0.05, 0.015]), model, omega=rates[:5].mean(axis=0))
fit = ph.fit(guess, gyro, free=["angular_momentum", "inertia"], rtol=1e-9)
print(fit)
fit.save("fit.json")
plot.save(fit.plot(), "residuals.png", dpi=110)

entries = "xx", "yy", "zz", "xy", "xz", "yz"
print("\nentry   truth (g m²)   fitted          error in sigma")
for entry in entries:
    place = "xyz".index(entry[0]), "xyz".index(entry[1])
    true, (value, sigma) = satellite.inertia[place], fit.value_of(f"inertia.I{entry}")
    pull = (value - true) / sigma
    print(f"I{entry} {1e3 * true:14.4f} {1e3 * value:10.4f} ± {1e3 * sigma:.4f} {pull:8.1f}")
    assert abs(pull) < 4.0
assert fit.success
assert np.abs((fit.values["rates.bias"] - BIAS) / fit.standard_deviations["rates.bias"]).max() < 4

# ---- without the wheel, the log has no scale
still = ph.Problem(satellite, omega=[0.25, 0.1, 0.4])
rates = ph.solve(still, (0, LENGTH), t_eval=times).omega + NOISE * rng.standard_normal(rates.shape)
guess = ph.Problem(guess.body, omega=guess.omega)
try:
    ph.fit(guess, ph.observe.rates(times, rates, sigma=NOISE), free=["omega", "inertia"], rtol=1e-9)
except ph.InputError as error:
    print(f"\nwithout the wheel: {error}")
