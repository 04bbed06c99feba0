"""Störmer–Verlet, Magnus' method of order 4 in the free motion (SEJ4 in Celledoni & Säfström 2006).

``sej`` with the attitude of ``jem4`` in place of that of ``jem2``:

    step = K(h/2) φ(h) K(h/2),    φ(h): q -> q exp(psi),    psi = (1) of ``jem4``      (1)

Second order with torque, as the kicks are, and fourth without; otherwise as ``sej``.
"""

from dataclasses import replace

from polhode.methods import jem4, sej

PLACE = 290
METHOD = replace(
    sej.METHOD,
    name="sej4",
    title="Störmer–Verlet with elliptic functions and Magnus' method, order 4",
    order_when_free=4,
    step=sej.turning(jem4.turn),  # (1)
)
