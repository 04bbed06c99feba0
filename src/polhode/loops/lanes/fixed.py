"""Loops over blocks of bodies that take the same fixed steps.

A body is the nested tuple ``slots``: (active, status, count, done, unknown, before, state, carry,
body, numbers); ``count`` counts Newton iterations, ``done`` is the number of good steps of a body
that failed.  ``shared`` is (t, h, place, tables); ``place`` says where in the run this substep is:
(1 in the first substep, 1 in the last, steps before this one).

A body that fails keeps the state after its last good step, as it would alone, and its neighbours
are not affected.  ``ends`` are (first, last, stride) of the slots of the state that must be finite:
all, or with derivatives (``lanes.tangents``) those of values.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from polhode import loops
from polhode.compiler.machine import LANES, CompiledOrPlain, blend, finite, lanes, mask, over_lanes
from polhode.compiler.tree import bind, flat, spread
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
from polhode.kernels import free_flow, free_tangent, symmetric_flow, trig
from polhode.loops import MAX_ITERATIONS, part
from polhode.loops.join import built_on_duals

SHORT: dict[Callable, Callable] = (
    trig.SHORT | free_flow.SHORT | free_tangent.SHORT | symmetric_flow.SHORT
)
STATUS, COUNT, DONE = 1, 2, 3  # places of slots


def lane_start(shared, slots):
    t, h, _, tables = shared
    active, status, count, done, unknown, before, state, _, body, numbers = slots
    carry = start(t, h, state, body, (numbers, tables))
    return active, status, count, done, unknown, before, state, carry


def start_lanes(blocks, t, h, weights, tables, slots):
    """Make the first carry of every body, for steps of size h."""
    for b in range(blocks.shape[0]):
        shared = t, part(weights, 0, h), (1.0, 1.0, 0.0), tables
        over_lanes(lane_start, blocks[b], shared, slots)


# ---- explicit methods
# A step cannot fail, but its state may overflow, or the torque be undefined, and quick steps handle
# short turns only (``kernels/trig``).  This is checked at the end alone: a block in which it
# happened is run again carefully, step by step.
def lane_step(shared, slots):
    t, h, _, tables = shared
    active, status, count, done, unknown, before, state, carry, body, numbers = slots
    state, carry = step(t, h, state, carry, body, (numbers, tables))
    return active, status, count, done, unknown, before, state, carry


def step_block(block, t0, h, this, i, weights, offsets, tables, slots):
    """Take step ``i``, of size ``this``, of every body in a block."""
    for j in range(len(weights)):
        shared = t0 + i * h + offsets[j] * this, part(weights, j, this), (1.0, 1.0, 0.0), tables
        over_lanes(lane_step, block, shared, slots)


def after_step(block, i, h):
    """Stub: what is done with a block after step ``i``, the first being 0; nothing."""
    return 0


def copy(block, to):
    for place in range(len(block)):
        to[place] = block[place]


def all_well(block, ends):
    """Whether no body has failed and the slots of the state are finite."""
    first, last, stride = ends
    bad = 0
    for lane in range(LANES):
        bad += block[STATUS * LANES + lane] != OK
    for slot in range(first, last, stride):
        for place in range(slot * LANES, slot * LANES + LANES):
            bad += block[place] - block[place] != 0.0  # true unless it is finite
    return bad == 0


def restore_failed(block, before, ends, done):
    """Put bodies that failed in this step or earlier back to where they were ``before``."""
    first, last, stride = ends
    for lane in range(LANES):
        status = block[STATUS * LANES + lane]
        total = 0.0
        for slot in range(first, last, stride):
            total += block[slot * LANES + lane] - block[slot * LANES + lane]
        if status == OK and total == 0.0:
            continue
        for slot in range(len(before) // LANES):
            block[slot * LANES + lane] = before[slot * LANES + lane]
        if status == OK:
            block[STATUS * LANES + lane] = NOT_FINITE
            block[DONE * LANES + lane] = done


def quick_lanes(blocks, again, before, ends, t0, h, this, k, n, weights, offsets, tables, slots):
    """Run ``advance_lanes`` with quick steps; a block that must run ``again`` is left as it was."""
    for b in range(blocks.shape[0]):
        block = blocks[b]
        copy(block, before)
        if all_well(block, ends):
            for i in range(k, k + n):
                step_block(block, t0, h, this, i, weights, offsets, tables, slots)
                if i == k and not all_well(block, ends):  # too fast for quick steps
                    break
                after_step(block, i, h)
        again[b] = not all_well(block, ends)
        if again[b]:
            copy(before, block)


def advance_lanes(blocks, before, ends, t0, h, this, k, n, weights, offsets, tables, slots):
    """Take ``n`` steps of size ``this`` after the first ``k`` of size h, of every body.

    ``before`` has room for one block.
    """
    for b in range(blocks.shape[0]):
        block = blocks[b]
        for i in range(k, k + n):
            copy(block, before)
            step_block(block, t0, h, this, i, weights, offsets, tables, slots)
            restore_failed(block, before, ends, i)
            after_step(block, i, h)


class QuickFirst:
    """Runs ``advance_lanes`` with quick steps, and again carefully where these are not valid.

    Plain Python is careful at once: it would not be quick, and a torque may raise for NaN.
    """

    def __init__(self, quick: CompiledOrPlain, careful: CompiledOrPlain):
        self.quick, self.careful = quick, careful

    def __call__(self, blocks: np.ndarray, *args) -> None:
        again = np.ones(len(blocks), bool)
        if self.quick.machine is not None:
            self.quick(blocks, again, *args)
        if self.quick.machine is None:
            self.careful.machine = None  # already known, and warned about, not to compile
        for b in np.flatnonzero(again):
            self.careful(blocks[b : b + 1], *args)


# ---- implicit methods
# The iteration runs over the block until its slowest body has converged, and a converged body no
# longer changes: each goes through exactly the iterations it would go through alone.  If a substep
# of a composition fails, the body goes back to where it was ``before`` the step.
def kept_before(first, before, state, carry):
    """Stub: a method of one substep need not keep anything."""
    return before


def kept_parts(first, before, state, carry):
    return blend(mask(first == 1.0), (state, carry), before)


def restored(good, before, state, carry, new, kept):
    """Stub: (state, carry) after a substep that is ``good`` or not."""
    return blend(good, new, state), blend(good, kept, carry)


def restored_parts(good, before, state, carry, new, kept):
    return blend(good, new, before[0]), blend(good, kept, before[1])


def settle(block, shared, slots):
    """Stub: what is done with a block between the last correction and the end of a step."""
    return 0


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
    """Do the same as ``advance_lanes`` for implicit methods."""
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
                settle(block, shared, slots)
                over_lanes(lane_finish, block, shared, slots)
            after_step(block, i, h)


# ---- joining
def joined(
    template,
    method: Method,
    model: Model | None = None,
    aligned: bool = True,
    others: Mapping[Callable, Callable] | None = None,
):
    """Bind a method and a model into a plain copy of ``template``, and what replaces ``others``.

    In quick lanes the method's turns and free motions become short ones; the model's do not.
    """
    looks_up = model is not None and model.user and flat(model.tables)  # checks stop at an error
    pieces: dict[Callable, Callable] = {over_lanes: lanes(1 if looks_up else method.width)}
    if len(method.weights) > 1:
        pieces |= {kept_before: kept_parts, restored: restored_parts}
    pieces |= {stub: bind(function, pieces) for stub, function in (others or {}).items()}
    if template is quick_lanes and method.step is not None:
        method = replace(method, step=bind(method.step, SHORT))
    return loops.joined(bind(template, pieces), method, model, aligned)


def build(
    template,
    method: Method,
    model: Model | None = None,
    aligned: bool = True,
    others: Mapping[Callable, Callable] | None = None,
) -> Callable:
    """Compile ``joined``, on duals if there are ``others``; plain Python if that cannot be.

    ``advance_lanes`` becomes ``solve_lanes`` if the method is implicit, else quick lanes first.
    """
    what = template.__name__ if model is None else f"the torque of {model.name!r}"

    def made(template):
        function = joined(template, method, model, aligned, others)
        return CompiledOrPlain(function, what) if others is None else built_on_duals(function, what)

    if template is not advance_lanes:
        return made(template)
    return made(solve_lanes) if method.implicit else QuickFirst(made(quick_lanes), made(template))


# ---- bodies
def slots_of(method: Method, state: tuple, carry: tuple, body: tuple, params: tuple) -> tuple:
    """Return the nested tuple of a body before its first step."""
    unknown: tuple = ()
    if method.guess is not None:
        unknown = method.guess(0.0, 1.0, state, carry, body, params)
    before = (state, carry) if method.implicit and len(method.weights) > 1 else ()
    return 0.0, 0.0, 0.0, 0.0, unknown, before, state, carry, body, params[0]


def places(slots: tuple) -> tuple[int, int, int]:
    """Return where the slots of the state, of the carry and of the body begin."""
    counts = [len(spread(part)) for part in slots]
    return sum(counts[:6]), sum(counts[:7]), sum(counts[:8])
