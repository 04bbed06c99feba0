"""Gauss-Taylor: a given ω(t) is interpolated on s Gauss nodes, and the result solved to rounding.

The step is that of ``kernels/gauss_taylor.py``, with s values of ω and of order 2s: the equation is
linear, so its coefficients do not depend on the solution.  The error of a step is the sum of the
two estimates there, and the tolerance, rtol + atol, applies to the angle of one step:

    h_new = h min(0.9 (tolerance/(e_1 + e_2))^(1/(2s-1)), 3, (MOST - 6)/terms)         (1)

The larger |ω| h, the more terms the series needs.  If it has not converged after ``MOST`` terms,
the step is rejected, and the last limit in (1) keeps steps below that.  Steps have few bits, so
that times and midpoints of steps are sums without rounding: the rounding of t would shift all
values of ω alike, and dominate the error at small tolerances.

Dense output: inside the step the polynomial of degree s - 1 is only of order s + 1.  So for a step
with output inside, ω is evaluated on 2s Gauss nodes, and the resulting series is of order 2s + 1
everywhere in the step.  It misses the end of the step by the error of the step; that difference, a
small rotation, is added in proportion to the time.

``choose`` selects s by the tolerance.
"""

from collections.abc import Callable
from functools import cache, partial
from math import sqrt
from typing import Any

from polhode.compiler.dual import stripped, with_values
from polhode.compiler.machine import fma
from polhode.compiler.simd import MOST, along, matrix, power_sum, taylor
from polhode.contracts import Integrator, velocity
from polhode.errors import InputError
from polhode.integrators._rotor_series import functions as numbers_with_derivatives
from polhode.kernels.gauss_taylor import embedded, product, seen, side, square, tail
from polhode.kernels.quaternion import conjugate, to_unit_length
from polhode.tableaus import gauss

IDENTITY = (1.0, 0.0, 0.0, 0.0)
STAGES = 4, 6, 8, 10, 12
ROUNDING = 2e-17  # smaller terms have no effect
SERIES = 0.01  # terms below this fraction of the tolerance are not needed
SAFETY, GROWTH, LEAST = 0.9, 3.0, 0.2
FEW_BITS = 2.0**33 + 1.0  # leaves 20 of 53 bits


def few_bits(x):
    """Round x to 20 bits (Veltkamp)."""
    big = FEW_BITS * x
    return big - (big - x)


def rate(t, shared):
    """Return c(y) at time t: ω times a quarter of the step."""
    f, params = shared
    x, y, z = velocity(t, IDENTITY, params)
    return f * x, f * y, f * z


def turned(even, odd, q):
    """Return R(1) R(-1)* q, normalised."""
    last, first = ends(even, odd)
    return to_unit_length(product(product(last, first), q))


def ends(even, odd):
    """Return R(1) and R(-1)*, from the sums of the even and of the odd terms."""
    (a, b, c, d), (e, f, g, h) = even, odd
    return (a + e, b + f, c + g, d + h), (a - e, f - b, g - c, h - d)


def first_step(t, span, state, carry, body, params, tolerances):
    """Choose a first step of about a sixth of a turn, at most the whole span."""
    turned = max(fastness(t, params), fastness(fma(0.01, span, t), params)) * abs(span)
    return (few_bits(span / turned) if turned > 1.0 else span), 2


def fastness(t, params):
    """Return |ω|."""
    x, y, z = velocity(t, IDENTITY, params)
    return sqrt(fma(x, x, fma(y, y, z * z)))


# ---- ω at the nodes
def interpolation(s: int, number: Callable[[Any], Any] = float) -> tuple[Callable, ...]:
    """Make the four functions for (2) of the kernel.

    They evaluate ω at the nodes, and convert the values to differences, these to p_(s-1) … p_0, and
    these to powers of y.
    """
    offsets, matrices = constants(s, number)
    return along(offsets), *map(matrix, matrices)


def constants(s: int, number: Callable[[Any], Any] = float) -> tuple[tuple, list[tuple]]:
    """Return the nodes and the three matrices; s is even.

    ``number`` converts them (to mpmath, say).
    """
    half = s // 2
    low, high = half - 1, half  # the nodes in the middle
    weights = gauss.to_legendre(s)

    def row(entries):
        return tuple(number(entries.get(j, 0)) for j in range(s))

    spread = [row({j: 1, low: -1, high: -1, s - 1 - j: 1}) for j in range(low)]
    spread.append(row({low: 0.5, high: 0.5}))
    spread += [row({s - 1 - j: 1, j: -1}) for j in range(half)]
    legendre = []
    for k in reversed(range(s)):
        if k % 2:
            legendre.append(row({half + j: weights[k][s - 1 - j] for j in range(half)}))
        else:
            middle = {low: 1} if k == 0 else {}
            legendre.append(row({j: weights[k][j] for j in range(low)} | middle))
    powers = [row(dict(enumerate(reversed(line)))) for line in gauss.to_powers(s)]
    offsets = tuple(number(y) / 2 for y in gauss.nodes(s))
    return offsets, [tuple(rows) for rows in (spread, legendre, powers)]


