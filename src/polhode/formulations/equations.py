"""The equations of a formulation for an integrator: what ``slope``, ``reset``, … stand for.

``given``: the angular velocity is a function of time and attitude; y holds the variables alone.
``moved``: a body with a momentum; y holds the variables with the momentum appended, or
``Coordinates``.
``flown``: the body also has a position, and x and p follow in y.
``accompanied``: the model has variables, and they follow last.
"""

from collections.abc import Callable
from functools import cache
from math import inf, nan, sqrt
from typing import NamedTuple

from polhode.compiler.four import each
from polhode.compiler.machine import fma
from polhode.compiler.tree import bind
from polhode.contracts import (
    ORIGIN,
    Coordinates,
    Formulation,
    angular_velocity,
    companion,
    coupled,
    inverse_mass,
    leap,
    moments,
    pace,
    reset,
    slope,
    square_size,
    torque,
    velocity,
    wrench,
)
from polhode.contracts.company import Company, count_numbers
from polhode.kernels.quaternion import to_inertial
from polhode.kernels.tuples import flattened, nested, sum_of_all, sum_of_squares
from polhode.kernels.vector import add, cross, dot, multiply

IDENTITY = 1.0, 0.0, 0.0, 0.0
SMALL = 1e-150  # of a momentum, so that its square is not zero
Pieces = dict[Callable, Callable]


class Equations(NamedTuple):
    """The equations of motion of a body in some variables.

    ``enter(t, state, body) -> y``, ``leave(t, y, body) -> state``; ``seen`` is ``leave`` as the
    slope needs it.
    """

    enter: Callable
    leave: Callable
    seen: Callable
    numbers: int  # of the variables, attitude and momentum together
    pieces: Pieces


def given(formulation: Formulation, inertial: bool, company: Company | None = None) -> Pieces:
    """Make the equations for an angular velocity in inertial or in body axes."""
    rate, attitude = _left(formulation) if inertial else _right(formulation), formulation.attitude
    n = len(formulation.enter(IDENTITY))

    def alone(t, y, body, params):
        q = attitude(y)
        return rate(y, q, velocity(t, q, params))

    pieces: Pieces = {slope: alone, reset: _reset_of(formulation), square_size: _mean_square(n)}
    if company is None:
        return pieces
    nest, flatten = nested(company.pattern, n), flattened(company.pattern)

    def slope_with_company(t, y, body, params):
        q = attitude(y[:n])
        omega, rates = companion(t, q, (*params, nest(y)))
        return *rate(y[:n], q, omega), *flatten(rates)

    return {slope: slope_with_company, **_beside(pieces, n, company, _both)}


def _left(formulation: Formulation) -> Callable:
    """Return dy/dt of y, the attitude q at y, and an angular velocity in inertial axes."""
    rate = formulation.rate
    return lambda y, q, omega: rate(y, omega)


def _right(formulation: Formulation) -> Callable:
    """Return the same for body axes."""
    rate, right = formulation.rate, formulation.rate_right
    if right is None:
        return lambda y, q, omega: rate(y, to_inertial(q, omega))
    return lambda y, q, omega: right(y, omega)


def moved(variables: Formulation | Coordinates) -> Equations:
    """Make the equations for a rotating body."""
    if isinstance(variables, Coordinates):
        return _coordinates(variables)
    formulation = variables
    rate, attitude, enter = formulation.rate, formulation.attitude, formulation.enter
    n = len(enter(IDENTITY))
    angle = formulation.angle
    square = sum_of_squares(n)

    def moving(t, y, body, params):
        m = y[n:]
        q = attitude(y[:n])
        omega = angular_velocity(m, body)
        force = add(cross(m, omega), torque(t, q, m, body, params))
        return (*rate(y[:n], to_inertial(q, omega)), *force)

    def relative(d, y, new, body, tolerances):
        rtol, atol = tolerances
        longer = max(dot(y[n:], y[n:]), dot(new[n:], new[n:]))
        room = rtol * sqrt(longer) + (atol + SMALL)
        turn = angle / (rtol + atol)
        return turn * turn * square(d) + dot(d[n:], d[n:]) / (room * room)

    def entered(t, state, body):
        return (*enter(state[0]), *state[1])

    def left(t, y, body):
        return attitude(y[:n]), y[n:]

    def as_it_is(t, y, body):
        return y[:n], y[n:]

    pieces: Pieces = {
        slope: formulation.moved or moving,
        reset: _reset_of(formulation),
        square_size: relative,
    }
    if formulation.leap is not None and formulation.pace is not None:
        pieces |= {leap: formulation.leap, pace: formulation.pace}
    seen = left if formulation.moved is None else as_it_is  # a quaternion of nearly unit length
    return Equations(entered, left, seen, n + 3, pieces)


