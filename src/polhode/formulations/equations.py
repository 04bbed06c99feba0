"""What an integrator sees of a formulation: ``slope``, ``reset`` and ``size`` by their stubs.

``given``: the angular velocity is a function of time and attitude, and y the variables alone.
``moved``: there is a body with a momentum, and y the variables with the momentum appended.
"""

from collections.abc import Callable
from math import sqrt

from polhode.contracts import Formulation, reset, size, slope, torque, velocity
from polhode.kernels.quaternion import to_inertial
from polhode.kernels.vector import add, cross, dot, scale

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
