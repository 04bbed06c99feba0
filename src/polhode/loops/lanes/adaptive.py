"""Loops over bodies that each have their own time and step.

A body is the nested tuple ``slots``: (number, status, time, counts, before, state, carry, body,
numbers) with time = (t, t_low, h), as in ``loops.adapt``, and counts = (accepted, rejected, tries,
evaluations, looked).  ``before`` = (t, t_low, state) is the last knot: where the last step began.
``looked`` is the number of the step that was interpolated last.

Four bodies at a time are in the ``room``, and their trial step is one of four numbers
(``compiler.four``), or four single ones where the compiler refuses.  All else is done body by body,
as in ``loops.adapt``.  A body that has come far enough makes room for the next: none waits for a
neighbour with shorter steps.
"""

from collections.abc import Callable
from itertools import accumulate, pairwise
from math import inf, nan
from typing import NamedTuple

import numpy as np

from polhode import loops
from polhode.compiler.four import (
    WIDTH,
    at_once,
    column,
    columns,
    combined_fours,
    if_it_can,
    on_aligned_stack,
    put_column,
    put_columns,
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
    size,
    start,
    trial,
)
from polhode.contracts.company import company_of
from polhode.formulations.equations import equations_of
from polhode.integrators._runge_kutta import next_factor
from polhode.loops import MAX_TRIALS, between, clipped, functions_of, step_of

NOBODY = -1.0
STATE, CARRY = 5, 6  # places in the nested tuple
Pieces = dict[Callable, Callable]


def at_start():
    """Stub: the number of evaluations in ``start``."""
    return 0


# ---- the first step
def begin(blocks, t0, end, first, largest, tolerances, tables, slots):
    """Start every body at t0: make its carry and its first step (``first``, 0 to estimate it)."""
    for b in range(blocks.shape[0]):
        block = blocks[b]
        for lane in range(LANES):
            number, _, _, _, _, state, _, body, numbers = column(block, lane, LANES, slots)
            params = numbers, tables
            h, evaluations = (first if end >= t0 else -first), at_start()
            carry = start(t0, h, state, body, params)
            if h == 0.0:
                h, count = first_step(t0, end - t0, state, carry, body, params, tolerances)
                h, evaluations = clipped(h if h == h else end - t0, largest), evaluations + count
            time, counts = (t0, 0.0, h), (0.0, 0.0, 0.0, evaluations, -1.0)
            put_column(
                block, lane, LANES, (number, 0.0, time, counts, (t0, 0.0, state), state, carry)
            )


# ---- steps
def runs(status, time, until, end):
    """Whether a body has still to run to ``until``, in the direction of ``end``."""
    t, t_low, _ = time
    left, whole = (until - t) - t_low, (end - t) - t_low
    arrived = whole == 0.0 or left == 0.0 or (left > 0.0) != (whole > 0.0)
    return status == OK and not arrived  # a NaN time runs, and fails


