"""A nutation damper: a ring of fluid brings a spinning satellite to its axis of largest inertia.

The momentum of the ring is a variable beside the body.  For a small ring across the axis of an
axisymmetric body (A, A, C), the energy-sink formula gives the nutation angle θ: the ring sees the
transverse rate turn at λ = (C - A) ω3 / A, and takes c ω_t² λ² / 2 (λ² + (c/J)²) of power, so that

    θ' = -c ω_t² λ² / 2 (λ² + (c/J)²) / (L² sin θ cos θ (1/A - 1/C))

It damps if C > A, and drives a body that spins about its smallest axis into a flat spin.
"""

import numpy as np
from matplotlib.figure import Figure
from scipy.integrate import solve_ivp

import polhode as ph
from polhode import plot
from polhode.plot import style

DRAG, RING = 0.002, 0.004  # N m s, kg m²
SPIN, TILT = 2.0, 0.3  # rad/s, rad
END = 4000.0


def tumble(moments, end):
    """Return the run of a body that nutates by ``TILT``, with a ring along its first axis."""
    a, _, c = moments
    momentum = a * c * SPIN / np.hypot(a * np.cos(TILT), c * np.sin(TILT))
    omega = [momentum * np.sin(TILT) / a, 0.0, momentum * np.cos(TILT) / c]
    damper = ph.models.ring_damper(DRAG, RING, momentum=RING * omega[0])
    return ph.solve(ph.Problem(ph.RigidBody(moments), damper, omega=omega), (0, end), rtol=1e-11)


def whole_momentum(run):
    """Return the angular momentum of body and ring, in inertial axes."""
    ring = run.variables["ring"][:, None] * np.array([1.0, 0.0, 0.0])
    return run.to_inertial(run.angular_momentum + ring)


def nutation(run):
    """Return the angle between the axis of the body and the angular momentum."""
    whole = whole_momentum(run)
    along = np.einsum("ij,ij->i", whole, run.to_inertial([0.0, 0.0, 1.0]))
    return np.arccos(along / np.linalg.norm(whole, axis=1))


def energy_sink(moments, momentum, times):
    """Return the angles of the energy-sink formula."""
    a, _, c = moments

    def rate(t, theta):
        sine, cosine = np.sin(theta), np.cos(theta)
        across, turning = momentum * sine / a, (c - a) / a * momentum * cosine / c
        power = DRAG * across**2 * turning**2 / (2 * (turning**2 + (DRAG / RING) ** 2))
        return -power / (momentum**2 * sine * cosine * (1 / a - 1 / c))

    return solve_ivp(rate, times[[0, -1]], [TILT], t_eval=times, rtol=1e-10).y[0]


sheet = Figure(figsize=(10, 3.6), layout="constrained")
axes = sheet.subplots(1, 2)
for ax, title, moments in zip(
    axes,
    ("About the largest axis: damped", "About the smallest axis: driven to a flat spin"),
    ([1.0, 1.0, 1.6], [1.6, 1.6, 1.0]),
    strict=True,
):
    run = tumble(moments, END)
    times = np.linspace(0, END, 2001)
    states = run.sol(times)
    whole = whole_momentum(states)
    kept = np.abs(whole - whole[0]).max() / np.linalg.norm(whole[0])
    ring = states.variables["ring"]
    energy = states.kinetic_energy + 0.5 * ring**2 / RING
    angle, formula = nutation(states), energy_sink(moments, np.linalg.norm(whole[0]), times)
    early = np.abs(formula - TILT) < 0.2
    off = np.abs(angle - formula)[early].max()
    print(run)
    print(f"{title}: momentum kept to {kept:.0e}; the formula holds to {off:.1e} rad")
    assert kept < 1e-11
    assert (np.diff(energy) < 1e-10 * energy[0]).all()
    assert off < 0.005
    style.dress(ax, title, "time (s)", "nutation angle (degrees)")
    ax.plot(times, np.degrees(angle), color=style.BLUE, linewidth=2, label="integrated")
    look = {"color": style.RED, "linewidth": 1, "linestyle": (0, (4, 3))}
    ax.plot(times, np.degrees(formula), **look, label="energy sink")
    style.legend(ax, "inside")
plot.save(axes[0], "nutation_damper.png", dpi=130)
run.save("nutation_damper.nc")
