"""A splitting of order 8 over the exact free motion (Blanes, Casas & Escorihuela-Tomàs 2022, A19).

Nineteen kicks and twenty drifts (``kernels/free_flow``), coefficients in ``tableaus/splitting``:

    φ(a_1 h) K(b_1 h) φ(a_2 h) … K(b_19 h) φ(a_20 h),    a_i = a_(21-i), b_i = b_(20-i)    (1)

Designed as ``srkn14``, for kicks that commute: then order 8 takes 18 conditions instead of 28, and
two coefficients are left to make the error small.  Eighth order, otherwise as ``strang``:
symmetric, symplectic, explicit, exact without torque.  For many digits it takes fewer drifts than
any other splitting.
"""

from polhode.methods.strang import with_splitting
from polhode.tableaus.splitting import SRKN19A

PLACE = 195
METHOD = with_splitting(
    "srkn19", "Blanes and others' splitting of order 8 for kicks that commute", SRKN19A
)  # (1)
