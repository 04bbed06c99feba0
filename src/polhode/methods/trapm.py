"""Momentum-conserving trapezoidal rule TRAPM (Krysl 2006, eq. 20).

Half a step of forward-euler-m, then half a step of backward-euler-m; with k = h/2,

    q' = q exp(k I⁻¹ m) exp(k I⁻¹ m')                                                  (1)
    m' = R'ᵀ R (m + k T) + k T'                                                        (2)

Second order, symmetric, implicit.  The momentum in inertial axes changes only by the impulses k T
and k T'.  Energy is not conserved, but its error stays bounded.  Conjugate to ``imidm``.
"""

from polhode.contracts import AXIAL, FREE, LINEAR, Method
from polhode.methods import backward_euler_m, forward_euler_m


def guess(t, h, state, carry, body, params):
    k = h / 2
    middle, _ = forward_euler_m.step(t, k, state, (), body, params)
    psi, size = backward_euler_m.guess(t + k, k, middle, carry, body, params)
    return psi, middle, size


def improve(t, h, unknown, state, body, params):
    psi, middle, size = unknown
    k = h / 2
    (psi, size), done = backward_euler_m.improve(t + k, k, (psi, size), middle, body, params)
    return (psi, middle, size), done


def finish(t, h, unknown, state, carry, body, params):
    psi, middle, size = unknown
    k = h / 2
    return backward_euler_m.finish(t + k, k, (psi, size), middle, carry, body, params)


PLACE = 70
METHOD = Method(
    name="trapm",
    title="momentum-conserving trapezoidal rule TRAPM",
    order=2,
    symmetric=True,
    keeps_momentum=(FREE, LINEAR, AXIAL),
    keeps_norm=True,
    torques_per_step=2,
    torques_per_iteration=1,
    references=("krysl2006",),
    start=backward_euler_m.start,
    guess=guess,
    improve=improve,
    finish=finish,
)
