"""Lanes of bodies with derivatives: what replaces which function of ``lanes.fixed``, and gauges.

Each number is a ``Single``: its value, then its derivatives, in slots of their own.  Every body
goes through the operations of a single body with derivatives.

An implicit step is solved on values, as without derivatives; then the same corrections on dual
numbers are repeated until the derivatives of a body have settled (``loops.tangents``).  Its
``unknown`` is (values, dual numbers, last change, corrections).

A gauge measures how tangents grow.  A block has more slots then, after those of the body: the
``weights`` of squares of a tangent, one for each number of the state but q, and for each tangent
(e, l, top, a, b).  With |v|² = |θ|² + Σ weight v², every so many steps, at the times t_n = n τ,

    l_n = log |v(t_n)|,    top = max l_n                                               (1)
    a_n = ∫ t dl = Σ (l_n - l_(n-1)) (t_n + t_(n-1)) / 2                               (2)
    Y_n = 2 a_n / t_n,    b_n = ∫ Y dt = Σ τ (Y_n + Y_(n-1)) / 2                       (3)

and then v is divided by 2^k, k being half the exponent of |v|², and e grows by k: the numbers stay
of the same size, and lose nothing.  Y is MEGNO (Cincotta & Simó 2000).
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from polhode.compiler.dual import (
    ON_DUAL,
    Dual,
    Single,
    largest_change,
    lifted,
    stripped,
    with_values,
)
from polhode.compiler.machine import (
    LANES,
    blend,
    exponent,
    finite,
    fma,
    mask,
    over_lanes,
    power_of_two,
    rint,
)
from polhode.compiler.tree import bind
from polhode.contracts import (
    NOT_CONVERGED,
    NOT_FINITE,
    OK,
    Method,
    finish,
    guess,
    improve,
    start,
    step,
)
from polhode.kernels.logarithm import log
from polhode.loops import MAX_ITERATIONS
from polhode.loops.lanes import fixed
from polhode.loops.lanes.fixed import kept_before, restored
from polhode.loops.tangents import SETTLED, STALLED

LN2 = 0.6931471805599453
GAUGES = 5  # slots of a tangent
SCALE, LENGTH, TOP, MOMENT, SUM = range(GAUGES)


def singles(tree: Any, count: int) -> Any:
    """Return a nested tuple whose duals are single, with ``count`` directions."""
    if isinstance(tree, tuple):
        return tuple(singles(part, count) for part in tree)
    return Single(tree.x, tree.d[:count]) if isinstance(tree, Dual) else tree


def replacements(like: Single, implicit: bool) -> dict[Callable, Callable]:
    """Return what replaces the functions of ``fixed``, for numbers like this one."""

    def lane_start(shared, slots):
        t, h, _, tables = shared
        active, status, count, done, unknown, before, state, _, body, numbers = slots
        carry = lifted(start(t, h, state, body, (numbers, tables)), like)
        return active, status, count, done, unknown, before, state, carry

    def lane_step(shared, slots):
        t, h, _, tables = shared
        active, status, count, done, unknown, before, state, carry, body, numbers = slots
        state, carry = lifted(step(t, h, state, carry, body, (numbers, tables)), like)
        return active, status, count, done, unknown, before, state, carry

    found: dict[Callable, Callable] = {fixed.lane_start: lane_start, fixed.lane_step: lane_step}
    return found | (solving(like) if implicit else {})


def solving(like: Single) -> dict[Callable, Callable]:
    """Return what replaces the functions of implicit methods."""

    def lane_guess(shared, slots):
        t, h, (first, _, _), tables = shared
        _, status, count, done, unknown, before, state, carry, body, numbers = slots
        _, wide, _, _, _ = unknown
        here = stripped(state), stripped(carry), stripped(body), (stripped(numbers), tables)
        unknown = guess(t, h, *here), wide, 0.0, 0.0, 0.0
        before = kept_before(first, before, state, carry)
        return mask(status == OK), status, count, done, unknown, before

    def lane_improve(shared, slots):
        t, h, _, tables = shared
        active, status, count, done, unknown, _, state, _, body, numbers = slots
        values, wide, last, extra, lost = unknown
        here = stripped(state), stripped(body), (stripped(numbers), tables)
        new, solved = improve(t, h, values, *here)
        count = blend(active, count + 1.0, count)
        unknown = blend(active, new, values), wide, last, extra, lost
        return blend(mask(solved), 0.0, active), status, count, done, unknown

    def lane_widen(shared, slots):
        t, h, _, tables = shared
        active, status, count, done, unknown, _, state, carry, body, numbers = slots
        values, _, _, _, _ = unknown
        wide = with_values(guess(t, h, state, carry, body, (numbers, tables)), values)
        unknown = values, lifted(wide, like), 0.0, 0.0, active
        return blend(active, 0.0, mask(status == OK)), status, count, done, unknown

    def lane_settle(shared, slots):
        t, h, _, tables = shared
        active, status, count, done, unknown, _, state, _, body, numbers = slots
        values, wide, last, extra, lost = unknown
        better, _ = improve(t, h, wide, state, body, (numbers, tables))
        better = lifted(with_values(better, values), like)
        change = largest_change(wide[:-1], better[:-1])
        shrinking = change * (change / last)  # as ``loops.tangents.is_moving``
        left = blend(mask(change < last), shrinking, blend(mask(change > STALLED), 1.0, 0.0))
        left = blend(mask(last == 0.0), change, left)
        new = blend(active, (better, change, extra + 1.0), (wide, last, extra))
        active = blend(mask(left > SETTLED), active, 0.0)
        return active, status, count, done, (values, *new, lost)

    def lane_finish(shared, slots):
        t, h, (_, last, i), tables = shared
        active, status, count, done, unknown, before, state, carry, body, numbers = slots
        _, wide, change, _, lost = unknown
        moving = blend(mask(change != change), mask(change != change), active)
        lost = blend(moving, moving, lost)
        new, kept = lifted(finish(t, h, wide, state, carry, body, (numbers, tables)), like)
        found = blend(lost, 1.0 * NOT_CONVERGED, blend(mask(finite(new)), 0.0, last * NOT_FINITE))
        found = blend(mask(status == OK), found, status)
        good = mask(found == OK)
        state, carry = restored(good, before, state, carry, new, kept)
        done = blend(good, done, blend(mask(status == OK), i, done))
        return active, found, count, done, unknown, before, state, carry

    return {
        fixed.lane_guess: lane_guess,
        fixed.lane_improve: lane_improve,
        fixed.settle: settling(lane_widen, lane_settle),
        fixed.lane_finish: lane_finish,
    }


def settling(widen: Callable, correct: Callable) -> Callable:
    """Make what repeats corrections until the derivatives of all lanes have settled."""

    def settle(block, shared, slots):
        over_lanes(widen, block, shared, slots)
        for _ in range(MAX_ITERATIONS):
            over_lanes(correct, block, shared, slots)
            left = 0
            for lane in range(LANES):
                left += block[lane] != 0.0
            if left == 0:
                break
        return 0

    return settle


def slots_of(
    method: Method, state: tuple, carry: tuple, body: tuple, params: tuple, like: Single
) -> tuple:
    """Return the nested tuple of a body, as ``fixed.slots_of``."""
    active, status, count, done, _, before, *rest = fixed.slots_of(
        replace(method, guess=None), state, carry, body, params
    )
    unknown: tuple = ()
    if method.guess is not None:
        wide = bind(method.guess, ON_DUAL)(0.0, 1.0, state, carry, body, params)
        unknown = stripped(wide), lifted(wide, like), 0.0, 0.0, 0.0
    return active, status, count, done, unknown, before, *rest


# ---- gauges
def gauge(every: int, numbers: int, tangents: int, places: tuple[int, int, int]) -> Callable:
    """Make what measures tangents after every so many steps.

    ``numbers`` are those of the state; ``places`` are the first slots of the state, of the body,
    and of the gauge.
    """
    first, after, begin = places
    stride, gauges = 1 + tangents, begin + numbers - 4
    square = gauges + GAUGES * tangents
    factor = square + 1

    def measured(block, i, h):
        if (i + 1) % every == 0:
            for j in range(tangents):
                own = first + 1 + j
                across(block, own, first, stride, square)
                for n in range(4, numbers):
                    for lane in range(LANES):
                        v = block[(own + n * stride) * LANES + lane]
                        weight = block[(begin + n - 4) * LANES + lane]
                        block[square * LANES + lane] += weight * v * v
                now = (i + 1) * abs(h)
                grown(block, gauges + GAUGES * j, square, now, every * abs(h))
                for slot in range(own, after, stride):
                    for lane in range(LANES):
                        block[slot * LANES + lane] *= block[factor * LANES + lane]
        return 0

    return measured


def across(block, own, first, stride, square):
    """Remove from dq what lies along q, and write |θ|², θ = 2 q* dq."""
    for lane in range(LANES):
        at, d = first * LANES + lane, own * LANES + lane
        w, x, y, z = (
            block[at],
            block[at + LANES * stride],
            block[at + 2 * LANES * stride],
            block[at + 3 * LANES * stride],
        )
        a, b, c, e = (
            block[d],
            block[d + LANES * stride],
            block[d + 2 * LANES * stride],
            block[d + 3 * LANES * stride],
        )
        norm = w * w + x * x + y * y + z * z
        along = (w * a + x * b + y * c + z * e) / norm
        block[d] = a - along * w
        block[d + LANES * stride] = b - along * x
        block[d + 2 * LANES * stride] = c - along * y
        block[d + 3 * LANES * stride] = e - along * z
        u = w * b - x * a - (y * e - z * c)
        v = w * c - y * a - (z * b - x * e)
        s = w * e - z * a - (x * c - y * b)
        block[square * LANES + lane] = 4.0 * (u * u + v * v + s * s) / (norm * norm)


def grown(block, own, square, t, interval):
    """Do (1), (2) and (3), and write the factor by which tangents are multiplied.

    Of a body that has failed nothing changes.
    """
    for lane in range(LANES):
        good = block[fixed.STATUS * LANES + lane] == OK
        size = block[square * LANES + lane] if good else 1.0
        k = rint(0.5 * exponent(size))
        at = own * LANES + lane
        scale, before = block[at + SCALE * LANES], block[at + LENGTH * LANES]
        now = fma(scale, LN2, 0.5 * log(size)) if good else before
        moment = block[at + MOMENT * LANES]
        old = moment / (t - interval) if t > interval else 0.0
        moment = fma(now - before, t - 0.5 * interval, moment)
        block[at + SCALE * LANES] = scale + k
        block[at + LENGTH * LANES] = now
        top = block[at + TOP * LANES]
        block[at + TOP * LANES] = now if now > top else top
        block[at + MOMENT * LANES] = moment
        block[at + SUM * LANES] += interval * (moment / t + old) if good else 0.0
        block[(square + 1) * LANES + lane] = power_of_two(-k)


def gauge_slots(numbers: int, tangents: int) -> int:
    """Return how many slots a gauge has."""
    return numbers - 4 + GAUGES * tangents + 2
