r"""The tippe top.

A ball whose centre of mass is below its middle, spun on a table, turns over.
Friction does it: the torque of the sliding contact raises the centre of mass while the spin about
the vertical decreases. With the radius $R$, the centre of mass $a$ below the middle, the unit vector
$\mathbf e$ from there to the middle, and $\hat{\mathbf z}$ up, the contact is at
$\mathbf r = a\,\mathbf e - R\,\hat{\mathbf z}$ from the centre of mass, and whatever force
$\mathbf F$ acts there,

$$
\dot{\mathbf L} = \mathbf r \times \mathbf F
\quad\Rightarrow\quad \mathbf L \cdot \mathbf r = \text{const}
\qquad \text{(Jellett 1872)},
$$

since $\mathbf L \cdot \dot{\mathbf r} = 0$ for moments $(A, A, C)$. So a top that has turned over spins
$(R - a)/(R + a)$ times as fast as upright, and in its own axes the other way round. It turns over if
$1 - a/R < A/C < 1 + a/R$, and if it spins fast enough.

The torque is a function in Python. The velocity of the top over the table, and the heat that its
friction has made, are variables beside the body ([how](../guide/coupled.md)). The normal force
follows from the condition that the top stays on the table; the friction is proportional to it, and
to the velocity of sliding.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.transform import Rotation

import polhode as ph

R, friction, spin, g = 0.02, 1.0, 120.0, 9.81  # friction in s/m
ball = ph.shapes.sphere(R, density=1200.0)
hollow = ph.shapes.hemisphere(0.9 * R, density=1200.0)  # its upper half is a thin shell
top = ph.RigidBody.from_shapes(ball - hollow)
a, (A, _, C) = -top.centre[2], top.principal_moments


def cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def table(t, q, omega, y, params):
    """The torque of the table about the centre of mass, and the slopes of velocity and heat."""
    (drift, _), (m, A, C, a, R, friction, g) = y, params
    w, i, j, k = q
    east = 1 - 2 * (j * j + k * k), 2 * (i * j - w * k), 2 * (i * k + w * j)  # in body axes
    north = 2 * (i * j + w * k), 1 - 2 * (i * i + k * k), 2 * (j * k - w * i)
    up = 2 * (i * k - w * j), 2 * (j * k + w * i), 1 - 2 * (i * i + j * j)
    r = -R * up[0], -R * up[1], a - R * up[2]
    turning = cross(omega, r)  # of the contact
    sx, sy = drift[0] + dot(turning, east), drift[1] + dot(turning, north)
    fx, fy = -friction * sx, -friction * sy  # per normal force
    n1, n2, n3 = cross(r, [up[k] + fx * east[k] + fy * north[k] for k in (0, 1, 2)])
    p, s, spin = omega  # the vertical acceleration, -a (c1 N + c0), decides the normal force N
    c1 = (n2 * up[0] - n1 * up[1]) / A
    gyro = (C - A) / A * spin * (p * up[0] + s * up[1])
    c0 = gyro + spin * dot(omega, up) - dot(omega, omega) * up[2]
    N = m * (g - a * c0) / (1 + m * a * c1)
    force = N * fx, N * fy
    return (N * n1, N * n2, N * n3), ((force[0] / m, force[1] / m), -force[0] * sx - force[1] * sy)


numbers = {"mass": top.mass, "A": A, "C": C, "a": a, "R": R, "friction": friction, "g": g}
model = ph.coupled(table, {"drift": (0.0, 0.0), "heat": 0.0}, numbers, scale={"heat": 0.01})
tilted = Rotation.from_rotvec([0.3, 0.0, 0.0])
problem = ph.Problem(top, model, attitude=tilted, omega=[0, 0, spin], name="tippe top")
run = ph.solve(problem, (0, 5), rtol=1e-10)
view = {"points": [[0, 0, 0.03]], "show": {"poinsot": False}, "tolerance": 0.02}
arm = [0.0, 0.0, a] - R * run.to_body([0.0, 0.0, 1.0])
jellett = np.einsum("ij,ij->i", run.angular_momentum, arm)

# ---- picture
# Left: the tilt of the axis grows from 17 degrees to almost 180. Right: the spin in the axes of the
# body passes through zero and ends in the other direction, at a dashed line; that about the vertical
# decreases to the same amount.
times = np.linspace(0, 5, 2001)
fine = run.sol(times)
upward = fine.to_body([0.0, 0.0, 1.0])
fig, (left, right) = plt.subplots(1, 2)
left.plot(times, np.degrees(np.arccos(upward[:, 2].clip(-1, 1))))
left.set(title="Tilt of the axis", xlabel="time (s)", ylabel="degrees", yticks=range(0, 181, 45))
right.plot(times, np.einsum("ij,ij->i", fine.omega, upward), label="about the vertical")
right.plot(times, fine.omega[:, 2], label="about the axis")
right.axhline(jellett[0] / (C * (R + a)), color="C6", linestyle="--", label="upside down")
right.set(title="Spin", xlabel="time (s)", ylabel="rad/s")
right.legend()
plt.show()

# ---- checks
upward = run.to_body([0.0, 0.0, 1.0])
sideways = (run.variables["drift"] ** 2).sum(axis=1)
rising = a * (run.omega[:, 0] * upward[:, 1] - run.omega[:, 1] * upward[:, 0])
moving = 0.5 * top.mass * (sideways + rising**2)
height = top.mass * g * (R - a * upward[:, 2])
energy = run.kinetic_energy + moving + height + run.variables["heat"]
checks = {
    "Jellett's L·r, largest change, relative": (np.abs(jellett / jellett[0] - 1).max(), 1e-8),
    "energy and heat together, largest change, relative": (np.abs(energy / energy[0] - 1).max(), 1e-8),
    "spin at the end, against upside down, relative": (
        abs(run.omega[-1, 2] * C * (R + a) / jellett[0] - 1),
        0.01,
    ),
}
