"""The splitting ``strang`` raised to order 4 by composition.

Five steps of ``strang``, the middle one backwards (Suzuki 1990):

    strang(w_1 h) strang(w_2 h) … strang(w_5 h),    w_i = w_(6-i)                         (1)

Fourth order, otherwise as ``strang``: symmetric, symplectic, explicit, exact without torque.
"""

from dataclasses import replace

from polhode.methods import strang
from polhode.tableaus.splitting import STRANG4

PLACE = 160
METHOD = replace(
    strang.METHOD,
    name="strang4",
    title="Suzuki's five steps of Strang splitting",
    order=STRANG4.order,
    weights=STRANG4.rows,  # (1)
    references=(*strang.METHOD.references, *STRANG4.references),
)
