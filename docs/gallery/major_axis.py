r"""Explorer 1 and the major-axis rule.

The first American satellite was a long cylinder, spun about its axis of *smallest* inertia. Hours
later it was turning end over end. Its whip antennas had bent to and fro and turned energy into heat;
but nothing takes angular momentum $L$ away, and the least energy for a given $L$,

$$
T = \frac{L^2}{2 I_\mathrm{max}} ,
$$

belongs to rotation about the axis of *largest* inertia. So only that one is stable for a body that
is not quite rigid.

Here a ring of fluid, `ph.models.ring_damper`, does the work of the antennas. Its momentum is a variable
beside the body. Together they keep their angular momentum, and the energy falls from {{start}} to
{{least}}.
"""

import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

DRAG, RING = 1.5, 0.3  # N m s, kg m²
hull = ph.shapes.cylinder(0.15, 1.0, mass=20.0)
body = ph.RigidBody.from_shapes(hull)
damper = ph.models.ring_damper(DRAG, RING, axis=[1, 0, 0])
explorer = ph.Problem(body, damper, omega=[0.2, 0.0, 6.0], name="a long satellite")
run = ph.solve(explorer, (0, 250), rtol=1e-11)
view = {"points": [[0, 0, 0.6]], "show": {"poinsot": False}, "tolerance": 0.02}


def whole(run):
    """The angular momentum of body and ring in inertial axes."""
    ring = run.variables["ring"][:, None] * np.array([1.0, 0.0, 0.0])
    return run.to_inertial(run.angular_momentum + ring)


def nutation(run):
    """The angle between the axis of the hull and the angular momentum."""
    momentum, axis = whole(run), run.to_inertial([0.0, 0.0, 1.0])
    cosine = np.einsum("ij,ij->i", momentum, axis) / np.linalg.norm(momentum, axis=1)
    return np.arccos(np.clip(cosine, -1, 1))


def energy(run):
    return run.kinetic_energy + 0.5 * run.variables["ring"] ** 2 / RING


# ---- picture
# Left: the angle between the axis and the angular momentum grows from zero to 90 degrees. Right:
# the energy falls to a dashed line, the least for this momentum.
fig, (left, right) = plt.subplots(1, 2)
fine = run.sol(np.linspace(0, 250, 4001))
left.plot(fine.t, np.degrees(nutation(fine)))
left.set(title="Axis and angular momentum", xlabel="time (s)", ylabel="angle (degrees)")
left.set(yticks=range(0, 91, 15))
right.plot(fine.t, energy(fine), label="body and ring")
least = np.linalg.norm(whole(run)[0]) ** 2 / 2 / (body.principal_moments[0] + RING)
right.axhline(least, color="C6", linestyle="--", label="the least")
right.set(title="Energy", xlabel="time (s)", ylabel="J", ylim=(0, None))
right.legend()
plt.show()

# ---- checks
from scipy.integrate import solve_ivp

moments = body.principal_moments


def slopes(t, y):
    """Euler's equations for everything, with the ring's momentum h along the first axis."""
    omega, h = y[:3], y[3]
    pull = DRAG * (omega[0] - h / RING)
    momentum = moments * omega + [h, 0.0, 0.0]
    rates = -np.cross(omega, momentum) - [pull, 0.0, 0.0]
    return [*(rates / moments), pull]


start = [*explorer.omega, 0.0]
other = solve_ivp(slopes, (0, 60), start, "DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
here = run.sol([60.0])
momentum = whole(run)
checks = {
    "momentum of body and ring, largest change, relative": (
        np.abs(momentum - momentum[0]).max() / np.linalg.norm(momentum[0]),
        1e-9,
    ),
    "rates and ring after 60 s, against SciPy's DOP853": (
        np.abs(other - [*here.omega[0], here.variables["ring"][0]]).max(),
        1e-7,
    ),
    "energy at the end, against the least, relative": (energy(run)[-1] / least - 1, 0.05),
}
measured = {"start": f"{energy(run)[0]:.2f} J", "least": f"{least:.2f} J"}
