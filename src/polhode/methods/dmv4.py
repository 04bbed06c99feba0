"""Discrete Moser–Veselov algorithm, momentum of order 4 (McLachlan & Zanna 2005), free bodies.

``dmv2`` moves m along its orbit by the time h (1 + t₃ h² + t₅ h⁴ + …), with the kinetic energy H,
C = |m|²/2 and the sums e₁ = a₁ + a₂ + a₃, e₂ = a₁a₂ + a₂a₃ + a₃a₁ of the inverse moments,

    t₃ = e₁ H/3 - e₂ C/6                                                               (1)

H and C are both constant, so the next order results from solving equation (1) of ``dmv2`` with

    (1 - t₃ h²) m   in place of m                                                      (2)

and rotating m itself by the resulting c.  The momentum in body axes is of fourth order, the
attitude remains of second: within a step the path of the attitude is not that of the body.
Otherwise as ``dmv2``, except that the scaled map is not symplectic.  Where t₃ h² exceeds 1/2
(a rotation by more than about 1.4 radians) the step fails.
"""

from dataclasses import replace
from math import nan

from polhode.compiler.machine import fma
from polhode.kernels.vector import dot, scale
from polhode.methods import dmv2


def energies(m, a):
    """Return (H, C): the kinetic energy, and half the square of m."""
    return 0.5 * dot(m, scale(a, m)), 0.5 * dot(m, m)


def sums(a):
    """Return e₁ and e₂."""
    a1, a2, a3 = a
    return a1 + a2 + a3, fma(a1, a2, fma(a2, a3, a3 * a1))


def third(h, m, a):
    """Return t₃ h², or NaN where the series is not valid."""
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
