"""Loop templates, and how they are joined to a method and a model.

A template is a plain function that calls the stubs of ``contracts``.  ``joined`` binds a method and
a model into it (plain Python); ``build`` compiles the result.

Time is ``t0 + k*h``, never a sum, and loops take the number k of steps already done: a run that is
stopped and continued, saved often or seldom, or shared out in chunks gives the same bits.
"""

from collections.abc import Callable, Mapping

import numpy as np

from polhode.compiler.machine import CompiledOrPlain, finite, put, take
from polhode.compiler.tree import bind
from polhode.contracts import (
    ALIGNED,
    NOT_CONVERGED,
    NOT_FINITE,
    OK,
    ORIGIN,
    STEP_TOO_SMALL,
    Method,
    Model,
    finish,
    first_step,
    fit,
    guess,
    improve,
    potential,
    potential_at,
    read,
    reset,
    start,
    step,
    torque,
    trial,
    velocity,
    wrench,
)
from polhode.kernels.free_flow import free_flow
from polhode.kernels.trig import ELEMENTARY, ON_COMPLEX
from polhode.kernels.vector import add, cross, multiply, scale

MAX_ITERATIONS = 50
MAX_TRIALS = 100  # of one adaptive step


# ---- one body, fixed step
def attempt(t, h, state, carry, body, params):
    """A stub: what loops call, (state, carry, status, iterations, size of the last correction)."""
    return state, carry, OK, 0, 0.0


def sure_step(t, h, state, carry, body, params):
    """The attempt of an explicit method."""
    state, carry = step(t, h, state, carry, body, params)
    return state, carry, OK, 0, 0.0


def solved_step(t, h, state, carry, body, params):
    """The attempt of an implicit method: ``improve`` until it is done."""
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
    """A stub: what the j-th part of a step of size h is given for its h."""
    return weights[j] * h


def part_of_three(weights, j, h):
    row = weights[j]
    return row[0] * h, row[1] * h, row[2] * h


def whole_step(t, h, weights, offsets, state, carry, body, params):
    """One step of a composition: (state, carry, status, iterations, size)."""
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
    """``whole_step`` of one part: no loop, for which a long carry would be copied twice."""
    return attempt(t, h, state, carry, body, params)


def record(t0, h, k, ends, sides, weights, offsets, fresh, state, carry, body, params, out):
    """States after ``ends[r]`` steps and a side step ``sides[r]``, in row r of ``out``.

    ``k`` steps were done before.  A side step is taken from the grid and never fed back.
    ``fresh``: the carry is only a pattern, and made here.

    Returns (state, carry, status, rows, steps, iterations, size): the rows and steps that are good,
    and the state after them.
    """
    if fresh:
        carry = start(t0 + k * h, part(weights, 0, h), state, body, params)
    row, i, iterations = 0, 0, 0
    while row < len(ends):
        aside = i == ends[row]
        if aside and sides[row] == 0.0:
            put(out, row, state)
            row += 1
            continue
        this = sides[row] if aside else h  # one call site: the step is compiled once
        new, kept, status, count, size = whole_step(
            t0 + (k + i) * h, this, weights, offsets, state, carry, body, params
        )
        iterations += count
        if status == OK and not finite(new):
            status = NOT_FINITE
        if status != OK:
            return state, carry, status, row, i, iterations, size
        if aside:
            put(out, row, new)
            row += 1
        else:
            state, carry, i = new, kept, i + 1
    return state, carry, OK, row, i, iterations, 0.0


def state_in(states, i):
    """A stub: (q, m, x, p) in row i; where there is only rotation, at the origin and at rest."""
    q = states[i, 0], states[i, 1], states[i, 2], states[i, 3]
    return q, (states[i, 4], states[i, 5], states[i, 6]), ORIGIN, ORIGIN


def whole_state_in(states, i):
    q, m, _, _ = state_in(states, i)
    x = states[i, 7], states[i, 8], states[i, 9]
    return q, m, x, (states[i, 10], states[i, 11], states[i, 12])


def potentials(times, states, body, params, out):
    """The potential energy along the rows of ``states``."""
    for i in range(len(times)):
        q, _, x, _ = state_in(states, i)
        out[i] = potential_at(times[i], q, x, body, params)


def accelerations(times, states, body, params, out):
    """The angular accelerations in principal axes, then the accelerations, along the rows."""
    for i in range(len(times)):
        q, m, x, p = state_in(states, i)
        n, f = wrench(times[i], q, m, x, p, body, params)
        turning = scale(body[1], add(cross(m, scale(body[1], m)), n))
        put(out, i, (turning, multiply(body[4], f)))


