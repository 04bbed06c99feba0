"""The splitting ``strang`` raised to order 8 by composition.

Seventeen steps of ``strang`` (Kahan & Li 1997), weights in ``tableaus/composition``:

    strang(w_1 h) strang(w_2 h) … strang(w_17 h),    w_i = w_(18-i)                        (1)

Eighth order, otherwise as ``strang``: symmetric, symplectic, explicit, exact without torque.
"""

from polhode.methods.strang import with_splitting
from polhode.tableaus.splitting import STRANG8

PLACE = 180
METHOD = with_splitting(
    "strang8", "Kahan and Li's seventeen steps of Strang splitting", STRANG8
)  # (1)
