"""Discrete Moser–Veselov algorithm, momentum of order 4 (McLachlan & Zanna 2005), free bodies.

``dmv2`` moves m along its orbit by the time h (1 + t₃ h² + t₅ h⁴ + …), with the kinetic energy H,
C = |m|²/2 and the sums e₁ = a₁ + a₂ + a₃, e₂ = a₁a₂ + a₂a₃ + a₃a₁ of the inverse moments,

    t₃ = e₁ H/3 - e₂ C/6                                                               (1)

Both H and C are kept, so that it is right to next order to solve equation (1) of ``dmv2`` with

    (1 - t₃ h²) m   in place of m                                                      (2)

and to turn m itself by the c found.  The momentum in body axes is of fourth order, the attitude
stays of second: between its ends the step turns in another way than the body.  All else is as in
``dmv2``, but for the symplectic form, which the scale does not respect.  Where t₃ h² is above 1/2
(a turn of more than some 1.4 radians) the step fails.
"""

from dataclasses import replace
from math import nan

from polhode.compiler.machine import fma
from polhode.kernels.vector import dot, scale
from polhode.methods import dmv2


def energies(m, a):
    """(H, C): the kinetic energy, and half the square of m."""
    return 0.5 * dot(m, scale(a, m)), 0.5 * dot(m, m)


def sums(a):
    """e₁ and e₂."""
    a1, a2, a3 = a
    return a1 + a2 + a3, fma(a1, a2, fma(a2, a3, a3 * a1))


def third(h, m, a):
    """t₃ h², or NaN where the series means nothing."""
    (kinetic, half), (e1, e2) = energies(m, a), sums(a)
    t3 = (e1 * kinetic / 3.0 - e2 * half / 6.0) * (h * h)  # (1)
    return t3 if t3 < 0.5 else nan


def scaling(h, m, a):
    return 1.0 - third(h, m, a)  # (2)


PLACE = 230
METHOD = replace(
    dmv2.METHOD,
    name="dmv4",
    title="discrete Moser–Veselov algorithm, momentum of order 4",
    momentum_order=4,
    symplectic=False,
    improve=dmv2.scaled(scaling),
)
