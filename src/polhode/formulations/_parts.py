"""What several coordinates have in common."""

from math import sqrt

from polhode._compile import blend, fma, mask

NEAR = 1e-9  # the sine of an angle below which variables count as singular
NAN = float("nan")


def root(x):
    """The square root, NaN of negative numbers in plain Python, too."""
    return sqrt(blend(mask(x >= 0.0), x, NAN * x))


def inverse(x):
    """1/x, NaN of what is not positive."""
    return 1.0 / blend(mask(x > 0.0), x, NAN * x)


def inverse_sine(s):
    """1/s, NaN where variables are singular."""
    return 1.0 / blend(mask(abs(s) > NEAR), s, NAN * s)


def momentum_rate(m, body, n):
    """dm/dt = m x ω + n in body axes, written as m2 m3 (1/I3 - 1/I2) + n1, …."""
    (a, b, c), (m1, m2, m3) = body[1], m
    return (
        fma(c - b, m2 * m3, n[0]),
        fma(a - c, m3 * m1, n[1]),
        fma(b - a, m1 * m2, n[2]),
    )
