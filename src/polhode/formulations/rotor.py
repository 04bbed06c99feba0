"""The rotor R (Boyle 2017, section III): four numbers, whose norm does not matter.

    dR/dt = ω R / 2,    v' = R v R⁻¹                                                   (10), (4)

hold for any R except 0: R need not be normalised during the integration; the attitude is R/|R|.
With ω in body axes, dR/dt = R ω / 2.
"""

from math import sqrt

from polhode.compiler.machine import fma
from polhode.contracts import Formulation
from polhode.kernels.quaternion import half_rate, left_rate
from polhode.kernels.vector import multiply


def enter(q):
    return q


def attitude(r):
    w, x, y, z = r
    f = 1.0 / sqrt(fma(w, w, x * x) + fma(y, y, z * z))  # in pairs: every slope waits for it
    return f * w, f * x, f * y, f * z


def rate(y, omega):
    return left_rate(omega, y)


def rate_right(y, omega):
    return half_rate(y, multiply(0.5, omega))


PLACE = 20
FORMULATION = Formulation(
    name="rotor",
    title="rotor (quaternion of any norm)",
    enter=enter,
    attitude=attitude,
    rate=rate,
    rate_right=rate_right,
    angle=2.0,
    references=("boyle2017",),
)
