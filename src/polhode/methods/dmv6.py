"""Discrete Moser–Veselov algorithm, momentum of order 6 (McLachlan & Zanna 2005), free bodies.

As ``dmv4`` with one more term: with e₃ = a₁a₂a₃ and its notation,

    t₅ = 3/20 (2 e₁² - e₂) H² - (3 e₁ e₂ - 2 e₃)/10 H C + (e₂² + 2 e₁ e₃)/20 C²        (1)
    (1 - t₃ h² + (3 t₃² - t₅) h⁴) m   in place of m                                    (2)

The momentum in body axes is of sixth order, the attitude of second.
"""

from dataclasses import replace

from polhode.methods import dmv2, dmv4
from polhode.methods.dmv4 import energies, sums, third


def fifth(h, m, a):
    """Return t₅ h⁴."""
    (kinetic, half), (e1, e2) = energies(m, a), sums(a)
    e3 = a[0] * a[1] * a[2]
    squares = 0.15 * (2.0 * (e1 * e1) - e2) * (kinetic * kinetic)
    mixed = 0.1 * (3.0 * (e1 * e2) - 2.0 * e3) * (kinetic * half)
    t5 = squares - mixed + 0.05 * (e2 * e2 + 2.0 * (e1 * e3)) * (half * half)  # (1)
    return t5 * (h * h) * (h * h)


def scaling(h, m, a):
    t3 = third(h, m, a)
    return 1.0 - (t3 - (3.0 * (t3 * t3) - fifth(h, m, a)))  # (2)


PLACE = 240
METHOD = replace(
    dmv4.METHOD,
    name="dmv6",
    title="discrete Moser–Veselov algorithm, momentum of order 6",
    momentum_order=6,
    improve=dmv2.scaled(scaling),
)
