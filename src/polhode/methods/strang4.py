"""The splitting ``strang`` raised to order 4 by composition.

Five steps of ``strang``, the middle one backwards (Suzuki 1990):

    strang(w_1 h) strang(w_2 h) … strang(w_5 h),    w_i = w_(6-i)                         (1)

Fourth order, otherwise as ``strang``: symmetric, symplectic, explicit, exact without torque.
"""

from polhode.methods.strang import with_splitting
from polhode.tableaus.splitting import STRANG4

PLACE = 160
METHOD = with_splitting("strang4", "Suzuki's five steps of Strang splitting", STRANG4)  # (1)
