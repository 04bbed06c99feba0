"""Nonlinear test problems, and their motion by an independent method.

Each case holds a ``Problem`` and, written apart from the library, the torque as a function of the
attitude *matrix*.  ``Case.reference`` integrates Euler's equations with that torque by SciPy.

All cases share one body, and all torques are one function: its parameters are data at run time, so
a method is compiled twice in all, for the free body and for this torque.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.integrate import solve_ivp

import polhode as ph

INERTIA = 2.0, 3.0, 4.5
OMEGA = 0.5, 0.7, -0.6  # |omega| is 1.05, in all three axes: the body tumbles
ATTITUDE = 0.8, 0.4, -0.2, 0.4  # a unit quaternion (w, x, y, z)
REFERENCE_ERROR = 1e-12  # that of ``Case.reference`` is tested to be a tenth of this


# ---- a torque with everything in it, for the library and once more with matrices
def forced(t, q, omega, params):
    """A swinging weight at the end of ``arm``, a push along inertial x, damping, rotor, wall."""
    arm, rotor, swing, frequency, push, damping, wall = params
    w, x, y, z = q
    up = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w - x * x - y * y + z * z
    east = w * w + x * x - y * y - z * z, 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)
    weight = 1.0 + swing * math.cos(frequency * t)
    a = 1.0 / (1.1 + up[2])
    a4 = a * a * a * a
    pull = arm[0], arm[1], arm[2] + wall * (0.01 * a4 * a4 * a * a * a - a * a)
    tilting, turning = cross(up, pull), cross(rotor, omega)
    return (
        weight * tilting[0] + push * east[0] - damping * omega[0] + turning[0],
        weight * tilting[1] + push * east[1] - damping * omega[1] + turning[1],
        weight * tilting[2] + push * east[2] - damping * omega[2] + turning[2],
    )


def height(t, q, params):
    """The potential energy of a constant weight and of the wall."""
    arm, wall = params[0], params[-1]
    w, x, y, z = q
    up = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w - x * x - y * y + z * z
    a = 1.0 / (1.1 + up[2])
    a5 = a * a * a * a * a
    return arm[0] * up[0] + arm[1] * up[1] + arm[2] * up[2] + wall * (a - 0.001 * a5 * a5)


def cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


NOTHING = 0.0, 0.0, 0.0
DRIVEN = (0.4, -0.3, 1.4), NOTHING, 0.8, 1.3, 0.4, 0.0, 0.0
DAMPED = (0.4, -0.3, 1.4), (0.3, 0.7, -0.2), 0.0, 0.0, 0.0, 0.3, 0.0
WALL = NOTHING, NOTHING, 0.0, 0.0, 0.0, 0.0, 1.0
WEIGHT = 1.5  # of the heavy top


def falling(weight: float) -> ph.Model:
    """A heavy top, as ``ph.models.heavy_top``, by the torque that all cases share."""
    params = (0.0, 0.0, weight), NOTHING, 0.0, 0.0, 0.0, 0.0, 0.0
    return ph.torque(forced, params, potential=height, depends_on_omega=False)


def forced_by_matrix(params):
    """``forced`` as a function of t, attitude matrix and omega: of floats or mpmath numbers."""
    arm, rotor, swing, frequency, push, damping, _ = params

    def torque(t, r, omega, cos=math.cos):
        up, east = [r[2, j] for j in range(3)], [r[0, j] for j in range(3)]
        weight = 1 + swing * cos(frequency * t)
        around = [(1, 2), (2, 0), (0, 1)]
        tilting = [up[i] * arm[j] - up[j] * arm[i] for i, j in around]
        turning = [rotor[i] * omega[j] - rotor[j] * omega[i] for i, j in around]
        return [
            weight * tilting[k] + push * east[k] - damping * omega[k] + turning[k] for k in range(3)
        ]

    return torque


def heavy_top_by_matrix(t, r, omega, cos=math.cos):
    """Krysl 2006, 5.2: the inertial torque -20 R(:, 3) x e_z, turned into the body."""
    n = -WEIGHT * r[1, 2], WEIGHT * r[0, 2]
    return [r[0, j] * n[0] + r[1, j] * n[1] for j in range(3)]


def no_torque(t, r, omega, cos=math.cos):
    return [0.0, 0.0, 0.0]


def soft_wall_by_matrix(t, r, omega, cos=math.cos):
    """Krysl 2006, 5.4, as printed: the inertial torque f (-R23, R13, 0), turned into the body."""
    x = 1.1 + r[2, 2]
    f = -(x**-2) + 0.01 * x**-11
    n = -f * r[1, 2], f * r[0, 2]
    return [r[0, j] * n[0] + r[1, j] * n[1] for j in range(3)]


# ---- Euler's equations
def matrix(q):
    """The attitude matrix of a quaternion of any length."""
    w, x, y, z = q
    rows = [
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ]
    return np.array(rows) / (w * w + x * x + y * y + z * z)


@dataclass(frozen=True)
class Case:
    name: str
    problem: ph.Problem
    torque: Callable  # (t, attitude matrix, omega), in body axes

    def __hash__(self):
        return hash(self.name)

    @property
    def start(self) -> tuple[float, ...]:
        return *self.problem.attitude, *self.problem.angular_momentum

    def rate(self, t, state, cos=math.cos) -> list:
        """The time derivative of (q, m), of floats or mpmath numbers."""
        w, x, y, z, *m = state
        a, b, c = omega = [p / i for p, i in zip(m, INERTIA, strict=True)]
        n = self.torque(t, matrix(state[:4]), omega, cos)
        return [
            (-x * a - y * b - z * c) / 2,
            (w * a + y * c - z * b) / 2,
            (w * b + z * a - x * c) / 2,
            (w * c + x * b - y * a) / 2,
            m[1] * c - m[2] * b + n[0],
            m[2] * a - m[0] * c + n[1],
            m[0] * b - m[1] * a + n[2],
        ]

    @cache  # noqa: B019 - the cases live as long as the tests
    def reference(self, times: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
        """Return (attitudes q, momenta m) at ``times``; the first is the start."""
        options = {"method": "DOP853", "rtol": 2.3e-14, "atol": 1e-15, "t_eval": times}
        states = solve_ivp(self.rate, (times[0], times[-1]), self.start, **options).y.T
        return states[:, :4], states[:, 4:]


def _case(name: str, model: ph.Model, torque: Callable) -> Case:
    start = {"attitude": ATTITUDE, "scalar_first": True, "omega": OMEGA}
    return Case(name, ph.Problem(ph.RigidBody(INERTIA), model, **start, name=name), torque)


def _wall() -> Case:
    """Krysl's soft wall, from the start of the paper."""
    problem = ph.problems.soft_wall()
    model = ph.torque(forced, WALL, potential=height, depends_on_omega=False)
    start = {"attitude": problem.attitude, "scalar_first": True, "omega": problem.omega}
    wall = ph.Problem(problem.body, model, **start, name="soft wall")
    return Case("soft wall", wall, soft_wall_by_matrix)


