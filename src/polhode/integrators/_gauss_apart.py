"""The stages of Gauss's collocation one after the other: for numbers that do not fit into lanes.

The same operations in the same order as in the lanes (``gauss``), and so the same bits.  A row of
stages is a tuple of WIDTH times as many slopes as there are registers, padded as these are.
"""

from collections.abc import Callable, Sequence
from typing import Any

from polhode.compiler.four import WIDTH, each
from polhode.compiler.machine import fma
from polhode.contracts import size, slope
from polhode.kernels.newton import settled
from polhode.kernels.sums import added
from polhode.kernels.tuples import collected, first, plus, second, times

Rows = Sequence[Sequence[Any]]  # a square matrix, padded with zeros to whole registers
FAR = 1e-8  # the square of a change too large for rounding, perhaps an overflow
RELATIVE = (1.0, 0.0)  # tolerances for which ``size`` is the length relative to y


def distance(a, b):
    return abs(a - b)


def four_terms(weights: Sequence) -> Callable:
    """Make (x of this lane, of the next, of the two across) -> the sum that a register makes."""
    a, b, c, d = weights
    return lambda w, x, y, z: fma(a, w, fma(b, x, fma(d, z, c * y)))


def of_row(row: Sequence, k: int, place: int) -> Callable:
    """Make stages -> row · stages, up to the register at ``place``, for the stage k."""
    i, j, across, far = (WIDTH * place + (k % WIDTH ^ swap) for swap in range(WIDTH))
    terms = four_terms((row[i], row[j], row[across], row[far]))
    if place == 0:
        return lambda x: each(terms, (x[i], x[j], x[across], x[far]))
    before = of_row(row, k, place - 1)
    return lambda x: each(plus, (each(terms, (x[i], x[j], x[across], x[far])), before(x)))


def matrix(rows: Rows) -> Callable:
    """Make stages -> rows · stages."""
    last = len(rows) // WIDTH - 1
    return collected([of_row(row, k, last) for k, row in enumerate(rows)])


def of_lane(count: int, lane: int) -> Callable:
    """Make stages -> the sum of those in a lane."""
    place = WIDTH * (count - 1) + lane
    if count == 1:
        return lambda x: x[place]
    before = of_lane(count - 1, lane)
    return lambda x: each(plus, (before(x), x[place]))


def stages_apart(b: Sequence, c: Sequence, collocation: Rows, ahead: Rows, s: int) -> dict:
    """Make start, guess, improve and finish; weights and nodes are padded with zeros, too.

    The carry is (rounding error of y, the slopes at the stages).
    """
    count = len(b) // WIDTH
    collocated, continued = matrix(collocation), matrix(ahead)
    lanes = collected([of_lane(count, lane) for lane in range(WIDTH)])

    def impulse(k):
        weight = b[k]
        return lambda h, f: each(times, (weight * h, f[k]))

    def evaluation(k):
        node = c[k]
        return lambda x: slope(fma(node, x[1], x[0]), each(plus, (x[2], x[3][k])), x[4], x[5])

    def entry(k):
        return lambda x: x[k]

    def change(k):
        return lambda x: each(distance, (x[0][k], x[1][k]))

    def pair(k):
        of_stage = impulse(k)
        return lambda x: of_stage(*x)

    stages = range(len(b))
    impulses = collected([pair(k) for k in stages])
    evaluated = collected([evaluation(k) for k in stages])
    changes = collected([change(k) for k in stages])
    kept = collected([entry(k) for k in range(s)])
    padded = collected([entry(min(k, s - 1)) for k in stages])
    copies = collected([lambda x: x] * s)

    def summed(x):
        p, q, r, t = lanes(x)
        return each(plus, (each(plus, (p, q)), each(plus, (r, t))))

    def start(t, h, y, body, params):
        return each(times, (0.0, y)), copies(slope(t, y, body, params))

    def guess(t, h, y, carry, body, params):
        return continued(padded(carry[1])), 0.0

    def improve(t, h, unknown, y, body, params):
        f, last = unknown
        new = evaluated((t, h, y, collocated(impulses((h, f))), body, params))
        length = h * size(summed(changes((new, f))), y, y, body, RELATIVE)
        square = length * length
        return (new, square), square < FAR and settled(square, last, 1.0)

    def finish(t, h, unknown, y, carry, body, params):
        f = unknown[0]
        pairs = each(added, (y, carry[0], summed(impulses((h, f)))))
        return each(first, (pairs,)), (each(second, (pairs,)), kept(f))

    return {"start": start, "guess": guess, "improve": improve, "finish": finish}
