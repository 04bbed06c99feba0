"""Powers that need no digits: the size of the next step follows from them.

    x = 2^e (1 + m),    log2 x = e + m (a1 + m (a2 + m a3)),    a1 + a2 + a3 = 1       (1)
    x^p = 2^n (1 + f (b1 + f (b2 + f b3))),    n + f = p log2 x,    |f| <= 1/2          (2)

The coefficients are those with the least error, 0.0009 in (1) and 0.0001 in (2).  Some twenty
products and no branch: on one number or four, and much shorter than a logarithm and an exponential,
for which the next step would wait.
"""

from polhode.compiler.machine import exponent, fma, power_of_two, rint

A1, A2, A3 = 1.42286532, -0.58208542, 0.1592201
B1, B2, B3 = 0.6931125, 0.2422252, 0.0559772


def power(x, p):
    """Return x^p to some 0.001 |p|, for normal x from 2^-1022 to 2^1022 and such a result."""
    e = exponent(x)
    m = fma(x, power_of_two(-e), -1.0)
    y = p * fma(m, fma(m, fma(m, A3, A2), A1), e)  # (1)
    n = rint(y)
    f = y - n
    return power_of_two(n) * fma(f, fma(f, fma(f, B3, B2), B1), 1.0)  # (2)
