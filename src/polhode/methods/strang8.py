"""The splitting ``strang`` raised to order 8 by composition.

Seventeen steps of ``strang`` (Kahan & Li 1997), weights in ``tableaus/composition``:

    strang(w_1 h) strang(w_2 h) … strang(w_17 h),    w_i = w_(18-i)                        (1)

Eighth order, otherwise as ``strang``: symmetric, symplectic, explicit, exact without torque.
"""

from dataclasses import replace

from polhode.methods import strang
from polhode.tableaus.splitting import STRANG8

PLACE = 180
METHOD = replace(
    strang.METHOD,
    name="strang8",
    title="Kahan and Li's seventeen steps of Strang splitting",
    order=STRANG8.order,
    weights=STRANG8.rows,  # (1)
    references=(*strang.METHOD.references, *STRANG8.references),
)
