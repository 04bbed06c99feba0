"""Strang splitting over the exact free motion: half a kick, the free body, half a kick.

With the kick K(k): m -> m + k T, and φ(h) the exact motion of a free body (``kernels/free_flow``,
``kernels/symmetric_flow``),

    step = K(b) φ(a) K(c),    a = h, b = c = h/2                                       (1)

where the first kick takes T(t, q) and the last T(t + a, q').
Second order, symmetric, symplectic, explicit; exact without torque for any body and step.  The
error is proportional to the torque: the weaker the torque relative to the rotation, the better.
(The Störmer-Verlet scheme of Celledoni & Säfström 2006, section 2, with the exact attitude.)

A kick is the flow of a potential: the torque must not depend on the rate.  Carried: the torque at
the end, which is the first of the next step, and the rounding errors of compensated sums.  The
momentum is rotated back by the rotation of the body, so that in inertial axes it is conserved to
rounding (for symmetric bodies about their axis, which conserves its component along the axis, and
with it the energy).
"""

from dataclasses import replace

from polhode.contracts import FREE, Method, inverse_moments, moments, torque
from polhode.kernels.free_flow import free_drift
from polhode.kernels.moved import rotated_to_unit
from polhode.kernels.sums import plus3, plus_scaled3
from polhode.methods import mr2
from polhode.tableaus.splitting import STRANG, Splitting


def step(t, h, state, carry, body, params):
    (a, b, c), (q, m), (n, (eq, em)) = h, state, carry
    m, em = plus_scaled3(m, em, b, n)
    (c1, v), change = free_drift(a, m, moments(body), inverse_moments(body))
    q, eq = rotated_to_unit(q, eq, c1, v)
    m, em = plus3(m, em, change)  # (1)
    n = torque(t + a, q, m, body, params)
    if c != 0.0:  # only in the last part of a step
        m, em = plus_scaled3(m, em, c, n)
    return (q, m), (n, (eq, em))


PLACE = 150
METHOD = replace(
    mr2.METHOD,  # with the same kicks
    name="strang",
    title="Strang splitting over the exact free motion",
    order=STRANG.order,
    exact_when_free=True,
    keeps_energy=(FREE,),
    weights=STRANG.rows,
    references=("strang1968", "celledoni2006"),
    step=step,
    width=8,
)


def with_splitting(name: str, title: str, scheme: Splitting) -> Method:
    """Make the same method with other drifts and kicks."""
    return replace(
        METHOD,
        name=name,
        title=title,
        order=scheme.order,
        weights=scheme.rows,
        references=(*METHOD.references, *scheme.references),
    )
