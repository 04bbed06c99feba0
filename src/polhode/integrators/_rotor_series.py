"""Gauss-Taylor's step in numbers that no SIMD vector holds: one operation after the other.

The functions of ``compiler.simd`` put quaternions into vectors of floats.  These do the same on
numbers with derivatives, whose values are then replaced by those of ``compiler.simd``.
"""

from collections.abc import Callable, Sequence
from typing import Any

from polhode.compiler.machine import fma
from polhode.compiler.simd import MOST
from polhode.kernels.tuples import collected


def along(offsets: Sequence[float], function: Callable) -> Callable:
    """Make (t, h, shared) -> (0, function(t + x h, shared)) for each offset x."""

    def at(x: float) -> Callable:
        def pure(given):
            t, h, shared = given
            a, b, c = function(fma(x, h, t), shared)
            zero = (a - a) + (b - b) + (c - c)
            return zero, a + zero, b + zero, c + zero

        return pure

    return collected([at(x) for x in offsets])


def matrix(rows: Sequence[Sequence[float]]) -> Callable:
    """Make quaternions -> the linear combinations of them with constant weights."""
    return collected([combination([(j, w) for j, w in enumerate(r) if w != 0]) for r in rows])


def combination(terms: Sequence[tuple[int, float]]) -> Callable:
    """Make quaternions -> Σ weight q_j over some terms (j, weight)."""
    *before, (j, weight) = terms
    if not before:
        return lambda quaternions: scaled(weight, quaternions[j])
    rest = combination(before)
    return lambda quaternions: plus_scaled(rest(quaternions), weight, quaternions[j])


def scaled(f, q):
    return f * q[0], f * q[1], f * q[2], f * q[3]


def plus_scaled(p, f, q):
    return fma(f, q[0], p[0]), fma(f, q[1], p[1]), fma(f, q[2], p[2]), fma(f, q[3], p[3])


def plus_product(p, c, r):
    """Return p + c r for a pure quaternion c."""
    _, x, y, z = c
    a, b, c, d = r
    return (
        fma(-z, d, fma(-y, c, fma(-x, b, p[0]))),
        fma(-z, c, fma(y, d, fma(x, a, p[1]))),
        fma(z, b, fma(y, a, fma(-x, d, p[2]))),
        fma(z, a, fma(-y, b, fma(x, c, p[3]))),
    )


def advanced(s: int) -> Callable:
    """Make (c, r, sums, zero) -> the sums (1) of ``taylor`` for the next term, r the last one."""

    def sum_of(k: int) -> Callable:
        if k == s - 1:
            return lambda given: plus_product(given[3], given[0][k], given[1])
        return lambda given: plus_product(given[2][k + 1], given[0][k], given[1])

    return collected([sum_of(k) for k in range(s)])


def taylor(s: int) -> Callable:
    """Make (c, small) -> the sums of the even and of the odd terms of ``compiler.simd.taylor``."""
    following = advanced(s)

    def series(c, small):
        nothing = c[0][1] - c[0][1]
        zero = nothing, nothing, nothing, nothing
        sums, odd, even = c, zero, (1.0 + nothing, nothing, nothing, nothing)
        done, n = False, 0
        while not done and n < MOST:
            a = scaled(1.0 / (n + 1), sums[0])
            sums = following((c, a, sums, zero))
            b = scaled(1.0 / (n + 2), sums[0])
            sums = following((c, b, sums, zero))
            n += 2
            odd, even = plus_scaled(odd, 1.0, a), plus_scaled(even, 1.0, b)
            done = square(a) + square(b) < small * small and n >= s
        return even, odd

    return series


def square(q):
    return fma(q[0], q[0], fma(q[1], q[1], fma(q[2], q[2], q[3] * q[3])))


def functions(offsets: Any, rows: Sequence[Any], rate: Callable, s: int) -> Callable:
    """Make (t, h, shared, small) -> the sums of even and odd terms of a step."""
    values, series = along(offsets, rate), taylor(s)
    differences, legendre, powers = map(matrix, rows)

    def sums(t, h, shared, small):
        return series(powers(legendre(differences(values((t, h, shared))))), small)

    return sums