def _coordinates(variables: Coordinates) -> Equations:
    enter, error = variables.enter, variables.error

    def entered(t, state, body):
        return enter(t, state[0], state[1], body)

    def relative(d, y, new, body, tolerances):
        rtol, atol = tolerances
        turn, change, m = error(d, new, body)
        turn = turn / (rtol + atol)
        change = change / (rtol * sqrt(dot(m, m)) + (atol + 1e-300))
        return turn * turn + change * change

    pieces: Pieces = {slope: variables.slope, reset: variables.reset, square_size: relative}
    return Equations(entered, variables.leave, variables.leave, variables.numbers, pieces)


def _reset_of(formulation: Formulation) -> Callable:
    function = formulation.reset
    return (lambda t, y, body: function(y)) if formulation.resets else reset


def flown(variables: Formulation | Coordinates) -> Equations:
    """Make the equations for a body with six degrees of freedom: x' = p / M, p' = F.

    Errors of x are relative to |x| or the radius of gyration r, those of p to |p| or |m|/r,
    whichever is larger: neither vanishes where the body passes the origin.
    """
    rotation = moved(variables)
    enter, leave, seen = rotation.enter, rotation.leave, rotation.seen
    a = rotation.numbers
    b = a + 3  # x is y[a:b], p is y[b:]
    turning = bind(rotation.pieces[slope], {torque: torque_there})
    reset_rotation, turned = rotation.pieces[reset], rotation.pieces[square_size]

    def flying(t, y, body, params):
        x, p = y[a:b], y[b:]
        q, m = seen(t, y[:a], body)
        _, force = wrench(t, q, m, x, p, body, params)
        rates = turning(t, y[:a], body, (params, x, p))
        return (*rates, *multiply(inverse_mass(body), p), *force)

    def back(t, y, body):
        first, changed = reset_rotation(t, y[:a], body)
        return (*first, *y[a:]), changed

    def relative(d, y, new, body, tolerances):
        rtol, atol = tolerances
        rotated = turned(d[:a], y[:a], new[:a], body, tolerances)
        i1, i2, i3 = moments(body)
        reach = (i1 + i2 + i3) * (0.5 * inverse_mass(body))  # radius of gyration, squared
        _, m = seen(0.0, new[:a], body)
        spin = dot(m, m) / reach if reach > 0.0 else 0.0
        far = rtol * sqrt(max(larger(y[a:b], new[a:b]), reach)) + (atol + 1e-300)
        fast = rtol * sqrt(max(larger(y[b:], new[b:]), spin)) + (atol + 1e-300)
        dx = quotient(dot(d[a:b], d[a:b]), far * far)
        dp = quotient(dot(d[b:], d[b:]), fast * fast)
        return rotated + (dx + dp)

    def entered(t, state, body):
        return (*enter(t, (state[0], state[1]), body), *state[2], *state[3])

    def left(t, y, body):
        q, m = leave(t, y[:a], body)
        return q, m, y[a:b], y[b:]

    pieces: Pieces = {slope: flying, reset: back, square_size: relative}
    if leap in rotation.pieces:
        turning_leap = bind(rotation.pieces[leap], {torque: torque_there})

        def flying_leap(t, y, before, step, pace, body, params):
            x, p = y[a:b], y[b:]
            q, m = seen(t, y[:a], body)
            _, force = wrench(t, q, m, x, p, body, params)
            turned = turning_leap(t, y[:a], before[:a], step, pace, body, (params, x, p))
            rates = *multiply(inverse_mass(body), p), *force
            return *turned, *each(fma, (step, rates, before[a:]))

        pieces |= {leap: flying_leap, pace: rotation.pieces[pace]}
    return Equations(entered, left, left, a + 6, pieces)


