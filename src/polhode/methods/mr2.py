"""Splitting about the principal axes (McLachlan 1993, Reich 1996; MR in Celledoni & Säfström 2006).

With the kick K(k): m -> m + k T, and φ_i(k) the rotation about axis i at its rate m_i/I_i,

    φ_i(k): q -> q (cos a/2, sin a/2 e_i), m -> m turned back by a = k m_i/I_i         (1)
    step = K(h/2) φ1(h/2) φ2(h/2) φ3(h) φ2(h/2) φ1(h/2) K(h/2)                         (2)

where the first kick takes T(t, q) and the last T(t + h, q').
Second order, symmetric, symplectic, explicit.  The rotations conserve the momentum in inertial
axes, so it changes only by the impulses h/2 T; energy is not conserved, its error stays bounded.

A kick is the flow of a potential: the torque must not depend on the rate.  Carried: the torque at
the end, which is the first of the next step, and the rounding errors of compensated sums.
"""

from polhode.contracts import AXIAL, FREE, LINEAR, Method, inverse_moments, torque
from polhode.kernels.sums import no_loss3, no_loss4, plus_scaled3
from polhode.kernels.turns import turn_1, turn_2, turn_3


def turns(h, q, m, e, a):
    """Apply φ1(h/2) φ2(h/2) φ3(h) φ2(h/2) φ1(h/2); ``a`` are the inverse moments."""
    f1, f2, f3 = h / 4 * a[0], h / 4 * a[1], h / 2 * a[2]  # half angles
    q, m, e = turn_1(q, m, e, f1 * m[0])
    q, m, e = turn_2(q, m, e, f2 * m[1])
    q, m, e = turn_3(q, m, e, f3 * m[2])
    q, m, e = turn_2(q, m, e, f2 * m[1])
    return turn_1(q, m, e, f1 * m[0])


def start(t, h, state, body, params):
    q, m = state
    return torque(t, q, m, body, params), (no_loss4(q), no_loss3(m))


def step(t, h, state, carry, body, params):
    (q, m), (n, (eq, em)) = state, carry
    m, em = plus_scaled3(m, em, h / 2, n)
    q, m, (eq, em) = turns(h, q, m, (eq, em), inverse_moments(body))  # (2)
    n = torque(t + h, q, m, body, params)
    m, em = plus_scaled3(m, em, h / 2, n)
    return (q, m), (n, (eq, em))


PLACE = 130
METHOD = Method(
    name="mr2",
    title="splitting about the principal axes",
    order=2,
    symmetric=True,
    symplectic=True,
    takes_rate=False,
    keeps_momentum=(FREE, LINEAR, AXIAL),
    compensates=True,
    keeps_norm=True,
    torques_at_start=1,
    torques_per_step=1,
    references=("mclachlan1993", "reich1996", "dullweber1997", "celledoni2006"),
    start=start,
    step=step,
    width=16,
)
