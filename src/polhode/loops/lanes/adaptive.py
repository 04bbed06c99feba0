"""Loops over bodies that each have their own time and step.

A body is the nested tuple ``slots``: (number, status, time, counts, before, state, carry, body,
numbers) with time = (t, t_low, h), as in ``loops.adapt``, and counts = (accepted, rejected, tries,
evaluations, looked).  ``before`` = (t, t_low, state) is the last knot: where the last step began.
``looked`` is the number of the step that was interpolated last.

As many bodies as a register has lanes are in a room, four or eight.  Their trial step, and what
``loops.adapt`` does after it, are of numbers in lanes (``compiler.four``); where the compiler
refuses, they take single trial steps.  Two
rooms take turns: the processor begins the step of one while the end of the other's, in which every
operation waits for the last, still runs.  A body that has come far enough makes room for the next:
none waits for a neighbour with shorter steps.
"""

from collections.abc import Callable
from itertools import accumulate, pairwise
from math import inf, nan
from typing import NamedTuple

import numpy as np

from polhode import loops
from polhode.compiler.four import (
    BODIES,
    at_once,
    column,
    columns,
    combined_fours,
    if_it_can,
    of_bodies,
    on_aligned_stack,
    put_column,
    put_columns,
    unpack,
    where,
)
from polhode.compiler.machine import LANES, CompiledOrPlain, combined, finite
from polhode.compiler.tree import bind, flat
from polhode.contracts import (
    OK,
    STEP_TOO_SMALL,
    TOO_MANY_STEPS,
    Coordinates,
    Formulation,
    Integrator,
    Model,
    first_step,
    fit,
    read,
    reset,
    square_size,
    start,
    trial,
)
from polhode.contracts.company import company_of
from polhode.formulations.equations import equations_of
from polhode.loops import MAX_TRIALS, between, clipped, functions_of, step_of

NOBODY = -1.0
ROOMS = 2
STATE, CARRY = 5, 6  # places in the nested tuple
Pieces = dict[Callable, Callable]


def at_start():
    """Stub: the number of evaluations in ``start``."""
    return 0


# ---- the first step
def begin(blocks, t0, end, first, largest, tolerances, tables, slots):
    """Start every body at t0: make its carry and its first step (``first``, 0 to estimate it)."""
    on_aligned_stack()
    for b in range(blocks.shape[0]):
        for place in range(0, LANES, BODIES):
            if_it_can(
                room_begin,
                single_begin,
                (blocks[b], place, t0, end, first, largest, tolerances, tables, slots),
            )


def room_begin(block, place, t0, end, first, largest, tolerances, tables, slots):
    number, _, _, _, _, state, _, body, numbers = columns(block, place, LANES, slots)
    params = numbers, tables
    h, evaluations = of_bodies(first if end >= t0 else -first), at_start()
    carry = start(t0, h, state, body, params)
    if first == 0.0:
        h, count = first_step(t0, end - t0, state, carry, body, params, tolerances)
        h, evaluations = where(h == h, h, of_bodies(end - t0)), evaluations + count
        h = room_clipped(h, of_bodies(largest))
    t, zero = of_bodies(t0), of_bodies(0.0)
    counts = zero, zero, zero, evaluations, of_bodies(-1.0)
    kept = number, zero, (t, zero, h), counts, (t, zero, state), state, carry
    put_columns(block, place, LANES, kept)


def single_begin(block, place, t0, end, first, largest, tolerances, tables, slots):
    for lane in range(place, place + BODIES):
        number, _, _, _, _, state, _, body, numbers = column(block, lane, LANES, slots)
        params = numbers, tables
        h, evaluations = (first if end >= t0 else -first), at_start()
        carry = start(t0, h, state, body, params)
        if h == 0.0:
            h, count = first_step(t0, end - t0, state, carry, body, params, tolerances)
            h, evaluations = clipped(h if h == h else end - t0, largest), evaluations + count
        time, counts = (t0, 0.0, h), (0.0, 0.0, 0.0, evaluations, -1.0)
        put_column(block, lane, LANES, (number, 0.0, time, counts, (t0, 0.0, state), state, carry))


