"""A nutation damper: a ring of fluid, or a flywheel in oil, that turns about an axis of the body.

With its momentum h and moment of inertia J about the unit vector a, and the drag c,

    h' = c (a·ω - h/J) = n,    T = h a × ω - n a                                       (1)

m + h a is the angular momentum of everything, which the damper keeps.  The energy ½ m·ω + h²/2J
decreases at the rate c (a·ω - h/J)², until the body turns about its axis of largest
inertia.  The inertia of the body is that of everything, less J about a.
"""

from collections.abc import Sequence

from polhode.contracts import (
    ORIGIN,
    Model,
    angular_velocity,
    numbers,
    to_principal_axes,
    variables,
)
from polhode.contracts.checks import finite, positive, unit
from polhode.kernels.vector import add_scaled, cross, dot, multiply


def coupled(t, q, m, x, p, body, params):
    drag, inertia, axis = numbers(params)
    h, omega, a = variables(params), angular_velocity(m, body), to_principal_axes(axis, body)
    n = drag * (dot(a, omega) - h / inertia)
    return add_scaled(multiply(-n, a), h, cross(a, omega)), ORIGIN, n  # (1)


def torque(t, q, m, body, params):
    return coupled(t, q, m, ORIGIN, ORIGIN, body, params)[0]


def ring_damper(
    drag: float,
    inertia: float,
    axis: Sequence[float] = (1.0, 0.0, 0.0),
    momentum: float = 0.0,
) -> Model:
    """A ring of fluid that turns about ``axis`` of the body, with viscous drag.

    ``drag`` is the torque per relative rate (N m s), ``inertia`` the ring's moment of inertia about
    its axis (kg m²), ``momentum`` its angular momentum at the start; in a run,
    ``run.variables["ring"]``.
    """
    drag, inertia = positive(drag, "drag"), positive(inertia, "inertia")
    return Model(
        name="ring_damper",
        torque=torque,
        potential=None,
        coupled=coupled,
        names=("drag", "inertia", "axis"),
        numbers=(drag, inertia, unit(axis, "axis")),
        variables=finite(momentum, "momentum"),
        variable_names=("ring",),
        scales=(abs(float(momentum)) or inertia,),
        depends_on_omega=True,
    )


PLACE = 100
EXAMPLES = (
    {"drag": 0.3, "inertia": 0.2},
    {"drag": 0.3, "inertia": 0.2, "axis": (0.0, 0.6, 0.8), "momentum": -0.1},
)
