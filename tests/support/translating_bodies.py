"""Bodies that translate and rotate, and their motion by an independent method.

The equations of ``Flight`` are written with attitude *matrices*, apart from the library: M x'' = F,
(R I Rᵀ ω)' = T in inertial axes.  SciPy integrates them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.integrate import solve_ivp

import polhode as ph
from polhode.problems.problem import quaternion
from support.bodies import ATTITUDE, INERTIA, OMEGA, angle, matrix

MASS = 1.3
POSITION, VELOCITY = (1.0, 0.3, -0.2), (0.1, 0.4, -0.3)
REFERENCE_ERROR = 1e-11

ARM = np.array([0.5, -0.3, 0.8])
ANCHOR, STIFFNESS = np.array([0.2, 0.0, 0.1]), 3.0
GRAVITY = np.array([0.1, 0.0, -1.0])
CHARGE, ELECTRIC, MAGNETIC = 1.2, np.array([0.3, -0.1, 0.4]), np.array([0.5, 0.9, -0.4])
LINEAR, ROTATIONAL = 0.2, 0.3


@dataclass(frozen=True)
class Flight:
    """A problem, and its force and torque from (t, x, v, R, ω), all in inertial axes."""

    name: str
    problem: ph.Problem
    acting: Callable

    def __hash__(self):
        return hash(self.name)

    def rate(self, t, y):
        """(R, L, x, p)', with L in inertial axes."""
        r, momentum, x, p = y[:9].reshape(3, 3), y[9:12], y[12:15], y[15:]
        body = self.problem.body
        omega = r @ np.linalg.solve(body.inertia, r.T @ momentum)
        force, torque = self.acting(t, x, p / body.mass, r, omega)
        spin = np.array(
            [[0, -omega[2], omega[1]], [omega[2], 0, -omega[0]], [-omega[1], omega[0], 0]]
        )
        return np.concatenate([(spin @ r).ravel(), torque, p / body.mass, force])

    @cache  # noqa: B019 - the flights live as long as the tests
    def reference(self, times: tuple[float, ...]) -> tuple[np.ndarray, ...]:
        """Return (R, ω in body axes, x, v) at ``times``; the first is the start."""
        problem = self.problem
        r = matrix(problem.attitude)
        start = [
            *r.ravel(),
            *(r @ np.array(problem.angular_momentum)),
            *problem.position,
            *(problem.body.mass * np.array(problem.velocity)),
        ]
        options = {"method": "DOP853", "rtol": 2.3e-14, "atol": 1e-14, "t_eval": times}
        y = solve_ivp(self.rate, (times[0], times[-1]), start, **options).y.T
        rs = y[:, :9].reshape(-1, 3, 3)
        body_momentum = np.einsum("nji,nj->ni", rs, y[:, 9:12])
        omega = np.linalg.solve(problem.body.inertia, body_momentum.T).T
        return rs, omega, y[:, 12:15], y[:, 15:] / problem.body.mass

    def errors(self, run: ph.Trajectory, times: tuple[float, ...]) -> np.ndarray:
        """The largest errors of attitude (rad), ω, x and v over the times, in this order."""
        rs, omega, x, v = self.reference(times)
        q = np.array([quaternion(r) for r in rs])
        pairs = (run.omega, omega), (run.x, x), (run.v, v)
        return np.array([angle(run.q, q).max(), *(np.abs(a - b).max() for a, b in pairs)])


# ---- what acts
def sprung(t, x, v, r, omega):
    """Weight, and a spring at a point of the body."""
    arm = r @ ARM
    pull = -STIFFNESS * (x + arm - ANCHOR)
    return pull + MASS * GRAVITY, np.cross(arm, pull)


def charged(t, x, v, r, omega):
    """A charge at a point of the body, and friction."""
    arm = r @ ARM
    push = CHARGE * (ELECTRIC + np.cross(v + np.cross(omega, arm), MAGNETIC))
    return push - LINEAR * v, np.cross(arm, push) - ROTATIONAL * omega


def orbiting(t, x, v, r, omega):
    """A point mass at the origin, to second order; the force by differences of the potential."""
    inertia = r @ np.diag(INERTIA) @ r.T

    def potential(x):
        d = np.linalg.norm(x)
        spread = np.trace(inertia) - 3 * x @ inertia @ x / d**2
        return -MU / d * (MASS + spread / (2 * d**2))

    h = 1e-3
    steps = h * np.eye(3)
    force = [
        -(8 * (potential(x + s) - potential(x - s)) - potential(x + 2 * s) + potential(x - 2 * s))
        / (12 * h)
        for s in steps
    ]
    return np.array(force), 3 * MU / np.linalg.norm(x) ** 5 * np.cross(x, inertia @ x)


MU = 40.0
START = {"attitude": ATTITUDE, "scalar_first": True, "omega": OMEGA}
MOVING = {**START, "position": POSITION, "velocity": VELOCITY}
BODY = ph.RigidBody(INERTIA, MASS)
SPRUNG = Flight(
    "sprung",
    ph.Problem(
        BODY,
        ph.models.spring(STIFFNESS, ANCHOR, ARM) + ph.models.uniform_gravity(GRAVITY),
        **MOVING,
    ),
    sprung,
)
CHARGED = Flight(
    "charged",
    ph.Problem(
        BODY,
        ph.models.lorentz(CHARGE, ELECTRIC, MAGNETIC, ARM) + ph.models.drag(LINEAR, ROTATIONAL),
        **MOVING,
    ),
    charged,
)
ORBITING = Flight(
    "orbiting",
    ph.Problem(
        BODY,
        ph.models.point_gravity(MU),
        **START,
        position=(12.0, 0.0, 0.5),
        velocity=(0.0, 1.7, 0.3),
    ),
    orbiting,
)
