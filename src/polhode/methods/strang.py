"""Strang splitting over the exact free motion: half a kick, the free body, half a kick.

With the kick K(k): m -> m + k T, and φ(h) the exact motion of a free body (``kernels/free_flow``),

    step = K(h/2) φ(h) K(h/2)                                                          (1)

where the first kick takes T(t, q) and the last T(t + h, q').
Second order, symmetric, symplectic, explicit; exact without torque, whatever the body and the step.
The error is proportional to the torque: the weaker it is against the rotation, the better.  (The
Störmer-Verlet scheme of Celledoni & Säfström 2006, section 2, with the attitude exact as well.)

A kick is the flow of a potential: the torque must not depend on the rate.  Carried: the torque at
the end, which is the first of the next step.  The free motion takes as many doublings as the step
is long, so lanes are not vectors.  The momentum is turned back by the turn of the body, so that in
inertial axes it is kept to rounding.
"""

from polhode.contracts import AXIAL, FREE, LINEAR, Method, torque
from polhode.kernels.free_flow import free_turn
from polhode.kernels.quaternion import product1, turned_back
from polhode.kernels.vector import add_scaled
from polhode.methods.mr2 import start


def step(t, h, state, carry, body, params):
    (q, m), (inertia, inverse) = state, (body[0], body[1])
    m = add_scaled(m, h / 2, carry)
    (c1, v), _ = free_turn(h, m, inertia, inverse)
    q, m = product1(q, c1, v), turned_back(c1, v, m)  # (1)
    carry = torque(t + h, q, m, body, params)
    return (q, add_scaled(m, h / 2, carry)), carry


METHOD = Method(
    name="strang",
    title="Strang splitting over the exact free motion",
    order=2,
    symmetric=True,
    symplectic=True,
    takes_rate=False,
    exact_when_free=True,
    keeps_energy=(FREE,),
    keeps_momentum=(FREE, LINEAR, AXIAL),
    keeps_norm=True,
    torques_at_start=1,
    torques_per_step=1,
    references=("strang1968", "celledoni2006"),
    start=start,
    step=step,
    width=1,
)
