"""Momentum-conserving trapezoidal rule TRAPM (Krysl 2006, eq. 20).

Half a step of forward-euler-m, then half a step of backward-euler-m; with k = h/2,

    q' = q exp(k I⁻¹ m) exp(k I⁻¹ m')                                                  (1)
    m' = R'ᵀ R (m + k T) + k T'                                                        (2)

Second order, symmetric, implicit.  The momentum in inertial axes changes only by the impulses k T
and k T'.  Energy is not conserved, but its error stays bounded.  Conjugate to ``imidm``.
"""

from dataclasses import replace

from polhode.methods import backward_euler_m, forward_euler_m, trap

PLACE = 70
METHOD = replace(
    backward_euler_m.METHOD,
    name="trapm",
    title="momentum-conserving trapezoidal rule TRAPM",
    order=2,
    symmetric=True,
    torques_per_step=2,
    **trap.halves(forward_euler_m.METHOD, backward_euler_m.METHOD),
)
