"""A charge at a point of the body in uniform electric and magnetic fields.

With the charge at r from the centre of mass, in body axes,

    F = charge (E + w x B),    w = v + R (ω x r),    T = r x Rᵀ F                      (1)
    V = -charge E·(x + R r)                                                            (2)

The magnetic force does no work.
"""

from collections.abc import Sequence

from polhode.contracts import Model, angular_velocity, inverse_mass, numbers, to_principal_axes
from polhode.contracts.checks import finite, three
from polhode.kernels.quaternion import to_body, to_inertial
from polhode.kernels.vector import add, add_scaled, cross, dot, multiply


def wrench(t, q, m, x, p, body, params):
    charge, electric, magnetic, point = numbers(params)
    r = to_principal_axes(point, body)
    w = add_scaled(to_inertial(q, cross(angular_velocity(m, body), r)), inverse_mass(body), p)
    f = multiply(charge, add(electric, cross(w, magnetic)))
    return cross(r, to_body(q, f)), f  # (1)


def potential_at(t, q, x, body, params):
    charge, electric, _, point = numbers(params)
    there = add(x, to_inertial(q, to_principal_axes(point, body)))
    return -charge * dot(electric, there)  # (2)


def lorentz(
    charge: float,
    electric: Sequence[float] = (0.0, 0.0, 0.0),
    magnetic: Sequence[float] = (0.0, 0.0, 0.0),
    point: Sequence[float] = (0.0, 0.0, 0.0),
) -> Model:
    """A ``charge`` (C) at ``point`` of the body, in fields (V/m, T) fixed in inertial axes.

    ``point`` is in body axes, from the centre of mass.
    """
    fields = three(electric, "electric"), three(magnetic, "magnetic")
    place = three(point, "point")
    moving = any(fields[1]) and charge != 0
    return Model(
        name="lorentz",
        wrench=wrench,
        potential_at=potential_at,
        names=("charge", "electric", "magnetic", "point"),
        numbers=(finite(charge, "charge"), *fields, place),
        depends_on_omega=moving and any(place),
        depends_on_velocity=moving,
        turns=any(place),
    )


PLACE = 90
EXAMPLES = (
    {"charge": 1.2, "electric": (0.3, -0.1, 0.4), "point": (0.5, -0.3, 0.8)},
    {"charge": 1.2, "magnetic": (0.5, 0.9, -0.4)},
    {
        "charge": 1.2,
        "electric": (0.3, -0.1, 0.4),
        "magnetic": (0.5, 0.9, -0.4),
        "point": (0.5, -0.3, 0.8),
    },
)