# ---- the integrator
def functions(s: int, number: Callable[[Any], Any] = float) -> dict[str, Any]:
    """Make ``trial``, ``fit`` and ``read``; ``number`` converts the constants."""
    values, differences, to_legendre, to_powers = interpolation(s, number)
    series, e1, e2 = taylor(s, s), embedded(s), tail(s)
    power = number(-1) / (2 * s - 1)

    def trial(t, h, state, carry, body, params, tolerances):
        tolerance = tolerances[0] + tolerances[1]
        c = values(rate, fma(0.5, h, t), h, (side(0.25 * h), params))
        p = to_legendre(differences(c))
        c = to_powers(p)
        even, odd, first, terms = series(c, max(SERIES * tolerance, ROUNDING))
        if terms > MOST + 1:  # for |ω| h of about 4 the series is not too long
            size = sqrt(square(c[0]))
            factor = min(0.6, 1.0 / size) if size > 1.0 else 0.6
            return state, carry, 2.0, max(factor, 0.02), s
        error = (e1(p[0], first) + e2(p)) / tolerance
        factor = SAFETY * max(error, 1e-30) ** power
        factor = max(min(factor, GROWTH, (MOST - 6.0) / terms), LEAST)  # (1)
        new = seen(turned(even, odd, seen(state)))
        return new, carry, error, few_bits(factor * h) / h, s

    with_derivatives = numbers_with_derivatives(*constants(s), rate, s)

    def trial_on_duals(t, h, state, carry, body, params, tolerances):
        """Take values from ``trial``, and derivatives from the same series."""
        itself, given = stripped(body), stripped(params)
        new, _, error, factor, count = trial(
            t, h, stripped(state), stripped(carry), itself, given, tolerances
        )
        small = max(SERIES * (tolerances[0] + tolerances[1]), ROUNDING)
        shared = side(0.25 * h), params
        even, odd = with_derivatives(fma(0.5, h, t), h, shared, small)
        beside = seen(turned(even, odd, seen(state)))
        return with_values(beside, new), carry, error, factor, count

    values_all, differences_all, to_legendre_all, to_powers_all = interpolation(2 * s, number)
    series_all, at = taylor(2 * s, MOST + 1), power_sum(MOST + 1)

    def fit(t, h, state, carry, new, body, params):
        c = values_all(rate, fma(0.5, h, t), h, (side(0.25 * h), params))
        c = to_powers_all(to_legendre_all(differences_all(c)))
        even, odd, terms, _ = series_all(c, ROUNDING)
        last, first = ends(even, odd)
        back = product(first, seen(state))
        w, x, y, z = product(seen(new), conjugate(product(last, back)))
        return (terms, back, (w - 1.0, x, y, z)), 2 * s

    def read(x, h, state, fitted):
        terms, back, rest = fitted
        q = product(at(terms, fma(2.0, x, -1.0)), back)
        rest = fma(x, rest[0], 1.0), x * rest[1], x * rest[2], x * rest[3]
        return seen(to_unit_length(product(rest, q)))

    if number is not float:
        return {"trial": trial, "fit": fit, "read": read}
    return {"trial": trial, "trial_on_duals": trial_on_duals, "fit": fit, "read": read}


@cache
def gauss_taylor(s: int) -> Integrator:
    """Make the integrator with s values of ω per step."""
    if s not in STAGES:
        raise InputError(f"Gauss-Taylor: the number of nodes s is one of {STAGES}, got {s!r}")
    return Integrator(
        name=f"gauss-taylor:{s}",
        title=f"Gauss-Taylor, {s} nodes",
        order=2 * s,
        dense_order=2 * s,
        symmetric=True,
        linear=True,
        tightest=1e-13,
        references=("iserles1999", "boyle2017"),
        first_step=first_step,
        **functions(s),
    )


def stages_for(tolerance: float) -> int:
    """Return the s that is about the fastest for a tolerance."""
    return 6 if tolerance > 3e-4 else 8 if tolerance > 3e-9 else 10 if tolerance > 3e-11 else 12


def choose(tolerance: float) -> Integrator:
    """Return ``gauss-taylor`` for a tolerance, rtol + atol."""
    return gauss_taylor(stages_for(tolerance))


PLACE = 90
INTEGRATORS = {f"gauss-taylor:{s}": partial(gauss_taylor, s) for s in STAGES}
