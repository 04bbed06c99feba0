"""Uniform gravity: the weight acts at the centre of mass and turns nothing.

F = M g,    V = -M g·x                                                             (1)
"""

from collections.abc import Sequence

from polhode.contracts import ORIGIN, Model
from polhode.kernels.vector import dot, multiply
from polhode.models.given import three

STANDARD = 0.0, 0.0, -9.80665  # m/s², along the inertial z


def wrench(t, q, m, x, p, body, params):
    (g,), _ = params
    return ORIGIN, multiply(body[3], g)  # (1)


def potential_at(t, q, x, body, params):
    (g,), _ = params
    return -body[3] * dot(g, x)


def uniform_gravity(g: Sequence[float] = STANDARD) -> Model:
    """Gravity of the acceleration ``g`` (m/s², inertial axes); default: 9.80665 along -z.

    For a body that falls.  One that is held at a point is a ``heavy_top``.
    """
    return Model(
        name="uniform_gravity",
        wrench=wrench,
        potential_at=potential_at,
        names=("g",),
        numbers=(three(g, "g"),),
        turns=False,
    )
