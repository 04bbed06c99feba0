"""Solutions without any method of the library.

``Particles``: point masses on rigid rods, moved by Newton's law for each of them alone,

    m_i a_i = F_i + Σ_j λ_ij (x_i - x_j),    (x_i - x_j)·(a_i - a_j) + |v_i - v_j|² = 0    (1)

where the tensions λ keep the distances; no tensor, torque or rotation enters.

``flight``: SciPy's DOP853 at a relative tolerance of 1e-13 for

    p' = v,    v' = F/m,    q' = q ω/2,    I ω' + ω × I ω = τ                               (2)

with forces written out in matrices.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.papers.reference import solution
from polhode.papers.rotations import Array, skew
from polhode.problems.problem import Problem

Push = Callable[[float], Array]  # the forces on the particles, in rows


@dataclass(frozen=True)
class Particles:
    """Masses at ``places``, in rows; ``rods`` are pairs of them."""

    masses: Array
    places: Array
    rods: tuple[tuple[int, int], ...]

    @property
    def mass(self) -> float:
        return float(self.masses.sum())

    def centre(self, values: Array) -> Array:
        """Return the mean of places, velocities or accelerations, weighted by mass."""
        return np.tensordot(self.masses, values, (0, -2)) / self.mass

    @property
    def tensor(self) -> Array:
        """Σ m (r·r 1 - r ⊗ r) about the centre of mass."""
        return spread(self.masses, self.places - self.centre(self.places))

    def accelerations(self, places: Array, velocities: Array, forces: Array) -> Array:
        """a of (1)."""
        count, n = len(self.masses), len(self.rods)
        ways = np.zeros((n, count, 3))
        for k, (i, j) in enumerate(self.rods):
            ways[k, i] = places[i] - places[j]
            ways[k, j] = -ways[k, i]
        heavy = forces / self.masses[:, None]
        light = ways / self.masses[:, None]
        speeds = np.array([velocities[i] - velocities[j] for i, j in self.rods])
        wanted = -np.einsum("ki,ki->k", speeds, speeds) - np.einsum("kci,ci->k", ways, heavy)
        tension = np.linalg.solve(np.einsum("kci,lci->kl", ways, light), wanted)
        return heavy + np.einsum("k,kci->ci", tension, light)

    def move(self, velocities: Array, push: Push, times: Array) -> tuple[Array, Array]:
        """(places, velocities) at ``times``, by DOP853."""
        from scipy.integrate import solve_ivp

        shape = self.places.shape

        def slope(t: float, state: Array) -> Array:
            x, v = state.reshape(2, *shape)
            return np.concatenate([v.ravel(), self.accelerations(x, v, push(t)).ravel()])

        start = np.concatenate([self.places.ravel(), velocities.ravel()])
        found = solve_ivp(
            slope, (0.0, times[-1]), start, method="DOP853", t_eval=times, rtol=1e-12, atol=1e-13
        )
        path = found.y.T.reshape(len(times), 2, *shape)
        return path[:, 0], path[:, 1]


def spread(masses: Array, places: Array) -> Array:
    """Σ m (r·r 1 - r ⊗ r)."""
    square = np.einsum("i,ij,ij->", masses, places, places)
    return square * np.eye(3) - np.einsum("i,ij,ik->jk", masses, places, places)


def five() -> Particles:
    """Four different masses, and one at their centre."""
    masses = np.array([1.0, 2.0, 1.5, 0.5, 0.7])
    places = np.array([[1.0, 0.2, -0.3], [-0.6, 0.5, 0.1], [0.1, -0.9, 0.4], [0.3, 0.4, 1.1]])
    places = places - masses[:4] @ places / masses[:4].sum()
    rods = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (4, 0), (4, 1), (4, 2))
    return Particles(masses, np.vstack([places, np.zeros(3)]), rods)


# ---- forces on whole bodies, with matrices: (torque in body axes, force in inertial axes)
Wrench = Callable[..., tuple[Array, Array]]  # (t, p, v, q, ω)
GRAVITY = np.array([0.0, 0.0, -9.80665])


def matrix(q: Any) -> Array:
    """1 + 2 w skew(u) + 2 skew(u)² of a quaternion (w, u) of any length."""
    w, *u = np.asarray(q) / np.sqrt(np.dot(q, q))
    x = skew(u)
    return np.eye(3) + 2 * w * x + 2 * x @ x


def at_point(r: Array, q: Sequence[float], force: Array, weight: Array) -> tuple[Array, Array]:
    """Return the wrench of a force at the point r of the body, and of the weight."""
    return np.cross(r, matrix(q).T @ force), force + weight


def spring_wrench(mass: float) -> Wrench:
    """Return the spring of the problem off-centre-spring, and the weight."""
    corner, anchor = np.array([0.15, 0.1, 0.05]), np.array([0.0, 0.0, 1.0])

    def wrench(t: float, p: Any, v: Any, q: Any, omega: Any) -> tuple[Array, Array]:
        way = np.asarray(p) + matrix(q) @ corner - anchor
        length = float(np.linalg.norm(way))
        return at_point(corner, q, -150.0 * (length - 0.4) / length * way, mass * GRAVITY)

    return wrench


def charge_wrench(mass: float) -> Wrench:
    """Return the fields of the problem charged-top, and the weight."""
    charge, r, field = 0.05, np.array([0.0, 0.0, -0.02]), np.array([0.0, 0.0, 4.0])

    def wrench(t: float, p: Any, v: Any, q: Any, omega: Any) -> tuple[Array, Array]:
        speed = np.asarray(v) + matrix(q) @ np.cross(omega, r)
        return at_point(r, q, charge * np.cross(speed, field) - mass * GRAVITY, mass * GRAVITY)

    return wrench


def flight(problem: Problem, wrench: Wrench, t_end: float) -> tuple[Array, ...]:
    """(p, v, q, ω) at ``t_end`` by (2)."""
    moments, mass = np.array(problem.body.data[0]), problem.body.mass

    def slope(t: float, state: Array) -> Array:
        p, v, q, omega = state[:3], state[3:6], state[6:10], state[10:]
        torque, force = wrench(t, p, v, q, omega)
        w, u = q[0], q[1:]
        turning = 0.5 * np.array([-(u @ omega), *(w * omega + np.cross(u, omega))])
        spin = (torque - np.cross(omega, moments * omega)) / moments
        return np.concatenate([v, force / mass, turning, spin])

    start = np.concatenate([problem.position, problem.velocity, problem.attitude, problem.omega])
    end = solution(slope, t_end, start)
    return end[:3], end[3:6], end[6:10] / np.linalg.norm(end[6:10]), end[10:]
