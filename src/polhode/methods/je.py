"""Euler's equations by Jacobi's elliptic functions (JE in Celledoni & Säfström 2006), free bodies.

The momentum comes from ``kernels/euler_flow``, whose constants are computed once, at the start t0:

    m' = C cn u + S sn u + D dn u,    u = λ (t + h - τ),    τ = t0 - u0/λ              (1)

JE in the paper ends here.  The attitude follows from the same momenta by the trapezoidal rule:

    q' = q exp(psi),    psi = h/2 I⁻¹ (m + m')                                         (2)

The momentum in body axes is exact for any step: energy and |m| stay within a few roundings of their
initial values for all times, and the phase error is that of the time.  The attitude is of second
order, and so is the momentum in inertial axes, which is not conserved.  Symmetric, explicit, one
set of elliptic functions per step.

Carried: C, S, D, λ, u0, 1 - k², |m| and t0.  (The pair u0, t0 replaces τ, also where λ vanishes.)
"""

from polhode.contracts import FREE, Method, inverse_moments, moments
from polhode.kernels.euler_flow import momentum, orbit
from polhode.kernels.quaternion import product1
from polhode.kernels.so3 import exp1
from polhode.kernels.vector import add, multiply, scale


def start(t, h, state, body, params):
    return orbit(state[1], moments(body), inverse_moments(body)), t


def step(t, h, state, carry, body, params):
    (q, m), (constants, t0), a = state, carry, inverse_moments(body)
    new = momentum(t + h - t0, constants)  # (1)
    c1, v = exp1(multiply(h / 2, scale(a, add(m, new))))
    return (product1(q, c1, v), new), carry  # (2)


PLACE = 250
METHOD = Method(
    name="je",
    title="Euler's equations by elliptic functions",
    order=2,
    symmetric=True,
    free_only=True,
    exact_momentum_when_free=True,
    keeps_energy=(FREE,),
    keeps_norm=True,
    references=("celledoni2006", "bulirsch1965"),
    start=start,
    step=step,
    width=1,
)
