"""Elliptic functions, Magnus' method of order 2 (JEM2 in Celledoni & Säfström 2006), free bodies.

The momentum m(t) is that of ``je``, with its constants computed once; the body rotates with its
rate in the middle of the step (the paper's (9)),

    m' = m(t + h),    q' = q exp(psi),    psi = h I⁻¹ m(t + h/2)                       (1)

Second order in the attitude, symmetric, explicit.  The momentum in body axes is exact for any step,
and energy and |m| are conserved; the momentum in inertial axes is not.  Carried: as in ``je``.
"""

from collections.abc import Callable
from dataclasses import replace

from polhode.contracts import inverse_moments
from polhode.kernels.euler_flow import momentum
from polhode.kernels.quaternion import product1
from polhode.kernels.so3 import exp1
from polhode.kernels.vector import multiply, scale
from polhode.methods import je


def turn(h, t, constants, a):
    """Return psi of (1) for a step h from the time t of the orbit; ``a`` are inverse moments."""
    return multiply(h, scale(a, momentum(t + h / 2, constants)))


def turning(turn: Callable) -> Callable:
    """Make the step of the attitude by the rotation vector ``turn``."""

    def step(t, h, state, carry, body, params):
        constants, t0 = carry
        c1, v = exp1(turn(h, t - t0, constants, inverse_moments(body)))
        return (product1(state[0], c1, v), momentum(t + h - t0, constants)), carry  # (1)

    return step


PLACE = 260
METHOD = replace(
    je.METHOD,
    name="jem2",
    title="elliptic functions and Magnus' method, order 2",
    step=turning(turn),
)
