"""The rotor R (Boyle 2017, section III): four numbers, whose norm does not matter.

    dR/dt = ω R / 2,    v' = R v R⁻¹                                                   (10), (4)

hold for any R except 0: R need not be normalised during the integration; the attitude is R/|R|.
"""

from polhode.contracts import Formulation
from polhode.kernels.quaternion import left_rate, to_unit_length


def enter(q):
    return q


def attitude(y):
    return to_unit_length(y)


def rate(y, omega):
    return left_rate(omega, y)


PLACE = 20
FORMULATION = Formulation(
    name="rotor",
    title="rotor (quaternion of any norm)",
    enter=enter,
    attitude=attitude,
    rate=rate,
    angle=2.0,
    references=("boyle2017",),
)
