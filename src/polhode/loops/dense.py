"""Dense output: the state between the steps of a run whose knots (t, t_low, state) are known."""

from polhode.compiler.machine import finite, put, take
from polhode.contracts import OK, fit, read, start, trial
from polhode.loops.fixed import whole_step


def between(t, this, h, state, carry, fitted, settings, body, params):
    """Stub: (state at t + this, whether it is good), inside the step that begins at t."""
    return state, True


def by_reading(t, this, h, state, carry, fitted, settings, body, params):
    """Evaluate the integrator's own interpolant of a step of size h."""
    return read(this / h, h, state, fitted), True


def by_trial(t, this, h, state, carry, fitted, settings, body, params):
    """Take a side step of an adaptive integrator; ``settings`` are the tolerances."""
    return trial(t, this, state, carry, body, params, settings)[0], True


def by_step(t, this, h, state, carry, fitted, settings, body, params):
    """Take a side step of a map; ``settings`` are its weights and offsets."""
    weights, offsets = settings
    new, _, status, _, _ = whole_step(t, this, weights, offsets, state, carry, body, params)
    return new, status == OK


def sampled(knots, places, times, settings, state, carry, fitted, body, params, out):
    """Write the state at ``times[i]``, in the step that begins at row ``places[i]`` of the knots.

    Returns (number of good rows, evaluations in ``fit``).  The interpolant of a step is fitted once
    for all consecutive times in it.  ``carry`` and ``fitted`` are patterns.
    """
    h, last, evaluations = 0.0, -1, 0
    for i in range(len(times)):
        k = places[i]
        t, t_low = knots[k, 0], knots[k, 1]
        this = (times[i] - t) - t_low
        if times[i] == t:
            put(out, i, take(knots, k, 2, state))
            continue
        if k != last:
            state = take(knots, k, 2, state)
            h = (knots[k + 1, 0] - t) + (knots[k + 1, 1] - t_low)
            carry = start(t + t_low, h, state, body, params)
            new = take(knots, k + 1, 2, state)
            fitted, count = fit(t + t_low, h, state, carry, new, body, params)
            last, evaluations = k, evaluations + count
        here, good = between(t + t_low, this, h, state, carry, fitted, settings, body, params)
        if not good or not finite(here):
            return i, evaluations
        put(out, i, here)
    return len(times), evaluations
