"""Uniform gravity: the weight acts at the centre of mass and turns nothing.

F = M g,    V = -M g·x                                                             (1)
"""

from collections.abc import Sequence

from polhode.contracts import ORIGIN, Model, mass, numbers
from polhode.contracts.checks import three
from polhode.kernels.vector import dot, multiply

STANDARD = 0.0, 0.0, -9.80665  # m/s², along the inertial z


def wrench(t, q, m, x, p, body, params):
    (g,) = numbers(params)
    return ORIGIN, multiply(mass(body), g)  # (1)


def potential_at(t, q, x, body, params):
    (g,) = numbers(params)
    return -mass(body) * dot(g, x)


def uniform_gravity(g: Sequence[float] = STANDARD) -> Model:
    """Gravity with the acceleration ``g`` (m/s², inertial axes).

    This is for a body in free flight.  A body with a fixed point is a ``heavy_top``.
    """
    return Model(
        name="uniform_gravity",
        wrench=wrench,
        potential_at=potential_at,
        names=("g",),
        numbers=(three(g, "g"),),
        turns=False,
    )


PLACE = 50
EXAMPLES: tuple[dict, ...] = ({}, {"g": (0.1, -0.3, -2.0)})
