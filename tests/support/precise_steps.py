"""One step of the plain source with mpmath numbers, and what its end depends on."""

import math

import mpmath as mp
import numpy as np

from polhode import loops
from polhode.compiler.machine import three_floats
from polhode.compiler.tree import bind, flat, like
from polhode.contracts import OK, Status, finish, guess, improve, reset, trial
from polhode.contracts import start as start_stub
from polhode.contracts.company import company_of
from polhode.formulations.equations import equations_of
from polhode.kernels import elliptic, newton, short_flow, so3, trig
from polhode.loops.binding import bound, functions_of, model_pieces
from polhode.loops.join import fixed
from polhode.problems.names import places_of_parameters
from polhode.tableaus.splitting import SPLITTINGS
from support.precise import hamilton, to_mp


def mp_sincos1(a):
    return mp.sin(a), -2 * mp.sin(a / 2) ** 2


MPMATH = {
    trig.sincos1: mp_sincos1,
    trig.sincos1_of_reduced: mp_sincos1,
    math.atan2: mp.atan2,
    math.hypot: lambda *x: mp.norm(x),
    short_flow.sincos1_of_half: lambda a: mp_sincos1(a / 2),
    so3.sqrt: mp.sqrt,
    elliptic.sincos: lambda u, a: (mp.sin(u * a), mp.cos(u * a)),
    elliptic.whole: lambda j, s, c: j * mp.pi / 2 + mp.atan2(s, c),
    newton.rounding: lambda: mp.eps,
    short_flow.short: lambda: mp.mpf(10) ** -9,  # where the rounding of its coefficients is lost
    three_floats: tuple,
}
UNROUNDED = {splitting.rows: splitting.parts for splitting in SPLITTINGS.values()}


def mp_body(body):
    """``body.data`` of a body whose axes are principal."""
    assert body.is_aligned
    moments, mass = to_mp(body.data[0]), mp.mpf(body.mass)
    return moments, tuple(map(reciprocal, moments)), to_mp(body.data[2]), mass, 1 / mass


def reciprocal(x):
    return 1 / x if x else mp.mpf(0)


def solved_to_the_last_digit(t, h, state, carry, body, params):
    """A step of an implicit method, for which double precision needs fewer iterations."""
    unknown, done = guess(t, h, state, carry, body, params), False
    while not done:
        unknown, done = improve(t, h, unknown, state, body, params)
    new, kept = finish(t, h, unknown, state, carry, body, params)
    return new, kept, OK, 0, 0.0


def mp_step(method, problem, h, t=0):
    """(state, body, params) -> state: a step; body and params are by default those of the problem.

    ``method`` is one for the kind of its states.
    """
    first, step = (
        loops.joined(template, method, problem.model, True, MPMATH, solved_to_the_last_digit)
        for template in (start_stub, loops.whole_step)
    )
    given, numbers = mp_body(problem.body), to_mp(problem.model.params)
    weights = to_mp(UNROUNDED.get(method.weights, method.weights))
    fractions = [w[0] if isinstance(w, tuple) else w for w in weights]
    offsets = tuple(sum(fractions[:i], mp.mpf(0)) for i in range(len(weights)))
    t = mp.mpf(t)

    def stepped(state, body=given, params=numbers):
        begin = weights[0]
        part = tuple(w * h for w in begin) if isinstance(begin, tuple) else begin * h
        carry = first(t, part, state, body, params)
        new, _, status, *_ = step(t, h, weights, offsets, state, carry, body, params)
        assert status == Status.OK
        return new

    return stepped


# ---- derivatives by central differences
DIGITS = 40
SMALL = mp.mpf(10) ** -12  # leaves its square, and 1e-40 / SMALL times what a step magnifies


def turned(q, theta):
    """The attitude q turned by a small rotation vector in body axes, to second order."""
    half = [x / 2 for x in theta]
    return hamilton(q, (mp.sqrt(1 - mp.fdot(half, half)), *half))


def moved_start(problem, move):
    """(state, body, params) of a problem moved along a direction; see ``quantities``."""
    state, body = to_mp(problem.state), mp_body(problem.body)
    numbers, *tables = to_mp(problem.model.params)
    steps = iter(move)

    def moved(values):
        return like(values, iter([x + next(steps) for x in flat(values)]))

    q = turned(tuple(x / mp.norm(state[0]) for x in state[0]), [next(steps) for _ in range(3)])
    rest, moments = moved(state[1:]), moved(body[0])
    mass = moved(body[3]) if problem.moves else body[3]
    body = moments, tuple(map(reciprocal, moments)), body[2], mass, 1 / mass
    return (q, *rest), body, (moved(numbers), *tables)