def taken(blocks, number, room, lane, until, end, slots):
    """Put the next body from ``number`` on that must run into the room; return the next number."""
    count = blocks.shape[0] * LANES
    while number < count:
        block, place = blocks[number // LANES], number % LANES
        _, status, time, _, _, _, _, _, _ = column(block, place, LANES, slots)
        if runs(status, time, until, end):
            put_column(room, lane, WIDTH, column(block, place, LANES, slots))
            room[lane] = number
            return number + 1
        number += 1
    room[lane] = NOBODY
    return number


def given_back(blocks, room, lane, slots):
    number = int(room[lane])
    _, status, time, counts, before, state, carry, _, _ = column(room, lane, WIDTH, slots)
    kept = 0.0, status, time, counts, before, state, carry
    put_column(blocks[number // LANES], number % LANES, LANES, kept)


def settle(room, found, lane, end, largest, tables, slots):
    """Accept or reject a trial step, as ``loops.adapt`` does."""
    number, status, time, counts, before, state, carry, body, numbers = column(
        room, lane, WIDTH, slots
    )
    this, new, kept, error, factor, count = column(
        found, lane, WIDTH, (0.0, state, carry, 0.0, 0.0, 0.0)
    )
    t, t_low, h = time
    accepted, rejected, tries, evaluations, looked = counts
    _, short, new_t = step_of(time, end)
    evaluations = evaluations + count
    following = this * factor
    if error <= 1.0:  # false for NaN
        if tries > 0.0 and factor > 1.0:  # never grow right after a rejection
            following = this
        before = t, t_low, state
        t_low = (t_low + this) - (new_t - t) if short else 0.0
        t = new_t if short else end
        if not short and abs(following) < abs(h):
            following = h
        state, changed = reset(t + t_low, new, body)
        carry = kept
        if changed:
            carry = start(t + t_low, following, state, body, (numbers, tables))
            evaluations = evaluations + at_start()
        counts = accepted + 1.0, rejected, 0.0, evaluations, looked
        time = t, t_low, clipped(following, largest)
        put_column(room, lane, WIDTH, (number, status, time, counts, before, state, carry))
    else:
        following = following if factor < 1.0 else 0.5 * this
        counts = accepted, rejected + 1.0, tries + 1.0, evaluations, looked
        time = t, t_low, clipped(following, largest)
        put_column(room, lane, WIDTH, (number, status, time, counts))


def made_ready(blocks, number, room, found, lane, until, end, most, slots):
    """Make a lane ready for a trial step, with another body if needed; return the next number."""
    while room[lane] != NOBODY:
        _, status, time, counts, _, _, _, _, _ = column(room, lane, WIDTH, slots)
        if runs(status, time, until, end):
            this, short, new_t = step_of(time, end)
            stuck = (short and new_t == time[0]) or counts[2] == MAX_TRIALS
            if not (stuck or counts[0] + counts[1] >= most):
                found[lane] = this
                return number
            status = 1.0 * (STEP_TOO_SMALL if stuck else TOO_MANY_STEPS)
            put_column(room, lane, WIDTH, (room[lane], status))
        given_back(blocks, room, lane, slots)
        number = taken(blocks, number, room, lane, until, end, slots)
    return number


def four_trials(room, found, tolerances, tables, slots):
    """Take the trial steps of four bodies at once."""
    _, _, (t, t_low, _), _, _, state, carry, body, numbers = columns(room, 0, WIDTH, slots)
    this = columns(found, 0, WIDTH, 0.0)
    new, kept, error, factor, count = trial(
        t + t_low, this, state, carry, body, (numbers, tables), tolerances
    )
    put_columns(found, 0, WIDTH, (this, new, kept, error, factor, count))


def single_trials(room, found, tolerances, tables, slots):
    """Take the trial steps of four bodies one after the other."""
    for lane in range(WIDTH):
        if room[lane] != NOBODY:
            _, _, (t, t_low, _), _, _, state, carry, body, numbers = column(
                room, lane, WIDTH, slots
            )
            this, params = found[lane], (numbers, tables)
            new, kept, error, factor, count = trial(
                t + t_low, this, state, carry, body, params, tolerances
            )
            put_column(found, lane, WIDTH, (this, new, kept, error, factor, 1.0 * count))


def advance(blocks, room, found, until, end, largest, tolerances, tables, most, slots):
    """Step every body to ``until`` or just past it, on its way to ``end``.

    A body takes ``most`` trial steps at most, counted from its start.
    """
    on_aligned_stack()
    if blocks.shape[0] == 0:
        return
    number = 0
    for lane in range(WIDTH):  # every lane holds a body, because unused lanes must hold numbers
        put_column(room, lane, WIDTH, column(blocks[0], 0, LANES, slots))
        found[lane] = 0.0
        number = taken(blocks, number, room, lane, until, end, slots)
        number = made_ready(blocks, number, room, found, lane, until, end, most, slots)
    while True:
        busy = False
        for lane in range(WIDTH):
            busy = busy or room[lane] != NOBODY
        if not busy:
            break
        if_it_can(four_trials, single_trials, (room, found, tolerances, tables, slots))
        for lane in range(WIDTH):
            if room[lane] != NOBODY:
                settle(room, found, lane, end, largest, tables, slots)
                number = made_ready(blocks, number, room, found, lane, until, end, most, slots)


# ---- between steps
def inside(t, time, before):
    """Whether t lies inside the last step."""
    return before[0] < t < time[0] or time[0] < t < before[0]


def interpolated(t, slots, tolerances, tables):
    """Return (the state at t, evaluations), from the slots of one body or of four."""
    _, _, (t1, low1, _), _, (t0, low0, state), new, _, body, numbers = slots
    this, h, params = (t - t0) - low0, (t1 - t0) + (low1 - low0), (numbers, tables)
    carry = start(t0 + low0, h, state, body, params)
    fitted, count = fit(t0 + low0, h, state, carry, new, body, params)
    here, _ = between(t0 + low0, this, h, state, carry, fitted, tolerances, body, params)
    return here, count


def four_between(block, place, out, t, tolerances, tables, slots):
    here, count = interpolated(t, columns(block, place, LANES, slots), tolerances, tables)
    put_columns(out, place, LANES, here)
    return count


def single_between(block, place, out, t, tolerances, tables, slots):
    count = 0
    for lane in range(place, place + WIDTH):
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
        for place in range(0, LANES, WIDTH):
            some = False
            for lane in range(place, place + WIDTH):
                _, _, time, _, before, _, _, _, _ = column(block, lane, LANES, slots)
                some = some or inside(t, time, before)
            count = 0
            if some:
                count = if_it_can(
                    four_between, single_between, (block, place, row, t, tolerances, tables, slots)
                )
            for lane in range(place, place + WIDTH):
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
    """Evaluate the error norm ``size`` of four bodies."""
    return at_once(size, (d, y, new, body), (tolerances,))


def next_factors(error, power):
    return at_once(next_factor, (error,), (power,))


def trial_in_lanes(t, h, state, carry, body, params, tolerances):
    """Stub: the ``trial`` of four bodies at once."""
    return state, carry, 0.0, 1.0, 0


ON_FOUR_BODIES: Pieces = {combined: combined_fours, next_factor: next_factors}


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
            {stub: bind(function, ON_FOUR_BODIES) for stub, function in layer.items()}
            for layer in (own, *below)
        ]
        pieces: Pieces = {four_trials: single_trials, four_between: single_between}
        if trial_in_lanes in own:
            fours[0][trial] = fours[0].pop(trial_in_lanes)
            if size in below[0]:
                fours[1][size] = bind(sizes, {size: below[0][size]})
            for stub in pieces:
                pieces[stub] = loops.bound(bind(stub, {between: side}), *fours)

        def compiled(template: Callable) -> CompiledOrPlain:
            function = bind(bind(template, pieces), {between: side})
            return CompiledOrPlain(loops.bound(function, own, *below), what)

        self.machines = compiled(begin), compiled(advance), compiled(sample)
        self.begin, self._advance, self._sample = self.machines

    def advance(self, blocks, until, end, largest, tolerances, tables, slots, most=inf) -> None:
        """Step every body to ``until`` or past it; only ``end`` shortens a step."""
        room = np.zeros(WIDTH * len(flat(slots)))
        found = np.zeros(WIDTH * (4 + len(flat(slots[STATE : CARRY + 1]))))
        limits = end, largest, tolerances, tables, float(most)
        self._advance(blocks, room, found, until, *limits, slots)

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
