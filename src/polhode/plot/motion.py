"""The states of a run at the times of a film, as arrays; nothing is drawn here.

``run.sol`` gives them where it exists.  Otherwise, between two rows a step h apart,

    q = q0 exp(ψ(s)),    ψ(0) = 0,    ψ(1) = log(q0* q1),    s = (t - t0)/h
    ψ'(0) = h ω0,    ψ'(1) = h dexp⁻¹(ψ(1)) ω1                                         (1)

with a cubic ψ.  The logarithm has the multiple of 2π about its axis that is closest to the mean
rate, so that rows may be turns apart.  The angular momentum in inertial axes is linear between
rows, and the rate follows from it; a position is cubic with both velocities.
"""

from typing import Any, NamedTuple

import numpy as np

from polhode.errors import InputError
from polhode.plot.quantities import to_inertial

SMALL = 1e-12


class States(NamedTuple):
    """Rows of states: times, attitudes, rates in body axes, momenta and positions in inertial ones.

    Momenta are None without a body, positions without a position.
    """

    t: np.ndarray
    q: np.ndarray
    omega: np.ndarray
    momentum: np.ndarray | None
    x: np.ndarray | None


def states(run: Any, times: np.ndarray) -> States:
    """Return the states at some times of the run."""
    try:
        there = run.sol(times)
    except (AttributeError, InputError):  # no dense output
        return _between(run, times)
    momentum = there.angular_momentum_inertial
    return States(times, there.q, there.omega, momentum, there.x)


def matrices(q: np.ndarray) -> np.ndarray:
    """Return the matrices of attitudes, (n, 3, 3), body to inertial."""
    w, x, y, z = (q / np.linalg.norm(q, axis=1, keepdims=True)).T
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    return np.moveaxis(np.array(rows), 2, 0)


def turns(run: Any) -> float:
    """Return the turns of the whole run, by its rates."""
    speeds = np.linalg.norm(run.omega, axis=1)
    steps = np.abs(np.diff(run.t))
    return float(np.sum(0.5 * (speeds[1:] + speeds[:-1]) * steps) / (2 * np.pi))


# ---- between rows
def _between(run: Any, times: np.ndarray) -> States:
    sign = 1.0 if run.t[-1] >= run.t[0] else -1.0
    low = np.clip(np.searchsorted(sign * run.t, sign * times, "right") - 1, 0, len(run.t) - 2)
    high = low + 1
    h = (run.t[high] - run.t[low])[:, None]
    s = np.clip((times - run.t[low])[:, None] / h, 0.0, 1.0)
    q = _attitudes(run.q[low], run.q[high], h * run.omega[low], h * run.omega[high], s)
    x = getattr(run, "x", None)
    if x is not None:
        x = _cubic(s, x[low], x[high], h * run.v[low], h * run.v[high])
    if run.body is None:
        return States(times, q, (1 - s) * run.omega[low] + s * run.omega[high], None, x)
    m = run.angular_momentum_inertial
    momentum = (1 - s) * m[low] + s * m[high]
    in_body = np.einsum("nji,nj->ni", matrices(q), momentum) @ run.body.principal_axes
    moments = run.body.principal_moments
    rate = np.divide(in_body, moments, out=np.zeros_like(in_body), where=moments > 0)
    return States(times, q, rate @ run.body.principal_axes.T, momentum, x)


def _cubic(s: np.ndarray, a: Any, b: Any, slope_a: Any, slope_b: Any) -> Any:
    """Return the cubic from a to b with these slopes at s = 0 and 1."""
    rise = s * s * (3 - 2 * s)
    return a + rise * (b - a) + s * (1 - s) ** 2 * slope_a - s * s * (1 - s) * slope_b


def _attitudes(q0: Any, q1: Any, turn0: Any, turn1: Any, s: np.ndarray) -> np.ndarray:
    """Return (1); ``turn0`` and ``turn1`` are h ω at both ends."""
    step = _product(q0 * (1.0, -1.0, -1.0, -1.0), q1)
    v, mean = step[:, 1:], 0.5 * (turn0 + turn1)
    sine = np.linalg.norm(v, axis=1, keepdims=True)
    half = np.arctan2(sine, step[:, :1])
    size = np.linalg.norm(mean, axis=1, keepdims=True)
    spin = np.divide(mean, size, out=np.zeros_like(mean), where=size > 0)
    axis = np.where(sine > SMALL, v / np.maximum(sine, SMALL), spin)
    psi = 2 * half * axis
    lack = np.sum((mean - psi) * axis, axis=1, keepdims=True)
    psi = psi + 2 * np.pi * np.round(lack / (2 * np.pi)) * axis
    return _product(q0, _exp(_cubic(s, 0.0, psi, turn0, _inverse_dexp(psi, turn1))))


def _inverse_dexp(psi: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """Return dψ/ds at the end of ψ, for a rate in the turned axes."""
    angle = np.linalg.norm(psi, axis=1, keepdims=True)
    across = np.cross(psi, turn)
    with np.errstate(divide="ignore", invalid="ignore"):
        series = (1 - 0.5 * angle / np.tan(0.5 * angle)) / angle**2
    factor = np.where(angle < 1e-3, 1 / 12, series)
    near_turn = ~np.isfinite(factor) | (np.abs(factor) > 1.0)  # a whole turn: no such rate
    factor = np.where(near_turn, 0.0, factor)
    return turn + 0.5 * across + factor * np.cross(psi, across)


def _exp(psi: np.ndarray) -> np.ndarray:
    half = 0.5 * np.linalg.norm(psi, axis=1, keepdims=True)
    return np.concatenate([np.cos(half), 0.5 * np.sinc(half / np.pi) * psi], axis=1)


def _product(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    w, v, s, u = p[:, :1], p[:, 1:], q[:, :1], q[:, 1:]
    real = w * s - np.sum(v * u, axis=1, keepdims=True)
    return np.concatenate([real, w * u + s * v + np.cross(v, u)], axis=1)


def rates_inertial(there: States) -> np.ndarray:
    """Return the rates in inertial axes."""
    return to_inertial(there, there.omega)
