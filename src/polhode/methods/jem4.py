"""Elliptic functions, Magnus' method of order 4 (JEM4 in Celledoni & Säfström 2006), free bodies.

The momentum m(t) is that of ``je``, with its constants computed once; the body rotates with its
rates at the Gauss nodes c₁ = 1/2 - √3/6 and c₂ = 1/2 + √3/6,

    wᵢ = I⁻¹ m(t + cᵢ h),    psi = h/2 (w₁ + w₂) + √3/12 h² w₁ x w₂                    (1)
    m' = m(t + h),    q' = q exp(psi)                                                  (2)

(The sign of the product is that for q' = q exp(psi) with rates in body axes; exchanging the nodes
would give second order.)  Fourth order in the attitude, symmetric, explicit.  The momentum in body
axes is exact for any step, and energy and |m| are conserved; the momentum in inertial axes is not.
Carried: as in ``je``.
"""

from dataclasses import replace
from math import sqrt

from polhode.kernels.euler_flow import momentum
from polhode.kernels.vector import add, add_scaled, cross, multiply, scale
from polhode.methods import jem2

C1, C2 = 0.5 - sqrt(3) / 6, 0.5 + sqrt(3) / 6
BRACKET = sqrt(3) / 12


def turn(h, t, constants, a):
    """Return psi of (1) for a step h from the time t of the orbit; ``a`` are inverse moments."""
    w1 = scale(a, momentum(t + C1 * h, constants))
    w2 = scale(a, momentum(t + C2 * h, constants))
    return add_scaled(multiply(h / 2, add(w1, w2)), BRACKET * h * h, cross(w1, w2))  # (1)


PLACE = 270
METHOD = replace(
    jem2.METHOD,
    name="jem4",
    title="elliptic functions and Magnus' method, order 4",
    order=4,
    step=jem2.turning(turn),  # (2)
)
