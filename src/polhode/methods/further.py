"""Further variables beside attitude and momentum, for methods with stages.

A Runge-Kutta method of (q, m) is one of (q, m, z) if z has stages of the same tableau.  Here z is a
flat tuple of any numbers with the one slope

    (T, dz/dt) = acting(t, q, m, z)                                                    (1)

whose torque T may depend on z: one evaluation for each stage.  ``ALONE`` has no z: the rotation of
a body.  ``TRANSLATION`` has z = (x, p), position and momentum in inertial axes, and

    dx/dt = p / M,    dp/dt = F(t, q, m, x, p)                                         (2)
"""

from collections.abc import Callable
from dataclasses import dataclass

from polhode.compiler.four import each
from polhode.compiler.machine import fma
from polhode.contracts import inverse_mass, moments, torque, wrench
from polhode.kernels.vector import dot, multiply

NONE = 1e-300  # relative to which nothing is small


@dataclass(frozen=True, kw_only=True)
class Further:
    """Further variables z: how a state holds them, and their slope.

    ``apart(state) -> (q, m, z)``, ``together(q, m, z) -> state`` and ``acting(t, q, m, z, body,
    params) -> (torque, dz/dt)``, z and dz/dt flat tuples of the same length.  ``size(d, z, new, m,
    body)`` is the squared size of the change d of z to ``new``, relative to z: implicit methods
    iterate until it is that of rounding.  It must not vanish with z, and not depend on units.
    """

    apart: Callable
    together: Callable
    acting: Callable
    size: Callable


# ---- sums over stages
def shift(weights, combination: Callable) -> Callable:
    """Make (z, h, slopes) -> z + h Σ weights[j] slopes[j]; ``combination`` makes the sum."""
    if all(weight == 0 for weight in weights):
        return lambda z, h, slopes: z
    total = combination(weights)
    return lambda z, h, slopes: each(fma, (h, total(slopes), z))


# ---- none
def with_none(state):
    q, m = state
    return q, m, ()


def without(q, m, z):
    return q, m


def turning(t, q, m, z, body, params):
    return torque(t, q, m, body, params), ()


def nothing(d, z, new, m, body):
    return 0.0


ALONE = Further(apart=with_none, together=without, acting=turning, size=nothing)


# ---- position and momentum
def with_place(state):
    q, m, x, p = state
    return q, m, (*x, *p)


def placed(q, m, z):
    return q, m, z[:3], z[3:]


def moving(t, q, m, z, body, params):
    p = z[3:]
    n, f = wrench(t, q, m, z[:3], p, body, params)
    return n, (*multiply(inverse_mass(body), p), *f)  # (2)


def strayed(d, z, new, m, body):
    """Relative to |x| or the radius of gyration r, and to |p| or |m|/r, whichever is larger."""
    i1, i2, i3 = moments(body)
    reach = (i1 + i2 + i3) * (0.5 * inverse_mass(body)) + NONE  # r²
    far = max(dot(z[:3], z[:3]), dot(new[:3], new[:3]), reach)
    fast = max(dot(z[3:], z[3:]), dot(new[3:], new[3:]), dot(m, m) / reach)
    return dot(d[:3], d[:3]) / far + dot(d[3:], d[3:]) / (fast + NONE)


TRANSLATION = Further(apart=with_place, together=placed, acting=moving, size=strayed)
