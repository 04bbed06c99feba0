"""Gragg's extrapolation of order 12 to 16, its columns in the SIMD lanes.

A column is the explicit midpoint rule with n substeps:

    D_0 = 0,    D_1 = (h/n) f(t, y),    D_(m+1) = D_(m-1) + (2h/n) f(t + m h/n, y + D_m)   (1)

and k columns together are of order 2k; w'_j are the weights without the coarsest column:

    y' = y + Σ w_j D(n_j),    error = |Σ (w_j - w'_j) D(n_j)|                          (2)

The slope is evaluated for four columns at once, one in each lane of a SIMD register
(``compiler.four``); several columns follow each other in a lane (``tableaus/extrapolation``).  The
tolerance selects the columns (``RULE``).  Dense output is a separate step from the start of the
step, of the same order.

At loose tolerances, columns hold the values y + D instead of the increments D: the sums (2) stay
the same, as w_j sum to 1 and w_j - w'_j to 0, and a formulation may have the sum of a substep
inside its own products (``leap``).  The price is a rounding error of some 1e-12.

At tight ones, the rounding error of y + Σ is carried.  Columns whose substep is not exactly h/n end
early or late, in every step by the same time

    Δ = Σ w_j (h - n_j fl(h/n_j)),                                                     (3)

and Δ f is added before y' is rounded, f from the last substep of the finest column.  (Added to what
is carried, it would move on along the slope of the step before, and the time would drift.)

A slope that cannot take four numbers at once (one that branches on values) is evaluated one column
after the other, with the same bits.

Where the lanes hold bodies, the columns follow each other (``one_by_one``), and each body has
the same bits as alone: a lane that is done stays at the start of the step, without effect on the
others.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import accumulate, pairwise
from math import prod
from typing import Any

from polhode import contracts
from polhode.compiler.four import WIDTH, at_once, each, everywhere, table, total, unpack, where
from polhode.compiler.machine import blend, fma, mask
from polhode.compiler.tree import bind
from polhode.contracts import Integrator, leap, pace, size, slope, square_size
from polhode.kernels.powers import power
from polhode.kernels.sums import added
from polhode.kernels.tuples import first, minus, plus, second, times
from polhode.tableaus.extrapolation import COLUMNS, Columns

# (down to this tolerance, these columns, whether they hold values): the fastest by measurement, of
# root mean squares over many starts of three tops (``design/columns.py``)
RULE = (1e-11, "12", True), (2e-14, "16", False), (0.0, "14", False)
TIGHTEST = 2e-15  # below it the error estimate is only rounding
SAFETY, SMALLEST, LARGEST = 0.8, 0.2, 4.0  # of the factor to the next step
PROBE, CAUTION = 0.01, 0.01  # of the first step: fraction of the scale of change, of its error
CRUMB = 1e-6  # if y starts at 0: the fraction of the span in which it reaches its scale
TINY = 1e-300  # times anything of a step it is nothing
EVERY = (True,) * WIDTH  # lane
FROM_REST = 1e12  # a y that changes by this factor over the span started at 0


# ---- the schedule of the lanes
@dataclass(frozen=True)
class Segment:
    """Pairs of substeps in all lanes, up to the end of a column in one of them.

    For each lane, the number of substeps (or 0) of the ``running`` column and of the one that
    ``ends`` with the segment.
    """

    pairs: int
    running: tuple[int, ...]
    ends: tuple[int, ...]


def segments(columns: Columns) -> list[Segment]:
    """Divide a step into segments; a column of n substeps takes n/2 pairs."""
    lanes = [[(sum(lane[: k + 1]) // 2, n) for k, n in enumerate(lane)] for lane in columns.lanes]
    times = sorted({end for lane in lanes for end, _ in lane})
    plan = []
    for begin, end in pairwise([0, *times]):
        running = tuple(next((n for time, n in lane if time > begin), 0) for lane in lanes)
        ends = tuple(next((n for time, n in lane if time == end), 0) for lane in lanes)
        plan.append(Segment(end - begin, running, ends))
    return plan


def share(n: int) -> Fraction:
    """Return 1/n, or 0 for a lane at rest, which stays at the start of the step."""
    return Fraction(1, n) if n else Fraction(0)


def weights(columns: Columns, number: Callable) -> Mapping[int, Fraction]:
    return columns.rounded if number is float else columns.weights


# ---- what columns hold: increments D from y, or at loose tolerances y + D itself
def other(a, b):
    return b


def first_lane(four):
    return unpack(four)[0]


def origin(y):
    """Return D_0; all these functions take single numbers or four at once."""
    return each(minus, (y, y))


def place(y, d):
    """Return y + D."""
    return each(plus, (y, d))


def increment(y, d):
    """Return D."""
    return d


def pace_of(step, body):
    """Return what ``onward`` needs of the doubled substep."""
    return ()


def onward(t, here, before, step, pace, body, params):
    """Return D_(m+1) of (1) from D_(m-1) and y + D_m; ``step`` is the doubled substep."""
    return each(fma, (step, slope(t, here, body, params), before))


def itself(y):
    return y


# ---- the columns
def substeps(count, time, step, single, base, before, here, body, params):
    """Take the substeps of a segment: (D_(n-1), D_n, the number of substeps so far).

    ``single`` is the first one: a column starts with half of the doubled substep.
    """
    twice = step + step
    halved, ahead = pace_of(single, body), pace_of(twice, body)
    t, m = time
    there = fma(m, step, t), place(base, here)
    before, here = here, at_once(onward, (*there, before, single, halved), (body, params))
    for _ in range(count):
        m = m + everywhere(1.0)
        there = fma(m, step, t), place(base, here)
        before, here = here, at_once(onward, (*there, before, twice, ahead), (body, params))
    return before, here, m + everywhere(1.0)


def side_by_side(columns: Columns, number: Callable[[Any], Any]) -> Callable:
    """Make (t, h, y, body, params) -> (Σ w_j D_j, its error, Δ times the slope).

    The segments follow each other in the code, without a loop around them.
    """
    plan = segments(columns)

    def of_lanes(values: Sequence) -> Callable:
        return table([tuple(number(Fraction(value)) for value in values)])

    def segment(before_it: Callable, k: int) -> Callable:
        one, fresh = plan[k], tuple(n > 0 for n in plan[k - 1].ends) if k else EVERY
        count = 2 * one.pairs - 1  # of substeps after the first
        part = of_lanes([share(n) for n in one.running])
        opening = of_lanes(
            [share(n) * (1 if f else 2) for n, f in zip(one.running, fresh, strict=True)]
        )
        ended, ended_part = of_lanes(one.ends), of_lanes([share(n) for n in one.ends])
        weight = of_lanes([weights(columns, number).get(n, 0) for n in one.ends])
        of_error = of_lanes([columns.differences.get(n, 0) for n in one.ends])
        new = of_lanes(fresh)

        def begin(base, state):
            """Go back to the start where a column ended; lanes that rest take steps of size 0.

            At its end the slope may be undefined, and a step of size 0 would make NaN of it.
            """
            before, here, m, sums = state
            if k > 0:
                first_d = origin(base)
                m = where(new(0), everywhere(0.0), m)
                here, before = where(new(0), first_d, here), where(new(0), first_d, before)
            return before, here, m, sums

        def run(h, time, base, body, params):
            before, here, m, (result, error, missing) = begin(
                base, before_it(h, time, base, body, params)
            )
            before, here, m = substeps(
                *(count, (time, m), part(0) * h, opening(0) * h),
                *(base, before, here, body, params),
            )
            w, d = weight(0), increment(base, here)  # add the columns that end here
            result = each(fma, (w, d, result))  # (2)
            error = each(fma, (of_error(0), d, error))
            missing = fma(w, fma(-ended(0), ended_part(0) * h, h), missing)  # (3)
            return before, here, m, (result, error, missing)

        return run

    def at_rest(h, time, base, body, params):
        zero, first_d = everywhere(0.0), origin(base)
        zeros = each(other, (base, zero))
        return first_d, first_d, zero, (zeros, zeros, zero)

    whole = at_rest
    for k in range(len(plan)):
        whole = segment(whole, k)
    first_part = table([number(share(columns.lanes[0][-1]))])

    def sums(t, h, y, body, params):
        before, here, _, (result, error, missing) = whole(
            h, everywhere(t), each(everywhere, (y,)), body, params
        )
        near = each(minus, (each(first_lane, (here,)), each(first_lane, (before,))))
        late = lateness(total(missing), first_part(0) * h, near)
        return each(total, (result,)), each(total, (error,)), late

    return sums


def lateness(missing, step, near):
    """Return Δ times the slope near the end, ``near``/step; a step of size 0 misses nothing."""
    return each(times, (missing / (step + TINY), near))


# ---- bodies in the lanes
def one_by_one(columns: Columns, number: Callable[[Any], Any]) -> Callable:
    """Make the same, one column after another: a sum for each lane, and their sum by pairs."""
    numbers = [n for lane in columns.lanes for n in lane]
    ends = [0, *accumulate(map(len, columns.lanes))]
    begin, end = table(ends[:-1]), table(ends[1:])
    doubled = table([n - 1 for n in numbers])
    count = table([number(Fraction(n)) for n in numbers])
    part = table([number(share(n)) for n in numbers])
    weight = table([number(Fraction(weights(columns, number)[n])) for n in numbers])
    of_error = table([number(columns.differences[n]) for n in numbers])

    def sums(t, h, y, body, params):
        zero = h - h
        zeros = each(other, (y, zero))
        two = three = zeros, zeros, zero  # sums of the last one or two lanes, and of those before
        near, first_part = zeros, zero
        for k in range(WIDTH):
            result, error, missing = zeros, zeros, zero
            for i in range(begin(k), end(k)):
                step, m = part(i) * h, 1.0
                twice = step + step
                ahead = pace_of(twice, body)
                before = origin(y)
                here = onward(t, place(y, before), before, step, pace_of(step, body), body, params)
                for _ in range(doubled(i)):
                    there = fma(m, step, t), place(y, here)
                    d = onward(*there, before, twice, ahead, body, params)
                    before, here, m = here, d, m + 1.0
                w, d = weight(i), increment(y, here)
                result = each(fma, (w, d, result))  # (2)
                error = each(fma, (of_error(i), d, error))
                missing = fma(w, fma(-count(i), step, h), missing)  # (3)
                if k == 0:
                    near, first_part = each(minus, (here, before)), step
            one = result, error, missing
            three = two if k == 2 else three
            two = added_up(two, one) if k % 2 == 1 else one
        result, error, missing = added_up(three, two)
        return result, error, lateness(missing, first_part, near)

    return sums


def added_up(a, b):
    return each(plus, (a[0], b[0])), each(plus, (a[1], b[1])), a[2] + b[2]


# ---- the step
def achievable(tolerances):
    """Return (rtol, atol), but not less than rounding allows."""
    return max(tolerances[0], TIGHTEST), tolerances[1]


def start(t, h, y, body, params):
    """Return the carry: the rounding error of y."""
    return (each(times, (0.0, y)),)


def end_of(y, carry, d, late):
    """Return (y', carry) from the sums (2) and (3): compensated summation."""
    pairs = each(added, (y, each(plus, (carry[0], late)), d))
    return each(first, (pairs,)), (each(second, (pairs,)),)


# Columns of values: as the weights w_j sum to 1, and w_j - w'_j to 0, their sums are those of y.
VALUES: dict[Callable, Callable] = {
    origin: itself,
    place: other,
    increment: other,
    pace_of: pace,
    onward: leap,
    end_of: lambda y, carry, d, late: (d, ()),
}


def trials(columns: Columns, sums: Callable) -> Callable:
    exponent, evaluations = -0.5 / (columns.order - 1), columns.evaluations

    def trial(t, h, y, carry, body, params, tolerances):
        d, off, late = sums(t, h, y, body, params)
        new, kept = end_of(y, carry, d, late)
        square = square_size(off, y, new, body, achievable(tolerances))
        return new, kept, square, next_factor(square, exponent), evaluations

    return trial


def next_factor(square, exponent):
    """Return the factor from this step to the next, from the square of the error."""
    inside = max(1e-100, min(1e100, square))  # 1e100 for NaN
    return min(LARGEST, max(SMALLEST, SAFETY * power(inside, exponent)))


def first_steps(columns: Columns) -> Callable:
    """Make the choice of the first step, by the error for oscillation at the rate of y, or of y'.

    For y' = λ y the error (2) is about |λ h|^(2k-1) / Π n_j², without the coarsest column.
    """
    exponent = 1.0 / (columns.order - 1)
    reach = CAUTION * float(prod(n * n for n in columns.numbers[1:]))

    def first_step(t, span, y, carry, body, params, tolerances):
        allowed, whole_span = achievable(tolerances), abs(span)
        f = slope(t, y, body, params)
        whole, speed = size(y, y, y, body, allowed), size(f, y, y, body, allowed)
        whole = blend(mask(whole > 0.0), whole, CRUMB * speed * whole_span)  # y may start at 0
        from_rest = mask(speed * whole_span > FROM_REST * whole)  # a part of y starts at 0
        near = blend(from_rest, each(fma, (CRUMB * span, f, y)), y)
        speed = size(f, y, near, body, allowed)
        moves = mask(speed * whole_span > PROBE * whole)  # not if at rest, or nearly; or NaN
        ahead = blend(moves, PROBE * whole / (speed + TINY), 1.0)
        ahead = ahead if span > 0.0 else -ahead
        there = each(fma, (ahead, f, y))
        bend = each(minus, (slope(t + ahead, there, body, params), f))
        bent = size(bend, y, near, body, allowed) / abs(ahead)
        scale = max(speed / (whole + TINY), bent / (speed + TINY)) + TINY
        h = power(reach * (allowed[0] + allowed[1]), exponent) / scale
        h = blend(moves, min(h, whole_span), whole_span)
        return (h if span > 0.0 else -h), 2

    return first_step


# ---- the records
@cache
def integrator(name: str, values: bool = False, number: Callable[[Any], Any] = float) -> Integrator:
    """Make the record for some columns; ``number`` converts the fractions (to mpmath, say).

    Columns hold ``values`` or increments.
    """
    columns, held = COLUMNS[name], VALUES if values else {}
    return Integrator(
        name="extrapolation",
        title="Gragg's extrapolation of order 12 to 16",
        order=columns.order,
        dense_order=columns.order,
        tightest=TIGHTEST,
        references=("gragg1965", "hairer1993"),
        suited=suited,
        start=contracts.start if values else start,
        trial=bind(trials(columns, side_by_side(columns, number)), held),
        trial_in_lanes=bind(trials(columns, one_by_one(columns, number)), held),
        first_step=first_steps(columns),
    )


def suited(tolerance: float) -> Integrator:
    """Return the record for rtol + atol."""
    return next(integrator(name, values) for limit, name, values in RULE if tolerance >= limit)


PLACE = 10
INTEGRATOR = suited(1e-13)
