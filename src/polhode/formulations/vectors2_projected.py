"""Two frame vectors, made orthonormal between steps by Gram and Schmidt (Boyle 2017, section II).

    df_0/dt = ω x f_0,    df_1/dt = ω x f_1,    f_2 = f_0 x f_1                        (1)
    f_0 -> f_0/|f_0|,    f_1 -> g/|g|,    g = f_1 - (f_0·f_1) f_0                      (2)

when |f_0·f_0 - 1|, |f_1·f_1 - 1| or |f_0·f_1| exceed a limit, by default rounding: in nearly every
step.  After a projection the integrator restarts.  This costs an evaluation where the last slope
would have been used again, and a multistep method its history; a larger limit projects less often.
The attitude is that of (2), so a projection does not change it.
"""

from collections.abc import Callable
from dataclasses import replace
from math import sqrt

from polhode.contracts import Formulation
from polhode.contracts.checks import positive
from polhode.formulations import vectors2
from polhode.kernels.quaternion import of_columns
from polhode.kernels.vector import add_scaled, cross, dot, multiply

ROUNDING = 2e-15  # what (2) leaves is at most half of it


def orthonormal(y):
    """Return both vectors by (2)."""
    a = multiply(1.0 / sqrt(dot(y[:3], y[:3])), y[:3])
    b = multiply(1.0 / sqrt(dot(y[3:6], y[3:6])), y[3:6])
    b = add_scaled(b, -dot(a, b), a)
    b = add_scaled(b, -dot(a, b), a)  # what rounding left of it
    return a, multiply(1.0 / sqrt(dot(b, b)), b)


def attitude(y):
    a, b = orthonormal(y)
    return of_columns(a, b, cross(a, b))


def projected(limit: float) -> Callable:
    """Make the reset that projects beyond a violation of the constraints."""

    def reset(y):
        a, b = y[:3], y[3:6]
        off = max(abs(dot(a, a) - 1.0), abs(dot(b, b) - 1.0), abs(dot(a, b)))
        if off <= limit:
            return y, False
        a, b = orthonormal(y)
        return (*a, *b, *y[6:]), True

    return reset


def formulation(limit: float = ROUNDING) -> Formulation:
    """Make ``vectors2-projected`` with another limit of the violations."""
    return replace(
        vectors2.FORMULATION,
        name="vectors2-projected",
        title="two frame vectors, made orthonormal between steps",
        attitude=attitude,
        reset=projected(max(positive(limit, "limit"), ROUNDING)),
    )


PLACE = 55
FORMULATION = formulation()
