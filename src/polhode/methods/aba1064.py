"""A splitting for weak torques over the exact free motion (Blanes et al. 2013, ABA(10,6,4)).

Eight kicks and nine drifts (``kernels/free_flow``), coefficients in ``tableaus/splitting``:

    φ(a_1 h) K(b_1 h) φ(a_2 h) … K(b_8 h) φ(a_9 h),    a_i = a_(10-i), b_i = b_(9-i)       (1)

For a torque of ε times the energy of rotation the error is ε h^10 + ε² h^6 + ε³ h^4.
Fourth order, otherwise as ``strang``: symmetric, symplectic, explicit, exact without torque.
"""

from polhode.methods.strang import with_splitting
from polhode.tableaus.splitting import ABA1064

PLACE = 210
METHOD = with_splitting(
    "aba1064", "Blanes and others' splitting for weak torques, high accuracy", ABA1064
)  # (1)
