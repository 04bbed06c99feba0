"""Functions evaluated along rows of states: energies, accelerations, exact motion, events."""

from functools import cache

from polhode.compiler.machine import fma, put, take
from polhode.contracts import (
    ORIGIN,
    angular_velocity,
    inverse_mass,
    inverse_moments,
    moments,
    potential_at,
    velocity,
    wrench,
)
from polhode.kernels.free_flow import free_flow
from polhode.kernels.vector import add, cross, multiply

ROUNDING = 1e-6


def state_in(states, i):
    """Stub: (q, m, x, p) in row i; without translation, x and p are zero."""
    q = states[i, 0], states[i, 1], states[i, 2], states[i, 3]
    return q, (states[i, 4], states[i, 5], states[i, 6]), ORIGIN, ORIGIN


def whole_state_in(states, i):
    """Read (q, m, x, p) from row i."""
    q, m, _, _ = state_in(states, i)
    x = states[i, 7], states[i, 8], states[i, 9]
    return q, m, x, (states[i, 10], states[i, 11], states[i, 12])


def params_in(states, i, params):
    """Stub: the params of a model at row i; those of one with variables include them."""
    return params


def potentials(times, states, body, params, out):
    """Write the potential energy of each row of ``states``."""
    for i in range(len(times)):
        q, _, x, _ = state_in(states, i)
        out[i] = potential_at(times[i], q, x, body, params)


def accelerations(times, states, body, params, out):
    """Write the angular acceleration in principal axes and the acceleration of each row."""
    for i in range(len(times)):
        q, m, x, p = state_in(states, i)
        n, f = wrench(times[i], q, m, x, p, body, params_in(states, i, params))
        torque = add(cross(m, angular_velocity(m, body)), n)
        put(out, i, (angular_velocity(torque, body), multiply(inverse_mass(body), f)))


def free_motion(times, state, body, out):
    """Write the exact state of a free body at each time."""
    q, m = state
    for i in range(len(times)):
        put(out, i, free_flow(times[i], q, m, moments(body), inverse_moments(body)))


def packed_free_motion(pattern):
    """Make ``free_motion`` take (state, body), nested as ``pattern``, from a row of numbers.

    A state with a position moves on a straight line.
    """

    def run(times, data, out):
        state, body = take(data, 0, 0, pattern)
        for i in range(len(times)):
            q, m = free_flow(times[i], state[0], state[1], moments(body), inverse_moments(body))
            put(out, i, (q, m, *moved(times[i], state[2:], body)))

    return run


def moved(t, place, body):
    """Return (x, p) after the time t without a force; nothing for a body without a position."""
    if len(place) == 0:
        return ()
    x, p = place
    return add(x, multiply(t * inverse_mass(body), p)), p


def states_of(times, rows, pattern, body, out):
    """Convert each row of a formulation's variables to a state."""
    for i in range(len(rows)):
        put(out, i, left(times[i], take(rows, i, 0, pattern), body))


def packed_states(pattern, inner):
    """Make ``states_of`` for variables nested like ``pattern``, and a body in a row like ``inner``.

    Dual numbers would cost much to pass one by one.
    """

    def run(times, rows, data, out):
        states_of(times, rows, pattern, take(data, 0, 0, inner), out)

    return run


def left(t, y, body):
    """Stub: the state from the variables of a formulation."""
    return y


def attitude_of(t, y, body):
    """Stub: the attitude of a state, or of the variables of a formulation."""
    return y[0]


def is_attitude(q):
    """Whether q is of length 1, but for rounding errors of very many steps; false for NaN."""
    w, x, y, z = q
    return abs(fma(w, w, fma(x, x, fma(y, y, z * z))) - 1.0) < ROUNDING


def is_any(q):
    """Accept any quaternion: for methods whose attitude does not keep its length by design."""
    return True


def velocities(times, attitudes, params, out):
    """Write the given angular velocity at each time and attitude."""
    for i in range(len(times)):
        q = attitudes[i, 0], attitudes[i, 1], attitudes[i, 2], attitudes[i, 3]
        put(out, i, velocity(times[i], q, params_in(attitudes, i, params)))


def event(t, x, v, q, omega, y):
    """Stub: the user's function whose zeros are events."""
    return 0.0


def watched(times, rows, out):
    """Evaluate an event function along rows (attitude, rate, position, velocity, variables)."""
    for i in range(len(times)):
        q, omega, x, v = state_in(rows, i)
        out[i] = event(times[i], x, v, q, omega, variables_in(rows, i))


def variables_in(rows, i):
    """Stub: the variables of a model in row i; none."""
    return ()


@cache
def reads_variables(place: int, pattern) -> dict:
    """Return replacements of the stubs that read variables, which begin at a column."""

    def variables_there(rows, i):
        return take(rows, i, place, pattern)

    def params_there(rows, i, params):
        return (*params, take(rows, i, place, pattern))

    return {variables_in: variables_there, params_in: params_there}
