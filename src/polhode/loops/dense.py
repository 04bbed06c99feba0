"""Dense output: the state between the steps of a run whose knots (t, t_low, state) are known."""

from polhode.compiler.machine import finite, put, take
from polhode.contracts import OK, fit, read, start, trial
from polhode.loops.fixed import alike, whole_step
from polhode.loops.rows import attitude_of, is_attitude


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

    Returns (number of good rows, of those before the first without an attitude, evaluations in
    ``fit``).  The interpolant of a step is fitted once for all consecutive times in it.  ``carry``
    and ``fitted`` are patterns.
    """
    h, last, evaluations, turned = 0.0, -1, 0, len(times)
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
            carry = alike(start(t + t_low, h, state, body, params), state)
            new = take(knots, k + 1, 2, state)
            fitted, count = fit(t + t_low, h, state, carry, new, body, params)
            last, evaluations = k, evaluations + count
        here, good = between(t + t_low, this, h, state, carry, fitted, settings, body, params)
        if not good or not finite(here):
            return i, min(i, turned), evaluations
        put(out, i, alike(here, state))
        if i < turned and not is_attitude(attitude_of(times[i], here, body)):
            turned = i
    return len(times), turned, evaluations


def packed_sampled(pattern):
    """Make ``sampled`` take (state, carry, fitted, body, numbers), nested as ``pattern``, in a row.

    For dual numbers, which would cost much to pass one by one.
    """

    def run(knots, places, times, settings, data, tables, out):
        state, carry, fitted, body, numbers = take(data, 0, 0, pattern)
        params = numbers, tables
        return sampled(knots, places, times, settings, state, carry, fitted, body, params, out)

    return run
