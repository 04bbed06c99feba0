"""References for Celledoni & Säfström (2006) that are independent of the methods under test.

The torque of the satellite, written out from the page, for ``papers.reference``; and the free body
of section 4.1 to 20 digits.
"""

from collections.abc import Sequence

from polhode.papers.reference import Law, Vector


def satellite(inertia: Sequence[float], mu: float = 3.986e14, r: float = 1.5e5) -> Law:
    """Return the torque of section 4.3."""
    i1, i2, i3 = inertia
    c = 3 * mu / r**3

    def law(t: float, u1: float, u2: float, u3: float) -> Vector:
        return c * (i3 - i2) * u2 * u3, c * (i1 - i3) * u3 * u1, c * (i2 - i1) * u1 * u2

    return law


# The free body of section 4.1 at t = 1, from Q = 1 and π = (-1, 0, 2): mpmath's Taylor series at 40
# digits (``odefun``, tolerance 1e-32); a test computes it again.
FREE_Q = (
    0.9401105466448127659915,
    -0.09908951637437092771807,
    0.01636676794741462564513,
    0.3257384790577251983335,
)
FREE_PI = (-0.9779085024010544331616, 0.2644086562326639590748, 1.993434980991595785446)
