"""Loops on dual numbers: what is put in place of what, and rows of states with derivatives.

A loop takes patterns of dual numbers, and its functions run on them unchanged, except that

- steps are chosen by values alone: the first step and the size of errors see no derivatives;
- implicit equations are solved on values as without derivatives.  The same corrections on dual
  numbers, whose values are put back each time, then let the derivatives converge at the same rate;
- four columns or stages in the lanes of one vector follow each other.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from polhode.compiler.dual import Dual, largest_change, stripped, value, with_values
from polhode.compiler.machine import CompiledOrPlain
from polhode.contracts import (
    NOT_CONVERGED,
    OK,
    Integrator,
    finish,
    first_step,
    fit,
    guess,
    improve,
    read,
    square_size,
    trial,
)
from polhode.loops.fixed import MAX_ITERATIONS

SETTLED = 1e-15  # what the next correction of the derivatives would change, relative to them
STALLED = 1e-11  # a change that no longer shrinks is rounding below this
BLOCK = 1024  # rows of states that are converted at a time


def solved_step_with_derivatives(t, h, state, carry, body, params):
    """Take one step of an implicit method: values first, derivatives from the solution."""
    here, kept = stripped(state), stripped(carry)
    itself, given = stripped(body), stripped(params)
    unknown = guess(t, h, here, kept, itself, given)
    done, count = False, 0
    while not done and count < MAX_ITERATIONS:
        unknown, done = improve(t, h, unknown, here, itself, given)
        count += 1
    if not done:
        return state, carry, NOT_CONVERGED, count, unknown[-1]
    wide = with_values(guess(t, h, state, carry, body, params), unknown)
    last, extra, moving = 0.0, 0, True
    while moving and extra < MAX_ITERATIONS:
        better, _ = improve(t, h, wide, state, body, params)
        better = with_values(better, unknown)
        change = largest_change(wide[:-1], better[:-1])  # without the size of the correction
        moving = is_moving(change, last)
        wide, last = better, change
        extra += 1
    if moving or last != last:
        return state, carry, NOT_CONVERGED, count, unknown[-1]
    new, carry = finish(t, h, wide, state, carry, body, params)
    return new, carry, OK, count, unknown[-1]


def is_moving(change, last):
    """Return whether derivatives still converge, from their last two changes; at first 0."""
    if last == 0.0:
        return change > SETTLED
    return change * (change / last) > SETTLED if change < last else change > STALLED


def first_step_of_values(function: Callable) -> Callable:
    """Return the choice of the first step from values alone."""

    def chosen(t, span, y, carry, body, params, tolerances):
        given = stripped(y), stripped(carry), stripped(body), stripped(params)
        return function(t, span, *given, tolerances)

    return chosen


def trial_with_steps_of_values(function: Callable) -> Callable:
    """Return a trial step whose error and factor have no derivatives."""

    def tried(t, h, state, carry, body, params, tolerances):
        new, kept, error, factor, count = function(t, h, state, carry, body, params, tolerances)
        return new, kept, value(error), value(factor), count

    return tried


def fit_of_values(function: Callable) -> Callable:
    """Return the interpolant of a step without derivatives."""

    def fitted(t, h, state, carry, new, body, params):
        given = stripped(state), stripped(carry), stripped(new), stripped(body), stripped(params)
        return function(t, h, *given)

    return fitted


def read_of_values(function: Callable) -> Callable:
    """Return the values of such an interpolant."""

    def values(x, h, state, fitted):
        return function(x, h, stripped(state), fitted)

    return values


def by_reading_and_trial(t, this, h, state, carry, fitted, settings, body, params):
    """Return values of the interpolant with the derivatives of a side step."""
    beside = trial(t, this, state, carry, body, params, settings)[0]
    return with_values(beside, read(this / h, h, state, fitted)), True


def size_of_values(function: Callable) -> Callable:
    """Return the size of an error without its derivatives."""

    def size(d, y, new, body, tolerances):
        return function(stripped(d), stripped(y), stripped(new), stripped(body), tolerances)

    return size


def functions_with_derivatives(integrator: Integrator, own: dict) -> dict[Callable, Callable]:
    """Return the functions of an integrator for dual numbers, by the stubs that they replace."""
    found = dict(own)
    if trial in found:
        own_trial = integrator.trial_on_duals or integrator.trial_in_lanes or found[trial]
        found[trial] = trial_with_steps_of_values(own_trial)
    if integrator.trial_on_duals is not None:
        found |= {fit: fit_of_values(found[fit]), read: read_of_values(found[read])}
    if first_step in found:
        found[first_step] = first_step_of_values(found[first_step])
    return found


def equations_with_derivatives(equations: dict) -> dict[Callable, Callable]:
    """Return the equations of a formulation for dual numbers."""
    return equations | {square_size: size_of_values(equations[square_size])}


# ---- rows of dual numbers
def pattern_of(value: Any) -> Any:
    """Return zeros in the nesting of a tuple, dual where the tuple is."""
    if isinstance(value, tuple):
        return tuple(map(pattern_of, value))
    return Dual(0.0, (0.0,) * len(value.d)) if isinstance(value, Dual) else 0.0


def form_of(value: Any) -> Any:
    """Return the number of directions of each number of a nested tuple."""
    if isinstance(value, tuple):
        return tuple(map(form_of, value))
    return len(value.d) if isinstance(value, Dual) else 0


def with_tangents(wide: np.ndarray, width: int) -> np.ndarray:
    """Return rows of the values, then their derivatives, from rows of dual numbers of states.

    The first four numbers are the attitude q, in place of whose derivatives dq there are the
    three components of 2 q* dq, which do not depend on the sign of q.
    """
    count, numbers = len(wide), wide.shape[1] // width
    out = np.empty((count, numbers + (numbers - 1) * (width - 1)))
    for first in range(0, count, BLOCK):
        block = slice(first, first + BLOCK)
        _write(np.ascontiguousarray(wide[block]), width, out[block])
    return out


def write_tangents(wide, width, out):
    """Write such rows for some of the times."""
    numbers, count = wide.shape[1] // width, width - 1
    for i in range(len(wide)):
        for k in range(numbers):
            out[i, k] = wide[i, k * width]
        w, x, y, z = out[i, 0], out[i, 1], out[i, 2], out[i, 3]
        scale = 2.0 / (w * w + x * x + y * y + z * z)
        w, x, y, z = w * scale, x * scale, y * scale, z * scale
        for j in range(count):
            dw, dx = wide[i, 1 + j], wide[i, 1 + j + width]
            dy, dz = wide[i, 1 + j + 2 * width], wide[i, 1 + j + 3 * width]
            here = numbers + j
            out[i, here] = w * dx - x * dw - y * dz + z * dy
            out[i, here + count] = w * dy - y * dw - z * dx + x * dz
            out[i, here + 2 * count] = w * dz - z * dw - x * dy + y * dx
            for k in range(4, numbers):
                out[i, here + (k - 1) * count] = wide[i, 1 + j + k * width]


_write = CompiledOrPlain(write_tangents, "what derivatives are made of")