def room_clipped(h, limit):
    return where(abs(h) <= limit, h, where(h > 0.0, limit, -limit))


# ---- steps
def runs(status, time, until, end):
    """Whether a body has still to run to ``until``, in the direction of ``end``."""
    t, t_low, _ = time
    left, whole = (until - t) - t_low, (end - t) - t_low
    arrived = whole == 0.0 or left == 0.0 or (left > 0.0) != (whole > 0.0)
    return status == OK and not arrived  # a NaN time runs, and fails


def place_of(number, rooms):
    """Return the place of a body in the blocks, laid end to end."""
    return number // LANES * (len(rooms) // (ROOMS * BODIES) * LANES) + number % LANES


def taken(bodies, number, count, rooms, lane, until, end, slots):
    """Put the next body from ``number`` on that must run into a lane; return the next number."""
    while number < count:
        place = place_of(number, rooms)
        _, status, time, _, _, _, _, _, _ = column(bodies, place, LANES, slots)
        if runs(status, time, until, end):
            put_column(rooms, lane, BODIES, column(bodies, place, LANES, slots))
            rooms[lane] = number
            return number + 1
        number += 1
    rooms[lane] = NOBODY
    return number


def given_back(bodies, rooms, lane, slots):
    _, status, time, counts, before, state, carry, _, _ = column(rooms, lane, BODIES, slots)
    kept = 0.0, status, time, counts, before, state, carry
    put_column(bodies, place_of(int(rooms[lane]), rooms), LANES, kept)


def made_ready(bodies, number, count, rooms, found, lane, until, end, most, slots):
    """Make a lane ready for a trial step, with another body if needed; return the next number."""
    while rooms[lane] != NOBODY:
        _, status, time, counts, _, _, _, _, _ = column(rooms, lane, BODIES, slots)
        if runs(status, time, until, end):
            this, short, new_t = step_of(time, end)
            stuck = (short and new_t == time[0]) or counts[2] == MAX_TRIALS
            if not (stuck or counts[0] + counts[1] >= most):
                found[lane] = this
                return number
            status = 1.0 * (STEP_TOO_SMALL if stuck else TOO_MANY_STEPS)
            put_column(rooms, lane, BODIES, (rooms[lane], status))
        given_back(bodies, rooms, lane, slots)
        number = taken(bodies, number, count, rooms, lane, until, end, slots)
    return number


def astray(t, state, body):
    """Whether a ``reset`` changes the state, as a number."""
    return 1.0 if reset(t, state, body)[1] else 0.0


def begun_again(rooms, lane, following, tables, slots):
    """Put the state of a body right, and make its carry again."""
    number, status, time, counts, before, state, _, body, numbers = column(
        rooms, lane, BODIES, slots
    )
    accepted, rejected, tries, evaluations, looked = counts
    t, t_low, _ = time
    state, _ = reset(t + t_low, state, body)
    carry = start(t + t_low, following, state, body, (numbers, tables))
    counts = accepted, rejected, tries, evaluations + at_start(), looked
    put_column(rooms, lane, BODIES, (number, status, time, counts, before, state, carry))


def room_steps_of(time, end):
    """Return ``loops.step_of`` of some bodies, with the time left in front."""
    t, t_low, h = time
    left = (end - t) - t_low
    short = (abs(h) < abs(left)) & (t + (t_low + h) != end)
    this = where(short, h, left)
    return left, this, short, t + (t_low + this)


