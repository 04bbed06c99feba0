"""The splitting ``mr2`` raised to order 4 by the triple jump (MR4 in Celledoni & Säfström 2006).

Three steps of ``mr2``, the middle one backwards (Suzuki 1990, Yoshida 1990):

    mr2(w h) mr2((1 - 2w) h) mr2(w h),    w = 1/(2 - 2^(1/3))                          (1)

Fourth order, otherwise as ``mr2``: symmetric, symplectic, explicit, conserves the momentum in
inertial axes, for torques that do not depend on the rate.

The paper does not say which composition its MR4 is, only that its energy oscillates by about 1e-5
in section 4.1: with the triple jump that is 3e-5, with Suzuki's five steps 3e-7.
"""

from dataclasses import replace

from polhode.methods import mr2
from polhode.tableaus.composition import TRIPLE_JUMP

PLACE = 140
METHOD = replace(
    mr2.METHOD,
    name="mr4",
    title="splitting about the principal axes, triple jump",
    order=TRIPLE_JUMP.order,
    weights=TRIPLE_JUMP.floats,  # (1)
    references=(*mr2.METHOD.references, *TRIPLE_JUMP.references),
)
