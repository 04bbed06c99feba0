"""A body with a fixed point in uniform gravity.

    V = strength · e_z·(R e_3),    T = strength · (Rᵀ e_z) x e_3                       (1)

``strength`` is weight times distance of the centre of mass along body axis 3.  Krysl's tops are
``heavy_top(20)``.
"""

from polhode.contracts import Model, to_principal_axes
from polhode.kernels.quaternion import vertical
from polhode.kernels.vector import cross, dot


def arm(body, params):
    (strength,), _ = params
    return to_principal_axes((0.0, 0.0, strength), body)


def torque(t, q, m, body, params):
    return cross(vertical(q), arm(body, params))  # (1)


def potential(t, q, body, params):
    return dot(vertical(q), arm(body, params))


def heavy_top(strength: float) -> Model:
    """The heavy top with ``V = strength · e_z·(R e_3)``, in joules."""
    return Model(
        name="heavy_top",
        torque=torque,
        potential=potential,
        names=("strength",),
        numbers=(float(strength),),
        references=("krysl2006",),
    )
