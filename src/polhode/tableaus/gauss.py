"""Gauss nodes, weights and related matrices to 50 digits, for any number s of nodes.

The nodes y_j are the roots of the Legendre polynomial P_s on [-1, 1], with the weights

    w_j = 2 / ((1 - y_j²) P_s'(y_j)²)                                                  (1)

A function with the values f_j there has the interpolant Σ_k p_k P_k of degree s - 1, with

    p_k = Σ_j W_kj f_j,    W_kj = (2k + 1)/2 w_j P_k(y_j)                              (2)

and P_k(y) = Σ_i T_ik y^i, with exact fractions T.  Integrating (2) from -1 to y_i gives the matrix
A of the Gauss Runge-Kutta method of order 2s, on the step [0, 1] (Butcher 1964).
"""

from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from math import comb, cos, pi
from typing import Any

from polhode.errors import InputError
from polhode.tableaus.runge_kutta import DIGITS, Tableau

SPARE = 10  # extra digits for cancellation in the computation
Row = tuple[Decimal, ...]


@cache
def nodes(s: int) -> Row:
    """Return the roots of P_s, ascending and exactly symmetric."""
    if s < 1:
        raise InputError(f"Gauss's nodes: there must be at least 1 of them, got s = {s}")
    with localcontext(prec=DIGITS + SPARE):
        lower = []
        for i in range(s // 2):
            y = _improved(s, -cos(pi * (i + 0.75) / (s + 0.5)), 4)  # 2, 4, 8, 16 digits,
            lower.append(_improved(s, Decimal(y), 2))  # 32 and 64
        middle = [Decimal(0)] if s % 2 else []
        return (*lower, *middle, *(-y for y in reversed(lower)))


@cache
def weights(s: int) -> Row:
    """Return the weights (1), in the order of the nodes; they add up to 2."""
    with localcontext(prec=DIGITS + SPARE):
        slopes = [_with_slope(s, y)[1] for y in nodes(s)]
        return tuple(
            2 / ((1 - y * y) * slope * slope) for y, slope in zip(nodes(s), slopes, strict=True)
        )


@cache
def to_legendre(s: int) -> tuple[Row, ...]:
    """Return the rows W_k of (2), k < s: from values at the nodes to coefficients of the P_k."""
    with localcontext(prec=DIGITS + SPARE):
        columns = [
            [(2 * k + 1) * w / 2 * p for k, p in enumerate(legendre(s - 1, y))]
            for y, w in zip(nodes(s), weights(s), strict=True)
        ]
        return tuple(zip(*columns, strict=True))


@cache
def to_powers(s: int) -> tuple[tuple[Fraction, ...], ...]:
    """Return the rows T_i, i < s: from coefficients of the P_k, k < s, to those of powers of y."""

    def entry(i: int, k: int) -> Fraction:
        if i > k or (k - i) % 2:
            return Fraction(0)
        m = (k - i) // 2
        return Fraction((-1) ** m * comb(k, m) * comb(2 * k - 2 * m, k), 2**k)

    return tuple(tuple(entry(i, k) for k in range(s)) for i in range(s))


def legendre(n: int, y: Any) -> list:
    """Return P_0(y), …, P_n(y), by the three-term recurrence."""
    p = [type(y)(1), y]
    for k in range(1, n):
        p.append(((2 * k + 1) * y * p[k] - k * p[k - 1]) / (k + 1))
    return p[: n + 1]


def _with_slope(s: int, y: Any) -> tuple[Any, Any]:
    """Return P_s(y) and P_s'(y)."""
    *_, before, value = legendre(s, y)
    return value, s * (before - y * value) / (1 - y * y)


def _improved(s: int, y: Any, times: int):
    """Improve a root of P_s by Newton's method, which doubles the digits each time."""
    for _ in range(times):
        value, slope = _with_slope(s, y)
        y -= value / slope
    return y


@cache
def tableau(s: int) -> Tableau:
    """Return the implicit Gauss Runge-Kutta method with s stages, of order 2s.

    ∫P_k from -1 is (P_(k+1) - P_(k-1))/(2k + 1), also for k = 0 with P_(-1) = -1.
    """
    with localcontext(prec=DIGITS + SPARE):
        columns = list(zip(*to_legendre(s), strict=True))
        a = []
        for y in nodes(s):
            p = [Decimal(-1), *legendre(s, y)]
            integrals = [(p[k + 2] - p[k]) / (2 * k + 1) for k in range(s)]
            a.append(
                tuple(sum(u * v for u, v in zip(integrals, c, strict=True)) / 2 for c in columns)
            )
        return Tableau(
            name=f"gauss{2 * s}",
            a=tuple(a),
            b=tuple(w / 2 for w in weights(s)),
            c=tuple((1 + y) / 2 for y in nodes(s)),
            order=2 * s,
            references=("butcher1964implicit",),
        )
