"""Loops over blocks of bodies that take the same fixed steps.

A body is the nested tuple ``slots``: (active, status, count, done, unknown, before, state, carry,
body, numbers); ``count`` are Newton iterations, ``done`` is, of a body that failed, the number of
its good steps.  ``shared`` is (t, h, place, tables); ``place`` tells where in the run this part of
a step is: (1 in the first part, 1 in the last part, steps before this one).

A body that fails keeps the state after its last good step, as it would alone, and its neighbours
see nothing of it.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from polhode import loops
from polhode.compiler.machine import LANES, CompiledOrPlain, blend, finite, lanes, mask, over_lanes
from polhode.compiler.tree import bind, flat
from polhode.contracts import (
    NOT_CONVERGED,
    NOT_FINITE,
    OK,
    Method,
    Model,
    finish,
    guess,
    improve,
    start,
    step,
)
from polhode.kernels.trig import SHORT
from polhode.loops import MAX_ITERATIONS, part

STATUS, COUNT, DONE = 1, 2, 3  # places of slots


def lane_start(shared, slots):
    t, h, _, tables = shared
    active, status, count, done, unknown, before, state, _, body, numbers = slots
    carry = start(t, h, state, body, (numbers, tables))
    return active, status, count, done, unknown, before, state, carry


def start_lanes(blocks, t, h, weights, tables, slots):
    """The first carry of every body, for steps of size h."""
    for b in range(blocks.shape[0]):
        shared = t, part(weights, 0, h), (1.0, 1.0, 0.0), tables
        over_lanes(lane_start, blocks[b], shared, slots)


# ---- explicit methods
# A step cannot fail, but its state may overflow, or the torque have no value, and quick steps know
# no long turns (``kernels/trig``).  That is looked for at the end alone: a block in which it
# happened is taken again with care, step by step.
def lane_step(shared, slots):
    t, h, _, tables = shared
    active, status, count, done, unknown, before, state, carry, body, numbers = slots
    state, carry = step(t, h, state, carry, body, (numbers, tables))
    return active, status, count, done, unknown, before, state, carry


def step_block(block, t0, h, this, i, weights, offsets, tables, slots):
    """Step ``i`` of every body of a block, of size ``this``."""
    for j in range(len(weights)):
        shared = t0 + i * h + offsets[j] * this, part(weights, j, this), (1.0, 1.0, 0.0), tables
        over_lanes(lane_step, block, shared, slots)


def copy(block, to):
    for place in range(len(block)):
        to[place] = block[place]


def all_well(block, first, last):
    """Whether no body has failed, and the slots from ``first`` to ``last`` are finite."""
    bad = 0
    for lane in range(LANES):
        bad += block[STATUS * LANES + lane] != OK
    for place in range(first * LANES, last * LANES):
        bad += block[place] - block[place] != 0.0  # true unless it is finite
    return bad == 0


def restore_failed(block, before, first, last, done):
    """After a step: bodies that failed now or earlier go back to where they were ``before``."""
    for lane in range(LANES):
        status = block[STATUS * LANES + lane]
        total = 0.0
        for slot in range(first, last):
            total += block[slot * LANES + lane] - block[slot * LANES + lane]
        if status == OK and total == 0.0:
            continue
        for slot in range(len(before) // LANES):
            block[slot * LANES + lane] = before[slot * LANES + lane]
        if status == OK:
            block[STATUS * LANES + lane] = NOT_FINITE
            block[DONE * LANES + lane] = done


def quick_lanes(blocks, again, before, ends, t0, h, this, k, n, weights, offsets, tables, slots):
    """``advance_lanes`` if all goes well; a block to be taken ``again`` stays as it was."""
    first, last = ends
    for b in range(blocks.shape[0]):
        block = blocks[b]
        copy(block, before)
        if all_well(block, first, last):
            for i in range(k, k + n):
                step_block(block, t0, h, this, i, weights, offsets, tables, slots)
        again[b] = not all_well(block, first, last)
        if again[b]:
            copy(before, block)


def advance_lanes(blocks, before, ends, t0, h, this, k, n, weights, offsets, tables, slots):
    """``n`` steps of size ``this`` after the first ``k`` of size h, of every body.

    ``before`` is room for a block; the state lies in the slots from ``ends[0]`` to ``ends[1]``.
    """
    first, last = ends
    for b in range(blocks.shape[0]):
        block = blocks[b]
        for i in range(k, k + n):
            copy(block, before)
            step_block(block, t0, h, this, i, weights, offsets, tables, slots)
            restore_failed(block, before, first, last, i)


class QuickFirst:
    """``advance_lanes`` by quick steps, and again, with care, where they do not do.

    Plain Python takes care at once: it would not be quick, and a torque may raise an error for NaN.
    """

    def __init__(self, quick: CompiledOrPlain, careful: CompiledOrPlain):
        self.quick, self.careful = quick, careful

    def __call__(self, blocks: np.ndarray, *args) -> None:
        again = np.ones(len(blocks), bool)
        if self.quick.machine is not None:
            self.quick(blocks, again, *args)
        if self.quick.machine is None:
            self.careful.machine = None  # it is known, and was said, that it cannot be compiled
        for b in np.flatnonzero(again):
            self.careful(blocks[b : b + 1], *args)


# ---- implicit methods
# The iteration runs over the block until its slowest body is done, and a body that is done no
# longer changes.  So each sees exactly the iterations it would see alone.  If a part of a
# composition fails, the body goes back to where it was ``before`` the step.
def kept_before(first, before, state, carry):
    """A stub: a method of one part need not keep anything."""
    return before


def kept_parts(first, before, state, carry):
    return blend(mask(first == 1.0), (state, carry), before)


def restored(good, before, state, carry, new, kept):
    """A stub: (state, carry) after a part that is ``good`` or not."""
    return blend(good, new, state), blend(good, kept, carry)


def restored_parts(good, before, state, carry, new, kept):
    return blend(good, new, before[0]), blend(good, kept, before[1])


def lane_guess(shared, slots):
    t, h, (first, _, _), tables = shared
    _, status, count, done, _, before, state, carry, body, numbers = slots
    unknown = guess(t, h, state, carry, body, (numbers, tables))
    before = kept_before(first, before, state, carry)
    return mask(status == OK), status, count, done, unknown, before


def lane_improve(shared, slots):
    t, h, _, tables = shared
    active, status, count, done, unknown, _, state, _, body, numbers = slots
    new, solved = improve(t, h, unknown, state, body, (numbers, tables))
    count = blend(active, count + 1.0, count)
    return blend(mask(solved), 0.0, active), status, count, done, blend(active, new, unknown)


def lane_finish(shared, slots):
    t, h, (_, last, i), tables = shared
    active, status, count, done, unknown, before, state, carry, body, numbers = slots
    new, kept = finish(t, h, unknown, state, carry, body, (numbers, tables))
    found = blend(active, 1.0 * NOT_CONVERGED, blend(mask(finite(new)), 0.0, last * NOT_FINITE))
    found = blend(mask(status == OK), found, status)
    good = mask(found == OK)
    state, carry = restored(good, before, state, carry, new, kept)
    done = blend(good, done, blend(mask(status == OK), i, done))
    return active, found, count, done, unknown, before, state, carry


def solve_lanes(blocks, before, ends, t0, h, this, k, n, weights, offsets, tables, slots):
    """``advance_lanes`` for implicit methods."""
    for b in range(blocks.shape[0]):
        block = blocks[b]
        for i in range(k, k + n):
            for j in range(len(weights)):
                place = 1.0 * (j == 0), 1.0 * (j + 1 == len(weights)), 1.0 * i
                shared = t0 + i * h + offsets[j] * this, part(weights, j, this), place, tables
                over_lanes(lane_guess, block, shared, slots)
                for _ in range(MAX_ITERATIONS):
                    over_lanes(lane_improve, block, shared, slots)
                    left = 0
                    for lane in range(LANES):
                        left += block[lane] != 0.0
                    if left == 0:
                        break
                over_lanes(lane_finish, block, shared, slots)


# ---- joining
def joined(template, method: Method, model: Model | None = None, aligned: bool = True):
    """A plain copy of ``template`` with a method and a model in it.

    The turns of a method in quick lanes are short ones; those of a model are not touched.
    """
    pieces: dict[Callable, Callable] = {over_lanes: lanes(method.width)}
    if len(method.weights) > 1:
        pieces |= {kept_before: kept_parts, restored: restored_parts}
    if template is quick_lanes and method.step is not None:
        method = replace(method, step=bind(method.step, SHORT))
    return loops.joined(bind(template, pieces), method, model, aligned)


def build(template, method: Method, model: Model | None = None, aligned: bool = True) -> Callable:
    """The compiled form of ``joined``; plain Python if the model cannot be compiled.

    ``advance_lanes`` becomes ``solve_lanes`` where the method is implicit, else quick lanes come
    first.
    """
    what = template.__name__ if model is None else f"the torque of {model.name!r}"

    def made(template):
        return CompiledOrPlain(joined(template, method, model, aligned), what)

    if template is not advance_lanes:
        return made(template)
    return made(solve_lanes) if method.implicit else QuickFirst(made(quick_lanes), made(template))


# ---- bodies
def slots_of(method: Method, state: tuple, carry: tuple, body: tuple, params: tuple) -> tuple:
    """The nested tuple of a body before its first step."""
    unknown: tuple = ()
    if method.guess is not None:
        unknown = method.guess(0.0, 1.0, state, carry, body, params)
    before = (state, carry) if method.implicit and len(method.weights) > 1 else ()
    return 0.0, 0.0, 0.0, 0.0, unknown, before, state, carry, body, params[0]


def places(slots: tuple) -> tuple[int, int, int]:
    """Where the slots of the state begin, those of the carry, and those of the body."""
    counts = [len(flat(part)) for part in slots]
    return sum(counts[:6]), sum(counts[:7]), sum(counts[:8])