def settle(rooms, found, first, until, end, largest, most, slots, ends):
    """Accept or reject the trial steps of a room, as ``loops.adapt`` does.

    ``ends`` are what ``trial`` returned.  Returns whether a body needs more: it has arrived or
    failed (1), or is to be reset (2).
    """
    number, status, time, counts, before, state, carry, body, _ = columns(
        rooms, first, BODIES, slots
    )
    (t, t_low, h), (accepted, rejected, tries, evaluations, looked) = time, counts
    new, kept, error, factor, count = ends
    zero, one, last = of_bodies(0.0), of_bodies(1.0), of_bodies(end)
    _, this, short, new_t = room_steps_of(time, end)
    here = number != NOBODY
    good, proposed = here & (error <= 1.0), this * factor  # false for NaN
    # never grow right after a rejection; the last step may be short
    larger = where((tries > 0.0) & (factor > 1.0), this, proposed)
    larger = where(short, larger, where(abs(larger) < abs(h), h, larger))
    following = where(good, larger, where(factor < 1.0, proposed, 0.5 * this))
    new_low = where(short, (t_low + this) - (new_t - t), zero)
    before = where(good, (t, t_low, state), before)
    state, carry = where(good, (new, kept), (state, carry))
    t, t_low = where(good, (where(short, new_t, last), new_low), (t, t_low))
    h = room_clipped(following, of_bodies(largest))
    yes = where(good, one, zero)
    accepted, rejected, tries = (
        accepted + yes,
        rejected + (one - yes),
        where(good, zero, tries + 1.0),
    )
    time, counts = (t, t_low, h), (accepted, rejected, tries, evaluations + count, looked)
    put_columns(rooms, first, BODIES, (number, status, time, counts, before, state, carry))
    left, this, short, new_t = room_steps_of(time, end)
    so_far = (until - t) - t_low
    arrived = (left == 0.0) | (so_far == 0.0)
    arrived = arrived | ((so_far > 0.0) & (left <= 0.0)) | ((so_far <= 0.0) & (left > 0.0))
    stuck = (short & (new_t == t)) | (tries == 1.0 * MAX_TRIALS)
    stops = here & (arrived | stuck | (accepted + rejected >= most))
    lost = yes * at_once(astray, (t + t_low, state, body), ())
    needs = where(stops, one, zero) + (lost + lost)
    put_columns(found, first, BODIES, (this, needs, following))
    some = False
    for need in unpack(needs):
        some = some or need > 0.0
    return some


def room_steps(rooms, found, first, until, end, largest, tolerances, tables, most, slots):
    """Take the trial steps of a room at once."""
    _, _, (t, t_low, _), _, _, state, carry, body, numbers = columns(rooms, first, BODIES, slots)
    this = columns(found, first, BODIES, 0.0)
    ends = trial(t + t_low, this, state, carry, body, (numbers, tables), tolerances)
    return settle(rooms, found, first, until, end, largest, most, slots, ends)


def single_steps(rooms, found, first, until, end, largest, tolerances, tables, most, slots):
    """Take the trial steps of a room one after the other."""
    _, _, _, _, _, state, carry, _, _ = slots
    zero = 0.0
    pattern = (zero, zero, zero), (state, carry, zero, zero, zero)
    for lane in range(first, first + BODIES):
        if rooms[lane] != NOBODY:
            _, _, (t, t_low, _), _, _, state, carry, body, numbers = column(
                rooms, lane, BODIES, slots
            )
            this, params = found[lane], (numbers, tables)
            new, kept, error, factor, count = trial(
                t + t_low, this, state, carry, body, params, tolerances
            )
            ends = new, kept, error, factor, 1.0 * count
            put_column(found, lane, BODIES, ((this, zero, zero), ends))
    _, ends = columns(found, first, BODIES, pattern)
    return settle(rooms, found, first, until, end, largest, most, slots, ends)