def free_motion(times, state, body, out):
    """The exact motion of a free body at each of the times, in the rows of ``out``."""
    q, m = state
    for i in range(len(times)):
        put(out, i, free_flow(times[i], q, m, body[0], body[1]))


# ---- one body, adaptive step
def adapt(t, t_low, end, h, largest, fresh, state, carry, body, params, tolerances, out):
    """Trial steps up to ``end``, or until ``out`` is full.

    The time is the sum t + t_low, and the step that is taken is exactly the one that is added.  Row
    i of ``out`` is (t, t_low, state) after the i-th step that counts; with no rows, nothing is
    kept.  ``fresh``: the carry is only a pattern, and made here, as is the step if it is 0.

    Returns (t, t_low, h, state, carry, status, accepted, rejected, starts, evaluations): ``h`` is
    the next trial, for a run that is to be continued; ``starts`` counts the carries made anew.
    """
    accepted, rejected, tries, starts, evaluations = 0, 0, 0, 0, 0
    if fresh:
        carry, starts = start(t + t_low, h, state, body, params), 1
        if h == 0.0:
            h, evaluations = first_step(
                t + t_low, (end - t) - t_low, state, carry, body, params, tolerances
            )
            h = h if abs(h) <= largest else (largest if h > 0.0 else -largest)
    while (end - t) - t_low != 0.0:
        left = (end - t) - t_low
        short = abs(h) < abs(left) and t + (t_low + h) != end  # of the end, by more than rounding
        this = h if short else left
        new_t = t + (t_low + this)
        if (short and new_t == t) or tries == MAX_TRIALS:
            status = STEP_TOO_SMALL
            return t, t_low, h, state, carry, status, accepted, rejected, starts, evaluations
        new, kept, error, factor, count = trial(
            t + t_low, this, state, carry, body, params, tolerances
        )
        evaluations += count
        following = this * factor
        if error <= 1.0:  # false for NaN
            if tries > 0 and factor > 1.0:  # not longer at once after a rejection
                following = this
            t_low = (t_low + this) - (new_t - t) if short else 0.0
            t = new_t if short else end
            if not short and abs(following) < abs(h):
                following = h
            state, changed = reset(t + t_low, new, body)
            carry = kept
            if changed:
                carry, starts = start(t + t_low, following, state, body, params), starts + 1
            if len(out) > 0:
                put(out, accepted, (t, t_low, state))
            accepted, tries = accepted + 1, 0
        else:
            rejected, tries = rejected + 1, tries + 1
            following = following if factor < 1.0 else 0.5 * this
        h = following if abs(following) <= largest else (largest if following > 0.0 else -largest)
        if accepted == len(out) and accepted > 0:
            break
    return t, t_low, h, state, carry, OK, accepted, rejected, starts, evaluations


# ---- between the steps of a run that is known: rows (t, t_low, state) are its knots
def between(t, this, h, state, carry, fitted, settings, body, params):
    """A stub: (the state at t + this, whether it is good), from the step that begins at t."""
    return state, True


def by_reading(t, this, h, state, carry, fitted, settings, body, params):
    """Dense output of the method's own; made for steps of size h."""
    return read(this / h, h, state, fitted), True


def by_trial(t, this, h, state, carry, fitted, settings, body, params):
    """A side step of an adaptive method; ``settings`` are the tolerances."""
    return trial(t, this, state, carry, body, params, settings)[0], True


def by_step(t, this, h, state, carry, fitted, settings, body, params):
    """A side step of a map; ``settings`` are its weights and offsets."""
    weights, offsets = settings
    new, _, status, _, _ = whole_step(t, this, weights, offsets, state, carry, body, params)
    return new, status == OK


