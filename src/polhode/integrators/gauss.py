"""Gauss collocation of any even order 2s, with its stages in the SIMD lanes.

With the nodes c_i and weights b_i of Gauss's quadrature on [0, 1] and μ_ij = a_ij / b_j,

    Y_i = y + Σ_j μ_ij L_j,    L_i = h b_i F_i,    F_i = f(t + c_i h, Y_i)             (1)
    y' = y + Σ_i L_i                                                                   (2)

Symplectic, because μ_ij + μ_ji = 1, and symmetric, because in addition the μ of mirrored stages are
equal; both hold exactly for the floats μ that are used, so that the rounding of coefficients causes
no energy drift (Antoñana, Makazaga, Murua 2017).  This needs a fixed step.

(1) is solved to rounding by fixed-point iteration, s slopes at a time, four in each SIMD register
(``compiler.four``).  The initial F come from the previous step, by extrapolating its polynomial.
The rounding error of the sum (2) is carried, with the F.

A slope that cannot take four numbers at once (one that branches on values) is evaluated stage by
stage, with the same bits.
"""

from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from typing import Any

from polhode.compiler.four import WIDTH, at_once, each, everywhere, pack, swapped, total, unpack
from polhode.compiler.machine import fma
from polhode.contracts import Integrator, size, slope
from polhode.errors import InputError
from polhode.integrators._gauss_apart import FAR, RELATIVE, distance, stages_apart
from polhode.kernels.newton import settled
from polhode.kernels.sums import added
from polhode.kernels.tuples import collected, first, plus, second, times
from polhode.tableaus import gauss as nodes
from polhode.tableaus.runge_kutta import DIGITS

UNIT = Fraction(1, 2**52)  # μ and 1 - μ are multiples of it, and floats


# ---- coefficients
def exact(x: Decimal) -> Fraction:
    return Fraction(x)


def products(s: int, number: Callable = float) -> list[list[Fraction]]:
    """Return the μ_ij; for floats rounded to ``UNIT``.

    μ_ij + μ_ji = 1, and μ_ij equals μ_ji of the mirrored stages, exactly.
    """
    a, b, _ = nodes.tableau(s).converted(exact)
    if number is not float:
        return [[x / w for x, w in zip(row, b, strict=True)] for row in a]
    mu = [[Fraction(1, 2)] * s for _ in range(s)]
    for i in range(s):
        for j in range(i):
            mirrored = s - 1 - j, s - 1 - i  # also in the lower triangle
            if mirrored < (i, j):
                mu[i][j] = mu[mirrored[0]][mirrored[1]]
            else:
                mu[i][j] = round(a[i][j] / b[j] / UNIT) * UNIT
            mu[j][i] = 1 - mu[i][j]
    return mu


def continued(s: int) -> list[list[Fraction]]:
    """Return the matrix that extrapolates values at the nodes of a step to those of the next."""
    with localcontext(prec=DIGITS):
        c = nodes.tableau(s).c
        rows = []
        for node in c:
            row = []
            for j in range(s):
                weight = Decimal(1)
                for i in range(s):
                    if i != j:
                        weight *= (1 + node - c[i]) / (c[j] - c[i])
                row.append(Fraction(weight))
            rows.append(row)
        return rows


# ---- unrolling: a vector of s numbers is a tuple of fours, padded with zeros
def fours(row: Sequence, number: Callable) -> list[tuple]:
    """Return fractions as fours of numbers."""
    padded = [*row, *[Fraction(0)] * (-len(row) % WIDTH)]
    return [tuple(map(number, padded[i : i + WIDTH])) for i in range(0, len(padded), WIDTH)]


