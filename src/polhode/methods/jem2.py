"""Elliptic functions, Magnus' method of order 2 (JEM2 in Celledoni & Säfström 2006), free bodies.

The momentum m(t) is that of ``je``, its constants computed once; the body turns by its rate in the
middle of the step (the paper's (9)),

    m' = m(t + h),    q' = q exp(psi),    psi = h I⁻¹ m(t + h/2)                       (1)

Second order in the attitude, symmetric, explicit.  The momentum in body axes is exact, whatever the
step, and energy and |m| are kept; the momentum in inertial axes is not.  Carried: as in ``je``.
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
    """psi of (1), for the step h that begins a time t after the orbit; ``a``, inverse moments."""
    return multiply(h, scale(a, momentum(t + h / 2, constants)))


def turning(turn: Callable) -> Callable:
    """The step whose attitude takes the given ``turn``."""

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