def sampled(knots, places, times, settings, state, carry, fitted, body, params, out):
    """The state at ``times[i]``, in the step that begins at row ``places[i]`` of the knots.

    Returns (rows that are good, evaluations of ``fit``).  What a method fits to a step is made once
    for all times in it that follow each other.  ``carry`` and ``fitted`` are patterns.
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


def states_of(times, rows, pattern, body, out):
    """The state of every row of variables."""
    for i in range(len(rows)):
        put(out, i, left(times[i], take(rows, i, 0, pattern), body))


def left(t, y, body):
    """A stub: the state from the variables of a formulation."""
    return y


def velocities(times, attitudes, params, out):
    """The given angular velocity at every time and attitude."""
    for i in range(len(times)):
        q = attitudes[i, 0], attitudes[i, 1], attitudes[i, 2], attitudes[i, 3]
        put(out, i, velocity(times[i], q, params))


def event(t, q, omega):
    """A stub: what a user looks for the zeros of."""
    return 0.0


def event_on_the_way(t, x, v, q, omega):
    """A stub: the same where it looks at the place, too."""
    return 0.0


def watched(times, rows, out):
    """The value of an event at every time, from rows (attitude, angular velocity)."""
    for i in range(len(times)):
        q, omega, _, _ = state_in(rows, i)
        out[i] = event(times[i], q, omega)


def watched_on_the_way(times, rows, out):
    """The same from rows (attitude, angular velocity, position, velocity)."""
    for i in range(len(times)):
        q, omega, x, v = whole_state_in(rows, i)
        out[i] = event_on_the_way(times[i], x, v, q, omega)


# ---- called from Python: nested tuples cost a microsecond each, a row of numbers nothing
def packed_record(pattern):
    """``record`` with (state, carry, body, numbers) in the row ``data``, as in ``pattern``.

    State and carry are written back.  Returns (status, rows, steps, iterations, size).
    """

    def run(data, t0, h, k, fresh, ends, sides, weights, offsets, tables, out):
        state, carry, body, numbers = take(data, 0, 0, pattern)
        params = numbers, tables
        state, carry, status, rows, steps, iterations, size = record(
            t0, h, k, ends, sides, weights, offsets, fresh, state, carry, body, params, out
        )
        put(data, 0, (state, carry))
        return status, rows, steps, iterations, size

    return run


def packed_adapt(pattern):
    """``adapt`` with (state, carry, body, numbers, largest step, tolerances) in the row ``data``.

    State and carry are written back; row 0 of ``out`` is where it begins.  Returns (t, t_low, h,
    status, accepted, rejected, starts, evaluations).
    """

    def run(data, t, t_low, end, h, fresh, tables, out):
        state, carry, body, numbers, largest, tolerances = take(data, 0, 0, pattern)
        put(out, 0, (t, t_low, state))
        params = numbers, tables
        t, t_low, h, state, carry, status, accepted, rejected, starts, evaluations = adapt(
            t, t_low, end, h, largest, fresh, state, carry, body, params, tolerances, out[1:]
        )
        put(data, 0, (state, carry))
        return t, t_low, h, status, accepted, rejected, starts, evaluations

    return run


# ---- joining
def model_pieces(model: Model, aligned: bool) -> dict:
    """The functions of a model by the stubs they replace, our elementary functions in them."""
    meanings = {f: bind(f, ON_COMPLEX) for f in model.analytic} | ELEMENTARY
    if aligned:
        meanings |= ALIGNED
    own: dict[Callable, Callable] = {torque: bind(model.torque, meanings)}
    pieces: dict[Callable, Callable] = {**own, wrench: bind(model.wrench, meanings | own)}
    if model.potential is not None and model.potential_at is not None:
        energy: dict[Callable, Callable] = {potential: bind(model.potential, meanings)}
        pieces |= energy
        pieces[potential_at] = bind(model.potential_at, meanings | energy)
    return pieces


def bound(template: Callable, *layers: Mapping[Callable, Callable]) -> Callable:
    """A plain copy of ``template`` with the functions of the first layer, in them the next, …."""
    inner: dict[Callable, Callable] = {}
    for layer in reversed(layers):
        inner |= {stub: bind(function, inner) for stub, function in layer.items()}
    return bind(template, inner)


def joined(
    template: Callable,
    method: Method | None,
    model: Model | None = None,
    aligned: bool = True,
    numbers: Mapping | None = None,
) -> Callable:
    """A plain copy of ``template`` with the functions of ``method``, in them those of ``model``.

    ``aligned``: the user's body axes are principal.  ``numbers`` replaces elementary functions
    everywhere, for instance by those of mpmath.
    """
    inner = {} if model is None else model_pieces(model, aligned)
    pieces = dict(inner)
    if method is not None:
        for stub in (start, step, guess, improve, finish, trial):
            function = getattr(method, stub.__name__)
            if function is not None:
                pieces[stub] = bind(function, inner)
        pieces[attempt] = bind(solved_step if method.implicit else sure_step, pieces)
        if isinstance(method.weights[0], tuple):
            pieces[part] = part_of_three
    return bind(bind(template, pieces), numbers or {})


def build(
    template: Callable, method: Method | None, model: Model | None = None, aligned: bool = True
) -> CompiledOrPlain:
    """The compiled form of ``joined``; plain Python if the model cannot be compiled."""
    what = f"the torque of {model.name!r}" if model is not None else template.__name__
    return CompiledOrPlain(joined(template, method, model, aligned), what)


def substeps(method: Method) -> tuple[np.ndarray, np.ndarray]:
    """(weights, offsets): the fractions of a step, and where in the step they begin."""
    return np.array(method.weights), np.array([0.0, *np.cumsum(method.fractions)[:-1]])
