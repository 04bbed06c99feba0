"""A splitting for weak torques over the exact free motion (Laskar & Robutel 2001, SBAB5).

Five drifts (``kernels/free_flow``) between kicks at the six nodes of Lobatto's quadrature:

    K(b_0 h) φ(a_1 h) K(b_1 h) … φ(a_5 h) K(b_5 h)                                         (1)

For a torque of ε times the energy of rotation the error is ε h^10 + ε² h²: second order, but as
good as order 10 for small ε.  All coefficients are positive closed expressions.  Otherwise as
``strang``: symmetric, symplectic, explicit, exact without torque.
"""

from polhode.methods.strang import with_splitting
from polhode.tableaus.splitting import SBAB5

PLACE = 200
METHOD = with_splitting("sbab5", "Laskar and Robutel's splitting for weak torques", SBAB5)  # (1)
