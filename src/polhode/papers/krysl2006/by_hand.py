"""The formulas of Krysl (2006) in NumPy, from the page, without the library.

A state is (R, P): attitude matrix (body to inertial) and body momentum.  ``inertia`` are the three
moments, ``torque(t, R)`` gives the body torque.  Where the page has a misprint or leaves something
open, an argument selects the reading, so that both can be measured.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from polhode.papers.rotations import exp, skew

Array = np.ndarray
State = tuple[Array, Array]
Torque = Callable[[float, Array], Array]
Step = tuple[float, float, State, Array, Torque]  # (t, h, state, inertia, torque)

RK4 = ((), (1 / 2,), (0.0, 1 / 2), (0.0, 0.0, 1.0)), (1 / 6, 1 / 3, 1 / 3, 1 / 6)
HEUN2 = ((), (1.0,)), (1 / 2, 1 / 2)


# ---- rotations
def cay(x: Array, half: float = 0.5) -> Array:
    """Cayley's map (1 - x/2)⁻¹ (1 + x/2); ``half=1`` gives the other map of that name."""
    return np.linalg.solve(np.eye(3) - half * x, np.eye(3) + half * x)


def dexp(theta: Array) -> Array:
    """Equation (9)."""
    angle, x = float(np.sqrt(theta @ theta)), skew(theta)
    if angle < 1e-4:
        return np.eye(3) + x / 2 + x @ x / 6
    return (
        np.eye(3)
        + (1 - np.cos(angle)) / angle**2 * x
        + (1 - np.sin(angle) / angle) / angle**2 * (x @ x)
    )


def gyroscopic(p: Array, inertia: Array) -> Array:
    """Return the rate of the body momentum without torque."""
    return np.cross(p, p / inertia)


def fixed_point(function: Callable[[Any], Any], x: Any) -> Any:
    """Solve x = function(x) by iteration to rounding."""
    for _ in range(200):
        new = function(x)
        change = np.abs(new - x).max()
        x = new
        if change <= 1e-15 * np.abs(x).max():
            break
    return x


# ---- the algorithms
def imid(step: Step, late: float = 0.0) -> State:
    """IMID; the torque is taken at t + h/2 + late·h (``late=1`` is t_n + h/2, as printed)."""
    t, h, (r, p), inertia, torque = step

    def rate(mean: Array) -> Array:
        there = r @ exp(h / 2 * mean / inertia)
        return gyroscopic(mean, inertia) + torque(t + h / 2 + late * h, there)

    mean = fixed_point(lambda x: p + h / 2 * rate(x), p)
    return r @ exp(h * mean / inertia), p + h * rate(mean)


def turned(step: Step, psi: Array, late: float) -> State:
    """Return the state after a turn by psi, with the torque at R exp(psi/2)."""
    t, h, (r, p), _, torque = step
    half = exp(psi / 2)
    impulse = h * (half.T @ torque(t + h / 2 + late * h, r @ half))
    return r @ exp(psi), exp(-psi) @ p + impulse


def imidm(step: Step, late: float = 0.0) -> State:
    """IMIDM; ``late`` as for ``imid``."""
    t, h, (r, p), inertia, torque = step

    def turn(psi: Array) -> Array:
        half = exp(psi / 2)
        return h / inertia * (half.T @ p + h / 2 * torque(t + h / 2 + late * h, r @ half))

    return turned(step, fixed_point(turn, h * p / inertia), late)


def swc1(step: Step, late: float = 0.0) -> State:
    """SWC1 with the torque at R exp(psi/2); ``late`` as for ``imid``."""
    _, h, (_, p), inertia, _ = step

    def turn(psi: Array) -> Array:
        return h / 2 * (turned(step, psi, late)[1] + p) / inertia

    return turned(step, fixed_point(turn, h * p / inertia), late)


