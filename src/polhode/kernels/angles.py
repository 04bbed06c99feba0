"""Angles a₀ + n t that grow for a long time, modulo one turn and to rounding.

The product n t of floats errs by half a unit in its last place, 1e-11 after 3e4 turns.  Here it is
the exact sum p + e of two floats (by ``fma``, and as in Dekker 1971 in plain Python, with the same
bits), from which k turns are subtracted in parts,

    n t = p + e,    k T = h + l,    r = (p - h) + ((e - l) - k T')                     (1)

with T + T' = 2 pi, and p - h exact.  Then the same is done to a₀ + r.
"""

from polhode.compiler.machine import fma, rint
from polhode.kernels.sums import two_sum
from polhode.kernels.trig import in_reach

TURN, TURN_REST, TURNS = 6.283185307179586, 2.4492935982947064e-16, 0.15915494309189535
SPLITTER = 134217729.0  # 2²⁷ + 1
THIRD, NINTH = 1 / 3, (1 / 3) * (1 / 3)


def split(a):
    """Split a into the sum of two floats of 26 bits."""
    c = SPLITTER * a
    high = c - (c - a)
    return high, a - high


def two_product(a, b):
    """Return (a b, its rounding error)."""
    p = a * b
    if fma(THIRD, THIRD, -NINTH) != 0.0:  # fused; constant at compile time
        return p, fma(a, b, -p)
    (a1, a2), (b1, b2) = split(a), split(b)
    return p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2


def less_turns(p, e):
    """Return p + e less the whole turns of p, as two floats: the reduced p, and the rest.

    NaN where p is too large to be reduced.
    """
    k = rint(p * TURNS)
    high, low = two_product(k, TURN)
    return in_reach(p, p - high), (e - low) - k * TURN_REST  # (1)


def reduced(a0, n, t, rest):
    """Return a₀ + n t + rest less whole turns, for a small rest."""
    p, e = two_product(n, t)
    r, low = less_turns(p, e + rest)
    s, e = two_sum(a0, r)
    r, low = less_turns(s, e + low)
    return r + low


def reduced_angle(a0, n, t):
    """Return a₀ + n t less whole turns, between -pi and pi.

    Accurate to half a unit in the last place for these floats, for |n t| and |a₀| up to 1e9.  For
    torques that depend on time, in plain Python and compiled.

    Examples
    --------
    >>> import math, polhode as ph
    >>> n, t = 7.29e-5, 1e9  # after a billion seconds
    >>> abs(ph.reduced_angle(0.0, n, t) - math.remainder(n * t, 2 * math.pi)) < 1e-10
    True
    """
    return reduced(a0, n, t, 0.0)


def cycle(n, t):
    """Return n t less whole turns, accurate to a unit in the last place of pi."""
    p, e = two_product(n, t)
    r, low = less_turns(p, e)
    return r + low


def phase_at(a0, n, t):
    """Return a₀ - n t less whole turns, as the sum of two floats: the phase that is a₀ at t."""
    p, e = two_product(-n, t)
    r, low = less_turns(p, e)
    s, e = two_sum(a0, r)
    r, low = less_turns(s, e + low)
    return two_sum(r, low)