def quantities(problem):
    """What a motion depends on, and how many numbers they are: the order of all directions."""
    state = 3 + len(flat(problem.state[1:]))
    model = {name: len(found) for name, found in places_of_parameters(problem.model).items()}
    return {"state": state, "moments": 3, **({"mass": 1} if problem.moves else {}), **model}


def mixtures(count, rng):
    """Three random directions of length 1."""
    directions = rng.standard_normal((count, 3))
    return directions / np.linalg.norm(directions, axis=0)


def mp_derivatives(step, problem, directions=None):
    """Derivatives of (θ, m, …) at the end of a step along directions, by default along all.

    ``step`` is such as ``mp_step`` makes.
    """
    count = sum(quantities(problem).values())
    with mp.workdps(DIGITS):
        (w, *v), *_ = step(*moved_start(problem, [0] * count))
        back, columns = (w, *(-x for x in v)), []
        for move in (np.eye(count) if directions is None else directions).T.tolist():
            ends = []
            for way in (SMALL, -SMALL):
                q, *rest = step(*moved_start(problem, [way * x for x in move]))
                ends.append([*(2 * x for x in hamilton(back, q)[1:]), *flat(tuple(rest))])
            columns.append([(a - b) / (2 * SMALL) for a, b in zip(*ends, strict=True)])
        return np.array(columns, dtype=float).T


# ---- integrators
def once(t, h, y, body, params, tolerances):
    """A template: the variables after one trial step."""
    new, *_ = trial(t, h, y, start_stub(t, h, y, body, params), body, params, tolerances)
    return reset(t + h, new, body)[0]


def mp_trial(integrator, variables, problem, h, t=0):
    """The same as ``mp_step`` of an integrator in the variables of a formulation.

    A nominal motion is that of the problem itself, for all states.
    """
    equations = equations_of(variables, problem.moves, company_of(problem.model))
    enter, leave = (bind(f, MPMATH) for f in (equations.enter, equations.leave))
    if integrator.adaptive:
        functions = functions_of(integrator, start_stub, trial)
        if integrator.trial_in_lanes is not None:
            functions[trial] = integrator.trial_in_lanes
        pieces = model_pieces(problem.model, True)
        run = bind(bound(once, functions, equations.pieces, pieces), MPMATH)
    else:
        run = mp_step(fixed(integrator, variables, problem.moves), problem, h, t)
    t, extra = mp.mpf(t), ()
    if getattr(variables, "nominal", None) is not None:
        body = mp_body(problem.body)
        extra = (bind(variables.nominal, MPMATH)(t, *to_mp(problem.state), body),)

    def stepped(state, body, params):
        body = *body, *extra
        y = enter(t, state, body)
        if integrator.adaptive:
            new = run(t, h, y, body, params, to_mp((0.0, 1.0)))
        else:
            new = run(y, body, params)
        return leave(t + h, new, body)

    return stepped


def mp_rate_step(solver, h, t=0):
    """(q, numbers of the parameters) -> q: one step of a prepared solver of a given rate."""
    record, formulation = solver.integrator, solver.formulation
    enter, attitude = (bind(f, MPMATH) for f in (formulation.enter, formulation.attitude))
    own, equations, pieces = solver.loops.layers
    if record.trial_in_lanes is not None:
        own = own | {trial: record.trial_in_lanes}
    taken = bind(fixed_step, {loops.attempt: attempt_of(record)})
    run = bind(bound(once if record.adaptive else taken, own, equations, pieces), MPMATH)
    t = mp.mpf(t)

    def stepped(q, numbers):
        return attitude(run(t, h, enter(q), (), (numbers, ()), to_mp((0.0, 1.0))))

    return stepped


def fixed_step(t, h, y, body, params, tolerances):
    """A template: the variables after one fixed step."""
    carry = start_stub(t, h, y, body, params)
    return loops.attempt(t, h, y, carry, body, params)[0]


def attempt_of(record):
    return solved_to_the_last_digit if record.improve is not None else loops.sure_step
