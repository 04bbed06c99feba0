"""What an integrator sees of a formulation: ``slope``, ``reset`` and ``size`` by their stubs.

``given``: the angular velocity is a function of time and attitude, and y the variables alone.
``moved``: there is a body with a momentum, and y the variables with the momentum appended.
``flown``: the body has a place too, and y has x and p behind them.
"""

from collections.abc import Callable
from math import sqrt

from polhode._tree import bind
from polhode.contracts import Formulation, reset, size, slope, torque, velocity, wrench
from polhode.kernels.quaternion import to_inertial
from polhode.kernels.vector import add, cross, dot, multiply, scale

IDENTITY = 1.0, 0.0, 0.0, 0.0
Pieces = dict[Callable, Callable]


def given(formulation: Formulation, inertial: bool) -> Pieces:
    """For an angular velocity in inertial or in body axes."""
    rate, attitude = formulation.rate, formulation.attitude

    def slope_inertial(t, y, body, params):
        return rate(y, velocity(t, attitude(y), params))

    def slope_body(t, y, body, params):
        q = attitude(y)
        return rate(y, to_inertial(q, velocity(t, q, params)))

    return {
        slope: slope_inertial if inertial else slope_body,
        reset: formulation.reset,
        size: _mean_square(len(formulation.enter(IDENTITY))),
    }


def moved(formulation: Formulation) -> Pieces:
    """For a body."""
    rate, attitude = formulation.rate, formulation.attitude
    n = len(formulation.enter(IDENTITY))
    angle = formulation.angle
    square = _square(n)

    def moving(t, y, body, params):
        m = y[n:]
        q = attitude(y[:n])
        omega = scale(body[1], m)
        force = add(cross(m, omega), torque(t, q, m, body, params))
        return (*rate(y[:n], to_inertial(q, omega)), *force)

    def relative(d, y, new, body, tolerances):
        rtol, atol = tolerances
        turn = angle * sqrt(square(d)) / (rtol + atol)
        longer = max(dot(y[n:], y[n:]), dot(new[n:], new[n:]))
        off = sqrt(dot(d[n:], d[n:])) / (rtol * sqrt(longer) + (atol + 1e-300))
        return sqrt(turn * turn + off * off)

    return {slope: formulation.moved or moving, reset: formulation.reset, size: relative}


def flown(formulation: Formulation) -> Pieces:
    """For a body with six degrees of freedom: x' = p / M, p' = F.

    An error of x is relative to |x| or the radius of gyration, one of p to |p| or what spin gives a
    point at that radius, whichever is larger: neither vanishes where the body passes the origin.
    """
    rotation, attitude = moved(formulation), formulation.attitude
    if formulation.moved is not None:  # the variables are a quaternion, and near enough to a unit
        attitude = same
    n = len(formulation.enter(IDENTITY))
    a, b = n + 3, n + 6  # y is variables, m from n, x from a, p from b
    turning = bind(rotation[slope], {torque: torque_there})
    reset_rotation, turned = rotation[reset], rotation[size]

    def flying(t, y, body, params):
        x, p = y[a:b], y[b:]
        _, force = wrench(t, attitude(y[:n]), y[n:a], x, p, body, params)
        rates = turning(t, y[:a], body, (params, x, p))
        return (*rates, *multiply(body[4], p), *force)

    def back(y):
        first, changed = reset_rotation(y[:a])
        return (*first, *y[a:]), changed

    def relative(d, y, new, body, tolerances):
        rtol, atol = tolerances
        rotated = turned(d[:a], y[:a], new[:a], body, tolerances)
        reach = (body[0][0] + body[0][1] + body[0][2]) * (0.5 * body[4])  # gyration, squared
        spin = larger(y[n:a], new[n:a]) / reach if reach > 0.0 else 0.0
        far = rtol * sqrt(max(larger(y[a:b], new[a:b]), reach)) + (atol + 1e-300)
        fast = rtol * sqrt(max(larger(y[b:], new[b:]), spin)) + (atol + 1e-300)
        dx, dp = dot(d[a:b], d[a:b]) / (far * far), dot(d[b:], d[b:]) / (fast * fast)
        return sqrt(rotated * rotated + (dx + dp))

    return {slope: flying, reset: back, size: relative}


def same(y):
    return y


def torque_there(t, q, m, body, params):
    """The torque where the body is; ``params`` are (those of the model, x, p)."""
    own, x, p = params
    return wrench(t, q, m, x, p, body, own)[0]


def larger(a, b):
    """The larger of the squared lengths of two vectors."""
    return max(dot(a, a), dot(b, b))


def _square(n: int) -> Callable:
    """d -> the sum of the squares of its first n numbers."""
    last = n - 1
    if last == 0:
        return lambda d: d[0] * d[0]
    before = _square(last)
    return lambda d: before(d) + d[last] * d[last]


def _mean_square(n: int) -> Callable:
    """The root of the mean of (d_i / (atol + rtol |y_i|))², |y_i| the larger of both ends.

    Without atol the length of y stands for |y_i|, which may be 0.
    """
    square = _square(n)

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
        return sqrt(total(d, y, new, level, rtol, atol) / n)

    return mean_square
