"""The generator r of the rotor, R = exp r (Boyle 2017, section IV): three numbers, no constraint.

    dr/dt = ω x r / 2 + ω (r cot r) / 2 + r (r·ω) (1 - r cot r) / (2r²)                (18)

which is dexpinv of the rotation vector 2r; with ω in body axes it is that of -2r.  The components
turn sharply near multiples of π of |r|; ``generator-reset`` avoids this.
"""

from polhode.contracts import Formulation
from polhode.kernels.so3 import dexpinv, exp, log
from polhode.kernels.vector import multiply


def enter(q):
    return multiply(0.5, log(q))


def attitude(y):
    return exp(multiply(2.0, y))


def rate(y, omega):
    return multiply(0.5, dexpinv(multiply(2.0, y), omega))  # (18)


def rate_right(y, omega):
    return multiply(0.5, dexpinv(multiply(-2.0, y), omega))


PLACE = 60
FORMULATION = Formulation(
    name="generator",
    title="generator (half the rotation vector)",
    enter=enter,
    attitude=attitude,
    rate=rate,
    rate_right=rate_right,
    angle=2.0,
    references=("boyle2017",),
)