FREE = _case("free", ph.models.free(), no_torque)
HEAVY_TOP = _case("heavy top", falling(WEIGHT), heavy_top_by_matrix)
LIBRARY_TOP = _case("heavy top", ph.models.heavy_top(WEIGHT), heavy_top_by_matrix)  # takes mpmath
SOFT_WALL = _wall()
TIME = _case(
    "depends on time",
    ph.torque(forced, DRIVEN, depends_on_omega=False),
    forced_by_matrix(DRIVEN),
)
RATE = _case("depends on omega", ph.torque(forced, DAMPED), forced_by_matrix(DAMPED))
CASES = FREE, HEAVY_TOP, SOFT_WALL, TIME, RATE


# ---- errors
def angle(p, q):
    """The angle between attitudes, from quaternions near the unit sphere."""
    p, q = np.atleast_2d(p), np.atleast_2d(q)
    apart = np.minimum(np.linalg.norm(p - q, axis=1), np.linalg.norm(p + q, axis=1))
    return 4 * np.arcsin(apart / 2)


def errors(run: ph.Trajectory, q: np.ndarray, m: np.ndarray) -> tuple[float, float]:
    """The largest errors in attitude (an angle) and in momentum (relative to its size)."""
    momentum = np.linalg.norm(run.angular_momentum - m, axis=1) / np.linalg.norm(m, axis=1)
    return angle(run.q, q).max(), momentum.max()
