"""Forces on a body over one step of a ``Simulator``, and the compiled step itself.

The wrench w has 21 numbers, sums over all applied forces F, at points r of the body, and over all
applied torques T:

    w = (Σ F, Σ F_b, Σ T, Σ T_b + r x F_b, Σ F r₁, Σ F r₂, Σ F r₃)                      (1)

F_b, T_b and r in body axes, F and T in inertial axes.  The torque of the F is evaluated at the
current attitude, with the columns c_i = Rᵀ Σ F r_i:

    Σ r x Rᵀ F = (c₂₃ - c₃₂, c₃₁ - c₁₃, c₁₂ - c₂₁)                                     (2)

So any number of forces costs the same, and nothing is compiled for a new one.

w is known only at the start of each step.  Over the step it continues as the polynomial through its
last values, w₁ a time d₁ ago and w₂ another d₂ before (mandre2008, section 7.3, with
x = (t - t₀)/h as intended there, and uneven steps), by Newton's divided differences:

    w(s) = w₀ + [w₀ w₁] s + [w₀ w₁ w₂] s (s + d₁)                                      (3)

of order 0, 1 or 2, as requested and as far as there are values.  Time starts at 0 in every step, so
that s loses no digits to t.
"""

from collections.abc import Callable
from functools import lru_cache

from polhode.compiler.four import each
from polhode.compiler.machine import finite, fma, put, take
from polhode.compiler.tree import bind
from polhode.contracts import (
    NOT_FINITE,
    OK,
    Model,
    angular_velocity,
    attitude_of_body,
    inverse_mass,
    start,
    to_body_axes,
    to_principal_axes,
    torque,
)
from polhode.kernels.quaternion import to_body, to_inertial, to_unit_length
from polhode.kernels.sums import added
from polhode.kernels.tuples import minus
from polhode.kernels.vector import add, multiply
from polhode.loops import part, whole_step

NOTHING = (0.0,) * 21  # (1)
MOST_KNOWN = 256  # models


# ---- applied forces
def leaning(a, u, b, v):
    return fma(a, u, b * v)


def polynomial(s, w, c1, c2):
    return fma(s, fma(s, c2, c1), w)


def continued(known, d1, d2, now, past):
    """Return w₀, c₁ and c₂ of w(s) = w₀ + c₁ s + c₂ s², by (3)."""
    w1, w2 = past
    a, b, c = 0.0, 0.0, 0.0
    if known > 0.0:
        a = 1.0 / d1
    if known > 1.0:
        b, c = a / (d1 + d2), -1.0 / (d2 * (d1 + d2))
    u, v = each(minus, (now, w1)), each(minus, (w1, w2))
    c2 = each(leaning, (b, u, c, v))
    return now, each(leaning, (a, u, d1, c2)), c2


def applied(s, q, coefficients, body):
    """Return (torque in principal axes, force in inertial axes) at the time s of the step."""
    w = each(polynomial, (s, *coefficients))
    a = to_body_axes(to_body(q, w[12:15]), body)
    b = to_body_axes(to_body(q, w[15:18]), body)
    c = to_body_axes(to_body(q, w[18:21]), body)
    turning = b[2] - c[1], c[0] - a[2], a[1] - b[0]  # (2)
    n = add(to_principal_axes(add(w[9:12], turning), body), to_body(q, w[6:9]))
    return n, add(w[0:3], to_inertial(q, to_principal_axes(w[3:6], body)))


@lru_cache(MOST_KNOWN)
def _driven(own: Callable, own_torque: Callable) -> Callable:
    """Return the wrench of a model plus what is applied."""
    inner = bind(own, {torque: own_torque})

    def wrench(t, q, m, x, p, body, params):
        ((begun, coefficients), numbers), tables = params
        n, f = inner(begun + t, q, m, x, p, body, (numbers, tables))
        a, b = applied(t, q, coefficients, body)
        return add(n, a), add(f, b)

    return wrench


def driven(model: Model) -> Model:
    """Return the model plus what is applied; its numbers are ((t, w₀, c₁, c₂), the model's)."""
    still = model.is_free and not model.moves
    return Model(
        name="applied" if still else f"{model.name} + applied",
        wrench=_driven(model.wrench, model.torque),
        potential_at=None,
        numbers=((0.0, (NOTHING, NOTHING, NOTHING)), model.numbers),
        tables=model.tables,
        depends_on_omega=model.depends_on_omega,
        depends_on_velocity=model.depends_on_velocity,
        user=model.user,
        analytic=model.analytic,
        on_duals=model.on_duals,
    )


# ---- one step, compiled
def seen(state):
    """A stub: return (q, m, x, p) of the state of a method."""
    return state


def seen_in_variables(y):
    return to_unit_length(y[:4]), y[4:7], y[7:10], y[10:13]


def shown(t, state, body):
    """Return the output: t, q, m, ω in the user's axes, x, v."""
    q, m, x, p = seen(state)
    omega = to_body_axes(angular_velocity(m, body), body)
    v = multiply(inverse_mass(body), p)
    return t, attitude_of_body(q, body), to_body_axes(m, body), omega, x, v


def packed_step(pattern, restarts):
    """Make a step in ``data``: (output, clock, state, carry, (w₁, w₂), w₀, body, numbers).

    The clock is (t, what its sum lost, steps, known values of w, d₁, d₂, 1 if the carry is to be
    made, iterations).  Everything before w₀ is kept in ``memory``.  A step that fails changes
    nothing; n = 0 substeps only update the output.  ``restarts``: 1 if there are forces in the
    carry, which jump from one step to the next; other carries continue.  The step returns (status,
    good substeps, size of the last correction).
    """

    def step(data, memory, weights, offsets, tables, n, order, dt):
        before, clock, state, carry, past, now, body, numbers = take(data, 0, 0, pattern)
        t, lost, count, known, d1, d2, fresh, iterations = clock
        if n == 0:
            put(data, 0, shown(t, state, body))
            return OK, 0, 0.0
        kept = before, clock, state, carry, past
        params = ((t, continued(known, d1, d2, now, past)), numbers), tables
        h = dt / n
        if fresh == 1.0:
            carry = start(0.0, part(weights, 0, h), state, body, params)
        for i in range(n):
            state, carry, status, more, size = whole_step(
                i * h, h, weights, offsets, state, carry, body, params
            )
            iterations += more
            if status == OK and not finite(state):
                status = NOT_FINITE
            if status != OK:
                return status, i, size
        put(memory, int(count) % len(memory), kept)
        t, lost = added(t, lost, dt)
        known = min(known + 1.0, 1.0 * order)
        clock = t, lost, count + 1.0, known, dt, d1, restarts, iterations
        put(data, 0, (shown(t, state, body), clock, state, carry, (now, past[0]), NOTHING))
        return OK, n, 0.0

    return step
