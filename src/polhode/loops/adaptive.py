"""One body, adaptive steps."""

from polhode.compiler.four import each, everywhere, on_aligned_stack, takes_fours
from polhode.compiler.machine import put, take
from polhode.contracts import (
    NO_ATTITUDE,
    OK,
    STEP_TOO_SMALL,
    TOO_MANY_STEPS,
    first_step,
    reset,
    slope,
    start,
    trial,
)
from polhode.loops.fixed import alike
from polhode.loops.rows import attitude_of, is_attitude

MAX_TRIALS = 100  # of one step


def slope_takes_fours(y, body, params):
    """Return whether the slope takes four numbers at once."""
    return takes_fours(slope, (everywhere(0.0), each(everywhere, (y,))), (body, params))


def clipped(h, largest):
    return h if abs(h) <= largest else (largest if h > 0.0 else -largest)


def step_of(time, end):
    """Return (step to try, whether it falls short of the end, time after it)."""
    t, t_low, h = time
    left = (end - t) - t_low
    short = abs(h) < abs(left) and t + (t_low + h) != end  # by more than rounding
    this = h if short else left
    return this, short, t + (t_low + this)


def adapt(t, t_low, end, h, largest, fresh, state, carry, body, params, tolerances, most, out):
    """Take at most ``most`` trial steps up to ``end``, or until ``out`` is full.

    The time is the sum t + t_low, and the step taken is exactly the one added to it.  Row i of
    ``out`` is (t, t_low, state) after the i-th accepted step; if it has no rows, nothing is kept.
    If ``fresh``, the carry is only a pattern and is made here, as is the step if it is 0.

    Returns (t, t_low, h, state, carry, status, accepted, rejected, starts, evaluations): ``h`` is
    the next trial step, for a run that continues; ``starts`` counts how often the carry was made.
    """
    accepted, rejected, tries, starts, evaluations = 0, 0, 0, 0, 0
    if fresh:
        carry, starts = alike(start(t + t_low, h, state, body, params), state), 1
        if h == 0.0:
            h, evaluations = first_step(
                t + t_low, (end - t) - t_low, state, carry, body, params, tolerances
            )
            h = clipped(h if h == h else end - t, largest)  # NaN has no direction
    while (end - t) - t_low != 0.0:
        this, short, new_t = step_of((t, t_low, h), end)
        stuck = (short and new_t == t) or tries == MAX_TRIALS
        if stuck or accepted + rejected >= most:
            status = STEP_TOO_SMALL if stuck else TOO_MANY_STEPS
            return t, t_low, h, state, carry, status, accepted, rejected, starts, evaluations
        new, kept, error, factor, count = trial(
            t + t_low, this, state, carry, body, params, tolerances
        )
        evaluations += count
        following = this * factor
        if error <= 1.0:  # false for NaN
            if tries > 0 and factor > 1.0:  # never grow right after a rejection
                following = this
            t_low = (t_low + this) - (new_t - t) if short else 0.0
            t = new_t if short else end
            if not short and abs(following) < abs(h):
                following = h
            new, changed = reset(t + t_low, new, body)
            state, carry = alike((new, kept), state)
            if changed:
                carry = alike(start(t + t_low, following, state, body, params), state)
                starts += 1
            if len(out) > 0:
                put(out, accepted, (t, t_low, state))
            accepted, tries = accepted + 1, 0
        else:
            rejected, tries = rejected + 1, tries + 1
            following = following if factor < 1.0 else 0.5 * this
        h = clipped(following, largest)
        if accepted == len(out) and accepted > 0:
            break
    return t, t_low, h, state, carry, OK, accepted, rejected, starts, evaluations


def packed_adapt(pattern):
    """Make ``adapt`` take (state, carry, body, numbers, largest step, tolerances) from a row.

    State and carry are written back; row 0 of ``out`` is the start.  Returns (t, t_low, h,
    status, accepted, rejected, starts, evaluations).  Whether there is an attitude is looked at
    once, at the end: one that is lost does not come back.
    """

    def run(data, t, t_low, end, h, fresh, tables, most, out):
        on_aligned_stack()
        state, carry, body, numbers, largest, tolerances = take(data, 0, 0, pattern)
        put(out, 0, (t, t_low, state))
        params = numbers, tables
        t, t_low, h, state, carry, status, accepted, rejected, starts, evaluations = adapt(
            *(t, t_low, end, h, largest, fresh, state, carry, body, params, tolerances),
            *(most, out[1:]),
        )
        if status == OK and not is_attitude(attitude_of(t + t_low, state, body)):
            status = NO_ATTITUDE
        put(data, 0, (state, carry))
        return t, t_low, h, status, accepted, rejected, starts, evaluations

    return run
