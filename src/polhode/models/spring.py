"""A spring between a point of the body and an anchor, with or without a damper along it.

With the point at r from the centre of mass in body axes and d the vector from the anchor to it,

    d = x + R r - anchor,    d' = v + R (ω x r),    e = d/|d|                          (1)
    F = -(k (|d| - length) + c e·d') e,    V = k/2 (|d| - length)²,    T = r x Rᵀ F    (2)

Without a length and a damper F = -k d, which has a value for d = 0 as well.
"""

from collections.abc import Sequence
from math import sqrt

from polhode.contracts import Model, angular_velocity, inverse_mass, numbers, to_principal_axes
from polhode.contracts.checks import not_negative, positive, three
from polhode.kernels.quaternion import to_body, to_inertial
from polhode.kernels.vector import add, add_scaled, cross, dot, multiply, subtract


def stretched(q, x, anchor, point, body):
    """(r in principal axes, d)."""
    r = to_principal_axes(point, body)
    return r, subtract(add(x, to_inertial(q, r)), anchor)


# ---- without a length and a damper
def wrench(t, q, m, x, p, body, params):
    stiffness, anchor, point = numbers(params)
    r, d = stretched(q, x, anchor, point, body)
    f = multiply(-stiffness, d)
    return cross(r, to_body(q, f)), f  # (2)


def potential_at(t, q, x, body, params):
    stiffness, anchor, point = numbers(params)
    _, d = stretched(q, x, anchor, point, body)
    return 0.5 * stiffness * dot(d, d)


# ---- with them
def any_wrench(t, q, m, x, p, body, params):
    stiffness, anchor, point, length, damping = numbers(params)
    r, d = stretched(q, x, anchor, point, body)
    rate = add_scaled(to_inertial(q, cross(angular_velocity(m, body), r)), inverse_mass(body), p)
    size = sqrt(dot(d, d))
    e = multiply(1.0 / size, d)
    f = multiply(-(stiffness * (size - length) + damping * dot(e, rate)), e)
    return cross(r, to_body(q, f)), f  # (2)


def any_potential_at(t, q, x, body, params):
    stiffness, anchor, point, length, _ = numbers(params)
    _, d = stretched(q, x, anchor, point, body)
    off = sqrt(dot(d, d)) - length
    return 0.5 * stiffness * (off * off)


def spring(
    stiffness: float,
    anchor: Sequence[float] = (0.0, 0.0, 0.0),
    point: Sequence[float] = (0.0, 0.0, 0.0),
    length: float = 0.0,
    damping: float = 0.0,
) -> Model:
    """A spring of ``stiffness`` (N/m) from ``anchor`` (inertial axes) to ``point`` of the body.

    ``point`` is in body axes, from the centre of mass.  ``length`` (m) is the length without
    tension, ``damping`` (N s/m) the coefficient of a damper along the spring, which takes energy.
    """
    stiffness = positive(stiffness, "stiffness")
    length, damping = not_negative(length, "length"), not_negative(damping, "damping")
    ends = three(anchor, "anchor"), three(point, "point")
    plain = length == damping == 0.0
    more = {} if plain else {"length": length, "damping": damping}
    return Model(
        name="spring",
        wrench=wrench if plain else any_wrench,
        potential_at=potential_at if plain else any_potential_at,
        names=("stiffness", "anchor", "point", *more),
        numbers=(stiffness, *ends, *more.values()),
        depends_on_omega=damping > 0.0,
        depends_on_velocity=damping > 0.0,
    )


PLACE = 70
EXAMPLES = (
    {"stiffness": 3.0, "anchor": (0.2, 0.0, 0.1), "point": (0.5, -0.3, 0.8)},
    {"stiffness": 3.0, "anchor": (0.2, 0.0, 0.1), "point": (0.5, -0.3, 0.8), "length": 0.7},
    {"stiffness": 3.0, "point": (0.5, -0.3, 0.8), "length": 0.7, "damping": 0.6},
)