def padded(rows: Sequence[Sequence], number: Callable) -> list[list]:
    """Return a square matrix of numbers, with zeros up to whole fours."""
    count = -(-len(rows) // WIDTH) * WIDTH
    zeros = [Fraction(0)] * count
    square = [[*row, *zeros][:count] for row in [*rows, *[zeros] * count][:count]]
    return [list(map(number, row)) for row in square]


def block_times(diagonals: Sequence[tuple], place: int, before: Callable | None) -> Callable:
    """Make x -> (4 by 4 block) · x[place] + before(x); the block has the diagonals l, l ^ k."""
    (a0, a1, a2, a3), (b0, b1, b2, b3), (c0, c1, c2, c3), (d0, d1, d2, d3) = diagonals

    def rest(four):
        halves = swapped(four, 2)
        crossed = fma(pack(d0, d1, d2, d3), swapped(halves, 1), pack(c0, c1, c2, c3) * halves)
        return fma(pack(b0, b1, b2, b3), swapped(four, 1), crossed)

    if before is None:
        return lambda x: fma(pack(a0, a1, a2, a3), x[place], rest(x[place]))
    return lambda x: fma(pack(a0, a1, a2, a3), x[place], rest(x[place])) + before(x)


def matrix(rows: Sequence[Sequence], number: Callable) -> Callable:
    """Make x -> rows · x, for tuples of fours."""
    count = -(-len(rows) // WIDTH)
    square = padded(rows, number)
    lanes = range(WIDTH)

    def diagonal(i, j, k):
        return tuple(square[WIDTH * i + lane][WIDTH * j + (lane ^ k)] for lane in lanes)

    def of_rows(i: int, place: int) -> Callable:
        before = of_rows(i, place - 1) if place else None
        return block_times([diagonal(i, place, k) for k in lanes], place, before)

    return collected([of_rows(i, count - 1) for i in range(count)])


TUPLE: dict[int, Callable] = {
    1: lambda a: (a,),
    2: lambda a, b: (a, b),
    3: lambda a, b, c: (a, b, c),
    4: lambda a, b, c, d: (a, b, c, d),
}


def numbers_of(s: int) -> Callable:
    """Make the function that returns the first s numbers of a tuple of fours."""
    place = -(-s // WIDTH) - 1
    rest = s - WIDTH * place
    if place == 0:
        return lambda x: unpack(x[0])[:rest]
    before = numbers_of(WIDTH * place)
    return lambda x: (*before(x), *unpack(x[place])[:rest])


def packed_of(s: int) -> Callable:
    """Make the function that packs s numbers into a tuple of fours, padded with the last one."""

    def four(place):
        a, b, c, d = (min(WIDTH * place + lane, s - 1) for lane in range(WIDTH))
        return lambda x: pack(x[a], x[b], x[c], x[d])

    return collected([four(place) for place in range(-(-s // WIDTH))])


def sum_of(count: int) -> Callable:
    """Make the function that adds up a tuple of fours to one four."""
    place = count - 1
    if place == 0:
        return lambda x: x[0]
    before = sum_of(place)
    return lambda x: before(x) + x[place]


# ---- the step
def stages(s: int, number: Callable[[Any], Any]) -> dict[str, Callable]:
    """Make start, guess, improve and finish.

    F and L are tuples of groups of four stages; a group is a four for each component of y.  The
    carry is (rounding error of y, the s numbers F of each component of y).
    """
    count = -(-s // WIDTH)
    _, b, c = nodes.tableau(s).converted(exact)
    collocated, ahead = matrix(products(s, number), number), matrix(continued(s), number)
    numbers, packed, in_all = numbers_of(s), packed_of(s), sum_of(count)
    of_groups = TUPLE[count]

    def groups(make: Callable) -> Callable:
        """Make x -> (make(0, b, c)(x), make(1, b, c)(x), …), b, c the group's weights and nodes."""
        parts = zip(fours(b, number), fours(c, number), strict=True)
        return collected([make(group, *part) for group, part in enumerate(parts)])

    def impulse(group, weights, _):
        b1, b2, b3, b4 = weights

        def impulse_of_group(x):
            h, f = x
            return each(times, (pack(b1, b2, b3, b4) * h, f[group]))

        return impulse_of_group

    def taken(group, *_):
        def entry(x):
            return x[group]

        return lambda x: each(entry, (x,))

    def evaluation(group, _, places):
        c1, c2, c3, c4 = places
        part = taken(group)

        def slopes_of_group(x):
            t, h, y, z, body, params = x
            time = fma(pack(c1, c2, c3, c4), h, t)
            return at_once(slope, (time, each(plus, (y, part(z)))), (body, params))

        return slopes_of_group

    def difference(group, *_):
        return lambda x: each(distance, (x[0][group], x[1][group]))

    impulses, evaluated, differences = groups(impulse), groups(evaluation), groups(difference)
    regrouped, copies = groups(taken), collected([lambda x: x] * count)

    def summed(x):
        return total(in_all(x))

    def copied(x):
        return numbers(copies(everywhere(x)))

    def continued_by(x):
        return ahead(packed(x))

    def start(t, h, y, body, params):
        f = slope(t, y, body, params)
        return each(times, (0.0, y)), each(copied, (f,))

    def guess(t, h, y, carry, body, params):
        return regrouped(each(continued_by, (carry[1],))), 0.0

    def improve(t, h, unknown, y, body, params):
        f, last = unknown
        z = each(collocated, (each(of_groups, impulses((h, f))),))
        new = evaluated((t, h, y, z, body, params))  # (1)
        change = each(summed, (each(of_groups, differences((new, f))),))
        length = h * size(change, y, y, body, RELATIVE)
        square = length * length
        return (new, square), square < FAR and settled(square, last, 1.0)

    def finish(t, h, unknown, y, carry, body, params):
        f = unknown[0]
        d = each(summed, (each(of_groups, impulses((h, f))),))
        pairs = each(added, (y, carry[0], d))  # (2)
        kept = each(numbers, (each(of_groups, f),))
        return each(first, (pairs,)), (each(second, (pairs,)), kept)

    return {"start": start, "guess": guess, "improve": improve, "finish": finish}


@cache
def gauss(order: int = 16, number: Callable[[Any], Any] = float, **changed: Any) -> Integrator:
    """Make the record for an order; ``number`` converts the fractions (to mpmath, say)."""
    if order % 2 or not 2 <= order <= 2 * WIDTH * len(TUPLE):
        raise InputError(f"gauss: the order is an even number from 2 to 32, got {order}")
    s = order // 2
    _, b, c = nodes.tableau(s).converted(exact)
    weights, places = ([x for four in fours(row, number) for x in four] for row in (b, c))
    collocation, ahead = padded(products(s, number), number), padded(continued(s), number)
    settings: dict[str, Any] = {
        "name": f"gauss:{order}",
        "title": f"Gauss's collocation of order {order}",
        "order": order,
        "dense_order": order,
        "symmetric": True,
        "symplectic": True,
        "evaluations_at_start": 1,
        "evaluations_per_iteration": order // 2,
        "references": ("butcher1964implicit", "antonana2017"),
        "options": gauss,
    }
    settings |= changed
    alone = stages_apart(weights, places, collocation, ahead, s)
    apart = Integrator(**settings | alone)
    return Integrator(**settings | stages(s, number), apart=apart)


PLACE = 60
INTEGRATOR = gauss(name="gauss")
