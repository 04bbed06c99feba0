"""Friction in a medium at rest, linear in the rates.

    F = -linear v,    T = -rotational ω                                                (1)

It has no potential; the energy of a trajectory is that of the other models, and decreases.
"""

from polhode.contracts import Model, angular_velocity, inverse_mass, numbers
from polhode.contracts.checks import not_negative
from polhode.kernels.vector import multiply


def wrench(t, q, m, x, p, body, params):
    linear, rotational = numbers(params)
    force = multiply(-linear * inverse_mass(body), p)
    return multiply(-rotational, angular_velocity(m, body)), force  # (1)


def torque(t, q, m, body, params):
    _, rotational = numbers(params)
    return multiply(-rotational, angular_velocity(m, body))


def drag(linear: float = 0.0, rotational: float = 0.0) -> Model:
    """Drag with coefficients ``linear`` (N s/m) and ``rotational`` (N m s), the same in all axes.

    If ``linear`` is 0, the body needs no position.
    """
    linear, rotational = not_negative(linear, "linear"), not_negative(rotational, "rotational")
    functions = {"wrench": wrench} if linear > 0.0 else {"torque": torque}
    return Model(
        name="drag",
        **functions,
        names=("linear", "rotational"),
        numbers=(linear, rotational),
        depends_on_omega=rotational > 0.0,
        depends_on_velocity=linear > 0.0,
        turns=rotational > 0.0,
    )


PLACE = 80
EXAMPLES = ({"linear": 0.2, "rotational": 0.3}, {"linear": 0.2}, {"rotational": 0.3})