def advance(blocks, rooms, found, until, end, largest, tolerances, tables, most, slots):
    """Step every body to ``until`` or just past it, on its way to ``end``.

    A body takes ``most`` trial steps at most, counted from its start.
    """
    on_aligned_stack()
    bodies, count = blocks.reshape(-1), len(blocks) * LANES
    if count == 0:
        return
    number, inside, size = 0, 0, len(rooms) // ROOMS
    rest = until, end, most, slots
    for first in range(0, len(rooms), size):
        for lane in range(first, first + BODIES):  # unused lanes must hold numbers, too
            put_column(rooms, lane, BODIES, column(bodies, 0, LANES, slots))
            number = taken(bodies, number, count, rooms, lane, until, end, slots)
            number = made_ready(bodies, number, count, rooms, found, lane, *rest)
            inside += 1 if rooms[lane] != NOBODY else 0
    settings = until, end, largest, tolerances, tables, most, slots
    while inside > 0:
        for first in range(0, len(rooms), size):
            if if_it_can(room_steps, single_steps, (rooms, found, first, *settings)):
                for lane in range(first, first + BODIES):
                    needs, following = found[lane + BODIES], found[lane + 2 * BODIES]
                    if needs >= 2.0:
                        begun_again(rooms, lane, following, tables, slots)
                    if needs > 0.0:
                        number = made_ready(bodies, number, count, rooms, found, lane, *rest)
                        inside -= 1 if rooms[lane] == NOBODY else 0


# ---- between steps
def inside(t, time, before):
    """Whether t lies inside the last step."""
    return before[0] < t < time[0] or time[0] < t < before[0]


def interpolated(t, slots, tolerances, tables):
    """Return (the state at t, evaluations), from the slots of one body or of some."""
    _, _, (t1, low1, _), _, (t0, low0, state), new, _, body, numbers = slots
    this, h, params = (t - t0) - low0, (t1 - t0) + (low1 - low0), (numbers, tables)
    carry = start(t0 + low0, h, state, body, params)
    fitted, count = fit(t0 + low0, h, state, carry, new, body, params)
    here, _ = between(t0 + low0, this, h, state, carry, fitted, tolerances, body, params)
    return here, count


def room_between(block, place, out, t, tolerances, tables, slots):
    here, count = interpolated(t, columns(block, place, LANES, slots), tolerances, tables)
    put_columns(out, place, LANES, here)
    return count


def single_between(block, place, out, t, tolerances, tables, slots):
    count = 0
    for lane in range(place, place + BODIES):
        one = column(block, lane, LANES, slots)
        if inside(t, one[2], one[4]):
            here, count = interpolated(t, one, tolerances, tables)
            put_column(out, lane, LANES, here)
    return count


def lost(row, lane):
    for place in range(lane, len(row), LANES):
        row[place] = nan


def sample(blocks, out, t, tolerances, tables, slots):
    """Write the state of every body at t, which must lie in its last step.

    ``out`` are blocks of the state alone; NaN where a body did not reach t, or has no state there.
    """
    for b in range(blocks.shape[0]):
        block, row = blocks[b], out[b]
        for place in range(0, LANES, BODIES):
            some = False
            for lane in range(place, place + BODIES):
                _, _, time, _, before, _, _, _, _ = column(block, lane, LANES, slots)
                some = some or inside(t, time, before)
            count = 0
            if some:
                count = if_it_can(
                    room_between, single_between, (block, place, row, t, tolerances, tables, slots)
                )
            for lane in range(place, place + BODIES):
                number, status, time, counts, before, state, _, _, _ = column(
                    block, lane, LANES, slots
                )
                if t == time[0]:
                    put_column(row, lane, LANES, state)
                elif t == before[0]:
                    put_column(row, lane, LANES, before[2])
                elif not inside(t, time, before):
                    lost(row, lane)
                else:
                    accepted, rejected, tries, evaluations, looked = counts
                    if looked != accepted:
                        counts = accepted, rejected, tries, evaluations + count, accepted
                        put_column(block, lane, LANES, (number, status, time, counts))
                    if not finite(column(row, lane, LANES, state)):
                        lost(row, lane)


# ---- joining
def sizes(d, y, new, body, tolerances):
    """Evaluate the error norm ``square_size`` of the bodies of a room."""
    return at_once(square_size, (d, y, new, body), (tolerances,))


def trial_in_lanes(t, h, state, carry, body, params, tolerances):
    """Stub: the ``trial`` of the bodies of a room at once."""
    return state, carry, 0.0, 1.0, 0


ON_BODIES: Pieces = {combined: combined_fours}


