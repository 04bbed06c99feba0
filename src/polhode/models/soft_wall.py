"""A pinned body in a Coulomb potential with a soft wall (Krysl 2006, section 5.4).

With x = 1.1 + e_z·(R e_3) and s = +1 or -1,

    V = s (1/x - 0.001/x¹⁰),    T = s (-1/x² + 0.01/x¹¹) (Rᵀ e_z) x e_3                 (1)

The torque printed in the paper is s = +1, a repulsion that never reaches the wall; figures 4 and 5
belong to it.  The attractive potential with a wall that its text describes is s = -1.
"""

from polhode.contracts import Model, numbers, to_principal_axes
from polhode.errors import InputError
from polhode.kernels.quaternion import vertical
from polhode.kernels.vector import cross, dot, multiply


def distance(q, body):
    """x, Rᵀ e_z and e_3, in principal axes."""
    up, axis = vertical(q), to_principal_axes((0.0, 0.0, 1.0), body)
    return 1.1 + dot(up, axis), up, axis


def torque(t, q, m, body, params):
    (sign,) = numbers(params)
    x, up, axis = distance(q, body)
    y = 1.0 / x
    y2 = y * y
    y4 = y2 * y2
    y11 = (y4 * y4) * (y2 * y)
    return multiply(sign * (0.01 * y11 - y2), cross(up, axis))  # (1)


def potential(t, q, body, params):
    (sign,) = numbers(params)
    x, _, _ = distance(q, body)
    y = 1.0 / x
    y2 = y * y
    y4 = y2 * y2
    return sign * (y - 0.001 * ((y4 * y4) * y2))


def soft_wall(sign: str) -> Model:
    """Krysl's soft wall; ``sign`` is ``"printed"`` (repulsive) or ``"attractive"``."""
    signs = {"printed": 1.0, "attractive": -1.0}
    if sign not in signs:
        raise InputError(f"sign must be 'printed' or 'attractive', got {sign!r}")
    return Model(
        name="soft_wall",
        torque=torque,
        potential=potential,
        names=("sign",),
        numbers=(signs[sign],),
        references=("krysl2006", "holder2001"),
    )


PLACE = 30
EXAMPLES = ({"sign": "printed"}, {"sign": "attractive"})
