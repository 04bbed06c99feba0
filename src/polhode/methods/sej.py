"""Störmer–Verlet, the free motion by elliptic functions (SEJ in Celledoni & Säfström 2006).

With the kick K(k): m -> m + k T, and the free motion of the paper's (10), with exact momentum
(``je``) and the attitude by Magnus' method of order 2 (``jem2``),

    φ(h): m -> m(h),    q -> q exp(psi),    psi = h I⁻¹ m(h/2)                         (1)
    step = K(h/2) φ(h) K(h/2)                                                          (2)

where the first kick takes T(t, q) and the last T(t + h, q').
Second order, symmetric, explicit; not symplectic, since the rotation of (1) is not that of the
body: the momentum in inertial axes is conserved only to second order, with or without torque.
Without torque the momentum in body axes is exact, and energy and |m| are conserved.  ``strang`` is
the same splitting with the exact attitude, and symplectic.

A kick is the flow of a potential: the torque must not depend on the rate.  Each kick changes the
constants of the free motion, including τ.  Carried: the torque at the end, which is the first of
the next step.
"""

from collections.abc import Callable

from polhode.contracts import FREE, Method, inverse_moments, moments, torque
from polhode.kernels.euler_flow import momentum, orbit
from polhode.kernels.quaternion import product1
from polhode.kernels.so3 import exp1
from polhode.kernels.vector import add_scaled
from polhode.methods.jem2 import turn


def start(t, h, state, body, params):
    q, m = state
    return torque(t, q, m, body, params)


def turning(turn: Callable) -> Callable:
    """Make the step whose free motion rotates by the rotation vector ``turn``."""

    def step(t, h, state, carry, body, params):
        (q, m), (inertia, inverse) = state, (moments(body), inverse_moments(body))
        constants = orbit(add_scaled(m, h / 2, carry), inertia, inverse)
        c1, v = exp1(turn(h, 0.0, constants, inverse))
        q, m = product1(q, c1, v), momentum(h, constants)  # (1)
        carry = torque(t + h, q, m, body, params)
        return (q, add_scaled(m, h / 2, carry)), carry  # (2)

    return step


PLACE = 280
METHOD = Method(
    name="sej",
    title="Störmer–Verlet with elliptic functions and Magnus' method, order 2",
    order=2,
    symmetric=True,
    takes_rate=False,
    exact_momentum_when_free=True,
    keeps_energy=(FREE,),
    keeps_norm=True,
    torques_at_start=1,
    torques_per_step=1,
    references=("celledoni2006", "bulirsch1965"),
    start=start,
    step=turning(turn),
    width=1,
)
