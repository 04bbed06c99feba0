"""Gragg's extrapolation of order 12, 14 and 16, its columns in the SIMD lanes.

A column is the explicit midpoint rule with n substeps, written for the increments D from y:

    D_0 = 0,    D_1 = (h/n) f(t, y),    D_(m+1) = D_(m-1) + (2h/n) f(t + m h/n, y + D_m)   (1)

and k columns together are of order 2k; w'_j are the weights without the coarsest column:

    y' = y + Σ w_j D(n_j),    error = |Σ (w_j - w'_j) D(n_j)|                          (2)

The slope is evaluated for four columns at once, one in each lane of a SIMD register
(``compiler.four``); several columns follow each other in a lane (``tableaus/extrapolation``).  The
tolerance selects the columns (``RULE``): one machine code serves all orders.  Dense output is a
separate step from the start of the step, of the same order.

The rounding error of y + Σ is carried.  Columns whose substep is not exactly h/n end early or late,
in every step by the same time; the total, times the slope at the end, is carried too:

    Δ = Σ w_j (h - n_j fl(h/n_j))                                                      (3)

A slope that cannot take four numbers at once (one that branches on values) is evaluated one column
after the other, with the same bits.

Where the lanes hold four bodies, the columns follow each other (``one_by_one``), and each body has
the same bits as alone: a lane that is done stays at the start of the step, without effect on the
others.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from math import exp, log, prod
from typing import Any

from polhode.compiler.four import WIDTH, at_once, each, everywhere, table, total, unpack, where
from polhode.compiler.machine import fma
from polhode.compiler.tree import bind
from polhode.contracts import Integrator, size, slope
from polhode.kernels.sums import added
from polhode.kernels.tuples import first, minus, plus, second, times
from polhode.tableaus.extrapolation import COLUMNS, Columns

# down to this tolerance, these columns are the fastest, by measurement
RULE = (1e-11, "12"), (1.5e-13, "16"), (2e-14, "14"), (0.0, "16 calm")
TIGHTEST = 2e-15  # below it the error estimate is only rounding
SAFETY, SMALLEST, LARGEST = 0.8, 0.2, 4.0  # of the factor to the next step
PROBE, CAUTION = 0.01, 0.01  # of the first step: fraction of the scale of change, of its error
CRUMB = 1e-6  # if y starts at 0: the fraction of the span in which it reaches its scale
FROM_REST = 1e12  # a y that changes by this factor over the span started at 0


# ---- the schedule of the lanes
@dataclass(frozen=True)
class Segment:
    """Pairs of substeps in all lanes, up to the end of a column in one of them.

    For each lane, the number of substeps (or 0) of the ``running`` column and of the one that is
    ``counted`` at the end of the segment (the last column of a lane waits for the end of the step),
    and whether the next column then ``begins`` or none is left (``rests``).
    """

    pairs: int
    running: tuple[int, ...]
    counted: tuple[int, ...]
    begins: tuple[bool, ...]
    rests: tuple[bool, ...]


def segments(columns: Columns) -> list[Segment]:
    """Divide a step into segments.

    A column of n substeps takes n/2 pairs; the second substep of the last pair is idle.
    """
    lanes = [[(sum(lane[: k + 1]) // 2, n) for k, n in enumerate(lane)] for lane in columns.lanes]
    times = sorted({end for lane in lanes for end, _ in lane})
    plan = []
    for begin, end in pairwise([0, *times]):
        running = tuple(next((n for time, n in lane if time > begin), 0) for lane in lanes)
        following = tuple(next((n for time, n in lane if time > end), 0) for lane in lanes)
        begins = tuple(0 != a != b for a, b in zip(following, running, strict=True))
        counted = tuple(n if more else 0 for n, more in zip(running, begins, strict=True))
        rests = tuple(n == 0 for n in following)
        counted = columns.lasts if end == times[-1] else counted
        plan.append(Segment(end - begin, running, counted, begins, rests))
    return plan


def share(n: int) -> Fraction:
    """Return 1/n, or 0 for a lane at rest, which stays where it is."""
    return Fraction(1, n) if n else Fraction(0)


def weights(columns: Columns, number: Callable) -> Mapping[int, Fraction]:
    return columns.rounded if number is float else columns.weights


# ---- arithmetic of tuples
def other(a, b):
    return b


def first_lane(four):
    return unpack(four)[0]


# ---- the columns
def forward(time, m, step, base, before, d, body, params):
    """Return D_(m+1) of (1) from D_(m-1) and D_m."""
    rate = at_once(slope, (fma(m, step, time), each(plus, (base, d))), (body, params))
    return each(fma, (step + step, rate, before))


def side_by_side(schemes: Sequence[Columns], number: Callable[[Any], Any]) -> Callable:
    """Make (which, t, h, y, body, params) -> (Σ w_j D_j, its error, Δ, slope near the end)."""
    plans = [segments(columns) for columns in schemes]
    starts = [0, *accumulate(map(len, plans))]
    begin, end = table(starts[:-1]), table([i - 1 for i in starts[1:]])
    rows = [(columns, s) for columns, plan in zip(schemes, plans, strict=True) for s in plan]
    # the last substep of all is evaluated separately
    pairs = table([s.pairs - (i + 1 in starts) for i, (_, s) in enumerate(rows)])

    def of_lanes(value: Callable) -> Callable:
        fractions = [[Fraction(value(*row, lane)) for lane in range(WIDTH)] for row in rows]
        return table([tuple(map(number, four)) for four in fractions])

    count = of_lanes(lambda c, s, lane: s.counted[lane])
    part = of_lanes(lambda c, s, lane: share(s.running[lane]))
    counted_part = of_lanes(lambda c, s, lane: share(s.counted[lane]))
    beginning = of_lanes(lambda c, s, lane: s.begins[lane])
    resting = of_lanes(lambda c, s, lane: s.rests[lane])
    weight = of_lanes(lambda c, s, lane: weights(c, number).get(s.counted[lane], 0))
    difference = of_lanes(lambda c, s, lane: c.differences.get(s.counted[lane], 0))
    some_begin = table([int(any(s.begins)) for _, s in rows])
    some_rest = table([int(any(s.rests)) for _, s in rows])

    def counted(i, h, even, result, error, missing):
        """Add the columns that end here to the sums (2) and (3)."""
        w, step = weight(i), counted_part(i) * h
        result = each(fma, (w, even, result))
        error = each(fma, (difference(i), even, error))
        return result, error, fma(w, fma(-count(i), step, h), missing)

    def sums(which, t, h, y, body, params):
        time, base = everywhere(t), each(everywhere, (y,))
        zero, one, two = everywhere(0.0), everywhere(1.0), everywhere(2.0)
        zeros = each(other, (base, zero))
        f = each(everywhere, (slope(t, y, body, params),))
        i, last = begin(which), end(which)
        step = part(i) * h
        m, missing, result, error = one, zero, zeros, zeros
        even, odd = zeros, each(times, (step, f))  # the D_m of even and odd m
        done = zeros  # of the lanes that rest
        while True:
            for _ in range(pairs(i)):
                even = forward(time, m, step, base, even, odd, body, params)
                odd = forward(time, m + one, step, base, odd, even, body, params)
                m = m + two
            if i == last:
                break
            if some_rest(i) == 1:
                rest = resting(i)
                done = where(rest, each(plus, (done, even)), done)
                even, odd = where(rest, zeros, even), where(rest, zeros, odd)
            if some_begin(i) == 1:
                result, error, missing = counted(i, h, even, result, error, missing)
                again = beginning(i)
                m = where(again, one, m)
                even = where(again, zeros, even)
                odd = where(again, each(times, (part(i + 1) * h, f)), odd)
            i += 1
            step = part(i) * h
        rate = at_once(slope, (fma(m, step, time), each(plus, (base, odd))), (body, params))
        even = each(plus, (each(fma, (step + step, rate, even)), done))
        result, error, missing = counted(i, h, even, result, error, missing)
        ends = each(total, (result,)), each(total, (error,))
        return (*ends, total(missing), each(first_lane, (rate,)))

    return sums


# ---- four bodies in the lanes
def one_by_one(schemes: Sequence[Columns], number: Callable[[Any], Any]) -> Callable:
    """Make the same, one column after another: a sum for each lane, and their sum by pairs."""
    rows = [(c, n) for c in schemes for lane in c.lanes for n in lane]
    ends = [0, *accumulate(len(lane) for c in schemes for lane in c.lanes)]
    begin, end = table(ends[:-1]), table(ends[1:])  # for lane k of scheme j, at 4 j + k
    pairs = table([n // 2 - 1 for _, n in rows])
    count = table([number(Fraction(n)) for _, n in rows])
    part = table([number(share(n)) for _, n in rows])
    weight = table([number(Fraction(weights(c, number)[n])) for c, n in rows])
    difference = table([number(c.differences[n]) for c, n in rows])

    def next_d(t, m, step, y, before, d, body, params):
        rate = slope(fma(m, step, t), each(plus, (y, d)), body, params)
        return each(fma, (step + step, rate, before))

    def sums(which, t, h, y, body, params):
        zero = h - h
        zeros = each(other, (y, zero))
        f = slope(t, y, body, params)
        near = rate = f
        two = three = zeros, zeros, zero  # sums of the last one or two lanes, and of those before
        for k in range(WIDTH):
            result, error, missing = zeros, zeros, zero
            for i in range(begin(WIDTH * which + k), end(WIDTH * which + k)):
                step, m = part(i) * h, 1.0
                even, odd = zeros, each(times, (step, f))
                for _ in range(pairs(i)):
                    even = next_d(t, m, step, y, even, odd, body, params)
                    odd = next_d(t, m + 1.0, step, y, odd, even, body, params)
                    m = m + 2.0
                rate = slope(fma(m, step, t), each(plus, (y, odd)), body, params)
                even = each(fma, (step + step, rate, even))
                w = weight(i)
                result = each(fma, (w, even, result))  # (2)
                error = each(fma, (difference(i), even, error))
                missing = fma(w, fma(-count(i), step, h), missing)  # (3)
            near = rate if k == 0 else near
            one = result, error, missing
            three = two if k == 2 else three
            two = added_up(two, one) if k % 2 == 1 else one
        return (*added_up(three, two), near)

    return sums


def added_up(a, b):
    return each(plus, (a[0], b[0])), each(plus, (a[1], b[1])), a[2] + b[2]


# ---- the step
def chosen(limits: Sequence[float]) -> Callable:
    """Make tolerances -> (which columns, the achievable tolerances)."""
    count, bound = len(limits), table(limits)

    def choice(tolerances):
        rtol, atol = max(tolerances[0], TIGHTEST), tolerances[1]
        which = 0
        while which < count - 1 and rtol + atol < bound(which):
            which += 1
        return which, (rtol, atol)

    return choice


def moved(y, low, d, extra, rate):
    """Return (y + low + d + extra rate, its rounding error): compensated summation."""
    low = each(fma, (extra, rate, low))
    pairs = each(added, (y, low, d))
    return each(first, (pairs,)), each(second, (pairs,))


def start(t, h, y, body, params):
    """Return the carry: the rounding error of y."""
    return (each(times, (0.0, y)),)


def trials(schemes: Sequence[Columns], choice: Callable, sums: Callable) -> Callable:
    power = table([-1.0 / (c.order - 1) for c in schemes])
    evaluations = table([c.evaluations for c in schemes])

    def trial(t, h, y, carry, body, params, tolerances):
        which, allowed = choice(tolerances)
        d, off, extra, rate = sums(which, t, h, y, body, params)
        new, low = moved(y, carry[0], d, extra, rate)
        error = size(off, y, new, body, allowed)
        return new, (low,), error, next_factor(error, power(which)), evaluations(which)

    return trial


def next_factor(error, power):
    """Return the factor from this step to the next, from the error relative to the tolerance."""
    if error < 1e100:  # false for NaN
        return min(LARGEST, max(SMALLEST, SAFETY * exp(power * log(error + 1e-300))))
    return SMALLEST


def next_factors(error, power):
    """Return ``next_factor`` of four bodies."""
    return at_once(next_factor, (error,), (power,))


def first_steps(schemes: Sequence[Columns], choice: Callable) -> Callable:
    """Make the choice of the first step, by the error for oscillation at the rate of y, or of y'.

    For y' = λ y the error (2) is about |λ h|^(2k-1) / Π n_j², without the coarsest column.
    """
    power = table([1.0 / (c.order - 1) for c in schemes])
    reach = table([CAUTION * float(prod(n * n for n in c.numbers[1:])) for c in schemes])

    def first_step(t, span, y, carry, body, params, tolerances):
        which, allowed = choice(tolerances)
        f = slope(t, y, body, params)
        whole, speed = size(y, y, y, body, allowed), size(f, y, y, body, allowed)
        whole = whole if whole > 0.0 else CRUMB * speed * abs(span)  # y may start at 0
        near = y
        if speed * abs(span) > FROM_REST * whole:  # a part of y starts at 0, as at rest
            near = each(fma, (CRUMB * span, f, y))
            speed = size(f, y, near, body, allowed)
        if not speed * abs(span) > PROBE * whole:  # at rest, or nearly; or NaN
            return span, 1
        ahead = PROBE * whole / speed if span > 0.0 else -PROBE * whole / speed
        there = each(fma, (ahead, f, y))
        bend = each(minus, (slope(t + ahead, there, body, params), f))
        bent = size(bend, y, near, body, allowed) / abs(ahead)
        scale = max(speed / whole, bent / speed)
        h = exp(power(which) * log(reach(which) * (allowed[0] + allowed[1]))) / scale
        h = min(h, abs(span))
        return h if span > 0.0 else -h, 2

    return first_step


def integrator(
    rule: Sequence[tuple[float, str]] = RULE, number: Callable[[Any], Any] = float, **changed: Any
) -> Integrator:
    """Make the record for a rule; ``number`` converts the fractions (to mpmath, say)."""
    schemes = [COLUMNS[name] for _, name in rule]
    choice = chosen([limit for limit, _ in rule])
    settings: dict[str, Any] = {
        "name": "extrapolation",
        "title": "Gragg's extrapolation of order 12 to 16",
        "order": min(columns.order for columns in schemes),
        "dense_order": min(columns.order for columns in schemes),
        "tightest": TIGHTEST,
        "references": ("gragg1965", "hairer1993"),
        "start": start,
        "trial": trials(schemes, choice, side_by_side(schemes, number)),
        "trial_in_lanes": bind(
            trials(schemes, choice, one_by_one(schemes, number)), {next_factor: next_factors}
        ),
        "first_step": first_steps(schemes, choice),
    }
    return Integrator(**settings | changed)


PLACE = 10
INTEGRATOR = integrator()
