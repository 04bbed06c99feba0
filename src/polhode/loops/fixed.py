"""One body, fixed steps: explicit and implicit steps, compositions, the loop that records states.

Time is ``t0 + k*h``, never a running sum, and loops take the number k of steps already done: a run
that is stopped and resumed, saved often or rarely, or split into chunks gives the same bits.
"""

import numpy as np

from polhode.compiler.machine import finite, put, take
from polhode.contracts import (
    NO_ATTITUDE,
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
from polhode.loops.rows import attitude_of, is_attitude

MAX_ITERATIONS = 50


def attempt(t, h, state, carry, body, params):
    """Stub for one step: (state, carry, status, iterations, size of the last correction)."""
    return state, carry, OK, 0, 0.0


def sure_step(t, h, state, carry, body, params):
    """Take one step of an explicit method."""
    state, carry = step(t, h, state, carry, body, params)
    return state, carry, OK, 0, 0.0


def solved_step(t, h, state, carry, body, params):
    """Take one step of an implicit method: call ``improve`` until it has converged."""
    unknown = guess(t, h, state, carry, body, params)
    done, count = False, 0
    while not done and count < MAX_ITERATIONS:
        unknown, done = improve(t, h, unknown, state, body, params)
        count += 1
    if not done:
        return state, carry, NOT_CONVERGED, count, unknown[-1]
    new, kept = finish(t, h, unknown, state, carry, body, params)
    return new, kept, OK, count, unknown[-1]


def part(weights, j, h):
    """Stub for the size of the j-th substep of a step of size h."""
    return weights[j] * h


def part_of_three(weights, j, h):
    """Give the three sizes of the j-th substep of a splitting into three flows."""
    row = weights[j]
    return row[0] * h, row[1] * h, row[2] * h


def whole_step(t, h, weights, offsets, state, carry, body, params):
    """Take one step of a composition: (state, carry, status, iterations, size)."""
    iterations, size = 0, 0.0
    for j in range(len(weights)):
        state, carry, status, count, size = attempt(
            t + offsets[j] * h, part(weights, j, h), state, carry, body, params
        )
        iterations += count
        if status != OK:
            return state, carry, status, iterations, size
    return state, carry, OK, iterations, size


def only_step(t, h, weights, offsets, state, carry, body, params):
    """Take a step that has one part: without the loop, which would copy a long carry twice."""
    return attempt(t, h, state, carry, body, params)


def only_part(t, h, weights, offsets, state, carry, body, params):
    """Take one step of a composition that has one part, likewise."""
    return attempt(t + offsets[0] * h, part(weights, 0, h), state, carry, body, params)


def alike(value, state):
    """Stub: a nested tuple of numbers as a row holds them, with derivatives if the state has them.

    Some numbers of a step may depend on nothing, and have none.
    """
    return value


def record(t0, h, k, ends, sides, weights, offsets, fresh, state, carry, body, params, out):
    """Write the state after ``ends[r]`` steps and a side step ``sides[r]`` into row r of ``out``.

    ``k`` steps were done before.  A side step starts from the grid and is never fed back.
    If ``fresh``, the carry is only a pattern and is made here.

    Returns (state, carry, status, rows, steps, iterations, size): how many rows and steps are
    good, and the state after them.
    """
    if fresh:
        carry = alike(start(t0 + k * h, part(weights, 0, h), state, body, params), state)
    row, i, iterations = 0, 0, 0
    while row < len(ends):
        aside = i == ends[row]
        if aside and sides[row] == 0.0:
            put(out, row, state)
            row += 1
            continue
        t, this = t0 + (k + i) * h, sides[row] if aside else h
        new, kept, status, count, size = whole_step(  # one call site: the step is compiled once
            t, this, weights, offsets, state, carry, body, params
        )
        iterations += count
        if status == OK and not finite(new):
            status = NOT_FINITE
        if status == OK and aside and not is_attitude(attitude_of(t + this, new, body)):
            status = NO_ATTITUDE
        if status != OK:
            return state, carry, status, row, i, iterations, size
        new, kept = alike((new, kept), state)
        if aside:
            put(out, row, new)
            row += 1
        else:
            state, carry, i = new, kept, i + 1
    return state, carry, OK, row, i, iterations, 0.0


def packed_record(pattern):
    """Make ``record`` take (state, carry, body, numbers), nested as ``pattern``, from a row.

    Nested tuples cost a microsecond each when called from Python; a row of numbers costs nothing.
    State and carry are written back.  Returns (status, rows, steps, iterations, size).  Whether
    there is an attitude is looked at after side steps and at the end: one that is lost does not
    come back.
    """

    def run(data, t0, h, k, fresh, ends, sides, weights, offsets, tables, out):
        state, carry, body, numbers = take(data, 0, 0, pattern)
        params = numbers, tables
        state, carry, status, rows, steps, iterations, size = record(
            t0, h, k, ends, sides, weights, offsets, fresh, state, carry, body, params, out
        )
        if status == OK and not is_attitude(attitude_of(t0 + (k + steps) * h, state, body)):
            status = NO_ATTITUDE
        put(data, 0, (state, carry))
        return status, rows, steps, iterations, size

    return run


def substeps(method: Method) -> tuple[np.ndarray, np.ndarray]:
    """Return (weights, offsets): the fractions of a step, and where in the step they begin."""
    return np.array(method.weights), np.array([0.0, *np.cumsum(method.fractions)[:-1]])
