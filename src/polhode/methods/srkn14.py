"""Blanes and Moan's splitting of order 6 over the exact free motion (Blanes & Moan 2002, SRKN14).

Fourteen kicks and fifteen drifts (``kernels/free_flow``), coefficients in ``tableaus/splitting``:

    φ(a_1 h) K(b_1 h) φ(a_2 h) … K(b_14 h) φ(a_15 h),    a_i = a_(16-i), b_i = b_(15-i)    (1)

Designed for a kinetic energy quadratic in the momentum and a potential of the attitude alone: then
[K, [K, [K, φ]]] vanishes, which leaves 8 conditions of order 6 instead of 10, and freedom to make
the error small.  Sixth order, otherwise as ``strang``: symmetric, symplectic, explicit, exact
without torque.  The most accurate splitting for tops at a given cost, up to some eight digits;
``srkn19`` beyond.
"""

from polhode.methods.strang import with_splitting
from polhode.tableaus.splitting import SRKN14A

PLACE = 190
METHOD = with_splitting(
    "srkn14", "Blanes and Moan's splitting of order 6 for kicks that commute", SRKN14A
)  # (1)