class Places(NamedTuple):
    """Where each quantity lies in the slots."""

    status: int
    t: int
    t_low: int
    h: int
    accepted: int
    rejected: int
    evaluations: int
    state: slice
    carry: slice
    body: slice
    numbers: slice


def places(slots: tuple) -> Places:
    sizes = [len(flat(part)) for part in slots]
    *_, state, carry, body, numbers, end = accumulate([0, *sizes])
    marks = pairwise((state, carry, body, numbers, end))
    return Places(1, 2, 3, 4, 5, 6, 8, *(slice(*ends) for ends in marks))


class Runs:
    """The compiled loops of an adaptive integrator: ``begin``, ``advance`` and ``sample``.

    ``own`` are its functions by their stubs, ``below`` the layers of functions that these call, and
    ``starting`` is the number of evaluations in its ``start``.
    """

    def __init__(self, own: Pieces, *below: Pieces, what: str, starting: int = 0):
        side = loops.by_trial if fit not in own else loops.by_reading
        own = {**own, at_start: lambda: starting}
        fours = [
            {stub: bind(function, ON_BODIES) for stub, function in layer.items()}
            for layer in (own, *below)
        ]
        pieces: Pieces = {
            room_begin: single_begin,
            room_steps: single_steps,
            room_between: single_between,
        }
        if trial_in_lanes in own:
            fours[0][trial] = fours[0].pop(trial_in_lanes)
            if square_size in below[0]:
                fours[1][square_size] = bind(sizes, {square_size: below[0][square_size]})
            for stub in pieces:
                pieces[stub] = loops.bound(bind(stub, {between: side}), *fours)

        def compiled(template: Callable) -> CompiledOrPlain:
            function = bind(bind(template, pieces), {between: side})
            return CompiledOrPlain(loops.bound(function, own, *below), what)

        self.machines = compiled(begin), compiled(advance), compiled(sample)
        self.begin, self._advance, self._sample = self.machines

    def advance(self, blocks, until, end, largest, tolerances, tables, slots, most=inf) -> None:
        """Step every body to ``until`` or past it; only ``end`` shortens a step."""
        rooms, found = np.zeros((2, ROOMS * BODIES * (blocks.shape[1] // LANES)))
        limits = end, largest, tolerances, tables, float(most)
        self._advance(blocks, rooms, found, until, *limits, slots)

    def sample(self, blocks, t, tolerances, tables, slots) -> np.ndarray:
        """Return blocks of the states at t, after ``advance`` to t; NaN for failed bodies."""
        out = np.empty((len(blocks), LANES * len(flat(slots[STATE]))))
        self._sample(blocks, out, t, tolerances, tables, slots)
        return out


class Pursuits(Runs):
    """The loops of an integrator in the variables of a formulation, with a model, for many bodies.

    ``enter(t, state, body)`` converts a state to the variables.
    """

    def __init__(
        self,
        integrator: Integrator,
        variables: Formulation | Coordinates,
        model: Model,
        aligned: bool = True,
        moving: bool = False,
    ):
        company = None if model.coupled is None else company_of(model)
        equations = equations_of(variables, moving, company)
        stubs = start, trial, trial_in_lanes, first_step, fit, read
        own = functions_of(integrator, *stubs)
        pieces = loops.model_pieces(model, aligned)
        super().__init__(
            own,
            equations.pieces,
            pieces,
            what=f"the torque of {model.name!r}",
            starting=integrator.evaluations_at_start,
        )
        self.enter = equations.enter
        self._start = loops.bound(integrator.start, equations.pieces, pieces)

    def slots_of(self, y: tuple, body: tuple, params: tuple) -> tuple:
        """Return the nested tuple of a body whose variables are y, as ``begin`` needs it."""
        return slots_of(y, self._start(0.0, 1.0, y, body, params), body, params[0])


def slots_of(state: tuple, carry: tuple, body: tuple, numbers: tuple) -> tuple:
    zero = 0.0
    before = zero, zero, state
    return zero, zero, (zero,) * 3, (zero,) * 5, before, state, carry, body, numbers