def trap(step: Step, swapped: bool = False) -> State:
    """TRAP; ``swapped`` takes its two exponentials in the other order."""
    t, h, (r, p), inertia, torque = step

    def rate(at: float, momentum: Array, attitude: Array) -> Array:
        return gyroscopic(momentum, inertia) + torque(at, attitude)

    def attitude(new: Array) -> Array:
        first, second = exp(h / 2 * p / inertia), exp(h / 2 * new / inertia)
        return r @ second @ first if swapped else r @ first @ second

    begin = rate(t, p, r)
    new = fixed_point(lambda x: p + h / 2 * (begin + rate(t + h, x, attitude(x))), p)
    return attitude(new), new


def akw(step: Step, half: float = 0.5) -> State:
    """AKW with either Cayley map."""
    t, h, (r, p), inertia, torque = step
    begin = torque(t, r)

    def attitude(new: Array) -> Array:
        return r @ cay(skew(h * (p + new) / 2 / inertia), half)

    def end(new: Array) -> Array:
        free = p + h * gyroscopic((p + new) / 2, inertia)
        return free + h / 2 * (begin + torque(t + h, attitude(new)))

    new = fixed_point(end, p)
    return attitude(new), new


def mkrk(
    step: Step,
    tableau: tuple[Sequence[Sequence[float]], Sequence[float]] = RK4,
    sign: float = -1.0,
    own_torque: bool = False,
) -> State:
    """MKRK of an explicit tableau.

    ``sign=+1`` takes dexp of +Psi; ``own_torque`` the T_(k) that is printed in the stage sum.
    """
    t, h, (r, p), inertia, torque = step
    rows, weights = tableau
    psis: list[Array] = []
    ks: list[Array] = []
    torques: list[Array] = []
    for row in rows:
        psi = h * sum((a * k for a, k in zip(row, ks, strict=True)), np.zeros(3))
        own = torque(t + h * sum(row), r @ exp(psi))
        terms = zip(row, psis, torques, strict=True)
        impulse = sum((a * exp(x) @ (own if own_torque else n) for a, x, n in terms), np.zeros(3))
        stage = exp(-psi) @ (p + h * impulse)
        ks.append(np.linalg.solve(dexp(sign * psi), stage / inertia))
        psis.append(psi)
        torques.append(own)
    psi = h * sum((b * k for b, k in zip(weights, ks, strict=True)), np.zeros(3))
    final = zip(weights, psis, torques, strict=True)
    impulse = sum((b * exp(x) @ n for b, x, n in final), np.zeros(3))
    return r @ exp(psi), exp(-psi) @ (p + h * impulse)


def axis_splitting(h: float, state: State, inertia: Array) -> State:
    """Rotations about the principal axes, a symplectic map of the free body, as a control."""
    r, p = state
    for axis, part in ((0, h / 2), (1, h / 2), (2, h), (1, h / 2), (0, h / 2)):
        turn = exp(np.eye(3)[axis] * (part * p[axis] / inertia[axis]))
        r, p = r @ turn, turn.T @ p
    return r, p


# ---- the vector space of section 2: a pendulum of unit mass and length, x = (p, u)
def pendulum(x: Array) -> Array:
    """Return the rate of x."""
    return np.array([-np.sin(x[1]), x[0]])


def line_forward_euler(h: float, x: Array) -> Array:
    """Equation (2)."""
    return x + h * pendulum(x)


def line_backward_euler(h: float, x: Array) -> Array:
    """Equation (3)."""
    return fixed_point(lambda new: x + h * pendulum(new), x)


def line_trapezoid(h: float, x: Array) -> Array:
    """Equation (4)."""
    return fixed_point(lambda new: x + h / 2 * (pendulum(x) + pendulum(new)), x)


def line_midpoint(h: float, x: Array, displacement: float = 1.0) -> Array:
    """Equation (5); ``displacement`` is the factor of Δt in its second line (printed 1/2)."""
    return x + h * pendulum(line_backward_euler(h / 2, x)) * [1.0, displacement]


def newmark(
    h: float, u: float, v: float, acceleration: Callable[[float], float]
) -> tuple[float, float]:
    """Return the implicit Newmark step (beta = 1/4, gamma = 1/2): (u, v)."""
    a = acceleration(u)
    new = fixed_point(lambda x: u + h * v + h * h / 4 * (a + acceleration(x)), u)
    return new, v + h / 2 * (a + acceleration(new))
