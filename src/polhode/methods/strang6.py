"""The splitting ``strang`` raised to order 6 by composition.

Nine steps of ``strang`` (Kahan & Li 1997), weights in ``tableaus/composition``:

    strang(w_1 h) strang(w_2 h) … strang(w_9 h),    w_i = w_(10-i)                         (1)

Sixth order, otherwise as ``strang``: symmetric, symplectic, explicit, exact without torque.
"""

from polhode.methods.strang import with_splitting
from polhode.tableaus.splitting import STRANG6

PLACE = 170
METHOD = with_splitting("strang6", "Kahan and Li's nine steps of Strang splitting", STRANG6)  # (1)
