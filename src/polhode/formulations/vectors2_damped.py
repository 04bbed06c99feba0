"""Two frame vectors, damped towards unit length and a right angle (Boyle 2017, section II).

    df_0/dt = ω x f_0 + λ (1 - f_0·f_0) f_0                                            (2)
    df_1/dt = ω x f_1 + λ (1 - f_1·f_1) f_1 + μ (u - f_1)                              (3)
    u = f_0 x (f_1 x f_0) / |f_0 x (f_1 x f_0)|

Errors of the lengths decay as exp(-2λt), of the angle as exp(-μt).  Damping rates like those of the
motion cost nothing; much larger ones make the equations stiff.
"""

from collections.abc import Callable
from dataclasses import replace
from math import sqrt

from polhode.contracts import Formulation
from polhode.formulations import vectors2
from polhode.kernels.vector import add_scaled, cross, dot, multiply, subtract


def damped(length: float, angle: float) -> Callable:
    """Make the slope with λ = ``length`` and μ = ``angle``, in 1/s."""

    def rate(y, omega):
        a, b = y[:3], y[3:]
        u = cross(a, cross(b, a))
        u = multiply(1.0 / sqrt(dot(u, u)), u)
        da = add_scaled(cross(omega, a), length * (1.0 - dot(a, a)), a)
        db = add_scaled(cross(omega, b), length * (1.0 - dot(b, b)), b)
        return (*da, *add_scaled(db, angle, subtract(u, b)))

    return rate


def formulation(length: float = 1.0, angle: float = 1.0) -> Formulation:
    """Make ``vectors2-damped`` with other rates: λ for the lengths, μ for the angle, in 1/s."""
    return replace(
        vectors2.FORMULATION,
        name="vectors2-damped",
        title="two frame vectors, damped",
        rate=damped(float(length), float(angle)),
    )


PLACE = 50
FORMULATION = formulation()
