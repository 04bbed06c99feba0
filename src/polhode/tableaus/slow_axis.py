"""Polynomials of the axis about which a body rotates while its angular velocity turns slowly.

The axis is a vector fixed in space, in the axes of a body with angular velocity ω = (r, 0, p),
p' = a.
With f = |ω|, k = r/f, z = p/f, ε = a/f² and D = (1/f) d/dt,

    Dz = ε k²,    Dk = -ε k z,    Dε = -2 ε² z                                         (1)

and in the axes (z, 0, -k), (0, 1, 0) and (k, 0, z), the last along ω, it is (B, C, A) with

    B = -DC,    C = DB - ε k A,    A² + B² + C² = 1                                    (2)

One of the solutions is slow, with A = 1 to leading order, in powers of ε with polynomials in z:

    C = k Σ ε^n c_n,  n = 1, 3, …,    B = k Σ ε^n b_n,  n = 2, 4, …                      (3)

c_n and A are even, b_n is odd.  The angle about this axis is ∫ f dt + Γ (``kernels/linear_rate``),

    DΓ = -ε k C / (1 + A),    Γ = Σ (ε / (1 + z))^n g_n,  n = 1, 3, …                    (4)

where g_n(1) = 0: the g_n are polynomials too.  The series diverge like n! (Berry 1990); the error
is exp(-f²/2a) at best.  With eight terms it is below 1e-17 for f² > 160 a.
"""

from fractions import Fraction
from functools import cache

Polynomial = list[Fraction]  # constant first

K2: Polynomial = [Fraction(1), Fraction(0), Fraction(-1)]  # k² = 1 - z²


@cache
def slow_axis(orders: int) -> tuple[tuple[tuple[float, ...], ...], ...]:
    """Return (c, b, g): the coefficients of c_n in z², b_n/z in z², g_n in z, for each order."""
    a, b, c = axis(orders)
    g = phase(orders, a, c)
    odd = range(1, 2 * orders, 2)
    return (
        tuple(tuple(map(float, c[n][::2])) for n in odd),
        tuple(tuple(map(float, b[n + 1][1::2])) for n in odd),
        tuple(tuple(map(float, g[n])) for n in odd),
    )


def axis(orders: int) -> tuple[dict[int, Polynomial], ...]:
    """Return the coefficients of ε^n in A, B/k, C/k, by n."""
    a, b, c = {0: [Fraction(1)]}, {0: [Fraction(0)]}, {}
    for n in range(1, 2 * orders, 2):
        c[n] = plus(along(n - 1, b[n - 1]), times([Fraction(-1)], a[n - 1]))
        b[n + 1] = times([Fraction(-1)], along(n, c[n]))
        squares = plus(convolved(n + 1, b, b, 2), convolved(n + 1, c, c, 1))
        rest = plus(times(K2, squares), convolved(n + 1, a, a, 2))
        a[n + 1] = trimmed(times([Fraction(-1, 2)], rest))  # (2)
    return a, b, c


def phase(orders: int, a: dict[int, Polynomial], c: dict[int, Polynomial]) -> dict:
    """Return g_n of (4), by n."""
    inverse, g = {0: [Fraction(1, 2)]}, {}  # of 1 + A
    for n in range(1, 2 * orders, 2):
        rate = times([Fraction(-1)], times(K2, convolved(n, c, inverse, 1)))
        for _ in range(n - 1):
            rate = times(K2, rate)
        whole = [Fraction(0), *(x / (i + 1) for i, x in enumerate(rate))]
        whole[0] = -sum(whole, Fraction(0))  # zero at z = 1
        for _ in range(n):
            whole = sums(whole)[:-1]  # divided by 1 - z
        g[n] = trimmed(whole)
        inverse[n + 1] = times([Fraction(-1, 2)], convolved(n + 1, a, inverse, 2))
    return g


def along(n: int, p: Polynomial) -> Polynomial:
    """Return D(ε^n k p) / (ε^(n+1) k) = (1 - z²) p' - (2 n + 1) z p."""
    slope = [i * x for i, x in enumerate(p)][1:]
    return trimmed(plus(times(K2, slope), times([Fraction(0), Fraction(-2 * n - 1)], p)))


def convolved(n: int, p: dict[int, Polynomial], q: dict[int, Polynomial], first: int) -> Polynomial:
    """Return the sum of p_i q_(n-i) over i = first, first + 2, …, as long as both exist."""
    total = [Fraction(0)]
    for i in range(first, n + 1, 2):
        if i in p and n - i in q:
            total = plus(total, times(p[i], q[n - i]))
    return total


def plus(p: Polynomial, q: Polynomial) -> Polynomial:
    if len(p) < len(q):
        p, q = q, p
    return [x + y for x, y in zip(p, [*q, *[Fraction(0)] * (len(p) - len(q))], strict=True)]


def times(p: Polynomial, q: Polynomial) -> Polynomial:
    product = [Fraction(0)] * max(len(p) + len(q) - 1, 0)
    for i, x in enumerate(p):
        if x:
            for j, y in enumerate(q):
                product[i + j] += x * y
    return product


def trimmed(p: Polynomial) -> Polynomial:
    """Return the polynomial without leading zeros."""
    while len(p) > 1 and not p[-1]:
        p = p[:-1]
    return p


def sums(p: Polynomial) -> Polynomial:
    """Return the cumulative sums of the coefficients."""
    total, found = Fraction(0), []
    for x in p:
        total += x
        found.append(total)
    return found
