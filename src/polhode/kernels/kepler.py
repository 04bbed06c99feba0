"""Kepler's equation without branches, the same operations for one body and for SIMD lanes.

    E - e sin E = M                                                                    (1)

An initial guess is improved by three corrections of fourth order, with f the difference of the two
sides and f', f'', f''' its derivatives (Danby & Burkardt 1983):

    E = M + e sin M / √(1 - 2 e cos M + e²)                                            (2)
    c = -f / (f' - f f''/2 f'),    E <- E - f / (f' + c f''/2 + c² f'''/6)             (3)

This is accurate to rounding for every M and e <= ``MOST``.
"""

from math import sqrt

from polhode.compiler.machine import fma, rint
from polhode.kernels.trig import TURN, TURN_REST, TURNS, in_reach, sincos1

MOST = 0.99


def eccentric_anomaly(mean, e):
    """Return E of (1), for the mean anomaly less whole turns."""
    k = rint(mean * TURNS)
    m = in_reach(mean, fma(-k, TURN_REST, fma(-k, TURN, mean)))
    s, c1 = sincos1(m)
    e_c = fma(e, c1, e)
    x = m + e * s / sqrt(fma(e, e, 1.0 - 2.0 * e_c))  # (2)
    return corrected(corrected(corrected(x, m, e), m, e), m, e)


def corrected(x, m, e):
    """Take one step (3) from E = x."""
    s, c1 = sincos1(x)
    f3, f2 = fma(e, c1, e), e * s
    f1, f = fma(-e, c1, 1.0 - e), (x - f2) - m
    c = -f / (f1 - 0.5 * f * f2 / f1)
    return x - f / fma(c, fma(c, f3 / 6.0, 0.5 * f2), f1)
