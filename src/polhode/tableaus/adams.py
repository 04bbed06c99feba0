"""Exact Adams formulas of any order k.

The slope between t_n and t_(n+1) is that of the polynomial through the slopes f_(n-j) at the
places s = -j, in steps from t_n: with the Lagrange polynomials l_j of these places

    w_j(x) = ∫_0^x l_j(s) ds,    y(t_n + x h) = y_n + h Σ_j w_j(x) f_(n-j)             (1)

The Adams-Bashforth formula has the places 0, -1, …, 1 - k and x = 1, the Adams-Moulton formula the
places 1, 0, …, 2 - k.  Both are exact for slopes that are polynomials of degree below k.

Their weights sum to 1, and those of differences of successive slopes, ∇f_i = f_i - f_(i-1), to 1/2;
rounded they no longer do.  So they are used for second differences, ∇²f_i = ∇f_i - ∇f_(i-1):

    Σ_j w_j(x) f_(n-j) = x f_n + x²/2 ∇f_n + Σ_i u_i(x) ∇²f_(n-i)                      (2)

where each differencing turns the weights into v_i = -Σ_(j>i) w_j (``of_differences``), twice.

For a step x h of another length, the correction (``Aside``) adds a multiple of the product of all
places, so that the polynomial matches the slope at the end of the step:

    g(x) = ∫_0^x Π(s) ds / Π(x),    Π(s) = s (s + 1) … (s + k - 1)                     (3)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

Row = tuple[Fraction, ...]  # weights, or the coefficients of a polynomial, constant first


# ---- polynomials
def times(p: Sequence[Fraction], q: Sequence[Fraction]) -> Row:
    total = [Fraction(0)] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            total[i + j] += a * b
    return tuple(total)


def integral(p: Sequence[Fraction]) -> Row:
    """Return the integral from 0."""
    return Fraction(0), *(a / (i + 1) for i, a in enumerate(p))


def product(places: Sequence[int]) -> Row:
    """Return Π (s - place)."""
    total: Row = (Fraction(1),)
    for place in places:
        total = times(total, (Fraction(-place), Fraction(1)))
    return total


def lagrange(places: Sequence[int]) -> tuple[Row, ...]:
    """Return the polynomials that are 1 at one of the places and 0 at the others."""
    rows = []
    for here in places:
        others = [place for place in places if place != here]
        scale = Fraction(1)
        for place in others:
            scale *= here - place
        rows.append(tuple(a / scale for a in product(others)))
    return tuple(rows)


# ---- steps
@cache
def bashforth(k: int) -> Row:
    """Return the weights of f_n, f_(n-1), …, f_(n-k+1)."""
    return tuple(sum(integral(p), Fraction(0)) for p in lagrange(range(0, -k, -1)))


@cache
def moulton(k: int) -> Row:
    """Return the weights of f_(n+1), f_n, …, f_(n-k+2)."""
    return tuple(sum(integral(p), Fraction(0)) for p in lagrange(range(1, 1 - k, -1)))


def of_differences(weights: Sequence[Fraction]) -> Row:
    """Return the weights of ∇f_0, ∇f_(-1), …, next to f_0 times the sum of all weights."""
    return tuple(-sum(weights[i + 1 :], Fraction(0)) for i in range(len(weights) - 1))


def of_second_differences(weights: Sequence[Fraction]) -> Row:
    """Return the u_i of (2), two fewer than the weights."""
    return of_differences(of_differences(weights))


# ---- steps of other lengths, x h
@dataclass(frozen=True, kw_only=True)
class Aside:
    """Polynomials in x: u_i(x)/x, their derivatives u_i'(x), and g(x)/x as a quotient."""

    values: tuple[Row, ...]
    slopes: tuple[Row, ...]
    above: Row
    below: Row


@cache
def aside(k: int) -> Aside:
    basis = lagrange(range(0, -k, -1))
    powers = [of_second_differences(row) for row in zip(*basis, strict=True)]
    rows = tuple(zip(*powers, strict=True))
    nodes = product(range(0, -k, -1))
    return Aside(
        values=tuple(integral(row)[1:] for row in rows),
        slopes=rows,
        above=integral(nodes)[2:],
        below=nodes[1:],
    )
