"""A body with a fixed point in uniform gravity.

    V = strength · e_z·(R centre),    T = strength · (Rᵀ e_z) x centre                 (1)

``centre`` is the centre of mass in body axes, from the fixed point; ``strength`` multiplies it.
With centre = e_3, the default, ``strength`` is weight times distance of the centre of mass along
body axis 3.  Krysl's tops are ``heavy_top(20)``.
"""

from collections.abc import Sequence

from polhode.compiler.machine import fma
from polhode.contracts import Model, numbers, to_body_axes, to_principal_axes
from polhode.contracts.checks import three
from polhode.kernels.quaternion import half_vertical, vertical
from polhode.kernels.vector import dot, multiply

ALONG_3 = (0.0, 0.0, 1.0)


def torque(t, q, m, body, params):
    (strength,) = numbers(params)
    g1, g2, _ = to_body_axes(vertical(q), body)
    return to_principal_axes((strength * g2, -strength * g1, 0.0), body)  # (1)


def potential(t, q, body, params):
    (strength,) = numbers(params)
    return strength * to_body_axes(vertical(q), body)[2]


# ---- any centre: one more parameter
def any_arm(body, params):
    strength, centre = numbers(params)
    return to_principal_axes(multiply(strength, centre), body)


def any_torque(t, q, m, body, params):
    g1, g2, g3 = half_vertical(q)
    c1, c2, c3 = any_arm(body, params)
    d1, d2, d3 = 2.0 * c1, 2.0 * c2, 2.0 * c3
    return fma(g2, d3, -(g3 * c2)), fma(g3, c1, -(g1 * d3)), fma(g1, d2, -(g2 * d1))  # (1)


def any_potential(t, q, body, params):
    return dot(vertical(q), any_arm(body, params))


def heavy_top(strength: float, centre: Sequence[float] = ALONG_3) -> Model:
    """The heavy top with ``V = strength · e_z·(R centre)``, in joules.

    ``centre`` is three numbers in body axes and need not be a unit vector: give the weight (N) and
    the centre of mass (m), or the weight times its distance (J) and a direction.
    """
    centre = three(centre, "centre")
    along_3 = centre == ALONG_3
    return Model(
        name="heavy_top",
        torque=torque if along_3 else any_torque,
        potential=potential if along_3 else any_potential,
        names=("strength",) if along_3 else ("strength", "centre"),
        numbers=(float(strength),) if along_3 else (float(strength), centre),
        references=("krysl2006",) if along_3 else ("celledoni2006",),
    )


PLACE = 20
EXAMPLES = ({"strength": 20.0}, {"strength": 5.0, "centre": (1.0, -2.0, 0.5)})
