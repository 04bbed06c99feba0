"""Functions shared by several coordinates."""

from math import sqrt

from polhode.compiler.machine import blend, fma, mask
from polhode.contracts import inverse_moments
from polhode.kernels.angles import two_product
from polhode.kernels.sums import two_sum
from polhode.kernels.vector import dot

THIRD, NINTH = 1 / 3, (1 / 3) * (1 / 3)
NEAR = 1e-9  # the sine of an angle below which variables count as singular
NAN = float("nan")


def fused():
    """Return whether this is machine code, where ``fma`` is fused; constant at compile time."""
    return fma(THIRD, THIRD, -NINTH) != 0.0


def root(x):
    """Return the square root; NaN for negative numbers, also in plain Python."""
    return sqrt(x) if fused() else sqrt(blend(mask(x >= 0.0), x, NAN * x))


def inverse(x):
    """Return 1/x; NaN unless x is positive."""
    return 1.0 / blend(mask(x > 0.0), x, NAN * x)


def inverse_sine(s):
    """Return 1/s; NaN where variables are singular."""
    return 1.0 / blend(mask(abs(s) > NEAR), s, NAN * s)


def momentum_rate(m, body, n):
    """Return dm/dt = m x ω + n in body axes, written as m2 m3 (1/I3 - 1/I2) + n1, …."""
    (a, b, c), (m1, m2, m3) = inverse_moments(body), m
    return (fma(c - b, m2 * m3, n[0]), fma(a - c, m3 * m1, n[1]), fma(b - a, m1 * m2, n[2]))


def multiplied(rows, v):
    """Return a matrix times a vector."""
    a, b, c = rows
    return dot(a, v), dot(b, v), dot(c, v)


def excess(v, length):
    """Return |v|² - length², accurate to rounding even if both are nearly equal."""
    (a, a1), (b, b1), (c, c1) = (two_product(x, x) for x in v)
    d, d1 = two_product(-length, length)
    s, e = two_sum(a, d)
    s, e1 = two_sum(s, b)
    s, e2 = two_sum(s, c)
    return s + ((e + e1 + e2) + (a1 + b1 + c1 + d1))


def transposed(rows, v):
    """Return a transposed matrix times a vector."""
    (a, d, g), (b, e, h), (c, f, i) = rows
    return multiplied(((a, b, c), (d, e, f), (g, h, i)), v)


def combination(columns, v):
    """Return a matrix, given by four columns, times (w, x, y, z)."""
    (a, b, c, d), (w, x, y, z) = columns, v
    return (
        fma(w, a[0], x * b[0]) + fma(y, c[0], z * d[0]),
        fma(w, a[1], x * b[1]) + fma(y, c[1], z * d[1]),
        fma(w, a[2], x * b[2]) + fma(y, c[2], z * d[2]),
        fma(w, a[3], x * b[3]) + fma(y, c[3], z * d[3]),
    )


def add_products(v, a, b):
    """Return v + (a1 b1, a2 b2, a3 b3)."""
    return fma(a[0], b[0], v[0]), fma(a[1], b[1], v[1]), fma(a[2], b[2], v[2])