def accompanied(equations: Equations, company: Company, moving: bool) -> Equations:
    """Append the variables of the model to the equations of a body.

    The model is evaluated once, and the equations get its torque and force in place of ``params``.
    """
    whole = _as_it_is if moving else _at_rest
    enter, leave, seen, a = equations.enter, equations.leave, equations.seen, equations.numbers
    alone = bind(equations.pieces[slope], {torque: given_torque, wrench: given_wrench})
    nest, flatten = nested(company.pattern, a), flattened(company.pattern)

    def with_company(t, y, body, params):
        q, m, x, p = whole(seen(t, y[:a], body))
        n, f, rates = coupled(t, q, m, x, p, body, (*params, nest(y)))
        return *alone(t, y[:a], body, (n, f)), *flatten(rates)

    def entered(t, state, body):
        return *enter(t, state[:-1], body), *flatten(state[-1])

    def left(t, y, body):
        return *leave(t, y[:a], body), nest(y)

    pieces: Pieces = {slope: with_company, **_beside(equations.pieces, a, company)}
    if leap in equations.pieces:
        leap_alone = bind(equations.pieces[leap], {torque: given_torque, wrench: given_wrench})

        def leap_with_company(t, y, before, step, pace, body, params):
            q, m, x, p = whole(seen(t, y[:a], body))
            n, f, rates = coupled(t, q, m, x, p, body, (*params, nest(y)))
            first = leap_alone(t, y[:a], before[:a], step, pace, body, (n, f))
            return *first, *each(fma, (step, flatten(rates), before[a:]))

        pieces |= {leap: leap_with_company, pace: equations.pieces[pace]}
    return Equations(entered, left, left, a + count_numbers(company), pieces)


def _as_it_is(state):
    return state


def _at_rest(state):
    """Return (q, m, x, p) of a state of rotation."""
    return state[0], state[1], ORIGIN, ORIGIN


def _both(tolerances):
    """Return the tolerances of an attitude alone as (rtol, atol) of what is beside it."""
    return tolerances[0] + tolerances[1], 0.0


def _beside(
    pieces: Pieces, a: int, company: Company, tolerances_of: Callable = _as_it_is
) -> Pieces:
    """Return (reset, size) of equations to whose ``a`` variables those of a model are appended."""
    reset_before, size_before = pieces[reset], pieces[square_size]
    off = _squared_errors(company, a)

    def back(t, y, body):
        first, changed = reset_before(t, y[:a], body)
        return (*first, *y[a:]), changed

    def relative(d, y, new, body, tolerances):
        before = size_before(d[:a], y[:a], new[:a], body, tolerances)
        return before + off(d, y, new, tolerances_of(tolerances))

    return {reset: back, square_size: relative}


def _squared_errors(company: Company, a: int) -> Callable:
    """Make the mean over variables of their squared errors, relative to the tolerances.

    Each is relative to the length of the variable or its scale, whichever is larger.
    """
    count = len(company.names)

    def term(first, last, scale):
        square, level = sum_of_squares(last, first), scale * scale

        def error(given):
            d, y, new, (rtol, atol) = given
            size = max(square(y), square(new), level)
            room = rtol * sqrt(size) + (atol + 1e-300)
            return square(d) / (room * room * count)

        return error

    pairs = zip(company.places.values(), company.scales, strict=True)
    total = sum_of_all([term(a + p.start, a + p.stop, scale) for p, scale in pairs])
    return lambda d, y, new, tolerances: total((d, y, new, tolerances))


def given_torque(t, q, m, body, params):
    """Return a torque that is known; ``params`` are (torque, force)."""
    return params[0]


def given_wrench(t, q, m, x, p, body, params):
    """Return (torque, force) that are known."""
    return params


def torque_there(t, q, m, body, params):
    """Return the torque at the body's position; ``params`` are (those of the model, x, p)."""
    own, x, p = params
    return wrench(t, q, m, x, p, body, own)[0]


def quotient(a, b):
    """Return a / b of numbers that are not negative; plain Python has no quotient by zero."""
    if b == 0.0:
        return inf if a > 0.0 else nan
    return a / b


def larger(a, b):
    """Return the larger of the squared lengths of two vectors."""
    return max(dot(a, a), dot(b, b))


def _mean_square(n: int) -> Callable:
    """Make the mean square of d_i / (atol + rtol |y_i|), |y_i| the larger of both ends.

    Without atol the length of y replaces |y_i|, which may be 0.
    """
    square = sum_of_squares(n)

    def terms(count):
        last = count - 1

        def term(d, y, new, level, rtol, atol):
            x = d[last] / (atol + rtol * max(abs(y[last]), abs(new[last]), level))
            return x * x

        if last == 0:
            return term
        before = terms(last)
        return lambda d, y, new, level, rtol, atol: (
            before(d, y, new, level, rtol, atol) + term(d, y, new, level, rtol, atol)
        )

    total = terms(n)

    def mean_square(d, y, new, body, tolerances):
        rtol, atol = tolerances
        level = 0.0 if atol > 0.0 else sqrt(max(square(y), square(new))) + 1e-300
        return total(d, y, new, level, rtol, atol) / n

    return mean_square


@cache
def equations_of(
    variables: Formulation | Coordinates, moving: bool, company: Company | None = None
) -> Equations:
    """Return the equations of a body that rotates, or also moves; cached, so always the same."""
    found = (flown if moving else moved)(variables)
    return found if company is None else accompanied(found, company, moving)
