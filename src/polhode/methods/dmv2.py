"""Discrete Moser–Veselov algorithm (Moser & Veselov 1991, McLachlan & Zanna 2005), free bodies.

One step is a rotation by an angle a about a unit vector e.  The vector c = tan(a/2) e solves

    c = h/2 (1 + |c|²) I⁻¹ m - I⁻¹ (c x I c)                                           (1)
    q' = q (1, c)/√(1 + |c|²),    m' = m turned back by the same                       (2)

(1) says that m is 2/h (I c + c x I c)/(1 + |c|²), and (2) that m' is the same with -c x I c.

Second order, symmetric, symplectic, implicit.  It conserves the momentum in inertial axes and the
energy: m moves exactly along the orbit of the free body, only at a different speed, and so scaling
raises its order (``dmv4``, ``dmv6``).

(1) is solved by Newton's method.  It has no solution where the body turns by more than about one
radian per step (for a sphere, exactly one); the step then fails.  Carried: c/h of three steps, for
the initial guess, and the rounding errors of compensated sums.
"""

from collections.abc import Callable

from polhode.compiler.machine import fma
from polhode.contracts import FREE, Method, angular_velocity, inverse_moments, moments
from polhode.kernels.moved import no_losses, rotated, rotated_back
from polhode.kernels.newton import corrected, history
from polhode.kernels.so3 import cayley1
from polhode.kernels.vector import add_scaled, dot, multiply, scale
from polhode.methods.backward_euler import guess


def start(t, h, state, body, params):
    half = multiply(0.5, angular_velocity(state[1], body))
    return (half, half, half), no_losses(*state)


def improved(h, unknown, m, body):
    """Correct c once by Newton's method for (1)."""
    (c, last), (i1, i2, i3), a = unknown, moments(body), inverse_moments(body)
    (c1, c2, c3), (w1, w2, w3) = c, multiply(h, scale(a, m))
    d1, d2, d3 = a[0] * (i3 - i2), a[1] * (i1 - i3), a[2] * (i2 - i1)
    turning = d1 * (c2 * c3), d2 * (c3 * c1), d3 * (c1 * c2)  # I⁻¹ (c x I c)
    f = -0.5 * (1.0 + dot(c, c))
    residual = add_scaled(add_scaled(c, 1.0, turning), f, (w1, w2, w3))  # (1)
    rows = (
        (fma(-w1, c1, 1.0), fma(-w1, c2, d1 * c3), fma(-w1, c3, d1 * c2)),
        (fma(-w2, c1, d2 * c3), fma(-w2, c2, 1.0), fma(-w2, c3, d2 * c1)),
        (fma(-w3, c1, d3 * c2), fma(-w3, c2, d3 * c1), fma(-w3, c3, 1.0)),
    )
    c, size, done = corrected(c, last, residual, rows, 0.0)
    return (c, size), done


def improve(t, h, unknown, state, body, params):
    return improved(h, unknown, state[1], body)


def finish(t, h, unknown, state, carry, body, params):
    (c, _), (q, m), (rates, (eq, em)) = unknown, state, carry
    c1, v = cayley1(multiply(2.0, c))
    q, eq = rotated(q, eq, c1, v)
    m, em = rotated_back(m, em, c1, v)  # (2)
    return (q, m), (history(h, c, rates), (eq, em))


PLACE = 220
METHOD = Method(
    name="dmv2",
    title="discrete Moser–Veselov algorithm",
    order=2,
    symmetric=True,
    symplectic=True,
    free_only=True,
    keeps_energy=(FREE,),
    keeps_momentum=(FREE,),
    keeps_norm=True,
    compensates=True,
    references=("moser1991", "mclachlan2005", "celledoni2006"),
    start=start,
    guess=guess,
    improve=improve,
    finish=finish,
)


def scaled(scaling: Callable) -> Callable:
    """Return ``improve`` with m scaled by ``scaling(h, m, a)`` in (1); in (2) it would cancel."""

    def improve(t, h, unknown, state, body, params):
        m = state[1]
        return improved(h, unknown, multiply(scaling(h, m, inverse_moments(body)), m), body)

    return improve
