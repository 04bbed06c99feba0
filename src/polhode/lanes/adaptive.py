"""Loops over blocks of bodies, each of which has a time and a step of its own.

A body is (active, status, time, state, carry, body, numbers), time = (t, t_low, h, accepted,
rejected, tries).  ``shared``: (end, largest, tolerances, tables).
"""

from polhode import loops
from polhode._compile import LANES, CompiledOrPlain, blend, lanes, mask, over_lanes
from polhode._tree import bind
from polhode.contracts import OK, STEP_TOO_SMALL, Method, Model, trial
from polhode.loops import MAX_TRIALS


def lane_trial(shared, slots):
    end, largest, tolerances, tables = shared
    active, status, (t, t_low, h, accepted, rejected, tries), state, carry, body, numbers = slots
    left = (end - t) - t_low
    falls_short = (abs(h) < abs(left)) & (t + (t_low + h) != end)
    short = mask(falls_short)
    this = blend(short, h, left)
    new_t = t + (t_low + this)
    running = mask((left != 0.0) & (status == OK))
    stuck = mask((falls_short & (new_t == t)) | (tries == MAX_TRIALS))
    new, kept, error, factor, _ = trial(
        t + t_low, this, state, carry, body, (numbers, tables), tolerances
    )
    following = this * blend(mask((tries > 0.0) & (factor > 1.0) & (error <= 1.0)), 1.0, factor)
    counts = mask(error <= 1.0)
    after = blend(short, following, blend(mask(abs(following) < abs(h)), h, following))
    after = blend(counts, after, blend(mask(factor < 1.0), following, 0.5 * this))
    limit = blend(mask(after > 0.0), largest, -largest)
    after = blend(mask(abs(after) <= largest), after, limit)
    tried = blend(stuck, 0.0, running)
    moves = blend(tried, counts, 0.0)
    low = blend(short, (t_low + this) - (new_t - t), 0.0)
    time = (
        blend(moves, blend(short, new_t, end), t),
        blend(moves, low, t_low),
        blend(tried, after, h),
        blend(moves, accepted + 1.0, accepted),
        blend(tried, blend(counts, rejected, rejected + 1.0), rejected),
        blend(tried, blend(counts, 0.0, tries + 1.0), tries),
    )
    status = blend(running, blend(stuck, 1.0 * STEP_TOO_SMALL, status), status)
    active = mask(((end - time[0]) - time[1] != 0.0) & (status == OK))
    return active, status, time, blend(moves, new, state), blend(moves, kept, carry)


def adapt_lanes(blocks, end, largest, tolerances, tables, slots):
    """Trial steps of every body up to ``end``, each with its own step, as if it were alone."""
    for b in range(blocks.shape[0]):
        block = blocks[b]
        left = LANES
        while left > 0:
            over_lanes(lane_trial, block, (end, largest, tolerances, tables), slots)
            left = 0
            for lane in range(LANES):
                left += block[lane] != 0.0


def build(method: Method, model: Model | None = None, aligned: bool = True) -> CompiledOrPlain:
    """``adapt_lanes`` of a method and a model, compiled."""
    template = bind(adapt_lanes, {over_lanes: lanes(method.width)})
    return loops.build(template, method, model, aligned)
